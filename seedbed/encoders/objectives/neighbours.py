"""NeighXLM: translations and their mined neighbours, contrasted in the batch and with a queue of earlier vectors."""

from typing import Annotated, Literal

from pydantic import Field

from seedbed.encoders.objectives import Objective
from seedbed.encoders.settings import NEIGHBOUR
from seedbed.io import UserError

Width = Annotated[int, Field(gt=0)]


class Neighbours(Objective):
    """L_basic + L_queue + L_neighbour on pairs (a, p) with neighbours n^1, ..., n^k of p; without neighbours the plain
    variant.

    L_basic is `contrastive.additive_margin`, L_queue `contrastive.queue_contrast`, L_neighbour
    `contrastive.neighbour_contrast`, all on the output of a projection head of two layers. A momentum encoder fills the
    queue with vectors of earlier anchors and positives. The saved encoder has no head, and its pooling is
    `training.pooling`: the paper's is last_weighted_train. Source: paper 001, section 3; where it is silent, see
    docs/papers/neighxlm.md.

        recipes:
          neighbours:
            data: {corpus: parallel}
            objective: {neighbours: {margin: 0.2}}
            training: {pooling: last_weighted_train, batch_size: 32, learning_rate: 2.0e-5, epochs: 30}
    """

    neighbours: int = Field(0, ge=0)
    """How many neighbours of a positive are pulled towards its anchor, the nearest first (paper: 2 and 7)."""
    margin: float = Field(0.3, ge=0, lt=2)
    """Taken off the cosine of a pair: m of equation 1."""
    temperature: float = Field(0.05, gt=0)
    """Tau of equation 1, and of neighbours; `training.temperature` does not count."""
    queue: Literal["anchors", "all", "none"] = "anchors"
    """Who is pushed away from the queue: anchors (equation 4), positives and neighbours too (the paper's ablation), or
    nobody; then there is no queue."""
    queue_size: int = Field(2048, gt=0)
    """Vectors in the queue at most. Each batch adds an anchor and a positive for each row."""
    queue_temperature: float | None = Field(None, gt=0)
    """Temperature of the queue's loss; left out, `temperature`. Equation 4 as it is printed has 1."""
    mask_own: bool = True
    """No pair has its own earlier vectors in the queue as negatives, nor another with a text in common, there or
    in the batch, nor that one's neighbours. Equations 2, 4 and 5 as they are printed: false."""
    momentum: float = Field(0.995, ge=0, lt=1)
    """How much of itself the copy keeps at each step: m of section 3.5."""
    projection: tuple[Width, Width] = (512, 128)
    """Widths of the head's two layers."""
    normalise: bool = False
    """Weights of the ranks sum to 1, so that more neighbours do not weigh more: 1.5 in all for two, 2.6 for seven."""

    negatives: bool = False
    """Train on triplets: their hard negatives are added to the sum of equation 2, from anchors to positives."""

    least = 2

    @property
    def shapes(self) -> tuple[tuple[str, ...], ...]:
        """Columns: sentences, their translations, hard negatives if `negatives`, and the translations' neighbours by
        rank.
        """
        ranks = tuple(f"{NEIGHBOUR}{rank}" for rank in range(1, self.neighbours + 1))
        if self.negatives:
            return (("anchor", "positive", "negative", *ranks),)
        return (("pivot", "text", *ranks), ("anchor", "positive", *ranks), ("sentence1", "sentence2", *ranks))

    def misfit(self, training, *, several=False, two_texts=False):
        """As `Objective.misfit`; the queue has room for the anchors and positives of a batch."""
        if self.queue != "none" and self.queue_size < (added := 2 * training.batch_size):
            return (
                f"batch_size: each batch adds {added} vectors to a queue of {self.queue_size}; give "
                f"{self.queue_size // 2} or fewer, or `queue_size: {added}`"
            )
        return super().misfit(training, several=several, two_texts=two_texts)

    def read_as(self, columns):
        """As `Objective.read_as`, but neighbours have the prompt of the positives."""
        return {name: columns[1] if name.startswith(NEIGHBOUR) else name for name in columns}

    @property
    def reread(self) -> int:
        """2 with a queue: the momentum encoder encodes each anchor and positive once more."""
        return 0 if self.queue == "none" else 2

    def loss(self, encoder, table, training, folders):
        """Build a `NeighbourLoss`.

        Raises:
            UserError: a pair of equal texts.
        """
        from seedbed.encoders.losses.neighbours import NeighbourLoss

        anchors, positives, *others = self.columns(table).values()
        neighbours = others[int(self.negatives) :]
        for row, (anchor, positive) in enumerate(zip(anchors, positives, strict=True)):
            if anchor == positive:
                raise UserError(
                    f"neighbours: both sides of row {table['id'].iloc[row]} are {anchor[:80]!r}; leave out pairs that "
                    "are not translated"
                )
        settings = self.model_dump(exclude={"neighbours"})
        half = training.precision == "bfloat16"
        return NeighbourLoss(encoder, [anchors, positives], neighbours, **settings, half=half)
