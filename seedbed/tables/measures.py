"""What the systems of a study scored in one language: per-item scores read back and resampled together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from seedbed.evaluation.significance import LEAST_ITEMS, Statistic, replicates, spearman
from seedbed.io import UserError, read_json, read_table
from seedbed.tables.published import AVERAGE
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import METRICS, Column, System


def mean(items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over items and their columns (..., n_items, n_columns): both directions, where there are two."""
    return items.mean(axis=(-2, -1))


STATISTICS: dict[str, Statistic] = {"spearman": spearman, "accuracy": mean, "ndcg": mean, "alignment": mean}


@dataclass(frozen=True)
class Measure:
    """What every system scored in one language, or on average over languages; fractions."""

    language: str
    task: str
    n: int
    by_seed: list[NDArray[np.float64]]
    """Each system's score (n_seeds,)."""
    replicates: NDArray[np.float64] | None
    """Bootstrap scores (n_systems, resamples), paired in items; None: too few items."""
    papers_data: bool
    """Scored on the test set that the paper scored."""


@dataclass(frozen=True)
class _Score:
    """A score file with its items."""

    path: Path
    origin: str
    questions: pd.DataFrame
    """What was asked: ids, and gold scores where there are any."""
    items: NDArray[np.float64]
    """(n_items, n_columns)."""


def measure(
    scores: Path,
    backbone: str,
    column: Column,
    task: str,
    language: str,
    systems: Sequence[System],
    statistics: Statistics,
) -> Measure:
    """Read the scores of all systems in one language, and resample their items together.

    Raises:
        UserError: a file is missing or at odds with its items, or the systems were not asked the same questions.
    """
    found = []
    for system in systems:
        folder = scores / backbone / system.recipe / (language if system.language == "*" else system.language)
        found.append([_read(folder / str(seed) / task / f"{language}.json", column) for seed in system.seeds])
    every = [score for by_seed in found for score in by_seed]
    _require_same_questions(every)
    statistic = STATISTICS[column.metric]
    items = [np.stack([score.items for score in by_seed]) for by_seed in found]
    return Measure(
        language=language,
        task=task,
        n=len(every[0].items),
        by_seed=[statistic(x) for x in items],
        replicates=_resample(statistic, items, statistics),
        papers_data=all(_is_part(score.origin, column.paper_data) for score in every),
    )


def average(measures: Sequence[Measure]) -> Measure:
    """The plain mean over languages, as the paper's Score; seed s of it is seed s of every language."""
    known = [each.replicates for each in measures if each.replicates is not None]
    return Measure(
        language=AVERAGE,
        task=", ".join(dict.fromkeys(each.task for each in measures)),
        n=sum(each.n for each in measures),
        by_seed=[np.mean(values, axis=0) for values in zip(*(each.by_seed for each in measures), strict=True)],
        replicates=np.mean(known, axis=0) if len(known) == len(measures) else None,
        papers_data=all(each.papers_data for each in measures),
    )


def _is_part(origin: str, parts: Sequence[str]) -> bool:
    """Whether `origin` holds one of the parts, in whatever case: a hub id, or the name of a local copy."""
    return any(part.casefold() in origin.casefold() for part in parts)


def _read(path: Path, column: Column) -> _Score:
    score = read_json(path)
    if score["protocol"] != column.protocol:
        raise UserError(f"{path}: protocol {score['protocol']!r}; column {column.label!r} is of {column.protocol!r}")
    names = list(METRICS[column.protocol][column.metric])
    table = read_table(path.parent / score["items"], ["id", *names])
    table[names] = table[names].apply(pd.to_numeric, errors="coerce")
    items = table[names].to_numpy(np.float64)
    value = float(STATISTICS[column.metric](items))
    if not abs(value - score["main_score"]) < 1e-4:  # written so that NaN fails too
        raise UserError(f"{path}: main_score {score['main_score']}, but its items give {value:.6f}; score it again")
    return _Score(path, score["dataset"]["origin"], table.filter(["id", "gold"]), items)


def _require_same_questions(scores: Sequence[_Score]) -> None:
    first = scores[0]
    for score in scores:
        if not score.questions.equals(first.questions):
            raise UserError(f"{score.path}: not the items of {first.path}; score both on the same test set")


def _resample(
    statistic: Statistic, items: list[NDArray[np.float64]], statistics: Statistics
) -> NDArray[np.float64] | None:
    """Bootstrap scores (n_systems, resamples); None if the items are too few for a percentile to mean something.

    One draw of items serves all systems, which pairs them. Every language starts from the same generator, so a draw of
    seeds is the same in all of them: some systems are one encoder for all languages, and the average must see that.
    """
    if items[0].shape[1] < LEAST_ITEMS:
        return None
    return replicates(statistic, items, resamples=statistics.resamples, seed=statistics.seed)
