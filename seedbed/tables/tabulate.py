"""A table of scores: every number with its interval, its difference to the baseline, and the paper's number beside it.

`tabulate` makes it tidy, one row for each backbone, column, recipe and language; `layout` prints it as the paper does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from seedbed.evaluation.significance import benjamini_hochberg, percentiles, two_sided
from seedbed.io import UserError, atomic
from seedbed.tables.measures import Measure, average, measure
from seedbed.tables.published import AVERAGE, Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import Column, Scored, System, TableSpec

COLUMNS = [
    "backbone", "column", "recipe", "method", "language", "task", "metric",
    "value", "low", "high", "n", "seeds", "sd",
    "baseline", "level", "difference", "difference_low", "difference_high", "p", "p_adjusted",
    "paper", "paper_sd", "paper_note",
]  # fmt: skip
DECIMALS = {
    **dict.fromkeys(("value", "low", "high", "sd", "difference", "difference_low", "difference_high"), 3),
    **dict.fromkeys(("paper", "paper_sd"), 2),
    **dict.fromkeys(("level", "p", "p_adjusted"), 4),
    **dict.fromkeys(("n", "seeds"), 0),
}
"""Decimals of the numeric columns; rounded once, so that CSV, Markdown and figure print the same."""
OTHER_DATA = "other data than the paper's"
"""Note on a number of the paper that was not measured on our test set."""


@dataclass(frozen=True)
class Block:
    """The part of a table that one backbone and one column fill."""

    backbone: str
    column: Column
    tests: dict[str, str]
    """Language -> the task that tests it."""


def tabulate(
    spec: TableSpec,
    systems: Sequence[System],
    backbones: Mapping[str, str],
    tasks: Mapping[str, Scored],
    scores: Path,
    statistics: Statistics,
    *,
    paper: Path,
) -> pd.DataFrame:
    """Gather the scores of a study into one tidy table.

    Args:
        systems: the recipes of the study, with the languages and seeds of their encoders.
        backbones: name -> the paper's name of it, or "".
        scores: folder {backbone}/{recipe}/{encoder language}/{seed}/{task}/{test language}.json.
        paper: folder of the papers' numbers, CSV.

    Returns:
        COLUMNS. Scores and differences in points (x 100), probabilities as they are; NaN where there is none: the
        interval of fewer than 10 items, the deviation of one seed, a number that the paper does not have.

    Raises:
        UserError: a score file is missing or does not agree with its items; systems were not scored on the same
            items; the baseline is no recipe; the spec has an unknown recipe; no task has a protocol of the spec.
    """
    methods = spec.methods(system.recipe for system in systems)
    if statistics.baseline not in methods:
        raise UserError(f"statistics.baseline: no recipe {statistics.baseline!r}; known: {', '.join(methods)}")
    systems = sorted(systems, key=lambda system: list(methods).index(system.recipe))
    published = Published(spec.paper, paper)
    rows: list[dict[str, Any]] = []
    blocks = [Block(backbone, *column) for backbone in backbones for column in _columns(spec, tasks)]
    for block in blocks:
        measures = [
            measure(scores, block.backbone, block.column, task, language, systems, statistics)
            for language, task in block.tests.items()
        ]
        for row, measured in _rows(block, [*measures, average(measures)], systems, statistics):
            printed = _printed(published, row["recipe"], measured, block, backbones[block.backbone])
            rows.append(row | printed | {"method": methods[row["recipe"]]})
    return pd.DataFrame(rows, columns=COLUMNS).round(DECIMALS)


def _columns(spec: TableSpec, tasks: Mapping[str, Scored]) -> list[tuple[Column, dict[str, str]]]:
    """Columns and their tests (language -> task); tasks of one protocol share a column unless they share a language."""
    columns: list[tuple[Column, dict[str, str]]] = []
    for column in spec.columns:
        chosen = {name: task.languages for name, task in tasks.items() if task.protocol == column.protocol}
        tests = [(language, name) for name, languages in chosen.items() for language in languages]
        if len(dict(tests)) == len(tests):
            columns.append((column, dict(tests)))
            continue
        for name, languages in chosen.items():
            own = column.model_copy(update={"label": f"{column.label} ({name})"})
            columns.append((own, dict.fromkeys(languages, name)))
    if not any(tests for _, tests in columns):
        wanted = " or ".join(column.protocol for column in spec.columns)
        raise UserError(f"tasks: none has protocol {wanted} and a language; add one, or leave the table out")
    return [(column, {code: tests[code] for code in spec.ordered(tests)}) for column, tests in columns if tests]


def _rows(
    block: Block, measures: Sequence[Measure], systems: Sequence[System], statistics: Statistics
) -> Iterator[tuple[dict[str, Any], Measure]]:
    """Recipe by recipe, language by language, the average last; with what each was measured on."""
    base = [system.recipe for system in systems].index(statistics.baseline)
    constant = {"backbone": block.backbone, "column": block.column.label, "metric": block.column.metric}
    constant |= {"baseline": statistics.baseline, "level": statistics.level}
    for place, system in enumerate(systems):
        rows = []
        for each in measures:
            facts = {"recipe": system.recipe, "language": each.language, "task": each.task}
            rows.append(constant | facts | _numbers(each, place, base, statistics.level))
        _adjust([row for row in rows if row["language"] != AVERAGE])
        _adjust(rows[-1:])  # the average is one question of its own
        yield from zip(rows, measures, strict=True)


def _adjust(rows: Sequence[dict[str, Any]]) -> None:
    """Adjust the p-values of one family."""
    tested = [row for row in rows if "p" in row]
    for row, p in zip(tested, benjamini_hochberg([row["p"] for row in tested]), strict=True):
        row["p_adjusted"] = float(p)


def _numbers(measured: Measure, place: int, base: int, level: float) -> dict[str, Any]:
    """One system's numbers; those that cannot be had are left out."""
    values, replicates = measured.by_seed[place], measured.replicates
    row: dict[str, Any] = {"n": measured.n, "seeds": len(values), "value": 100 * values.mean()}
    if len(values) > 1:
        row["sd"] = 100 * values.std(ddof=1)
    if replicates is not None:
        row["low"], row["high"] = _interval(replicates[place], level)
    if place == base:
        return row
    row["difference"] = row["value"] - 100 * measured.by_seed[base].mean()
    if replicates is not None:
        differences = replicates[place] - replicates[base]
        row["difference_low"], row["difference_high"] = _interval(differences, level)
        row["p"] = two_sided(differences)
    return row


