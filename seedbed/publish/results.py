"""The scores of one encoder, with their intervals: what a model card and mteb's leaderboard say of it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import EvalResult

from seedbed import origins
from seedbed.encoders.models.digests import vectors_digest
from seedbed.evaluation import protocols
from seedbed.evaluation.protocols import Metric
from seedbed.evaluation.significance import LEAST_ITEMS, percent, replicates
from seedbed.io import UserError, read_json
from seedbed.markdown import table
from seedbed.tables.measures import of_items
from seedbed.tables.settings import Statistics
from seedbed.tables.tabulate import DECIMALS

TASKS = {"knn": "text-classification", "retrieval": "text-retrieval"}
"""Protocol -> the hub's name of such tasks; of others sentence-similarity."""


class Result(NamedTuple):
    """A score on one task in one language."""

    task: str
    language: str
    protocol: str
    metric: Metric
    heading: str
    """The metric's name at the start of a line."""
    value: float
    """In the metric's points, as tables show it."""
    interval: tuple[float, float] | None
    """Over test items, in the same; None: the metric has none, or too few items."""
    level: float
    n: int
    """Test items."""
    dataset: Mapping[str, Any]
    """Where the test set comes from: `origin`, `licence`, and more."""
    mteb: Mapping[str, Any]
    """What mteb files of it; empty where mteb has no such task, or the data are not those that it pins."""


def of_encoder(folder: Path, manifest: Mapping[str, Any], statistics: Statistics) -> list[Result]:
    """All scores of an encoder, by task and language.

    Left out are scores on tests of two languages, and scores of classifiers that were made of the encoder.

    Args:
        folder: its scores, {task}/{language}.json.
        manifest: the encoder's manifest, whose digest its scores name.
        statistics: of the intervals: resamples of test items, level and seed.

    Raises:
        UserError: a file is no score, or another encoder's; its items are missing, or do not agree with it.
    """
    digest, found = vectors_digest(dict(manifest)), []
    for path in sorted(folder.glob("*/*.json")):
        if path.name.endswith(".mteb.json"):
            continue
        score = read_json(path)
        if isinstance(score, dict) and {"second", "adapters", "classifier"} & {*score}:
            continue
        if not isinstance(score, dict) or not {"task", "protocol", "metrics", "encoder", "items"} <= {*score}:
            raise UserError(f"{path}: no score of an encoder; delete it and run Snakemake again")
        if score["encoder"].get("digest") != digest:
            raise UserError(
                f"{path}: the numbers of another encoder; give the folder of this one's scores by --scores, or, if it "
                "is that folder, run Snakemake, which scores this one anew"
            )
        found.append(_result(path, score, statistics))
    return found


def _result(path: Path, score: Mapping[str, Any], statistics: Statistics) -> Result:
    name, metric = _main(path, score)
    value, interval = _numbers(path, score, metric, statistics)
    theirs = path.with_name(score["mteb"]) if score.get("mteb") else None
    return Result(
        task=score["task"],
        language=score["language"],
        protocol=score["protocol"],
        metric=metric,
        heading=metric.heading(name),
        value=value,
        interval=interval,
        level=statistics.level,
        n=score["n"],
        dataset=score["dataset"],
        mteb=read_json(theirs) if theirs else {},
    )


def _main(path: Path, score: Mapping[str, Any]) -> tuple[str, Metric]:
    """The metric of tables that is the score's main one."""
    for name, metric in _declared(score):
        if abs(score["metrics"].get(metric.key, float("nan")) - score["main_score"]) < 1e-6:
            return name, metric
    raise UserError(
        f"{path}: main_score is of no metric that tables have; give `tasks.{score['task']}.k` one of theirs, see "
        "docs/evaluation.md, and run Snakemake again"
    )


