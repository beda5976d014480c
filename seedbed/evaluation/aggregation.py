"""From per-item scores to a metric: how it is computed, resampled and compared between two systems."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from seedbed.evaluation.significance import (
    Statistic,
    f1_of_items,
    f1_terms,
    macro_f1,
    paired_permutation_test,
    pearson,
    percentiles,
    spearman,
    williams_p,
)
from seedbed.io import UserError

ORDER = "order"
"""Column of a two-language test, and of its items, that gives the order of the languages, such as `aze-kaz`."""
Items = NDArray[np.float64]
"""Scores of items, (n_seeds, n_items, k)."""


def mean(items: Items) -> NDArray[np.float64]:
    """Mean over items and columns: (..., n_items, k) to (...)."""
    return items.mean(axis=(-2, -1))


def numbers(table: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Read the named columns of an item file as numbers (n_items, k).

    Raises:
        UserError: a cell is not a finite number.
    """
    items = table[names].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    if (bad := ~np.isfinite(items)).any():
        row, place = np.argwhere(bad)[0]
        raise UserError(f"id {table['id'][row]!r} has {names[place]} {table[names[place]][row]!r}, no number")
    return items


def classes(table: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Encode the gold and predicted classes of an item file as integers (n_items, 2).

    Classes are numbered in the order of their first appearance, gold classes before others. An empty cell, which is an
    answer that is no label, is -1.

    Args:
        names: the columns of gold and of predicted classes.
    """
    cells = table[names]
    codes, _ = pd.factorize(cells.where(cells != "").to_numpy().ravel(order="F"))
    return codes.reshape(cells.shape, order="F").astype(np.float64)


def one_class(table: pd.DataFrame, names: Sequence[str], label: str) -> NDArray[np.float64]:
    """1 where a cell of the named columns is `label`, else 0: (n_items, k)."""
    return (table[names] == label).to_numpy(float)


def f1(items: Items) -> NDArray[np.float64]:
    """F1 of a class from the output of `one_class` for gold and predicted classes (..., n_items, 2); 0 if the class is
    neither gold nor predicted.
    """
    return 2 * items.prod(axis=-1).sum(axis=-1) / np.maximum(items.sum(axis=(-2, -1)), 1)


def f1_by_place(table: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Each item's contribution (n_items, 1) to the support-weighted F1 of bitext retrieval, see `f1_of_items`.

    Args:
        names: the columns of gold and of predicted classes; a class is the index of an item, from 0.

    Raises:
        UserError: a cell is not a number, or not the index of an item.
    """
    items = numbers(table, names)
    if ((items < 0) | (items >= len(table)) | (items % 1 != 0)).any():
        raise UserError(f"{' or '.join(names)} is no place among the {len(table)} items")
    return f1_of_items(items)[:, None]


def f1_by_item(items: Items) -> Items:
    """Each item's contribution (..., n_items, 1) to the F1 of a class, see `f1_terms`; from the output of
    `one_class`.
    """
    return f1_terms(items[..., :1], items[..., 1:])


def macro_f1_by_item(items: Items) -> Items:
    """Each item's contribution (..., n_items, 1) to the macro F1, from the output of `classes`; see `f1_terms`."""
    every = np.arange(int(items.max()) + 1)
    return f1_terms(*((items[..., side, None] == every).astype(np.float64) for side in (0, 1)))


@dataclass(frozen=True)
class Aggregate:
    """How a metric is computed from per-item scores, and how two systems are compared on it."""

    statistic: Statistic
    """Items (..., n_items, k) to values (...), for the whole test set and for each resample."""
    read: Callable[[pd.DataFrame, Sequence[str]], NDArray[np.float64]] = numbers
    """Reads named columns of an item file as items (n_items, k)."""
    test_scores: Callable[[Items], Items] = lambda items: items
    """Items to the scores of items (..., n_items, k) that the test compares; a permutation test needs the metric to be
    their mean."""
    test: Callable[[Items, Items, int, int], float] = paired_permutation_test
    """Test of a difference: scores of two systems' items, a number of resamples and a seed, to a p-value."""
    name: str = "a permutation test"
    """The test's name in tables."""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """The least and the greatest value that the metric can have, where its intervals end."""
    over_orders: bool = False
    """Whether items have the scores of several orders of a language pair, which no test compares."""

    def for_orders(self, table: pd.DataFrame) -> "Aggregate":
        """The aggregate for an item file: without a column ORDER this one, else the mean of this one over the orders.

        With ORDER an item is an id, with the scores of all orders side by side (n_ids, n_orders * k), so that resamples
        keep them together. They are NaN where an order lacks the id.
        """
        if ORDER not in table.columns:
            return self
        orders = [str(order) for order in table[ORDER].unique()]
        return replace(
            self,
            statistic=partial(_over_orders, self.statistic, len(orders)),
            read=partial(_side_by_side, self.read, orders),
            over_orders=True,
        )

    def interval(self, drawn: NDArray[np.float64], level: float) -> tuple[float, float]:
        """The percentile interval (low, high) of bootstrap values (resamples,) that contains the share `level` of them,
        within the metric's bounds.
        """
        low, high = np.clip(percentiles(drawn, level), *self.bounds)
        return float(low), float(high)

    def p_value(self, ours: Items, theirs: Items, resamples: int, seed: int) -> float:
        """Two-sided p-value of the hypothesis that two systems, each averaged over its seeds, do not differ.

        Args:
            ours: items (n_seeds, n_items, k) of the first system.
            theirs: the same items of the second system; it may have another number of seeds.
            resamples: the number of permutations; Williams' test has none.
            seed: seed of the permutations.
        """
        return self.test(self.test_scores(ours), self.test_scores(theirs), resamples, seed)


def _side_by_side(
    read: Callable[[pd.DataFrame, Sequence[str]], NDArray[np.float64]],
    orders: Sequence[str],
    table: pd.DataFrame,
    names: Sequence[str],
) -> NDArray[np.float64]:
    """Items (n_ids, orders * k), by id in the order in which ids first appear."""
    ids, found = table["id"].unique(), []
    for order in orders:
        rows = table[table[ORDER] == order].reset_index(drop=True)
        found.append(pd.DataFrame(read(rows, names), index=rows["id"]).reindex(ids).to_numpy())
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
"""Mean of per-item numbers."""
SHARE = Aggregate(mean, bounds=(0, 1))
"""Mean of per-item hits or scores from 0 to 1."""
SPEARMAN = Aggregate(spearman, test=williams_p, name="Williams' test", bounds=(-1, 1))
"""Spearman's rho of gold and predicted similarity."""
PEARSON = Aggregate(pearson, test=partial(williams_p, correlation=pearson), name="Williams' test", bounds=(-1, 1))
"""Pearson's r of gold and predicted similarity."""
MACRO_F1 = Aggregate(macro_f1, read=classes, test_scores=macro_f1_by_item, bounds=(0, 1))
"""Macro F1 of gold and predicted class."""
WEIGHTED_F1 = Aggregate(mean, read=f1_by_place, bounds=(0, 1))
"""F1 weighted by support, where classes are positions among the items."""
F1_OF_CLASS = Aggregate(f1, read=one_class, test_scores=f1_by_item, bounds=(0, 1))
"""F1 of one class."""
