"""Types of functions on vectors: encoding, distances, and nearest-neighbour search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np

Distance = Literal["cosine", "euclidean", "dot"]
"""Similarity or distance of two vectors."""
Encode = Callable[[Sequence[str]], "np.ndarray"]
"""Texts (n) -> vectors (n, d) in float32."""
Layers = Callable[[Sequence[str]], "np.ndarray"]
"""Texts (n) -> token means of every layer (layers + 1, n, d) in float32; index 0 is the word embeddings."""
Search = Callable[["np.ndarray", "np.ndarray", int], "np.ndarray"]
"""Vectors of queries (n, d), of a corpus (m, d), and k -> indices (n, k) of the nearest, nearest first."""
