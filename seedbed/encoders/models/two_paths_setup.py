"""An encoder of a text becomes one of a text and its English."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense
from torch import nn

from seedbed.encoders.models import loading
from seedbed.encoders.models.two_paths import SIDES, Coupled, Fusion
from seedbed.encoders.prompts import Prefix
from seedbed.io import UserError


class Coupling(NamedTuple):
    """How a text and its English become one vector, and which English."""

    fusion: Fusion
    english: Mapping[str, str]
    """Text -> its English, of all texts that are trained on."""


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


def has_paths(encoder: SentenceTransformer) -> bool:
    """Whether it reads a text and its English."""
    return isinstance(encoder[0], Coupled) and len(encoder[0].sides) == len(SIDES)


def path_vectors(encoder: SentenceTransformer, texts: Sequence[str], *, batch_size: int = 32) -> np.ndarray:
    """Vectors (2, n, d) of texts and of their English, each of length one: g(x) and h(y) of paper 002, section 3.

    Raises:
        UserError: a text without English, or the two paths end in spaces of another width.
    """
    sides = encoder[0].sides
    read = dict(zip(SIDES, (list(texts), [encoder[0].translation(text) for text in texts]), strict=True))
    options = {"batch_size": batch_size, "normalize_embeddings": True, "show_progress_bar": False}
    source, english = (sides[name].encode(read[name], **options) for name in SIDES)
    if source.shape != english.shape:
        raise UserError(
            f"paths: vectors of {source.shape[1]} numbers for texts and {english.shape[1]} for their English; start "
            "from a recipe that anchors texts to this English encoder"
        )
    return np.stack([source, english])
