"""What stands for vectors in other rooms: how they are made, how far they lie apart, how the nearest are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np

Distance = Literal["cosine", "euclidean", "dot"]
"""How far vectors lie apart."""
Encode = Callable[[Sequence[str]], "np.ndarray"]
"""Sentences (n) to embeddings (n, d), float32."""
Layers = Callable[[Sequence[str]], "np.ndarray"]
"""Sentences (n) to the token means of every layer (layers + 1, n, d), float32; the first is of the embeddings."""
Search = Callable[["np.ndarray", "np.ndarray", int], "np.ndarray"]
"""Embeddings of queries (n, d) and of a corpus (m, d), and k, to the indices (n, k) of the nearest, nearest first."""
