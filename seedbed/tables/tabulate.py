"""A table of scores in tidy form: every number with its interval, its difference to the baseline, and the paper's
number; and the differences of pairs of its rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seedbed.evaluation.significance import benjamini_hochberg, rounded
from seedbed.io import UserError, atomic
from seedbed.tables.measures import OTHER, OTHER_DATA, UNNAMED, Measure, average, difference, interval, lacks, measure
from seedbed.tables.plan import Block
from seedbed.tables.published import AVERAGE, NAME, Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import TableSpec

COLUMNS = [
    "backbone", "column", "recipe", "method", "language", "task", "protocol", "metric",
    "value", "low", "high", "n", "rows", "seeds", "sd",
    "baseline", "baseline_backbone", "level",
    "difference", "difference_low", "difference_high", "p", "p_items", "p_adjusted",
    "paper", "paper_sd", "paper_note", "paper_cell", "delta", "verdict",
]  # fmt: skip
COMPARED = [
    "backbone", "column", "recipe", "baseline", "language", "task", "metric", "n", "seeds", "baseline_seeds", "level",
    "difference", "difference_low", "difference_high", "p", "p_items", "p_adjusted",
]  # fmt: skip
"""Columns of the differences of pairs: of `recipe` less `baseline`."""
DECIMALS = {
    **dict.fromkeys(("value", "low", "high", "sd", "difference", "difference_low", "difference_high", "delta"), 6),
    **dict.fromkeys(("paper", "paper_sd"), 3),
    **dict.fromkeys(("level", "p", "p_items", "p_adjusted"), 4),
    **dict.fromkeys(("n", "rows", "seeds", "baseline_seeds"), 0),
}
"""Decimals of numeric columns; numbers are rounded once, so that CSV, Markdown and figures agree, and `p_adjusted` such
that it stays on its side of 1 - level. Of our scores they are more than tables print, so that a small difference keeps
its sign, and what is printed is as near as it can be."""
REPRODUCED, NOT_REPRODUCED, NOT_RUN = "reproduced", "not reproduced", "not run"


Measured = Sequence[tuple[Block, Sequence[Measure]]]
"""Blocks with what was measured for them."""


def measure_blocks(
    blocks: Sequence[Block], scores: Path, statistics: Statistics, spec: TableSpec
) -> Iterator[tuple[Block, list[Measure]]]:
    """Read the scores of a table, and the overlaps of triplets: each block with its languages and their average.

    Averages over backbones and means of columns come last, as blocks.

    Args:
        scores: the folder of score files, see `Cell.path`, in the folder of results.
        spec: says which averages over backbones and means of columns are added.

    Raises:
        UserError: a score file is missing or contradicts its items; systems were scored on different items; a file of
            triplets is missing or empty.
    """
    by_column: dict[str, list[tuple[Block, list[Measure]]]] = {}
    by_backbone: dict[str, dict[str, tuple[Block, list[Measure]]]] = {}
    absent = {(block.backbone, block.column.label) for block in blocks if spec.partial and lacks(scores, block)}
    for block in blocks:
        if (block.backbone, block.column.label) in absent:
            continue
        if block.other and (block.other.backbone, block.column.label) in absent:
            block = block.model_copy(update={"other": None})
        measures = [measure(scores, block, language, statistics) for language in block.tests]
        by_column.setdefault(block.column.label, []).append((block, measures))
        with_average = [*measures, _average(measures, [block])]
        by_backbone.setdefault(block.backbone, {})[block.column.label] = block, with_average
        yield block, with_average
    for same in by_column.values() if spec.over_backbones else ():
        if len(same) > 1:
            averaged = [(each.paper_backbone, language) for each, _ in same for language in each.tests]
            changes = {"backbone": AVERAGE, "paper_backbone": AVERAGE, "averaged": averaged}
            every = [each for _, measures in same for each in measures]
            yield same[0][0].model_copy(update=changes), [_average(every, [block for block, _ in same])]
    labels = list(dict.fromkeys(label for columns in by_backbone.values() for label in columns))
    for columns in by_backbone.values() if spec.over_columns else ():
        yield from _means(columns, spec, labels)


def tabulate(measured: Measured, statistics: Statistics, published: Published) -> pd.DataFrame:
    """Collect what `measure_blocks` measured for a table into one tidy frame.

    Returns:
        A frame with COLUMNS. Scores and differences are in points; `rows` are training rows. NaN: intervals of fewer
        than 10 items, the deviation of one seed, numbers that the paper does not have.
    """
    rows = [
        row | _printed(published, row, own, block)
        for block, measures in measured
        for row, own in _rows(block, measures, statistics)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).round(DECIMALS)


def compare(measured: Measured, pairs: Sequence[tuple[str, str]], statistics: Statistics) -> pd.DataFrame:
    """The differences of pairs of systems, where a block has both, tested as those to the baseline are; the second is
    subtracted.

    Returns:
        A frame with COMPARED, differences in points. P-values are adjusted over the languages of a pair in a block;
        averages are a separate family of tests.
    """
    rows: list[dict[str, Any]] = []
    for block, measures in measured:
        for recipe, base in pairs:
            facts = _constant(block, statistics) | {"recipe": recipe, "baseline": base}
            both = [each for each in measures if {recipe, base} <= {*each.by_seed}]
            own = [
                facts
                | {"language": each.language, "task": each.task, "n": each.n[recipe]}
                | {"seeds": len(each.by_seed[recipe]), "baseline_seeds": len(each.by_seed[base])}
                | difference(each, recipe, base, block.column.measured, statistics)
                for each in both
            ]
            _adjust(own)
            rows += own
    return pd.DataFrame(rows, columns=COMPARED).round(DECIMALS)


def _average(measures: Sequence[Measure], blocks: Sequence[Block]) -> Measure:
    """The average of what was measured for blocks; over other languages than the paper's it is no attempt at its."""
    found = average(measures)
    counts = [(block.column.paper_languages, len(block.tests)) for block in blocks]
    other = (OTHER_DATA,) if any(papers not in (None, 0, ours) for papers, ours in counts) else ()
    unnamed = (UNNAMED,) if any(papers == 0 for papers, _ in counts) else ()
    return replace(found, n=_items(measures, found), unlike=found.unlike + other + unnamed)


