"""Scores of systems in one language, or overlaps of their triplets: reading items and resampling them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, FiniteFloat, NonNegativeInt, StrictStr, field_validator

from seedbed import origins
from seedbed.evaluation.aggregation import ORDER, Aggregate, Items, mean
from seedbed.evaluation.metrics import Metric
from seedbed.evaluation.significance import LEAST_ITEMS, percentiles, replicates, two_sided, with_seeds
from seedbed.io import UserError, read_json, read_table
from seedbed.languages import ANY
from seedbed.names import TOGETHER
from seedbed.settings import validated
from seedbed.tables.plan import Block
from seedbed.tables.published import AVERAGE
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import OVERLAP, Column
from seedbed.triplets.overlap import by_row

OTHER_DATA = "other data than the paper's"
"""Note on a number of the paper that was measured on another test set, or over other languages, than ours."""
UNNAMED = "of all texts together, or of languages that the paper does not name"
"""Note on a number of the paper that no average over languages can be compared with."""
OTHER = ""
"""Key, instead of a recipe, of another backbone's system that differences are taken from."""


@dataclass(frozen=True)
class Measure:
    """Scores of all systems in one language, or averaged over languages, by recipe; not multiplied into points."""

    language: str
    task: str
    n: dict[str, int]
    """Numbers of items."""
    by_seed: dict[str, NDArray[np.float64]]
    """Scores (n_seeds,)."""
    replicates: dict[str, NDArray[np.float64]]
    """Bootstrap scores (resamples,) over items, see `significance.replicates`; over the same sampled items for all
    recipes, except for overlaps; without recipes of too few items."""
    items: dict[str, Items] | None
    """Per-item scores; None for averages, two-order tests, or too few items."""
    unlike: tuple[str, ...]
    """Why it is no attempt at the paper's number, of OTHER_DATA and UNNAMED; empty: it is one."""
    rows: Mapping[str, float] = field(default_factory=dict)
    """Training rows of each system, mean over seeds; without systems whose number is unknown."""


@dataclass(frozen=True)
class ItemScores:
    """A metric with the test items that it follows from."""

    value: float
    """The metric as it follows from them; of a metric without items as the score file has it, with fewer decimals."""
    questions: pd.DataFrame
    """The test items: ids, gold scores where there are any, and orders of a pair of languages."""
    items: NDArray[np.float64]
    """(n_items, k)."""
    by: Aggregate
    """How the metric follows from them."""


@dataclass(frozen=True)
class _Score:
    """A score file with its items."""

    path: Path
    origin: str
    measured: ItemScores
    n: int
    """What the metric is measured on; the items, if it does not count something else."""
    rows: int | None
    """Rows that the encoder was last trained on; None: not known, or no encoder."""


def measure(scores: Path, block: Block, language: str, statistics: Statistics) -> Measure:
    """Read the scores of all systems of a block in one language, and bootstrap all systems over the same sampled items.

    For a column of overlap, measure the overlap in the systems' triplets instead, each system with its own samples.

    Args:
        scores: the folder of score files. Its parent is the folder of results, which has the files of triplets.

    Raises:
        UserError: a score file is missing, lacks the metric or contradicts its items; systems were scored on different
            items; or a file of triplets is missing, empty, or lacks a column.
    """
    if block.column.protocol == OVERLAP:
        return _overlap(scores.parent, block, language, statistics)
    found: dict[str, list[_Score]] = {}
    for cell in block.cells():
        if cell.test_lang == language:
            found.setdefault(cell.recipe, []).append(_read(scores / cell.path, block.column))
    if other := [_read(scores / cell.path, block.column) for cell in block.compared(language)]:
        found[OTHER] = other
    every = [score for by_seed in found.values() for score in by_seed]
    of_first = every[0].measured
    if strange := [score.path for score in every if not score.measured.questions.equals(of_first.questions)]:
        first = every[0].path
        raise UserError(
            f"{strange[0]}: not the items of {first}; score both on the same test set: "
            f"delete {_all_of(strange[0])} and {_all_of(first)}, and run Snakemake"
        )
    names, papers = [score.origin.casefold() for score in every], block.column.paper_data
    items = {recipe: np.stack([score.measured.items for score in by_seed]) for recipe, by_seed in found.items()}
    there = (~np.isnan(of_first.items)).sum(axis=0)  # of a pair's orders one may have fewer
    few = min(there, default=0) < LEAST_ITEMS
    # One sample of items serves all systems, which pairs them.
    options = {"resamples": statistics.resamples, "seed": statistics.seed}
    replicated = {} if few else replicates(of_first.by.statistic, items, **options)
    return Measure(
        language=language,
        task=block.tests[language],
        n={recipe: by_seed[0].n for recipe, by_seed in found.items()},
        by_seed={recipe: np.array([score.measured.value for score in by_seed]) for recipe, by_seed in found.items()},
        replicates=replicated,
        items=None if few or of_first.by.over_orders else items,
        unlike=() if all(any(part.casefold() in name for part in papers) for name in names) else (OTHER_DATA,),
        rows={
            recipe: float(np.mean([score.rows for score in by_seed]))
            for recipe, by_seed in found.items()
            if None not in [score.rows for score in by_seed]
        },
    )


