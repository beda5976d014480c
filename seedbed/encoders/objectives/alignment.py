"""Alignment of an encoder with the pivot language's, which stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed.encoders.objectives import Objective
from seedbed.encoders.settings import Pivot, Training

if TYPE_CHECKING:
    import pandas as pd
    from sentence_transformers import SentenceTransformer
    from torch import nn


def _fixed(table: pd.DataFrame) -> list[str]:
    """The columns of a table that are in the pivot language, unless rows of the pivot stand beside them."""
    if "pivot" in table.columns:
        return ["pivot"]
    return [] if "pivot_anchor" in table.columns else ["positive", "negative"]


class Alignment(Objective):
    """`losses.simcse` on rows whose sentences are in two languages, at `training.temperature`.

    Of each row the anchor is the pivot's sentence and the positive the language's, or the reverse, at random; a hard
    negative is in either. The pivot's vectors come from another encoder, are made once, and get no gradient: what is
    learnt is the language's, usually by parallel adapters. Of triplets without rows of the pivot, positives and
    negatives are in the pivot language themselves (XL-LoRA writes such), and the anchors alone are learnt. An encoder
    of the pivot language itself learns nothing: it is the one that training starts from. Source: paper 004, section 4
    and appendix B; docs/decisions/modular.md.

        recipes:
          aligned:
            from: multi-m
            data: {corpus: parallel}
            objective: alignment
            training: {part: adapter, adapter: parallel, learning_rate: 1.0e-4, epochs: 1}
    """

    shapes = (("text", "pivot"), ("anchor", "positive", "negative"))
    least = 2
    partial = True

    pivot: Pivot = Pivot()
    """Whose vectors it is aligned with; the recipe is an encoder's of its own for each language."""

    def columns(self, table: pd.DataFrame) -> dict[str, list[str]]:
        """The texts in the language by column; UserError: no such columns."""
        columns, fixed = super().columns(table), _fixed(table)
        return {name: texts for name, texts in columns.items() if name not in fixed}

    def loss(
        self, encoder: SentenceTransformer, table: pd.DataFrame, training: Training, folders: Mapping[str, Path]
    ) -> nn.Module:
        """`vector_file.AlignmentLoss`; UserError: a text of the pivot without a vector, or encoders of two widths."""
        from seedbed.encoders.losses.contrastive import with_negatives
        from seedbed.encoders.models.vector_file import PIVOT, AlignmentLoss, Vectors

        names = _fixed(table) or [PIVOT + name for name in self.columns(table)]
        texts = [table[name].tolist() for name in names]
        negatives = with_negatives(table, "negative", f"{PIVOT}negative")
        return AlignmentLoss(encoder, Vectors(folders["pivot"]), texts, training.temperature, negatives)

    def remarks(
        self, encoder: SentenceTransformer, columns: Mapping[str, list[str]], folders: Mapping[str, Path]
    ) -> dict[str, Any]:
        """The digest of the encoder that it is aligned with."""
        from seedbed.encoders.models.vector_file import described

        return described(folders)
