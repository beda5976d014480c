"""Tiny generators that need no download, in both flavours: base and chat."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from tests import tiny

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<start_of_turn>"
    "{{ 'model' if message.role == 'assistant' else message.role }}\n{{ message.content }}<end_of_turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
"""Gemma's frame."""


@pytest.fixture(scope="session")
def tiny_generator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base model, without a chat template."""
    return tiny.generator(tmp_path_factory.mktemp("generators") / "tiny")


@pytest.fixture(scope="session")
def tiny_chat_generator(tiny_generator: Path) -> Path:
    """The same model with a chat template."""
    directory = tiny_generator.with_name("tiny-chat")
    shutil.copytree(tiny_generator, directory)
    tokenizer = AutoTokenizer.from_pretrained(directory)
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(directory)
    return directory
