"""What the systems of a study scored in one language: per-item scores read back and resampled together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, FiniteFloat, StrictStr, ValidationError, field_validator

from seedbed.evaluation.significance import (
    LEAST_ITEMS,
    Statistic,
    correlated,
    f1_of_items,
    macro_f1,
    permuted,
    replicates,
    spearman,
)
from seedbed.io import UserError, read_json, read_table
from seedbed.settings import explain
from seedbed.tables.plan import Block, Cell
from seedbed.tables.published import AVERAGE
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import METRICS, Column

Items = NDArray[np.float64]
"""Per-item scores, (n_seeds, n_items, k)."""


def mean(items: Items) -> NDArray[np.float64]:
    """Mean over items and columns (..., n_items, k)."""
    return items.mean(axis=(-2, -1))


def statistic_of(column: Column) -> Statistic:
    """How a column's metric follows from its items: for most as their mean."""
    if column.metric == "spearman":
        return spearman
    return macro_f1 if METRICS[column.protocol][column.metric].f1 == "macro" else mean


@dataclass(frozen=True)
class Measure:
    """What every system scored in one language, or on average over languages; by recipe, not yet in points."""

    language: str
    task: str
    n: dict[str, int]
    """Items."""
    by_seed: dict[str, NDArray[np.float64]]
    """Scores (n_seeds,)."""
    replicates: dict[str, NDArray[np.float64]]
    """Bootstrap scores (resamples,), paired in items but those of overlaps; without recipes of too few items."""
    items: dict[str, Items] | None
    """What they were computed from; None: an average, or too few."""
    papers_data: bool
    """Scored on the test set that the paper scored."""


@dataclass(frozen=True)
class _Score:
    """A score file with its items."""

    path: Path
    origin: str
    value: float
    questions: pd.DataFrame
    """What was asked: ids, and gold scores where there are any."""
    items: NDArray[np.float64]
    """(n_items, k)."""


def measure(scores: Path, block: Block, language: str, statistics: Statistics) -> Measure:
    """Read the scores of all systems of a block in one language, and resample their items together.

    Raises:
        UserError: a file is missing or at odds with its items, or the systems were not asked the same questions.
    """
    found: dict[str, list[_Score]] = {}
    for cell in block.cells():
        if cell.test_lang == language:
            found.setdefault(cell.recipe, []).append(_read(_path(scores, cell), block.column))
    every = [score for by_seed in found.values() for score in by_seed]
    _require_same_questions(every)
    items = {recipe: np.stack([score.items for score in by_seed]) for recipe, by_seed in found.items()}
    few = every[0].items.shape[1] == 0 or len(every[0].items) < LEAST_ITEMS
    return Measure(
        language=language,
        task=block.tests[language],
        n=dict.fromkeys(found, len(every[0].items)),
        by_seed={recipe: np.array([score.value for score in by_seed]) for recipe, by_seed in found.items()},
        replicates={} if few else _resample(block.column, items, statistics),
        items=None if few else items,
        papers_data=all(_is_part(score.origin, block.column.paper_data) for score in every),
    )


def average(measures: Sequence[Measure]) -> Measure:
    """The plain mean over languages, as the paper's Score, of the systems that all have; by seed, in seed order."""
    common = [recipe for recipe in measures[0].by_seed if all(recipe in each.by_seed for each in measures)]
    known = [recipe for recipe in common if all(recipe in each.replicates for each in measures)]
    return Measure(
        language=AVERAGE,
        task=", ".join(dict.fromkeys(each.task for each in measures)),
        n={recipe: sum(each.n[recipe] for each in measures) for recipe in common},
        by_seed={recipe: np.mean([each.by_seed[recipe] for each in measures], axis=0) for recipe in common},
        replicates={recipe: np.mean([each.replicates[recipe] for each in measures], axis=0) for recipe in known},
        items=None,
        papers_data=all(each.papers_data for each in measures),
    )


def probability(column: Column, ours: Items, theirs: Items, statistics: Statistics) -> float:
    """p of no difference between two systems over the test items, their seeds averaged.

    Williams' test for correlations with the same gold scores, else a permutation of each item's two scores; of a macro
    F1, of whether its class is right.
    """
    if METRICS[column.protocol][column.metric].f1 == "macro":
        ours, theirs = ((items[..., :1] == items[..., 1:]).astype(float) for items in (ours, theirs))
    ours, theirs = ours.mean(axis=0), theirs.mean(axis=0)
    if column.metric == "spearman":
        return correlated(ours[:, 0], ours[:, 1], theirs[:, 1])
    return permuted(ours.mean(axis=1), theirs.mean(axis=1), resamples=statistics.resamples, seed=statistics.seed)