def interval(measured: Measure, recipe: str, metric: Metric, statistics: Statistics) -> tuple[float, float]:
    """The bootstrap interval (low, high) of a system's score over items and seeds, in points, at the level of
    `statistics`.
    """
    values = with_seeds(measured.replicates[recipe], measured.by_seed[recipe], seed=statistics.seed)
    low, high = metric.by.interval(values, statistics.level)
    return metric.points * low, metric.points * high


def difference(measured: Measure, recipe: str, base: str, metric: Metric, statistics: Statistics) -> dict[str, float]:
    """One system's score less another's, in points, with its interval and tests; those that cannot be had are left out.

    Returns:
        `difference`; its bootstrap interval `difference_low` and `difference_high`, and its two-sided p-value `p`; and
            `p_items`, the p-value of the metric's test over items. The bootstrap scores of both systems are over the
            same sampled items, except for overlaps.
    """
    means = [metric.points * measured.by_seed[system].mean() for system in (recipe, base)]
    found = {"difference": means[0] - means[1]}
    if recipe in measured.replicates and base in measured.replicates:
        paired = measured.replicates[recipe] - measured.replicates[base]
        by_seed = measured.by_seed[recipe], measured.by_seed[base]
        values = metric.points * with_seeds(paired, *by_seed, seed=statistics.seed)
        found["difference_low"], found["difference_high"] = percentiles(values, statistics.level)
        found["p"] = two_sided(values)
    if measured.items is not None:
        systems = measured.items[recipe], measured.items[base]
        found["p_items"] = metric.by.p_value(*systems, statistics.resamples, statistics.seed)
    return found


def lacks(scores: Path, block: Block) -> bool:
    """Whether no score file of a block has the block's metric, such as a layer above the backbone's last; False for a
    column of overlap.
    """
    files = (scores / cell.path for cell in block.cells())
    key = block.column.measured.key
    return block.column.protocol != OVERLAP and not any(key in _file(path).metrics for path in files)


def _overlap(results: Path, block: Block, language: str, statistics: Statistics) -> Measure:
    """The overlap (Dice) of anchors with positives and negatives (paper 000, figure 5), the rows of each on their own.

    Methods keep different rows of different anchors, so nothing pairs one method with another: the replicates of each
    come from a separate random generator, and no test over items compares them.
    """
    sides = block.column.measured.items
    items = {texts.recipe: _dice(results / texts.file, sides) for texts in block.texts() if texts.test_lang == language}
    return Measure(
        language=language,
        task=block.tests[language],
        n={recipe: each.shape[1] for recipe, each in items.items()},
        by_seed={recipe: mean(each) for recipe, each in items.items()},
        replicates={
            recipe: replicates(
                mean, {recipe: each}, resamples=statistics.resamples, seed=statistics.seed + place, batch=20
            )[recipe]
            for place, (recipe, each) in enumerate(items.items())
            if each.shape[1] >= LEAST_ITEMS
        },
        items=None,
        unlike=(OTHER_DATA,),
    )


def _dice(path: Path, sides: tuple[str, ...]) -> Items:
    """Dice (1, n, 1) of each row's anchor and its text on one side; of two sides, the first less the second."""
    table = read_table(path, ["anchor", *sides])
    first, *second = (by_row(table, side) for side in sides)
    return (first - second[0] if second else first)[None, :, None]


