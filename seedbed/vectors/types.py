"""Types of functions on vectors: encoding, distances, and nearest-neighbour search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class ReadAs:
    """An `Encode` of texts that are neither query nor document, with the `Encode` of queries and of documents."""

    text: Encode
    others: Mapping[str, Encode]
    """What texts are read as -> their `Encode`, where that is another."""

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors (n, d) of texts that are neither query nor document."""
        return self.text(texts)

    def each(self, change: Callable[[Encode], Encode]) -> ReadAs:
        """A `ReadAs` of `change(encode)` for each of its functions."""
        return ReadAs(change(self.text), {name: change(encode) for name, encode in self.others.items()})


def reading(encode: Encode, name: str) -> Encode:
    """The `Encode` of texts that are read as `name`, such as "query"; if there is none for these, that of all other
    texts.
    """
    return encode.others.get(name, encode.text) if isinstance(encode, ReadAs) else encode
