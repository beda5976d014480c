"""Correlation of pairs' cosines with their gold scores, over the batch and a queue of earlier pairs."""

from pydantic import Field

from seedbed.encoders.objectives import Queued
from seedbed.io import UserError


class Correlation(Queued):
    """Pearson's correlation and soft Spearman's of cosines with gold scores: see `soft_rank.correlation_loss`.

    The queue holds earlier cosines with their scores, so that a small batch has a correlation. Source: paper 002,
    appendix A.4, equations 27 to 32 (CorrQueue); docs/papers/lira.md has what the paper leaves open.

        corpora: {others: {own-scores: {kind: pairs, file: "own/{lang}.scores.tsv"}}}
        recipes:
          correlated: {data: {corpus: own-scores}, objective: {correlation: {queue_size: 256}}}
    """

    shapes = (("sentence1", "sentence2"),)
    values = ("score",)

    queue_size: int = Field(256, ge=0, le=8192)
    """K: earlier pairs that count in addition to the batch; 0: none. Time and memory grow with the square of both."""
    warm_up: int = Field(8, ge=2)
    """N_min: with fewer pairs in batch and queue, the loss is 0."""
    pearson_weight: float = Field(0.5, ge=0, le=1)
    """Alpha of equation 32; the rest is the soft Spearman's."""
    temperature: float = Field(0.1, gt=0)
    """Tau of the soft ranks, on cosines; `training.temperature` does not count."""

    def loss(self, encoder, table, training, folders):
        """Build a `CorrelationLoss`.

        Raises:
            UserError: a score is not a number, all are equal, or batch and queue can never reach the warm-up.
        """
        import torch

        from seedbed.encoders.losses.lasr import CorrelationLoss
        from seedbed.encoders.losses.rows import numbers

        scores = numbers(table, "score", "correlation")
        if (scores == scores[0]).all():
            found = f"all {len(scores)} rows have the score {scores[0]:g}"
            raise UserError(f"correlation: {found}; nothing correlates with it: give rows with different scores")
        if len(table) < self.warm_up:
            advice = "give more rows, or lower correlation.warm_up"
            raise UserError(f"correlation: {len(table)} rows, fewer than the warm-up of {self.warm_up}; {advice}")
        if (most := self.queue_size + training.batch_size) < self.warm_up:
            found = f"batch and queue have {most} pairs at most"
            raise UserError(f"correlation.warm_up: {self.warm_up}, but {found}; lower it, or enlarge the queue")
        return CorrelationLoss(encoder, torch.from_numpy(scores), **self.model_dump())
