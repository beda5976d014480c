"""Building a two-path encoder from an encoder of texts and an English encoder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense
from torch import nn

from seedbed.encoders.models import loading
from seedbed.encoders.models.two_paths import SIDES, Fusion, TwoPaths
from seedbed.encoders.prompts import ROLES, Prefix, prompts_of
from seedbed.io import UserError


class EnglishPath(NamedTuple):
    """How a text and its English translation are fused, and the translations."""

    fusion: Fusion
    english: Mapping[str, str]
    """Text -> its English translation, of all training texts."""
    prefix: Prefix | None = None
    """The prompts before the translation; None: those in the English encoder's own file."""


def add_english_path(
    source: SentenceTransformer, english: Path, english_path: EnglishPath, prefix: Prefix | None = None
) -> SentenceTransformer:
    """Make a two-path encoder of an encoder of texts; an existing two-path encoder gets the translations only.

    The English encoder's prompts for queries and documents are put before translations; the source has one prompt for
    all texts. Fusion concat adds a linear map, which is the identity before training.

    Args:
        source: the encoder of the texts, or a two-path encoder.
        english: the English encoder's weights; with sentence-transformers' modules if it has them, else mean pooling.
        english_path: the fusion and the translations.
        prefix: the source's prompt, which `source` has already; a mapping of languages to prompts is refused.

    Raises:
        UserError: a prompt of the source that depends on the language, or differs between queries and documents;
            another fusion than the given two-path encoder has, or encoders that the fusion does not allow.
    """
    if isinstance(prefix, Mapping):
        raise UserError("fusion: the prompt depends on the text's language, which a two-path encoder does not know")
    if isinstance(source[0], TwoPaths):
        if source[0].fusion != english_path.fusion:
            raise UserError(f"fusion {english_path.fusion}: training starts from an encoder with {source[0].fusion}")
        source[0].english = english_path.english
        return source
    if english_path.fusion != "english" and len({*prompts_of(source, ROLES).values()}) > 1:
        raise UserError("fusion: the multilingual encoder has prompts for queries and documents; give it a prefix")
    other = loading.load(english, pooling="own", prefix=english_path.prefix)
    both = TwoPaths(None if english_path.fusion == "english" else source, other, english_path.fusion)
    both.english = english_path.english
    modules: list[nn.Module] = [both]
    if english_path.fusion == "concat":
        width = both.get_embedding_dimension()
        modules.append(Dense(width, width, bias=False, activation_function=nn.Identity(), init_weight=torch.eye(width)))
    prompts = {"prompts": other.prompts, "default_prompt_name": other.default_prompt_name}
    return SentenceTransformer(modules=modules, device=str(source.device), local_files_only=True, **prompts)


def has_paths(encoder: SentenceTransformer) -> bool:
    """Whether the encoder takes both a text and its translation."""
    return isinstance(encoder[0], TwoPaths) and len(encoder[0].sides) == len(SIDES)


def path_vectors(encoder: SentenceTransformer, texts: Sequence[str], *, batch_size: int = 32) -> np.ndarray:
    """Vectors (2, n, d) of n texts and of their translations by a two-path encoder, at unit length: g(x) and h(y) of
    paper 002, section 3.

    Raises:
        UserError: a text without a translation, or paths with vectors of different widths.
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
