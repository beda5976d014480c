"""Batches in which no text occurs twice, where it would be its own negative."""

import logging
from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any

from datasets import Dataset
from sentence_transformers.base.sampler import DefaultBatchSampler, NoDuplicatesBatchSampler

from seedbed.io import UserError

log = logging.getLogger(__name__)


class DistinctBatches(DefaultBatchSampler):
    """sentence-transformers' batches without equal texts, those of `least` rows or more; every epoch has as many as the
    first.

    Its own sampler announces as many batches as there would be if all texts were different. Where more rows than that
    have the same text, a trainer stops before it has read them, and takes steps with batches of one row, whose loss is
    0. A trainer that resumes counts on epochs of equal length.

    Args:
        dataset: the rows.
        least: minimum number of rows in a batch.
        options: those of sentence-transformers' sampler.

    Raises:
        UserError: no batch has so many rows.
    """

    def __init__(self, dataset: Dataset, *, least: int, **options: Any) -> None:
        options["drop_last"] = False
        super().__init__(dataset, **options)
        self.least = least
        self.batches = NoDuplicatesBatchSampler(dataset, **options)
        if not (first := self._batches_of(0)):
            raise UserError(f"training.distinct: no {least} rows without a text in common for a batch; leave it out")
        self.count = len(first)
        if left := len(dataset) - sum(map(len, first)):
            log.warning("training.distinct: %d of %d rows are in no batch of the first epoch", left, len(dataset))

    def __iter__(self) -> Iterator[list[int]]:
        return islice(cycle(self._batches_of(self.epoch)), self.count)

    def __len__(self) -> int:
        return self.count

    def rows_read(self, steps: int) -> set[int]:
        """The rows of the first `steps` batches, counted on through epochs."""
        found: set[int] = set()
        for epoch in range(-(-steps // self.count)):
            batches = islice(cycle(self._batches_of(epoch)), min(self.count, steps - epoch * self.count))
            found.update(*batches)
        return found

    def _batches_of(self, epoch: int) -> list[list[int]]:
        self.batches.set_epoch(epoch)
        return [batch for batch in self.batches if len(batch) >= self.least]
