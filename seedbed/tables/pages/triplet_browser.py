"""Triplets to look at: what every method made of one anchor (as paper 000, figures 6 and 11), and what was dropped."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seedbed.io import read_table

TEXTS = ["anchor", "positive", "negative"]
Row = dict[str, Any]


def browse(kept: Sequence[Path], rejected: Sequence[Path], anchors: int, count: int) -> dict[str, dict[str, list[Row]]]:
    """What the page shows of each language, in alphabetical order.

    Args:
        kept: triplets that passed, `.../{generator}/{method}/{lang}.tsv`; a row's id names its anchor in all of them.
        rejected: those that did not, `.../{generator}/{method}/{lang}.rejected.tsv`.
        anchors: shown of a language.
        count: rejected rows of a file.

    Returns:
        Language -> `anchors`: each with `anchor` and `rows` (`method`, `positive`, `negative`), first those that most
        methods kept; and `rejected`: each with `method`, `reason`, `count` (rows of that reason), `side` and texts.

    Raises:
        UserError: a file lacks a column.
    """
    files, dropped = _by_language(kept), _by_language(rejected)
    found = {}
    for language in sorted({*files, *dropped}):
        tables = {name: read_table(path, ["id", *TEXTS]) for name, path in files.get(language, {}).items()}
        rows = {name: rejections(path, count) for name, path in dropped.get(language, {}).items()}
        others = [{"method": name, **row} for name, some in rows.items() for row in some]
        found[language] = {"anchors": side_by_side(tables, anchors), "rejected": others}
    return found


def _by_language(paths: Sequence[Path]) -> dict[str, dict[str, Path]]:
    """Language -> name of the method (with its generator, where there are several) -> file."""
    files = sorted(path.absolute() for path in paths)
    several = len({path.parents[1] for path in files}) > 1
    found: dict[str, dict[str, Path]] = {}
    for path in files:
        name = f"{path.parents[1].name} {path.parent.name}" if several else path.parent.name
        found.setdefault(path.name.split(".")[0], {})[name] = path
    return found


def side_by_side(tables: Mapping[str, pd.DataFrame], count: int) -> list[Row]:
    """Anchors with what each method made of them: those that most methods kept, spread over the file; see `browse`."""
    if not tables:
        return []
    rows = pd.concat([table[["id", *TEXTS]].assign(method=name) for name, table in tables.items()])
    methods = rows.groupby(["id", "anchor"], sort=False)["method"].nunique()
    shown: list[tuple[str, str]] = []
    for kept_by in range(methods.max(), 0, -1):
        shown += spread(list(methods.index[methods == kept_by]), count - len(shown))
    groups = dict(list(rows[rows["id"].isin([row for row, _ in shown])].groupby(["id", "anchor"])))
    return [
        {"anchor": key[1], "rows": groups[key][["method", "positive", "negative"]].to_dict("records")} for key in shown
    ]


def rejections(path: Path, count: int) -> list[Row]:
    """A row of each reason, the commonest reasons first; none where nothing was rejected. See `browse`."""
    if path.is_file() and path.read_bytes().count(b"\n") < 2:
        return []
    table = read_table(path, ["id", *TEXTS, "reason"])
    rows = []
    for reason, size in table["reason"].value_counts().sort_index().sort_values(ascending=False, kind="stable").items():
        middle = table[table["reason"] == reason].iloc[size // 2]
        side = str(reason).partition(":")[0]
        rows.append({"reason": reason, "count": int(size), "side": side, **{name: middle[name] for name in TEXTS}})
    return rows[:count]


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """At most `count` items from the first to the last, evenly, never drawn: a page is the same twice."""
    if count < 1 or not items:
        return []
    return [items[place] for place in np.unique(np.linspace(0, len(items) - 1, count).round().astype(int))]
