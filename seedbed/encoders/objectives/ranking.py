"""In-batch ranking: a text's partner is trained to rank above all other texts of the batch
(MultipleNegativesRankingLoss).
"""

from pydantic import Field

from seedbed.encoders.objectives import Objective


class Ranking(Objective):
    """sentence-transformers' MultipleNegativesRankingLoss, by the same code as SimCSE's contrast: see `losses.simcse`.

    Both are one loss where scale = 1/temperature: the mean over i of
    -log(e^{scale cos(x_i, y_i)} / sum_j e^{scale cos(x_i, y_j)}), with the hard negatives of all rows among the y_j if
    there are any; a row may have none. Source: Henderson et al. (2017, "Efficient natural language response
    suggestion"), section 4.4.

        corpora: {others: {questions: {kind: matched_pairs, file: "own/{lang}.questions.tsv"}}}
        recipes:
          questions: {data: {corpus: questions}, objective: {ranking: {scale: 20}}}
          cut: {data: {corpus: questions}, objective: {ranking: {cutoff: 0.3}}}
    """

    shapes = (("anchor", "positive", "negative"), ("anchor", "positive"), ("sentence1", "sentence2"))
    least = 2
    partial = True

    scale: float = Field(20.0, gt=0)
    """What cosines are multiplied by."""
    cutoff: float = Field(0.0, ge=0, lt=1)
    """Share of its tokens that each text loses in training, others each time (token cutoff)."""

    def loss(self, encoder, table, training, folders):
        """Build a `SimCSELoss` with temperature 1/scale; `training.temperature` is not used."""
        from seedbed.encoders.losses.contrastive import SimCSELoss
        from seedbed.encoders.losses.rows import with_negatives

        return SimCSELoss(encoder, 1 / self.scale, with_negatives(table), self.cutoff)