def _declared(score: Mapping[str, Any]) -> Iterator[tuple[str, Metric]]:
    """The metrics that tables have of a score, by their names; one that is of each class, for those of the score."""
    for name, metric in protocols.load(score["protocol"]).METRICS.items():
        start, of_each, _ = metric.key.partition(protocols.LABEL)
        if not of_each:
            yield name, metric
            continue
        for key in score["metrics"]:
            if key.startswith(start):
                label = key.removeprefix(start)
                yield name.replace(protocols.LABEL, label), metric.of(label)


def _numbers(
    path: Path, score: Mapping[str, Any], metric: Metric, statistics: Statistics
) -> tuple[float, tuple[float, float] | None]:
    """The score and its interval in points, as tables have them: from the items, with as many decimals.

    The interval is the percentiles of a bootstrap over test items, since one encoder has one seed; None: the metric has
    none, or too few items.
    """
    try:
        measured = of_items(path, score["items"], metric, score["metrics"][metric.key])
    except UserError as error:
        raise UserError(f"{error}; delete {path} and run Snakemake again") from None
    if not metric.items or len(measured.items) < LEAST_ITEMS:
        return _rounded(metric, measured.value), None
    drawn = replicates(
        measured.by.statistic,
        {"": measured.items[None]},
        resamples=statistics.resamples,
        seed=statistics.seed,
    )
    low, high = measured.by.interval(drawn[""], statistics.level)
    return _rounded(metric, measured.value), (_rounded(metric, low), _rounded(metric, high))


def _rounded(metric: Metric, value: float) -> float:
    """A score, or a bound of its interval, in points."""
    return round(metric.points * value, DECIMALS["value"])


def metadata(results: Iterable[Result]) -> list[EvalResult]:
    """Results in the metadata format of a card; the interval is part of the metric's name, which readers see.

    The configuration of a data set is the task and the language: the hub files results of one data set and one
    configuration under the name of the first.
    """
    return [
        EvalResult(
            task_type=TASKS.get(one.protocol, "sentence-similarity"),
            dataset_type=place.name if place else one.task,
            dataset_name=f"{one.task} ({one.language})",
            dataset_config=f"{one.task}-{one.language}",
            dataset_revision=(place.revision if place else "") or None,
            metric_type=one.heading.lower().replace(" ", "_"),
            metric_name=f"{one.heading}{_between(one)}",
            metric_value=round(one.value, one.metric.decimals + 1),
            metric_args={
                "confidence_interval": [round(bound, one.metric.decimals + 1) for bound in one.interval],
                "level": one.level,
            }
            if one.interval
            else None,
        )
        for one in results
        for place in [origins.hub(one.dataset["origin"])]
    ]


def section(results: Collection[Result], chose: Collection[str] = ()) -> str:
    """The scores as a section of a card; those on tasks that `chose` the encoder are marked, since they are no test of
    it.
    """
    rows = [
        (
            *(one.task + " (it was chosen by this)" * (one.task in chose), one.language),
            *(one.heading + " (lower is better)" * one.metric.lower, _shown(one, one.value), _bounds(one)),
            *(one.n, origins.in_words(origins.public(one.dataset["origin"]))),
        )
        for one in results
    ]
    if not rows:
        return "## Scores\n\nNone: nobody has measured it."
    header = ("Task", "Language", "Metric", "Score", "Interval", "Items", "Test set")
    levels = sorted({f"{percent(one.level)} %" for one in results if one.interval})
    hold = " Intervals hold {} of a bootstrap over test items; that of training seeds is not in them."
    plain = sorted({one.heading.lower() for one in results if one.metric.points == 1})
    but = f", but for {', '.join(plain)}" if plain else ""
    said = f"Points of 100{but}." + (hold.format(" and ".join(levels)) if levels else "")
    return f"## Scores\n\n{table(header, rows)}\n\n{said}"


def _bounds(one: Result) -> str:
    return " to ".join(_shown(one, bound) for bound in one.interval) if one.interval else "not known"


def _shown(one: Result, value: float) -> str:
    """A score, or a bound of its interval."""
    return f"{value:z.{one.metric.decimals}f}"


def _between(one: Result) -> str:
    return f" ({percent(one.level)} % interval {_bounds(one)})" if one.interval else ""
