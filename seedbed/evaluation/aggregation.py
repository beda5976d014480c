"""From the scores of items to one number: how it is computed, resampled, and compared between two systems."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from seedbed.evaluation.significance import (
    Statistic,
    correlated,
    f1_of_items,
    macro_f1,
    pearson,
    permuted,
    spearman,
)
from seedbed.io import UserError

ORDER = "order"
"""The column of a test of two languages, and of its items, that says which language goes first: `aze-kaz`."""
Items = NDArray[np.float64]
"""Scores of items, (n_seeds, n_items, k)."""


def mean(items: Items) -> NDArray[np.float64]:
    """Mean over items and columns (..., n_items, k)."""
    return items.mean(axis=(-2, -1))


def numbers(table: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """The named columns of a file of items, (n_items, k); UserError: a cell is no number."""
    items = table[names].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    if (bad := ~np.isfinite(items)).any():
        row, place = np.argwhere(bad)[0]
        raise UserError(f"id {table['id'][row]!r} has {names[place]} {table[names[place]][row]!r}, no number")
    return items


def classes(table: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Names of classes (n_items, 2) as numbers; in one order for all systems, since their questions are the same."""
    cells = table[names]
    codes, _ = pd.factorize(cells.to_numpy().ravel(order="F"))
    return codes.reshape(cells.shape, order="F").astype(np.float64)


def one_class(table: pd.DataFrame, names: Sequence[str], label: str) -> NDArray[np.float64]:
    """Whether each item's gold and predicted class is this one, (n_items, 2)."""
    return (table[names] == label).to_numpy(float)


def f1(items: Items) -> NDArray[np.float64]:
    """F1 of a class, of what `one_class` reads (..., n_items, 2); 0 where it is neither gold nor predicted."""
    return 2 * items.prod(axis=-1).sum(axis=-1) / np.maximum(items.sum(axis=(-2, -1)), 1)


def f1_by_place(table: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """F1 (n_items, 1) of each item's class, of gold and predicted places among the items.

    Raises:
        UserError: as `numbers`; a number that is no place.
    """
    items = numbers(table, names)
    if ((items < 0) | (items >= len(table)) | (items % 1 != 0)).any():
        raise UserError(f"{' or '.join(names)} is no place among the {len(table)} items")
    return f1_of_items(items)[:, None]


def hits(items: Items) -> Items:
    """Whether the class of an item is right, (n_seeds, n_items, 1)."""
    return (items[..., :1] == items[..., 1:]).astype(float)


@dataclass(frozen=True)
class Aggregate:
    """How a metric follows from the scores of items, and how two systems are compared on them."""

    statistic: Statistic
    """Items (..., n_items, k) to values (...); of the whole test set, and of each resample."""
    read: Callable[[pd.DataFrame, Sequence[str]], NDArray[np.float64]] = numbers
    """Named columns of a file of items to items (n_items, k)."""
    tested: Callable[[Items], Items] = lambda items: items
    """What of the items is compared."""
    test: Callable[[NDArray[np.float64], NDArray[np.float64], int, int], float] = permuted
    """The test of a difference: items of two systems, the mean over seeds, a number of resamples and a seed, to p."""
    name: str = "a permutation test"
    """What tables call the test."""

    def of(self, table: pd.DataFrame) -> "Aggregate":
        """How the metric follows from the scores of these items: of both orders of a pair, the mean of each order's.

        An item is then a row of one id, with the scores of one order after the other's, so that resamples keep both
        together; NaN where an order lacks it.
        """
        if ORDER not in table.columns:
            return self
        orders = [str(order) for order in table[ORDER].unique()]
        return replace(
            self,
            statistic=partial(_over_orders, self.statistic, len(orders)),
            read=partial(_side_by_side, self.read, orders),
        )

    def p(self, ours: Items, theirs: Items, resamples: int, seed: int) -> float:
        """p of no difference between two systems over the test items, their seeds averaged."""
        ours, theirs = (self.tested(items).mean(axis=0) for items in (ours, theirs))
        return self.test(ours, theirs, resamples, seed)


def _side_by_side(
    read: Callable[[pd.DataFrame, Sequence[str]], NDArray[np.float64]],
    orders: Sequence[str],
    table: pd.DataFrame,
    names: Sequence[str],
) -> NDArray[np.float64]:
    """Items (n_ids, orders * k), by id in the order in which ids first appear."""
    places = {name: place for place, name in enumerate(table["id"].unique())}
    found = []
    for order in orders:
        rows = table[table[ORDER] == order].reset_index(drop=True)
        cells = read(rows, names)
        own = np.full((len(places), cells.shape[1]), np.nan)
        own[[places[name] for name in rows["id"]]] = cells
        found.append(own)
    return np.concatenate(found, axis=1)


def _over_orders(statistic: Statistic, orders: int, items: Items) -> NDArray[np.float64]:
    """The mean of a statistic of each order; an order of which a resample drew nothing does not count."""
    sides = np.split(items, orders, axis=-1)
    if not np.isnan(items).any():
        return np.mean([statistic(side) for side in sides], axis=0)
    return np.nanmean([_of_present(statistic, side) for side in sides], axis=0)


def _of_present(statistic: Statistic, items: Items) -> NDArray[np.float64]:
    """A statistic of the items that are there, resample by resample, since each has another number of them."""
    rows = items.reshape(-1, *items.shape[-2:])
    there = ~np.isnan(rows).any(axis=-1)
    values = [float(statistic(own[kept])) if kept.any() else np.nan for own, kept in zip(rows, there, strict=True)]
    return np.array(values).reshape(items.shape[:-2])


MEAN = Aggregate(mean)
"""The mean of hits, or of any score."""
SPEARMAN = Aggregate(spearman, test=correlated, name="Williams' test")
"""Spearman's rho of gold and predicted similarity."""
PEARSON = Aggregate(pearson, test=partial(correlated, correlation=pearson), name="Williams' test")
"""Pearson's r of them."""
MACRO_F1 = Aggregate(macro_f1, read=classes, tested=hits)
"""Macro F1 of gold and predicted class."""
WEIGHTED_F1 = Aggregate(mean, read=f1_by_place)
"""F1 weighted by support, where classes are places among the items."""
F1_OF_CLASS = Aggregate(f1, read=one_class, tested=hits)
"""F1 of one class."""
