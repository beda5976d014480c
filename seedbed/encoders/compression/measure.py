"""Size of an encoder, and agreement between a compressed encoder and its original."""

from __future__ import annotations

import numpy as np
from sentence_transformers import SentenceTransformer

from seedbed.encoders.models.onnx_int8 import Int8Transformer


def size(encoder: SentenceTransformer) -> dict[str, int]:
    """`parameters`, the number of weights, and `bytes`, their size when saved."""
    weights = list(encoder.state_dict().values())
    graph = encoder[0] if isinstance(encoder[0], Int8Transformer) else None
    return {
        "parameters": sum(one.numel() for one in weights) + (graph.weights if graph else 0),
        "bytes": sum(one.numel() * one.element_size() for one in weights) + (len(graph.graph) if graph else 0),
    }


def agreement(one: np.ndarray, other: np.ndarray) -> float | None:
    """Pearson's correlation, between two encoders, of the cosines of consecutive texts (1 with 2, 2 with 3, ...), from
    their vectors (n, d) and (n, e) of n texts.

    Returns:
        The correlation, or None with fewer than three texts or if one encoder gives all pairs the same cosine.
    """
    cosines = []
    for vectors in (one, other):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1e-30)
        cosines.append((unit[1:] * unit[:-1]).sum(axis=1))
    if min(map(np.ptp, cosines)) < 1e-6:
        return None
    return float(np.corrcoef(*cosines)[0, 1])
