"""Alignment of an encoder with the pivot language's, which stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seedbed import manifests
from seedbed.encoders.objectives import Objective
from seedbed.encoders.settings import Pivot, Training
from seedbed.io import UserError

if TYPE_CHECKING:
    import pandas as pd
    from sentence_transformers import SentenceTransformer
    from torch import nn

PIVOT = "pivot_"
"""What the columns of the pivot's texts begin with, where a row has several."""


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
    and appendix B; docs/papers/modular.md.

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
        """`alignment.AlignmentLoss`; UserError: a text of the pivot without a vector, or encoders of two widths."""
        from seedbed.encoders.losses.alignment import AlignmentLoss
        from seedbed.encoders.losses.rows import with_negatives
        from seedbed.encoders.models.vector_file import Vectors

        names = _fixed(table) or [PIVOT + name for name in self.columns(table)]
        texts = [table[name].tolist() for name in names]
        negatives = with_negatives(table, "negative", f"{PIVOT}negative")
        return AlignmentLoss(encoder, Vectors(folders["pivot"]), texts, training.temperature, negatives)

    def remarks(
        self, encoder: SentenceTransformer, columns: Mapping[str, list[str]], folders: Mapping[str, Path]
    ) -> dict[str, Any]:
        """The digest of the encoder that it is aligned with."""
        folder = folders["pivot"]
        return {"pivot": manifests.read(folder / manifests.MANIFEST)["encoder"]} if folder else {}


def with_pivot(table: pd.DataFrame, pivot: pd.DataFrame) -> pd.DataFrame:
    """Rows of a language with the texts of the pivot's rows of the same ids, in columns that begin with PIVOT.

    Raises:
        UserError: they have no id in common, or the pivot lacks a column.
    """
    names = [name for name in ("anchor", "positive", "negative") if name in table.columns]
    if lacking := [name for name in names if name not in pivot.columns]:
        raise UserError(f"the pivot's rows have no column {lacking[0]!r}; give rows as the language's are")
    joined = table.merge(pivot[["id", *names]].rename(columns={name: PIVOT + name for name in names}), on="id")
    if joined.empty:
        raise UserError(
            f"no row has a row of the pivot language with its id (like {table['id'].iloc[0]!r}, and there "
            f"{pivot['id'].iloc[0]!r}); give translations the ids of what they translate"
        )
    return joined
