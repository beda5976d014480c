"""A table in Markdown in the paper's layout, with the paper's own numbers next to ours."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from seedbed import markdown, names
from seedbed.evaluation.protocols import Metric
from seedbed.evaluation.significance import LEAST_ITEMS, alpha, percent
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
from seedbed.tables.pages.papers_numbers import papers_numbers
from seedbed.tables.published import AVERAGE, NAME, Published
from seedbed.tables.quotes import NO_INTERVAL, Quote, by_system
from seedbed.tables.specs import OVERLAPS, TableSpec

FEW = 6
"""Up to this many languages or columns, a legend names them one by one."""


def layout(
    table: pd.DataFrame,
    spec: TableSpec,
    published: Published,
    quoted: Mapping[tuple[str, str], Sequence[Quote]] = MappingProxyType({}),
    papers: Mapping[str, str] = MappingProxyType({}),
    differences: pd.DataFrame | None = None,
) -> str:
    """The table in Markdown as the paper prints it: a block for each backbone and column, methods x languages.

    Below it are the differences of the spec's pairs, and the paper's own table, each number with ours, their difference
    and a verdict.

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
    metrics = {column.metric: column.measured for column in spec.columns}
    if spec.across == "languages":
        parts += _by_language(table, metrics, quoted, compared=compared)
    else:
        means = [mean.label for mean in spec.over_columns] if spec.across == "means" else []
        groups = {column.label: column.group for column in spec.columns}
        parts += _summary(table, means or table["column"], groups, metrics)
    if differences is not None and len(differences):
        parts += _differences(differences, methods_of(table), metrics)
    return "\n\n".join([*parts, *papers_numbers(table, spec, published)]) + "\n"


def _by_language(
    table: pd.DataFrame,
    metrics: Mapping[str, Metric],
    quoted: Mapping[tuple[str, str], Sequence[Quote]],
    *,
    compared: bool,
) -> list[str]:
    """A block for each backbone and column; a legend of marks that is the same for all appears once, at the first."""
    blocks = {key: without_lone_average(block) for key, block in table.groupby(["backbone", "column"], sort=False)}
    marks = {key: _marks(block, metrics[block["metric"].iloc[0]]) for key, block in blocks.items()}
    marks = {key: marked for key, marked in marks.items() if not _is_overlap(blocks[key])}
    once = len(marks) > 1 and len({*marks.values()}) == 1
    parts = [*dict.fromkeys(marks.values())] if once else []
    for (backbone, column), block in blocks.items():
        title = f"{column}, over backbones" if backbone == AVERAGE else ", ".join(filter(None, (column, backbone)))
        metric, own = metrics[block["metric"].iloc[0]], quoted.get((backbone, column), ())
        if _is_overlap(block):
            legend = [_overlap_legend(block, metric)]
        else:
            legend = [" ".join([_legend(block, metric), *([] if once else [marks[backbone, column]])])]
            legend += _without_interval(block, metric)
            legend += [*([_paper_legend(block)] if compared else []), *_quoted_legend(own)]
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
            shown = difference(row, metrics[row["metric"]].decimals)
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
    columns = [column for column in spec.columns if column.label in {*table["column"]}]
    shown = {name for column in columns for name in (column.label, column.group)}
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


def _legend(block: pd.DataFrame, metric: Metric) -> str:
    """What the numbers of a block are."""
    first = block.iloc[0]
    items = block[block["language"] != AVERAGE].drop_duplicates("language")
    counts = ", ".join(f"{language} {n:.0f}" for language, n in zip(items["language"], items["n"], strict=True))
    what = f"{metric.heading(first['metric'])}{_points(metric)}, mean over training seeds ({_seeds(block)})."
    return f"{what} Test items: {counts}."


def _marks(block: pd.DataFrame, metric: Metric) -> str:
    """Legend of intervals, marks and bold numbers of a block."""
    first = block.iloc[0]
    items = block[block["language"] != AVERAGE].drop_duplicates("language")
    names = methods_of(block)
    baseline = _baseline(block, names.get(first["baseline"], first["baseline"]))
    marks = (
        f"In brackets, the {percent(first['level'])}% bootstrap interval over {_resampled(block)}. "
        f"▲ ▼: above or below {baseline}, by the paired bootstrap{_and_test(items, metric)} "
        f"(p < {alpha(first['level']):g} after Benjamini and Hochberg over languages){_of_average(block)}. "
        "Bold: the best of a language."
    )
    return f"{marks} Rows: what an encoder was last trained on." if trained_on(block) else marks


def _resampled(rows: pd.DataFrame) -> str:
    """What intervals are over: a single seed says nothing of the variance between seeds."""
    return "seeds and items" if (rows["seeds"] > 1).any() else "items, and not over seeds, of which there is one"


def _without_interval(block: pd.DataFrame, metric: Metric) -> list[str]:
    """Why numbers of a block have no interval; nothing where all have one."""
    lacking = block.loc[block["low"].isna(), "language"].unique()
    if not len(lacking):
        return []
    if not metric.items:
        return ["No number has an interval: this metric does not follow from resampled items."]
    few = ", ".join(language for language in lacking if language != AVERAGE)
    whole = "; so has an average over such a language" if AVERAGE in lacking else ""
    each = " in an order" if _are_pairs(block) else ""
    return [f"n instead of an interval: fewer than {LEAST_ITEMS} test items{each} ({few}){whole}."]


def _baseline(rows: pd.DataFrame, own: str) -> str:
    """What differences are taken from: the baseline of the same backbone, or of another, or in some rows of either."""
    named = rows.loc[rows["difference"].notna(), "baseline_backbone"].fillna("")
    others = [name for name in named.unique() if name]
    if not others:
        return own
    return others[0] if (named != "").all() else f"{own}, and that above or below the one of {others[0]}"


