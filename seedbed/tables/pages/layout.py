"""A table in Markdown in the paper's layout, with the paper's own numbers next to ours."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from seedbed import markdown
from seedbed.evaluation.protocols import Metric
from seedbed.evaluation.significance import alpha, percent
from seedbed.tables.cells import (
    best_of,
    cell,
    difference,
    grid,
    languages_of,
    methods_of,
    paper_cell,
    systems,
    trained_on,
    without_lone_average,
)
from seedbed.tables.pages import legends
from seedbed.tables.pages.papers_numbers import papers_numbers
from seedbed.tables.published import AVERAGE, NAME, Published
from seedbed.tables.quotes import Quote, by_system
from seedbed.tables.specs import Column, TableSpec


def layout(
    table: pd.DataFrame,
    spec: TableSpec,
    published: Published,
    quoted: Mapping[tuple[str, str], Sequence[Quote]] = MappingProxyType({}),
    papers: Mapping[str, str] = MappingProxyType({}),
    differences: pd.DataFrame | None = None,
) -> str:
    """The table in Markdown as the paper prints it: a block for each backbone and column, methods x languages.

    Below it are the differences of the spec's pairs, and, if a number here has a counterpart in it, the paper's own
    table, each number with ours, their difference and a verdict.

    Args:
        table: the table as `tabulate.read` returns it.
        quoted: (backbone, column) -> scores that others report on the same tests, in rows below ours.
        papers: backbone -> its name in the paper, by which `absent` names it.
        differences: the differences of pairs, see `tabulate.compare`; None: there are none.
    """
    compared = table["paper"].notna().any()
    parts = [f"# {spec.title}", spec.caption, *_absent(table, spec, published, papers)]
    if spec.paper and not compared:
        parts.append("**No number here has a counterpart in the paper.**")
    metrics = {label: spec.column_of(label).measured for label in table["column"].unique()}
    if spec.across == "languages":
        parts += _by_language(table, metrics, quoted, compared=compared)
    else:
        means = [mean.label for mean in spec.over_columns] if spec.across == "means" else []
        groups = {label: column.group for label, column in _columns(table, spec).items()}
        parts += _summary(table, means or table["column"], groups, metrics)
    if differences is not None and len(differences):
        parts += _differences(differences, methods_of(table), metrics)
    if compared:
        parts += papers_numbers(table, spec, published)
    return "\n\n".join(parts) + "\n"


def _columns(table: pd.DataFrame, spec: TableSpec) -> dict[str, Column]:
    """Label in the table -> the spec's column that it is of; means of columns are left out."""
    means = {mean.label for mean in spec.over_columns}
    return {label: spec.column_of(label) for label in table["column"].unique() if label not in means}


def _by_language(
    table: pd.DataFrame,
    metrics: Mapping[str, Metric],
    quoted: Mapping[tuple[str, str], Sequence[Quote]],
    *,
    compared: bool,
) -> list[str]:
    """A block for each backbone and column; a legend of marks that is the same for all appears once, at the first."""
    blocks = {key: without_lone_average(block) for key, block in table.groupby(["backbone", "column"], sort=False)}
    marks = {
        (backbone, column): legends.of_marks(block, metrics[column])
        for (backbone, column), block in blocks.items()
        if not legends.is_overlap(block)
    }
    once = len(marks) > 1 and len({*marks.values()}) == 1
    parts = [*dict.fromkeys(marks.values())] if once else []
    for (backbone, column), block in blocks.items():
        title = f"{column}, over backbones" if backbone == AVERAGE else ", ".join(filter(None, (column, backbone)))
        metric, own = metrics[column], quoted.get((backbone, column), ())
        if legends.is_overlap(block):
            legend = [legends.of_overlaps(block, metric)]
        else:
            legend = [" ".join([legends.of_block(block, metric), *([] if once else [marks[backbone, column]])])]
            legend += legends.without_interval(block, metric)
            legend += [*([legends.of_paper(block)] if compared else []), *legends.of_quotes(own)]
        parts += [f"## {title}", *legend, _grid(block, metric, own)]
    return parts


def _differences(differences: pd.DataFrame, methods: Mapping[str, str], metrics: Mapping[str, Metric]) -> list[str]:
    """The difference of each pair in each block: of the average over languages, or in the block's only language."""
    lines = []
    for (backbone, column), block in differences.groupby(["backbone", "column"], sort=False):
        for _, rows in block.groupby(["recipe", "baseline"], sort=False):
            row = without_lone_average(rows).iloc[-1]  # an average is last
            where = [column, "over backbones" if backbone == AVERAGE else backbone]
            where += [row["language"]] if row["language"] != AVERAGE else []
            names = (methods.get(recipe, recipe) for recipe in (row["recipe"], row["baseline"]))
            shown = difference(row, metrics[column].decimals)
            lines.append([", ".join(filter(None, where)), " less ".join(names), shown])
    level = differences["level"].iloc[0]
    legend = (
        f"Of averages over languages, or in the language that is named. In brackets, the {percent(level)}% bootstrap "
        f"interval. ▲ ▼: p < {alpha(level):g} by the tests for differences to the baseline, not corrected over pairs."
    )
    compared = markdown.table(["Where", "Compared", "Difference"], lines, right=1)
    return ["## Rows compared with each other", legend, compared]