def _items(measures: Sequence[Measure], averaged: Measure) -> dict[str, int]:
    """Numbers of items of an average: those of a task in a language count once, for however many backbones or metrics
    they are.
    """
    once = {(each.task, each.language): each.n for each in measures}.values()
    return {recipe: sum(counts[recipe] for counts in once) for recipe in averaged.n}


def _means(
    columns: Mapping[str, tuple[Block, list[Measure]]], spec: TableSpec, measured_columns: Sequence[str]
) -> Iterator[tuple[Block, list[Measure]]]:
    """Means of the columns that are measured, each with its average last, and of such means.

    A backbone or classifier that lacks one of them has no mean: over fewer columns it would not compare with others'.
    Over fewer columns than the spec's, or other languages than the paper's, a mean is no attempt at its.
    """
    known = {label: (block, measures[-1]) for label, (block, measures) in columns.items()}
    parts = {label: measures[:-1] for label, (_, measures) in columns.items()}
    there = [*measured_columns]
    languages = {label: len(block.tests) for label, (block, _) in columns.items()}
    for mean in spec.over_columns:
        labels = mean.columns or measured_columns
        had = [label for label in labels if label in known]
        if any(label in there for label in labels):
            there.append(mean.label)
        if not had or any(label in there and label not in known for label in labels):
            continue
        counts = [languages[label] for label in had] if mean.over == "languages" else None
        measured = average([known[label][1] for label in had], counts)
        languages[mean.label] = sum(languages[label] for label in had)
        whole = {*(mean.columns or (column.label for column in spec.columns))} <= {*had}
        whole = whole and mean.paper_languages in (None, languages[mean.label])
        parts[mean.label] = [each for label in had for each in parts[label]]
        n = _items(parts[mean.label], measured)
        measured = replace(measured, n=n, unlike=measured.unlike + (() if whole else (OTHER_DATA,)))
        first = known[had[0]][0]
        block = first.model_copy(update={"column": mean.as_column(first.column)})
        known[mean.label] = block, measured
        yield block, [measured]


def _rows(
    block: Block, measures: Sequence[Measure], statistics: Statistics
) -> Iterator[tuple[dict[str, Any], Measure]]:
    """Recipe by recipe, language by language, the average last; with what each was measured on."""
    constant = _constant(block, statistics) | {"baseline": block.baseline, "baseline_backbone": ""}
    for system in block.systems:
        facts = constant | {"recipe": system.recipe, "method": block.names[system.recipe]}
        measured = [each for each in measures if system.recipe in each.by_seed]
        rows = [
            facts | {"language": each.language, "task": each.task} | _numbers(each, system.recipe, block, statistics)
            for each in measured
        ]
        _adjust(rows)
        yield from zip(rows, measured, strict=True)