def _and_test(items: pd.DataFrame, metric: Metric) -> str:
    """The test over items that must agree with the bootstrap; of both orders of a pair of languages there is none."""
    return "" if _are_pairs(items) else f" and by {metric.by.name}"


def _of_average(block: pd.DataFrame) -> str:
    """How averages are tested, if a block has any."""
    return "; averages by the bootstrap alone" if (block["language"] == AVERAGE).any() else ""


def _are_pairs(rows: pd.DataFrame) -> bool:
    return any(len(names.languages_of(language)) > 1 for language in rows["language"])


def _is_overlap(block: pd.DataFrame) -> bool:
    return block["metric"].iloc[0] in OVERLAPS


def _overlap_legend(block: pd.DataFrame, metric: Metric) -> str:
    """Legend of a block of overlaps: the measure, intervals and marks."""
    first, n = block.iloc[0], block.loc[block["language"] != AVERAGE, "n"]
    counts = " to ".join(f"{count:.0f}" for count in sorted({n.min(), n.max()}))
    ours = (
        f"Dice{_points(metric)} of case-folded word sets: {first['metric']}, mean over {counts} triplets a method and "
        f"language. In brackets, the {percent(first['level'])}% bootstrap interval over triplets."
    )
    if block["p_adjusted"].notna().any():
        baseline = methods_of(block)[first["baseline"]]
        ours += (
            f" ▲ ▼: above or below {baseline}, by the bootstrap of both, each on its own "
            f"(p < {alpha(first['level']):g} after Benjamini and Hochberg over languages)."
        )
    return ours


def _points(metric: Metric) -> str:
    return f" x {metric.points}" if metric.points != 1 else ""


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
        return f"The paper does not have {first['column']} of {first['backbone']}."
    lines = ["In italics below a row: the paper's number, with the standard deviation over its seeds."]
    counts = languages.groupby("language", sort=False)["paper"].count()
    if absent := list(counts.index[counts == 0]):
        lines.append(f"The paper lacks {', '.join(absent)}.")
    return " ".join([*lines, *_notes(languages, "language")])


def _notes(rows: pd.DataFrame, by: str) -> list[str]:
    """What the notes on the paper's numbers say, with the languages or columns that have them."""
    noted = rows[rows["paper_note"] != ""].groupby("paper_note", sort=False)
    every = rows[by].nunique()
    names = {note: some[by].unique() for note, some in noted}
    return [f"† {'all' if FEW < len(some) == every else ', '.join(some)}: {note}." for note, some in names.items()]


def _quoted_legend(quotes: Sequence[Quote]) -> list[str]:
    """Where the scores of others are from; nothing where there are none."""
    found = by_system(quotes)
    sources = {name: ", ".join(dict.fromkeys(one.source for one in each)) for name, each in found.items()}
    told = "; ".join(f"{name}: {source}" for name, source in sources.items())
    return [f"Reported by others, with {NO_INTERVAL} and in no test. {told}."] if told else []


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
        best = None if _is_overlap(block) else best_of(block[block["language"] == language], metric)
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
        group, metric = groups.get(name, ""), metrics[own["metric"].iloc[0]]
        head = _Head(name.removesuffix(f", {group}"), metric.decimals, best_of(own, metric))
        by_group.setdefault(group, {})[name] = head
    hundredths = all(metrics[name].points == 100 for name in averages["metric"].unique())
    parts = [_summary_legend(table, averages, hundredths)]
    for group, heads in by_group.items():
        parts += [f"## {group[0].upper()}{group[1:]}"] if group else []
        parts.append(grid(_cells("System", rows, "column", heads)))
    return parts


def _summary_legend(table: pd.DataFrame, averages: pd.DataFrame, hundredths: bool) -> str:
    """What the numbers are; `hundredths`: they are printed x 100."""
    level = table["level"].iloc[0]
    measured = table[table["language"] != AVERAGE].drop_duplicates(["column", "language"])
    told = "; ".join(_items_measured(measured))
    lines = [
        f"Averages over languages{', x 100' if hundredths else ''}. Measured: {told}. In brackets, the "
        f"{percent(level)}% bootstrap interval over {_resampled(averages)}; languages are not resampled. "
        "Bold: the best of a column."
    ]
    if averages["p_adjusted"].notna().any():
        baseline = methods_of(table).get(table["baseline"].iloc[0], "")
        baseline = _baseline(averages, f"{baseline} of the same backbone")
        lines.append(f"▲ ▼: above or below {baseline}, by the paired bootstrap (p < {alpha(level):g}).")
    if averages["paper"].notna().any():
        lines.append("In italics below a row: the paper's number.")
    if averages["low"].isna().any():
        lines.append(f"n instead of an interval: a language has fewer than {LEAST_ITEMS} items, or the metric none.")
    return " ".join([*lines, *_notes(averages, "column")])


def _items_measured(measured: pd.DataFrame) -> Iterator[str]:
    """`Tatoeba: f1@1 forward, 112 languages, 88,000 items`; of many columns with as much the first and the last."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for column, rows in measured.groupby("column", sort=False):
        what = "pair" if _are_pairs(rows) else "language"
        languages = f"{len(rows)} {what}{'s' if len(rows) > 1 else ''}"
        found = alike.setdefault(f"{languages}, {int(rows['n'].sum()):,} items", [])
        found.append((str(column), rows["metric"].iloc[0]))
    for much, columns in alike.items():
        if len(columns) > FEW:
            yield f"{columns[0][0]} ... {columns[-1][0]} ({len(columns)} columns): {much}"
        else:
            yield from (f"{column}: {metric}, {much}" for column, metric in columns)
