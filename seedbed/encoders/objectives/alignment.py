"""Alignment of an encoder with a frozen encoder of the pivot language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seedbed import manifests
from seedbed.encoders.objectives import Objective
from seedbed.encoders.settings import Pivot
from seedbed.io import UserError

if TYPE_CHECKING:
    import pandas as pd

PIVOT = "pivot_"
"""Prefix of the columns of pivot sentences, if a row has several."""


def _fixed(table: pd.DataFrame) -> list[str]:
    """The columns in the pivot language; without rows of the pivot, those of triplets (XL-LoRA)."""
    if "pivot" in table.columns:
        return ["pivot"]
    return [] if "pivot_anchor" in table.columns else ["positive", "negative"]


class Alignment(Objective):
    """`losses.simcse` of rows whose sentences are in two languages, at `training.temperature`.

    In each row the anchor is the pivot sentence and the positive the language's, or the reverse, at random; a hard
    negative is in either. The pivot sentences' vectors are computed once by another, frozen encoder; usually only
    parallel adapters of the language's encoder are trained. If triplets have no pivot rows, their positives and
    negatives are in the pivot language themselves (XL-LoRA generates such), and only anchors are encoded in training.
    The recipe's encoder of the pivot language itself is its start point, unchanged. Source: paper 004, section 4 and
    appendix B; docs/papers/modular.md.

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
    uses_temperature = True

    pivot: Pivot = Pivot()
    """The encoder whose vectors are the target; its recipe must train an encoder for each language."""

    def columns(self, table):
        """Select the text columns in the encoder's own language; the others have precomputed vectors.

        Raises:
            UserError: the table has no set of columns that the objective can be trained on.
        """
        columns, fixed = super().columns(table), _fixed(table)
        return {name: texts for name, texts in columns.items() if name not in fixed}

    def loss(self, encoder, table, training, folders):
        """Build an `AlignmentLoss` with the pivot vectors of `folders["pivot"]`.

        Raises:
            UserError: a pivot sentence has no vector, or the vectors' width differs from the encoder's.
        """
        from seedbed.encoders.losses.alignment import AlignmentLoss
        from seedbed.encoders.losses.rows import with_negatives
        from seedbed.encoders.models.vector_file import Vectors

        names = _fixed(table)
        in_table = {name: name for name in names} or {name: PIVOT + name for name in self.columns(table)}
        texts = {name: table[place].tolist() for name, place in in_table.items()}
        negatives = with_negatives(table, "negative", f"{PIVOT}negative")
        return AlignmentLoss(encoder, Vectors(folders["pivot"]), texts, training.temperature, negatives)

    def remarks(self, encoder, columns, folders):
        """The digest of the pivot encoder."""
        folder = folders["pivot"]
        return {"pivot": manifests.of(folder)["encoder"]} if folder else {}


def with_pivot(table: pd.DataFrame, pivot: pd.DataFrame) -> pd.DataFrame:
    """Join rows of a language (`id`, anchor, positive, perhaps negative) with the rows of the pivot language of the
    same ids.

    Returns:
        The rows that both have, with the pivot's texts in columns that begin with PIVOT.

    Raises:
        UserError: they have no id in common, or the pivot rows lack a column.
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