def _constant(block: Block, statistics: Statistics) -> dict[str, Any]:
    """What all rows of a block have."""
    column = block.column
    what = {"backbone": block.backbone, "column": column.label, "protocol": column.protocol, "metric": column.metric}
    return what | {"level": statistics.level}


def _adjust(rows: Sequence[dict[str, Any]]) -> None:
    """Adjust the p-values of languages, and those of averages; a difference is real if both tests say so."""
    for averages in (False, True):
        tested = [row for row in rows if "p" in row and (row["language"] == AVERAGE) == averages]
        larger = [max(row["p"], row.get("p_items", 0.0)) for row in tested]
        for row, p in zip(tested, benjamini_hochberg(larger), strict=True):
            row["p_adjusted"] = rounded(float(p), row["level"], DECIMALS["p_adjusted"])


def _numbers(measured: Measure, recipe: str, block: Block, statistics: Statistics) -> dict[str, Any]:
    """One system's numbers; those that cannot be had are left out."""
    metric, by_seed, known = block.column.measured, measured.by_seed, measured.replicates
    values = metric.points * by_seed[recipe]
    row: dict[str, Any] = {"n": measured.n[recipe], "seeds": len(values), "value": values.mean()}
    if recipe in measured.rows:
        row["rows"] = measured.rows[recipe]
    if len(values) > 1:
        row["sd"] = values.std(ddof=1)
    if recipe in known:
        row["low"], row["high"] = interval(measured, recipe, metric, statistics)
    base = block.baseline
    if recipe == base or base not in by_seed:
        if OTHER not in by_seed:
            return row
        base = OTHER
        row |= {"baseline": block.other.system.recipe, "baseline_backbone": block.other.backbone}
    return row | difference(measured, recipe, base, metric, statistics)


def _printed(published: Published, row: Mapping[str, Any], measured: Measure, block: Block) -> dict[str, Any]:
    """The paper's number for a row and how ours compares; nothing if it has none."""
    what = (block.column, row["recipe"], block.paper_backbone)
    cell = published.cell(*what, measured.language)
    if measured.language == AVERAGE:
        own = [(block.paper_backbone, language) for language in block.tests]
        cell = published.average(*what, block.averaged or own)
    if cell is None:
        return {"paper_note": "", "paper_cell": "", "verdict": ""}
    notes = dict.fromkeys(note for note in (cell.note, *measured.unlike) if note)
    printed = {"paper": cell.value, "paper_sd": cell.sd, "paper_note": "; ".join(notes), "verdict": ""}
    printed["paper_cell"] = NAME.join(published.key(*what, measured.language)) if cell.system else ""
    if not measured.unlike:
        printed |= {"delta": row["value"] - cell.value, "verdict": verdict(row, cell.value)}
    return printed


def verdict(row: Mapping[str, Any], paper: float) -> str:
    """Whether our interval over seeds and items contains the paper's number; empty without an interval."""
    if "low" not in row:
        return ""
    return REPRODUCED if row["low"] <= paper <= row["high"] else NOT_REPRODUCED


# ----------------------------------------------------------------------------------------------------------- as a CSV


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table, or its differences of pairs, as CSV with fixed decimals; NaN is an empty cell."""
    text = table.copy().astype(object)
    for name, decimals in DECIMALS.items():
        if name in table.columns:
            text[name] = ["" if pd.isna(value) else f"{value:z.{decimals}f}" for value in table[name]]
    with atomic(path) as temporary:
        text.to_csv(temporary, index=False, lineterminator="\n")


def read(path: Path, columns: Sequence[str] = COLUMNS) -> pd.DataFrame:
    """Read a table of `write`; differences of pairs have the columns COMPARED.

    Raises:
        UserError: no such file, or another kind of CSV.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected a table made by tabulate")
    try:
        # `nan` is a language (Min Nan Chinese): only numbers may be missing.
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        if list(table.columns) != [*columns]:
            raise ValueError(f"columns {', '.join(table.columns)}")
        numbers = {name: pd.to_numeric(table[name]) for name in DECIMALS if name in columns}
        for name, own in numbers.items():
            if (odd := table[name][(table[name] != "") & ~np.isfinite(own)]).size:
                raise ValueError(f"{name} is {odd.iloc[0]!r}, no number")
        return table.assign(**numbers)
    except ValueError as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{path}: {reason}; expected a table made by tabulate: delete it and run Snakemake") from None
