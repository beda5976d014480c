"""The two vectors of an encoder of two texts, each as its own path gives it."""

from collections.abc import Sequence

import numpy as np
from sentence_transformers import SentenceTransformer

from seedbed.encoders.models.two_paths import SIDES, Coupled
from seedbed.io import UserError


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
