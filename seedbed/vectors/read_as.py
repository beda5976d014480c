"""An encoder with different prompts for queries, documents and other texts: an `Encode` for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seedbed.vectors.types import Encode

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class ReadAs:
    """An `Encode` of texts that are neither query nor document, and the `Encode` of queries and of documents."""

    text: Encode
    others: Mapping[str, Encode]
    """What texts are read as -> their `Encode`, where that is another."""

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """Embeddings (n, d) of texts that are neither."""
        return self.text(texts)

    def each(self, change: Callable[[Encode], Encode]) -> ReadAs:
        """The same of changed functions."""
        return ReadAs(change(self.text), {name: change(encode) for name, encode in self.others.items()})


def reading(encode: Encode, name: str) -> Encode:
    """The `Encode` of texts that are read as `name`; that of all texts where they are read alike."""
    return encode.others.get(name, encode.text) if isinstance(encode, ReadAs) else encode
