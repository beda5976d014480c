"""Triplets in the report: what each method generated for an anchor (as in paper 000, figures 6 and 11), and rejected
ones.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seedbed.io import has_rows, read_table

TEXTS = ["anchor", "positive", "negative"]
Row = dict[str, Any]


def browse(kept: Sequence[Path], rejected: Sequence[Path], anchors: int, count: int) -> dict[str, dict[str, list[Row]]]:
    """What the page shows of each language, sorted by language.

    Args:
        kept: accepted triplets, `.../{generator}/{method}/{lang}.tsv`; a row's id identifies its anchor in all files.
        rejected: rejected triplets, `.../{generator}/{method}/{lang}.rejected.tsv`.
        anchors: the number of anchors of a language.
        count: the number of rejected rows of a file.

    Returns:
        Language -> `anchors`: each with `anchor` and `rows` (`method`, `positive`, `negative`), first those that most
        methods have; and `rejected`: each with `method`, `reason`, `count` (rows with that reason), `side` and texts.

    Raises:
        UserError: a file lacks a column.
    """
    files, dropped = by_language(kept, 1), by_language(rejected, 1)
    found = {}
    for language in sorted({*files, *dropped}):
        own = {name: path for name, path in files.get(language, {}).items() if has_rows(path)}
        tables = {name: read_table(path, ["id", *TEXTS]) for name, path in own.items()}
        rows = {name: rejections(path, count) for name, path in dropped.get(language, {}).items()}
        others = [{"method": name, **row} for name, some in rows.items() for row in some]
        found[language] = {"anchors": side_by_side(tables, anchors), "rejected": others}
    return found


def by_language(paths: Sequence[Path], model: int) -> dict[str, dict[str, Path]]:
    """Language -> name of the method (with its model, where there are several) -> file.

    Args:
        paths: files `.../{method}/{lang}.tsv`.
        model: which of a file's `parents` has the name of the model.
    """
    files = sorted(path.absolute() for path in paths)
    several = len({path.parents[model] for path in files}) > 1
    found: dict[str, dict[str, Path]] = {}
    for path in files:
        name = f"{path.parents[model].name} {path.parent.name}" if several else path.parent.name
        found.setdefault(path.name.split(".")[0], {})[name] = path
    return found


def side_by_side(tables: Mapping[str, pd.DataFrame], count: int) -> list[Row]:
    """At most `count` anchors with the triplets of each method, see `browse`.

    Anchors that most methods have come first. Of those of equally many methods, anchors at even distances are taken.

    Args:
        tables: method -> its triplets, with `id`, `anchor`, `positive` and `negative`.
    """
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
    """One rejected triplet for each of the `count` most frequent reasons, see `browse`; empty if none was rejected."""
    if not has_rows(path):
        return []
    table = read_table(path, ["id", *TEXTS, "reason"])
    rows = []
    for reason, size in table["reason"].value_counts().sort_index().sort_values(ascending=False, kind="stable").items():
        middle = table[table["reason"] == reason].iloc[size // 2]
        side = str(reason).partition(":")[0]
        rows.append({"reason": reason, "count": int(size), "side": side, **{name: middle[name] for name in TEXTS}})
    return rows[:count]


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """At most `count` items at even distances, always the same."""
    if count < 1 or not items:
        return []
    return [items[place] for place in np.unique(np.linspace(0, len(items) - 1, count).round().astype(int))]
