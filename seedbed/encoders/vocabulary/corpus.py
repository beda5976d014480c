"""The sentences of a corpus file of any size, streamed at each pass: none stays in memory."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from seedbed.corpora.select.subset import place_of
from seedbed.io import UserError, read_blocks

EVERY = 100
"""Every EVERY-th sentence, from the first, is held out."""


class CorpusSentences:
    """The sentences of a table of `id` and `text` in its order, at most `most` of them (0: all): those that `subset`
    would select.

    Raises:
        UserError: the table cannot be read, or has fewer than two sentences.
    """

    def __init__(self, path: Path, most: int) -> None:
        self.path = path
        places = [np.fromiter(map(place_of, block["id"]), np.int64) for block in read_blocks(path, ["id", "text"])]
        drawn = np.concatenate(places)
        if len(drawn) < 2:
            raise UserError(f"{path}: {len(drawn)} sentence; expected two or more, one to train on and one held out")
        self.last = np.partition(drawn, most - 1)[most - 1] if 0 < most < len(drawn) else drawn.max()
        self.count = int((drawn <= self.last).sum())

    def all(self) -> Iterator[str]:
        """Iterate over all sentences."""
        for block in read_blocks(self.path, ["id", "text"]):
            for row, text in zip(block["id"], block["text"], strict=True):
                if place_of(row) <= self.last:
                    yield text

    def training(self) -> Iterator[str]:
        """Iterate over the sentences that a tokenizer is trained on."""
        return (text for place, text in enumerate(self.all()) if place % EVERY)

    def held_out(self) -> Iterator[str]:
        """Iterate over the held-out sentences."""
        return (text for place, text in enumerate(self.all()) if not place % EVERY)
