"""Training on pairs of one language that keeps translations where they are found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from sentence_transformers.base.losses.merged_forward import embed_columns
from torch import Tensor, nn

from seedbed.encoders.losses.contrastive import simcse, similarity_distillation
from seedbed.encoders.losses.token_cutoff import cut_off


class RetentionLoss(nn.Module):
    """`simcse` of a batch's pairs plus a multiple of `similarity_distillation` of its translations.

    Args:
        translations: booleans (rows,): which rows of the table are translations, the pivot's sentence first.
        teacher: vectors (rows, width) of the pivot's sentences before training; those of other rows are not looked at.
        scale: the reciprocal of the pairs' temperature.
        cutoff: share of their tokens that the texts of pairs lose, see `cut_off`.
        temperature: of similarities.
        weight: of the translations' loss.
    """

    def __init__(
        self,
        model: nn.Module,
        translations: Tensor,
        teacher: Tensor,
        *,
        scale: float,
        cutoff: float,
        temperature: float,
        weight: float,
    ) -> None:
        super().__init__()
        self.model = model
        self.translations, self.teacher = translations, teacher
        self.scale, self.cutoff, self.temperature, self.weight = scale, cutoff, temperature, weight

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """The loss of one batch.

        Args:
            features: tokenised texts of both columns.
            rows: their positions (batch,) in the table. Of a single translation, or a single pair, nothing is asked.
        """
        translated = self.translations[rows.cpu()].to(rows.device)
        first, second = embed_columns(
            self.model, [self._cut(column, ~translated) for column in features], separate_first=False
        )
        loss = first.new_zeros((), dtype=torch.float32)
        if (~translated).sum() > 1:
            loss = loss + simcse(first[~translated], second[~translated], temperature=1 / self.scale)
        if translated.sum() > 1:
            teacher = self.teacher[rows[translated].cpu()].to(first.device)
            others = torch.cat([first[~translated], second[~translated]])
            distilled = similarity_distillation(
                teacher, first[translated], second[translated], temperature=self.temperature, others=others
            )
            loss = loss + self.weight * distilled
        return loss

    def _cut(self, column: dict[str, Any], pairs: Tensor) -> dict[str, Any]:
        """A column of which the texts of pairs alone lose tokens."""
        if not self.cutoff:
            return column
        cut = cut_off(column, self.cutoff, self.model.tokenizer.all_special_ids)
        mask = torch.where(pairs[:, None], cut["attention_mask"], column["attention_mask"])
        return column | {"attention_mask": mask}
