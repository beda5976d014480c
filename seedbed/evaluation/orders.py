"""Two-language tests: building the test set of a language pair in both orders, and splitting it again."""

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
"""The maximum difference of one row's gold scores between two languages."""


def join_languages(task: Task, pair: str, sets: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Build the test set of a language pair in both orders from the two languages' test sets.

    A row of one language takes the second-language columns from the row with the same id in the other.

    Args:
        task: the task; its protocol says which columns are in the second language.
        sets: the test sets of the pair's languages.

    Returns:
        The columns of the protocol's kind, and ORDER.

    Raises:
        UserError: an id occurs twice in a language, no id is in both, or a gold score or the number of an answer
            differs between the languages.
    """
    one, other = (table.set_index("id", drop=False) for table in sets)
    if twice := [name for table in (one, other) for name in table.index[table.index.duplicated()]]:
        raise UserError(f"{pair}: id {twice[0]!r} appears twice in one language; make ids unique")
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
    return concatenate_orders(dict(zip(orders_of(pair), mixed, strict=True)))


def concatenate_orders(sets: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Concatenate test sets by order, with the column ORDER."""
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


def split_orders(test: pd.DataFrame, language: str = "") -> dict[str, pd.DataFrame]:
    """Split a test set by ORDER: order -> its rows, without ORDER.

    Args:
        test: the test set; without ORDER it has one order, named "".
        language: language of the test items, or their pair.

    Raises:
        UserError: a value of ORDER is not an order of the pair; if the pair is not given, not an order of one pair.
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
