"""SimCSE's contrastive loss, plus masked language modelling if `training.mlm_weight` is above 0."""

import logging

from pydantic import Field

from seedbed.encoders.objectives import Objective

log = logging.getLogger(__name__)


class Contrast(Objective):
    """SimCSE: each text is contrasted with all others of the batch, at `training.temperature`.

    With triplets (a, p, n) and temperature t the loss is the mean over i of -log(e^{cos(a_i, p_i)/t} / sum_j
    (e^{cos(a_i, p_j)/t} + e^{cos(a_i, n_j)/t})): paper 000, equation 1. Single texts are their own positives, with
    different dropout. Source: Gao et al. (2021, "SimCSE"), equations 4 and 5.

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

    masks_words = True
    uses_temperature = True

    def columns(self, table):
        """Select the text columns. Single texts are their own positives, as `same_text`, with the same prompt."""
        columns = super().columns(table)
        return {"text": columns["text"], "same_text": columns["text"]} if "text" in columns else columns

    def loss(self, encoder, table, training, folders):
        """Build a `SimCSELoss`, inside `mlm.WithMaskedLM` if `training.mlm_weight` is above 0.

        Raises:
            UserError: with masked language modelling, weights without a head for it or a tokenizer without a mask
                token.
        """
        from seedbed.encoders.losses.contrastive import SimCSELoss
        from seedbed.encoders.losses.mlm import WithMaskedLM
        from seedbed.encoders.losses.rows import with_negatives
        from seedbed.encoders.models.mlm_head import load_head

        loss = SimCSELoss(encoder, training.temperature, with_negatives(table), self.cutoff)
        if not training.mlm_weight:
            return loss
        return WithMaskedLM(
            loss,
            load_head(folders["weights"], encoder),
            weight=training.mlm_weight,
            probability=training.mlm_probability,
            half=training.precision == "bfloat16",
        )

    def whole_batch_reason(self, training):
        """A reason with masked language modelling: the loss reads states of tokens."""
        return "predicts masked words" if training.mlm_weight else ""

    def remarks(self, encoder, columns, folders):
        """The highest dropout probability of a layer, if trained on single texts; logs a warning if that is 0."""
        from seedbed.encoders.models.loading import dropouts

        if "same_text" not in columns:
            return {}
        rate = max(dropouts(encoder[0].auto_model.config).values(), default=0.0)
        if not rate and not self.cutoff:
            log.warning(
                "contrast: the backbone has no dropout, so that a text and its positive are one vector and only other "
                "texts teach anything; for SimCSE's training set training.dropout to 0.1"
            )
        return {"dropout": rate}
