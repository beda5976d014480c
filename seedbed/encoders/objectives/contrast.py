"""SimCSE's contrast of sentences, plus masked language modelling if `training.mlm_weight` says so."""

import logging

from pydantic import Field

from seedbed.encoders.objectives import Objective

log = logging.getLogger(__name__)


class Contrast(Objective):
    """Each text against all others of the batch; `training` has its temperature and the weight of masked words.

    With triplets (a, p, n) and temperature t the loss is the mean over i of
    -log(e^{cos(a_i, p_i)/t} / sum_j (e^{cos(a_i, p_j)/t} + e^{cos(a_i, n_j)/t})): paper 000, equation 1. Of texts
    alone, each is its own positive, told apart by dropout. Source: Gao et al. (2021, "SimCSE"), equations 4 and 5.

        recipes:
          words-too: {like: unsupervised, objective: contrast, training: {temperature: 0.1, mlm_weight: 0.1}}
          cut: {like: unsupervised, objective: {contrast: {cutoff: 0.3}}}
    """

    shapes = (("anchor", "positive", "negative"), ("text",))
    least = 2
    partial = True

    cutoff: float = Field(0.0, ge=0, lt=1)
    """Share of its tokens that each text loses, others each time: a sentence and its positive then share some words
    alone, and differ by more than dropout (token cutoff)."""

    def columns(self, table):
        """The texts by column; texts alone stand there twice."""
        columns = super().columns(table)
        return {"anchor": columns["text"], "positive": columns["text"]} if "text" in columns else columns

    def loss(self, encoder, table, training, folders):
        """`token_cutoff.contrast`, inside `mlm.WithMaskedLM` if there is a weight.

        Raises:
            UserError: as `mlm_head.load_head`, if there is a weight.
        """
        from seedbed.encoders.losses.mlm import WithMaskedLM
        from seedbed.encoders.losses.rows import with_negatives
        from seedbed.encoders.losses.token_cutoff import contrast
        from seedbed.encoders.models.mlm_head import load_head

        loss = contrast(encoder, training.temperature, with_negatives(table), self.cutoff)
        if not training.mlm_weight:
            return loss
        masks = {"weight": training.mlm_weight, "probability": training.mlm_probability}
        head, half = load_head(folders["weights"], encoder), training.precision == "bfloat16"
        return WithMaskedLM(loss, head, **masks, half=half)

    def remarks(self, encoder, columns, folders):
        """The greatest dropout of a layer where it learns from texts alone; a warning if that is 0."""
        from seedbed.encoders.models.loading import dropouts

        if columns["anchor"] is not columns["positive"]:
            return {}
        rate = max(dropouts(encoder[0].auto_model.config).values(), default=0.0)
        if not rate and not self.cutoff:
            log.warning(
                "contrast: the backbone has no dropout, so that a text and its positive are one vector and only other "
                "texts teach anything; for SimCSE's training set training.dropout to 0.1"
            )
        return {"dropout": rate}