def average(measures: Sequence[Measure], weights: Sequence[float] | None = None) -> Measure:
    """The average of measures over languages, or columns, seed by seed; without systems that one of them lacks.

    Args:
        weights: one for each measure; None: equal weights.
    """
    common = [recipe for recipe in measures[0].by_seed if all(recipe in each.by_seed for each in measures)]
    known = [recipe for recipe in common if all(recipe in each.replicates for each in measures)]
    return Measure(
        language=AVERAGE,
        task=", ".join(dict.fromkeys(each.task for each in measures)),
        n={recipe: sum(each.n[recipe] for each in measures) for recipe in common},
        by_seed={recipe: np.average([each.by_seed[recipe] for each in measures], 0, weights) for recipe in common},
        replicates={recipe: np.average([each.replicates[recipe] for each in measures], 0, weights) for recipe in known},
        items=None,
        unlike=tuple(dict.fromkeys(why for each in measures for why in each.unlike)),
    )


class _Encoder(BaseModel):
    """What a table needs of what a score file says of an encoder."""

    rows: NonNegativeInt | None = None


class _File(BaseModel):
    """What a table needs of a score file, see `evaluation.files.write`."""

    protocol: StrictStr
    metrics: dict[str, FiniteFloat]
    items: StrictStr
    """The name of its file of items."""
    dataset: dict[str, Any]
    encoder: _Encoder | None = None

    @field_validator("dataset")
    @classmethod
    def _has_origin(cls, dataset: dict[str, Any]) -> dict[str, Any]:
        try:
            origins.read(dataset.get("origin"))
        except UserError as error:
            raise ValueError(str(error)) from None
        return dataset


def _read(path: Path, column: Column) -> _Score:
    """One score file and its items; an error says what to do so that it is made again."""
    try:
        return _checked(path, column)
    except UserError as error:
        raise UserError(f"{error}; to score it again, delete {_all_of(path)} and run Snakemake") from None


def _all_of(path: Path) -> Path:
    """The lists of scores that one is among: Snakemake watches the list of a job's scores, not each."""
    variants = path.parents[4] / TOGETHER / ANY  # of a language model all variants are scored by one job
    return variants / "*.json" if variants.is_dir() else path.parents[2] / f"{path.stem}.*.json"


def _checked(path: Path, column: Column) -> _Score:
    """As `_read`; errors say what is wrong alone."""
    score = _file(path)
    if score.protocol != column.protocol:
        raise UserError(f"{path}: protocol {score.protocol!r}; column {column.label!r} is of {column.protocol!r}")
    metric = column.measured
    if metric.key not in score.metrics:
        raise UserError(
            f"{path}: no metric {metric.key!r}; if its language has no such class, give column {column.label!r} "
            "`languages`"
        )
    measured = of_items(path, score.items, metric, score.metrics[metric.key])
    return _Score(
        path=path,
        origin=origins.in_words(score.dataset["origin"]),
        measured=measured,
        n=int(score.metrics[metric.count]) if metric.count else len(measured.items),
        rows=score.encoder.rows if score.encoder else None,
    )


def of_items(path: Path, name: str, metric: Metric, value: float) -> ItemScores:
    """The items of a score file, and the metric as it follows from them.

    Args:
        path: the score file.
        name: the name of its file of items.
        value: the metric as the score file has it, with fewer decimals.

    Raises:
        UserError: the items are missing or broken, or the metric does not follow from them.
    """
    names, rows = list(metric.items), path.parent / name
    table = _items(rows, names)
    by = metric.by.for_orders(table)
    try:
        items = by.read(table, names)
    except UserError as error:
        raise UserError(f"{rows}: {error}") from None
    if names:
        exact = float(by.statistic(items))
        if not abs(exact - value) < 1e-4:  # written so that NaN fails too
            raise UserError(f"{path}: {metric.key} {value}, but its items give {exact:.6f}")
        value = exact
    return ItemScores(value=value, questions=table.filter(["id", ORDER, "gold"]), items=items, by=by)


def _items(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """The scores of items; of a pair of languages, each id once an order."""
    table = read_table(path, ["id", *names], unique=None)
    if (twice := table[table.duplicated([name for name in ("id", ORDER) if name in table.columns])]).size:
        raise UserError(f"{path}: id {twice['id'].iloc[0]!r} appears twice; every id must be unique")
    return table


def _file(path: Path) -> _File:
    return validated(_File, read_json(path), path, "a score file")
