"""What the tests of vLLM ask of which model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seedbed.generators.settings import Generator, Sampling
from seedbed.generators.writing.backends import Backend, Completion, Request
from seedbed.generators.writing.prompts import zero_shot
from tests import tiny

WIDE = {"hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4, "head_dim": 64}
"""Of the tiny generator: kernels want heads of 64 numbers at least."""
NEW = 20
"""Tokens of a completion, at most."""
LIMIT = 256
"""Tokens of a prompt, at most."""
DRAWING = Sampling(max_new_tokens=NEW, max_prompt_tokens=LIMIT)
"""Draws tokens, by temperature, top_k and top_p."""
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<start_of_turn>"
    "{{ 'model' if message.role == 'assistant' else message.role }}\n{{ message.content }}<end_of_turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
"""Gemma's frame."""


def settings(base: Path, **changes: Any) -> Generator:
    """A generator that writes the likeliest tokens in float32, on little memory; `sampling` changes that."""
    sampling = {"max_new_tokens": NEW, "max_prompt_tokens": LIMIT, "temperature": 0, "top_k": 0, "top_p": 1.0}
    fixed = {"source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 8, "gpu_memory": 0.1}
    return Generator.model_validate(fixed | changes | {"sampling": sampling | changes.pop("sampling", {})})


def requests(backend: Backend, count: int = 40) -> list[Request]:
    """Prompts of many lengths."""
    texts = [" ".join(text.split()[: 1 + number % 6]) for number, text in enumerate(tiny.sentences("hau", count))]
    asked = [zero_shot(text, "positive", "Hausa", backend.style) for text in texts]
    return [Request(f"positive/{number}", backend.encode(prompt)) for number, prompt in enumerate(asked)]


def written(backend: Backend, asked: Sequence[Request], adapter: Path | None = None) -> dict[str, Completion]:
    """Completions by their ids."""
    return {completion.id: completion for completion in backend.write(asked, adapter)}
