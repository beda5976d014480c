"""CoSENT: the cosines of pairs are trained to have the order of the pairs' gold scores."""

from pydantic import Field

from seedbed.encoders.objectives import Objective


class Graded(Objective):
    """sentence-transformers' CoSENTLoss on pairs with gold scores; only the order of the scores matters.

    log(1 + sum e^{scale (cos(x_j, y_j) - cos(x_i, y_i))}), summed over the rows i and j of a batch where the score of i
    is higher. Source: Huang et al. (2024, "CoSENT: Consistent sentence embedding via similarity ranking").

        corpora: {others: {own-scores: {kind: pairs, file: "own/{lang}.scores.tsv"}}}
        recipes:
          graded: {data: {corpus: own-scores}, objective: graded}
    """

    shapes = (("sentence1", "sentence2"),)
    values = ("score",)
    least = 2

    scale: float = Field(20.0, gt=0)
    """What cosines are multiplied by."""

    def loss(self, encoder, table, training, folders):
        """Build a CoSENTLoss whose labels are the rows' scores.

        Raises:
            UserError: a score is not a number.
        """
        import torch
        from sentence_transformers.sentence_transformer.losses import CoSENTLoss

        from seedbed.encoders.losses.rows import RowLabelLoss, numbers

        return RowLabelLoss(CoSENTLoss(encoder, scale=self.scale), torch.from_numpy(numbers(table, "score", "graded")))
