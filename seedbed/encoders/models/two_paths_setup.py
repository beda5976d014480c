"""An encoder of a text becomes one of a text and its English."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense
from torch import nn

from seedbed.encoders.models import loading
from seedbed.encoders.models.two_paths import Coupled, Fusion
from seedbed.encoders.prompts import Prefix
from seedbed.io import UserError, read_table


class Coupling(NamedTuple):
    """How a text and its English become one vector, and which English."""

    fusion: Fusion
    english: Mapping[str, str]
    """Text -> its English, of all texts that are trained on."""


class Choice(NamedTuple):
    """Whose English of a text was chosen."""

    translator: str
    usable: tuple[str, ...]
    """The translators whose English could be."""


Choose = Callable[[Sequence[str]], list[Choice]]
"""Texts to whose English was chosen for each."""


def couple(source: SentenceTransformer, english: Path, coupling: Coupling, prefix: Prefix = "") -> SentenceTransformer:
    """An encoder of a text and its English, which starts from one of the text; one of both gets the English alone.

    Fusion concat has a linear map after the two, which is the identity before training.

    Args:
        english: weights of the English encoder; of sentence-transformers with their own modules, else the mean.
        prefix: of the source.

    Raises:
        UserError: a prefix that hangs on the language, another fusion than the encoder's; or as `Coupled`.
    """
    if not isinstance(prefix, str):
        raise UserError("fusion: what stands before a text hangs on its language, which two paths do not know")
    if isinstance(source[0], Coupled):
        if source[0].fusion != coupling.fusion:
            raise UserError(f"fusion {coupling.fusion}: training starts from an encoder with {source[0].fusion}")
        source[0].english = coupling.english
        return source
    other = loading.load(english, pooling="own")
    coupled = Coupled(None if coupling.fusion == "english" else source, other, coupling.fusion)
    coupled.english = coupling.english
    modules: list[nn.Module] = [coupled]
    if coupling.fusion == "concat":
        width = coupled.get_embedding_dimension()
        modules.append(Dense(width, width, bias=False, activation_function=nn.Identity(), init_weight=torch.eye(width)))
    return SentenceTransformer(modules=modules, device=str(source.device), local_files_only=True)


def read_english(files: Sequence[Path]) -> dict[str, str]:
    """Text -> the English that was chosen for it, of several files of choices.

    Raises:
        UserError: as `read_table`; or a text has two.
    """
    found: dict[str, str] = {}
    for file in files:
        table = read_table(file, ["id", "text", "english"])
        for text, english in zip(table["text"], table["english"], strict=True):
            if found.setdefault(text, english) != english:
                raise UserError(f"{file}: {text[:60]!r} has other English here than before; have it chosen again")
    return found


def read_choices(files: Sequence[Path]) -> dict[str, Choice]:
    """Text -> whose English was chosen for it, of several files of choices; UserError: as `read_table`."""
    ending, found = ":probability", {}
    for file in files:
        table = read_table(file, ["id", "text", "translator"])
        chances = {name.removesuffix(ending): table[name] for name in table.columns if name.endswith(ending)}
        there = zip(*(column != "" for column in chances.values()), strict=True)
        for text, translator, usable in zip(table["text"], table["translator"], there, strict=True):
            found[text] = Choice(translator, tuple(compress(chances, usable)))
    return found
