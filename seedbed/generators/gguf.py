"""A quantised GGUF file becomes a directory of bfloat16 safetensors that transformers loads and trains."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path


def convert(file: Path, output: Path) -> None:
    """Dequantise a GGUF model and its tokenizer into `output`.

    transformers must be told to dequantise: a model it merely loaded from GGUF refuses to be saved.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    where = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    with _read_once():
        model = AutoModelForCausalLM.from_pretrained(
            **where,
            trust_remote_code=False,
            local_files_only=True,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
        )
        model.to(torch.bfloat16).save_pretrained(output)
        AutoTokenizer.from_pretrained(**where, trust_remote_code=False, local_files_only=True).save_pretrained(output)


@contextlib.contextmanager
def _read_once() -> Iterator[None]:
    """transformers opens the file for configuration, weights and tokenizer, 17 s each time: keep the first."""
    import gguf

    reader = gguf.GGUFReader
    gguf.GGUFReader = functools.cache(reader)
    try:
        yield
    finally:
        gguf.GGUFReader = reader
