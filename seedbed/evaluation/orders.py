"""Tests of two languages: a test set of both from one of each, and scores of the two orders."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from seedbed.corpora.settings import COLUMNS, NO_TEXT
from seedbed.evaluation import protocols
from seedbed.evaluation.aggregation import ORDER
from seedbed.evaluation.settings import Task
from seedbed.io import UserError
from seedbed.names import PAIR, orders_of, pair_of

AGREE = 1e-6
"""What gold scores of one row may differ by between two languages: they are numbers, written in several ways."""


def joined(task: Task, pair: str, sets: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The test set of a pair in both orders: rows of one language with the other's columns of the rows of the same id.

    Args:
        sets: the test sets of the pair's languages.

    Returns:
        The columns of the protocol's kind, and ORDER.

    Raises:
        UserError: an id stands twice in a language, none is in both, or what is no text (a gold score, the number of an
            answer) differs.
    """
    one, other = (table.set_index("id", drop=False) for table in sets)
    if twice := [name for table in (one, other) for name in table.index[table.index.duplicated()]]:
        raise UserError(f"{pair}: id {twice[0]!r} stands twice in one language; give each row an id of its own")
    common = [name for name in one.index if name in other.index]
    if not common:
        raise UserError(
            f"{pair}: no row of one language has a row of the other with its id ({one.index[0]!r} here, "
            f"{other.index[0]!r} there); give translations the same ids"
        )
    one, other = one.loc[common], other.loc[common]
    _require_agreement(task, pair, one, other)
    second = list(protocols.declared(task.protocol).second)
    mixed = [first.assign(**{name: last[name] for name in second}) for first, last in ((one, other), (other, one))]
    return together(dict(zip(orders_of(pair), mixed, strict=True)))


def together(sets: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The test sets of orders in one, with ORDER."""
    return pd.concat([table.assign(**{ORDER: order}) for order, table in sets.items()], ignore_index=True)


def _require_agreement(task: Task, pair: str, one: pd.DataFrame, other: pd.DataFrame) -> None:
    kind = protocols.declared(task.protocol).kind
    for name in [column for column in COLUMNS[kind] if column in NO_TEXT]:
        ours, theirs = (pd.to_numeric(table[name], errors="coerce").to_numpy(float) for table in (one, other))
        apart = ~(np.abs(ours - theirs) <= AGREE) & ~(np.isnan(ours) & np.isnan(theirs))
        if apart.any():
            row = int(apart.argmax())
            raise UserError(
                f"{pair}: id {one['id'].iloc[row]!r} has {name} {one[name].iloc[row]!r} in one language and "
                f"{other[name].iloc[row]!r} in the other; rows of one id must be translations of each other"
            )


def parts(test: pd.DataFrame, language: str = "") -> dict[str, pd.DataFrame]:
    """Order -> its rows, without ORDER; a test set that has no such column is one order without a name.

    Args:
        language: of the test items; of two languages, their pair.

    Raises:
        UserError: a value of ORDER that is no order of the pair; where that is not known, of one pair.
    """
    if ORDER not in test.columns:
        return {"": test}
    orders = [str(order) for order in test[ORDER].unique()]
    pair = pair_of(language if re.match(PAIR, language) else orders[0])
    if wrong := [order for order in orders if not re.match(PAIR, order) or pair_of(order) != pair]:
        known = " or ".join(orders_of(pair)) if re.match(PAIR, pair) else "two languages as in aze-kaz"
        raise UserError(f"{ORDER}: {wrong[0]!r} is no order of the test's two languages; expected {known}")
    groups = test.groupby(ORDER, sort=False)
    return {str(order): rows.drop(columns=ORDER).reset_index(drop=True) for order, rows in groups}