def _absent(table: pd.DataFrame, spec: TableSpec, published: Published, papers: Mapping[str, str]) -> list[str]:
    """The columns and rows that the table lacks, by reason; nothing where all are there."""
    shown = {name for column in _columns(table, spec).values() for name in (column.label, column.group)}
    cells = (tuple(name.split(NAME)) for name in table["paper_cell"].unique() if name)
    shown |= {published.cells[key].system for key in cells}
    for backbone, method in {*zip(table["backbone"], table["method"], strict=True)}:
        shown |= row_names(papers.get(backbone) or backbone, method)
    lacking: dict[str, list[str]] = {}
    for name, why in spec.absent.items():
        if name not in shown:
            lacking.setdefault(why, []).append(name)
    told = "; ".join(f"{', '.join(names)} ({why})" for why, names in lacking.items())
    return [f"Not in this table: {told}."] if told else []


def row_names(backbone: str, method: str) -> set[str]:
    """The names by which a spec's `absent` may name a row: its backbone, its recipe's printed name, or both."""
    return {backbone, method, f"{backbone}, {method}"}


class _Head(NamedTuple):
    """The head of a column of numbers."""

    label: str
    decimals: int
    """Those of its metric."""
    best: str | None
    """Its best number, see `best_of`, which is bold; None: none is."""


def _grid(block: pd.DataFrame, metric: Metric, quotes: Sequence[Quote]) -> str:
    """Methods down, languages and their average across; below them what others report."""
    heads = {}
    for language in languages_of(block):
        best = None if legends.is_overlap(block) else best_of(block[block["language"] == language], metric)
        heads[language] = _Head(language, metric.decimals, best)
    rows = trained_on(block)
    rows_of = {method: rows.get(recipe, "") for recipe, method in methods_of(block).items()} if rows else {}
    lines = _cells("Method", block.groupby("method", sort=False), "language", heads, rows_of)
    for name, each in by_system(quotes).items():
        values = {one.language: f"{one.value:z.{metric.decimals}f}" for one in each}
        lines.append([name, *(values.get(language, "") for language in heads), *([""] if rows else [])])
    return grid(lines)


def _cells(
    first: str,
    rows: Iterable[tuple[str, pd.DataFrame]],
    across: str,
    heads: Mapping[str, _Head],
    rows_of: Mapping[str, str] = MappingProxyType({}),
) -> list[list[str]]:
    """A line of our numbers for each label, and one of the paper's where it has any.

    Args:
        first: the head of the labels.
        rows: label -> the rows of its numbers.
        across: the column of the table whose values are side by side.
        heads: value of `across` -> its head.
        rows_of: label -> the rows that it was trained on; without any there is no column for them.
    """
    lines = [[first, *(head.label for head in heads.values()), *(["Rows"] if rows_of else [])]]
    for label, numbers in rows:
        own = {row[across]: row for _, row in numbers.iterrows()}
        ours = [cell(own[name], head.best, head.decimals) if name in own else "" for name, head in heads.items()]
        lines.append([label, *ours, *([rows_of[label]] if rows_of else [])])
        if numbers["paper"].notna().any():
            papers = [paper_cell(own[name], head.decimals) if name in own else "" for name, head in heads.items()]
            lines.append(["*paper*", *papers, *([""] if rows_of else [])])
    return lines


# ------------------------------------------------------------------------------------------------------ across columns


def _summary(
    table: pd.DataFrame, shown: Collection[str], groups: Mapping[str, str], metrics: Mapping[str, Metric]
) -> list[str]:
    """What averages of columns over languages are, and a row of them for each backbone and method, as MINERS has it.

    Args:
        groups: column -> its group, of which each has a grid.
    """
    averages = table[(table["language"] == AVERAGE) & table["column"].isin(shown)]
    names = systems(averages)
    rows = [(names[system], rows) for system, rows in averages.groupby(["backbone", "recipe"], sort=False)]
    by_group: dict[str, dict[str, _Head]] = {}
    for name, own in averages.groupby("column", sort=False):
        group, metric = groups.get(name, ""), metrics[name]
        head = _Head(name.removesuffix(f", {group}"), metric.decimals, best_of(own, metric))
        by_group.setdefault(group, {})[name] = head
    hundredths = all(metrics[name].points == 100 for name in averages["column"].unique())
    parts = [legends.of_summary(table, averages, hundredths)]
    for group, heads in by_group.items():
        parts += [f"## {group[0].upper()}{group[1:]}"] if group else []
        parts.append(grid(_cells("System", rows, "column", heads)))
    return parts
