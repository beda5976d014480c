"""What a loss is told of the rows of a batch: which have a negative, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import pandas as pd
import torch
from torch import Tensor, nn

T = TypeVar("T")


def with_negatives(table: pd.DataFrame | None, *names: str) -> Tensor | None:
    """Booleans (rows,): which rows have a text in each of some columns of negatives that are there; None: all have."""
    if not (columns := [name for name in names or ("negative",) if table is not None and name in table.columns]):
        return None
    there = (table[columns] != "").all(axis=1).to_numpy()
    return None if there.all() else torch.tensor(there)


def of_batch(columns: list[T], known: Tensor | None, rows: Tensor) -> tuple[list[T], Tensor | None]:
    """The columns of a batch of rows, without the negatives if none has one; and which rows have one.

    Args:
        known: see `with_negatives`.
        rows: positions (batch,) in the table.
    """
    if known is None:
        return columns, None
    keep = known[rows.cpu()].to(rows.device)
    return (columns, keep) if keep.any() else (columns[:2], None)


def of_texts(features: Mapping[str, Any], chosen: Tensor | slice) -> dict[str, Any]:
    """The chosen ones of tokenised texts; what is no tensor with a row for each text stays."""
    rows = len(features["input_ids"])
    return {name: value[chosen] if by_row(value, rows) else value for name, value in features.items()}


def by_row(value: Any, rows: int) -> bool:
    """Whether a feature is a tensor with so many rows."""
    return isinstance(value, Tensor) and value.ndim > 0 and len(value) == rows


class ByRow(nn.Module):
    """A loss of sentence-transformers that is given a value for each row as its label.

    Args:
        loss: see `loss(features, labels)` there.
        values: one for each row of the table: (rows,) or (rows, width). They are data and no state: no checkpoint has
            them.
    """

    def __init__(self, loss: nn.Module, values: Tensor) -> None:
        super().__init__()
        self.loss = loss
        self.model = loss.model
        self.values = values

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """The loss of one batch, whose rows have these positions (batch,) in the table."""
        return self.loss(features, self.values[rows.cpu()].to(rows.device))
