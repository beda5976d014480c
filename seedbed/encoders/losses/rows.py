"""Facts about single rows that losses need: whether a row has a negative, and values such as gold scores."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from seedbed.io import UserError

T = TypeVar("T")


def with_negatives(table: pd.DataFrame, *names: str) -> Tensor | None:
    """Find which rows have a text in every column of negatives.

    Args:
        table: the training data; an absent negative is an empty text.
        *names: names of columns of negatives; those that the table lacks are ignored. Without names: "negative".

    Returns:
        Booleans (rows,); None if all rows have negatives or there is no such column.
    """
    if not (columns := [name for name in names or ("negative",) if name in table.columns]):
        return None
    there = (table[columns] != "").all(axis=1).to_numpy()
    return None if there.all() else torch.tensor(there)


def of_rows(values: Tensor, rows: Tensor) -> Tensor:
    """The values (batch, ...) at these positions (batch,) in the table, on the device of the positions; those of the
    whole table stay on the CPU.
    """
    return values[rows.cpu()].to(rows.device)


def numbers(table: pd.DataFrame, column: str, objective: str) -> NDArray[np.float32]:
    """Parse a column of numbers (rows,) of a table with `id`; `objective` is named in messages.

    Raises:
        UserError: a cell is not a finite number.
    """
    found = pd.to_numeric(table[column], errors="coerce").to_numpy(np.float32)
    if len(bad := table[~np.isfinite(found)]):
        cell = f"{column} {bad[column].iloc[0]!r} of row {bad['id'].iloc[0]}"
        raise UserError(f"{objective}: {cell} is no number; correct it, or leave the row out")
    return found


def drop_absent_negatives(columns: list[T], known: Tensor | None, rows: Tensor) -> tuple[list[T], Tensor | None]:
    """Drop the columns of negatives from a batch, after anchors and positives, if no row of it has one.

    `known` are booleans (rows of the table,), which rows have a negative; None: all. `rows` are positions (batch,)
    there.

    Returns:
        The columns, and booleans (batch,), which rows have a negative; None if all have, or if the column was dropped.
    """
    if known is None:
        return columns, None
    keep = of_rows(known, rows)
    return (columns, keep) if keep.any() else (columns[:2], None)


def select_texts(features: Mapping[str, Any], chosen: Tensor | slice) -> dict[str, Any]:
    """Select some of a batch of tokenised texts; values that are not tensors with a row for each text are unchanged."""
    rows = len(features["input_ids"])
    return {name: value[chosen] if is_per_text(value, rows) else value for name, value in features.items()}


def is_per_text(value: Any, rows: int) -> bool:
    """Whether a feature is a tensor with this number of rows."""
    return isinstance(value, Tensor) and value.ndim > 0 and len(value) == rows


class RowLabelLoss(nn.Module):
    """A sentence-transformers loss, called as `loss(features, labels)`, whose labels are looked up by the rows'
    positions in the table: `values`, (rows,) or (rows, width). No checkpoint contains them.
    """

    def __init__(self, loss: nn.Module, values: Tensor) -> None:
        super().__init__()
        self.loss = loss
        self.model = loss.model
        self.values = values

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """Compute the loss of one batch with the labels of its rows."""
        return self.loss(features, of_rows(self.values, rows))