def _path(scores: Path, cell: Cell) -> Path:
    return scores / cell.backbone / cell.recipe / cell.lang / str(cell.seed) / cell.task / f"{cell.test_lang}.json"


def _is_part(origin: str, parts: Sequence[str]) -> bool:
    """Whether `origin` holds one of the parts, in whatever case: a hub id, or the name of a local copy."""
    return any(part.casefold() in origin.casefold() for part in parts)


class _File(BaseModel):
    """What a table needs of a score file, see `evaluation.scores.record`."""

    protocol: StrictStr
    metrics: dict[str, FiniteFloat]
    items: StrictStr
    """The name of the file of items beside it."""
    dataset: dict[str, Any]

    @field_validator("dataset")
    @classmethod
    def _has_origin(cls, dataset: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(dataset.get("origin"), str):
            raise ValueError("no `origin`")
        return dataset


def _read(path: Path, column: Column) -> _Score:
    """One score file and its items.

    Raises:
        UserError: it is missing, broken or at odds with its items; with what to do so that it is made again.
    """
    try:
        return _checked(path, column)
    except UserError as error:
        # Snakemake watches the list of a job's scores, not each.
        lists = path.parents[2] / f"{path.stem}.*.json"
        raise UserError(f"{error}; to score it again, delete {lists} and run Snakemake") from None


def _checked(path: Path, column: Column) -> _Score:
    """As `_read`; errors say what is wrong alone."""
    try:
        score = _File.model_validate(read_json(path))
    except ValidationError as error:
        raise UserError(f"{explain(error, _File, where=str(path))}; expected a score file") from None
    if score.protocol != column.protocol:
        raise UserError(f"{path}: protocol {score.protocol!r}; column {column.label!r} is of {column.protocol!r}")
    metric = METRICS[column.protocol][column.metric]
    if metric.key not in score.metrics:
        raise UserError(f"{path}: no metric {metric.key!r}")
    names, value = list(metric.items), score.metrics[metric.key]
    table = read_table(path.parent / score.items, ["id", *names])
    items = _numbers(table, names, metric.f1, path.parent / score.items)
    if names:
        exact = float(statistic_of(column)(items))
        if not abs(exact - value) < 1e-4:  # written so that NaN fails too
            raise UserError(f"{path}: {metric.key} {value}, but its items give {exact:.6f}")
        value = exact
    return _Score(path, score.dataset["origin"], value, table.filter(["id", "gold"]), items)


def _numbers(table: pd.DataFrame, names: Sequence[str], f1: str, path: Path) -> Items:
    """The columns that a metric needs, (n_items, k).

    Raises:
        UserError: a cell is no number, or, where classes are numbered, none of theirs.
    """
    if f1 == "macro":
        return _classes(table[names])
    items = table[names].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    if (bad := ~np.isfinite(items)).any():
        row, place = np.argwhere(bad)[0]
        raise UserError(f"{path}: id {table['id'][row]!r} has {names[place]} {table[names[place]][row]!r}, no number")
    if f1 != "weighted":
        return items
    if ((items < 0) | (items >= len(table)) | (items % 1 != 0)).any():
        raise UserError(f"{path}: {' or '.join(names)} is no place among the {len(table)} items")
    return f1_of_items(items)[:, None]


def _classes(names: pd.DataFrame) -> NDArray[np.float64]:
    """Names of classes (n_items, 2) as numbers; in one order for all systems, since their questions are the same."""
    numbers, _ = pd.factorize(names.to_numpy().ravel(order="F"))
    return numbers.reshape(names.shape, order="F").astype(np.float64)


def _require_same_questions(scores: Sequence[_Score]) -> None:
    first = scores[0]
    for score in scores:
        if not score.questions.equals(first.questions):
            raise UserError(
                f"{score.path}: not the items of {first.path}; score both on the same test set: "
                f"delete {score.path.parents[2]}/{score.path.stem}.*.json and {first.path.parents[2]}/"
                f"{first.path.stem}.*.json, and run Snakemake"
            )


def _resample(column: Column, items: Mapping[str, Items], statistics: Statistics) -> dict[str, NDArray[np.float64]]:
    """Bootstrap scores (resamples,) of each recipe.

    One draw of items serves all systems, which pairs them. Every language starts from the same generator, so a draw of
    seeds is the same in all of them: some systems are one encoder for all languages, and the average must see that.
    """
    found = replicates(statistic_of(column), list(items.values()), resamples=statistics.resamples, seed=statistics.seed)
    return dict(zip(items, found, strict=True))