def _interval(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The percentile interval in points."""
    low, high = percentiles(values, level)
    return 100 * low, 100 * high


def _printed(published: Published, recipe: str, measured: Measure, block: Block, backbone: str) -> dict[str, Any]:
    """The paper's number for a row, `backbone` by the paper's name; nothing if it has none."""
    facts = {"recipe": recipe, "backbone": backbone, "task": block.column.paper_task, "metric": block.column.metric}
    if measured.language == AVERAGE:
        cell = published.average(block.tests, **facts)
    else:
        cell = published.cell(language=measured.language, **facts)
    if cell is None:
        return {"paper_note": ""}
    notes = [note for note in (cell.note, "" if measured.papers_data else OTHER_DATA) if note]
    return {"paper": cell.value, "paper_sd": cell.sd, "paper_note": "; ".join(notes)}


# ----------------------------------------------------------------------------------------------------------- as a CSV


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV with a fixed number of decimals; NaN is an empty cell."""
    text = table.copy().astype(object)
    for name, decimals in DECIMALS.items():
        text[name] = ["" if pd.isna(value) else f"{value:z.{decimals}f}" for value in table[name]]
    with atomic(path) as temporary:
        text.to_csv(temporary, index=False, lineterminator="\n")


def read(path: Path) -> pd.DataFrame:
    """Read what `write` wrote.

    Raises:
        UserError: no such file, or another kind of CSV.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected a table made by tabulate")
    # `nan` is a language (Min Nan Chinese): only numbers may be missing.
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(table.columns) != COLUMNS:
        raise UserError(f"{path}: columns {', '.join(table.columns)}; expected a table made by tabulate")
    return table.assign(**{name: pd.to_numeric(table[name]) for name in DECIMALS})


# ---------------------------------------------------------------------------------------------------- as the paper's


def layout(table: pd.DataFrame, spec: TableSpec) -> str:
    """The table in Markdown as the paper prints it: a block for each backbone and column, methods x languages."""
    parts = [f"# {spec.title}", spec.caption]
    for (backbone, column), block in table.groupby(["backbone", "column"], sort=False):
        parts += [f"## {column}, {backbone}", *_legend(block), _grid(block)]
    return "\n\n".join(parts) + "\n"


def _legend(block: pd.DataFrame) -> list[str]:
    """What the numbers of a block are, and what stands beside them; a paragraph each."""
    first = block.iloc[0]
    items = block[block["language"] != AVERAGE].drop_duplicates("language")
    counts = ", ".join(f"{language} {n:.0f}" for language, n in zip(items["language"], items["n"], strict=True))
    baseline = block.loc[block["recipe"] == first["baseline"], "method"].iloc[0]
    ours = (
        f"{first['metric'].capitalize()} x 100, mean over training seeds ({_seeds(block)}). Test items: {counts}. "
        f"In brackets, the {first['level']:.0%} bootstrap interval over seeds and items. "
        f"▲ ▼: above or below {baseline} (paired bootstrap, p < {1 - first['level']:.2g} after Benjamini and Hochberg "
        "over languages). Bold: the best of a language."
    )
    return [ours, _paper_legend(block)]


def _seeds(block: pd.DataFrame) -> str:
    """`3; Base Encoder 1`: the usual number of seeds, then who has another."""
    seeds = block.drop_duplicates("recipe").set_index("method")["seeds"]
    usual = seeds.mode().iloc[-1]
    others = [f"{method} {count:.0f}" for method, count in seeds[seeds != usual].items()]
    return "; ".join([f"{usual:.0f}", *others])


def _paper_legend(block: pd.DataFrame) -> str:
    """Which numbers are the paper's, and what they cannot be compared with."""
    first, languages = block.iloc[0], block[block["language"] != AVERAGE]
    if block["paper"].isna().all():
        what = f"it does not have {first['column']} of {first['backbone']}"
        return f"**No number here has a counterpart in the paper:** {what}."
    lines = ["In italics below a row: the paper's number, with the standard deviation over its seeds."]
    counts = languages.groupby("language", sort=False)["paper"].count()
    if absent := list(counts.index[counts == 0]):
        lines.append(f"The paper lacks {', '.join(absent)}.")
    for note, rows in languages[languages["paper_note"] != ""].groupby("paper_note", sort=False):
        lines.append(f"† {', '.join(rows['language'].unique())}: {note}.")
    return " ".join(lines)


def _grid(block: pd.DataFrame) -> str:
    """Methods down, languages and their average across."""
    languages = list(block["language"].unique())
    best = block.groupby("language")["value"].max().map("{:z.1f}".format)
    lines = [["Method", *languages], ["---", *["---:"] * len(languages)]]
    for method, rows in block.groupby("method", sort=False):
        cells = [row for _, row in rows.iterrows()]
        lines.append([str(method), *(_cell(row, best[row["language"]]) for row in cells)])
        if rows["paper"].notna().any():
            lines.append(["*paper*", *map(_paper_cell, cells)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(row: pd.Series, best: str) -> str:
    """`**71.3** [68.2, 74.1] ▲`; fewer than ten items have no interval, so their number is told."""
    value = f"{row['value']:z.1f}"
    value = f"**{value}**" if value == best else value
    if pd.isna(row["low"]):
        return f"{value} (n = {row['n']:.0f})"
    mark = (" ▲" if row["difference"] > 0 else " ▼") if row["p_adjusted"] < 1 - row["level"] else ""
    return f"{value} [{row['low']:z.1f}, {row['high']:z.1f}]{mark}"


def _paper_cell(row: pd.Series) -> str:
    if pd.isna(row["paper"]):
        return ""
    sd = "" if pd.isna(row["paper_sd"]) else f" ± {row['paper_sd']:.1f}"
    return f"*{row['paper']:.1f}{sd}*" + ("†" if row["paper_note"] else "")
