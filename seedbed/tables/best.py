"""The best encoder of a language: chosen on development tasks, and reported on a test with all others."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from seedbed import manifests
from seedbed.choices import main_score, mean
from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.export.card import usage_of
from seedbed.evaluation import protocols
from seedbed.evaluation.aggregation import Items
from seedbed.evaluation.protocols import Metric
from seedbed.evaluation.significance import benjamini_hochberg, rejects, replicates, rounded
from seedbed.io import UserError, atomic_directory, read_json, read_table, write_json
from seedbed.tables.measures import Measure, difference, interval, measure
from seedbed.tables.plan import Block, Cell
from seedbed.tables.settings import Statistics
from seedbed.tables.tabulate import DECIMALS


def choose_encoder(blocks: Sequence[Block], scores: Path, dev: Sequence[str]) -> tuple[Cell, dict[str, Any]]:
    """The encoder with the best main score on development tasks, averaged over tasks.

    The pair of backbone and recipe with the best mean over seeds is chosen, and its best seed. Of equals, the first in
    the study's order is chosen.

    Args:
        blocks: the encoders, see `Block.cells`; their task is not used.
        scores: the folder of score files, see `Cell.path`.
        dev: names of the development tasks.

    Returns:
        The encoder, and how it was chosen: `tasks`, the mean `score` over tasks and seeds, `among`, the number of
            pairs of backbone and recipe, and `equal`, how many of these have that score.

    Raises:
        UserError: a score file is missing, or has no main score.
    """
    found: dict[tuple[str, str], dict[Cell, float]] = {}
    for block in blocks:
        for cell in block.cells():
            each = [main_score(scores / cell._replace(task=task).path) for task in dev]
            found.setdefault((cell.backbone, cell.recipe), {})[cell] = mean(each)
    means = {name: mean([*by_seed.values()]) for name, by_seed in found.items()}
    best = max(means, key=lambda name: means[name])
    cell = max(found[best], key=lambda one: found[best][one])
    equal = [*means.values()].count(means[best])
    return cell, {"tasks": [*dev], "score": round(means[best], 6), "among": len(means), "equal": equal}


def block_of(encoder: Cell, blocks: Sequence[Block]) -> Block | None:
    """The first block that has an encoder among its cells; None: no block has it."""
    return next((block for block in blocks if any(cell[:4] == encoder[:4] for cell in block.cells())), None)


def report(blocks: Sequence[Block], chosen: Cell, scores: Path, statistics: Statistics, test: Path | None) -> dict:
    """The test score of an encoder, and its differences to the other encoders of its backbone, with significance.

    Args:
        blocks: the encoders and the test task.
        scores: the folder of score files, see `Cell.path`.
        test: the test set, for a lexical baseline, see `protocols.lexical`; None: without it.

    Returns:
        `task`, `metric`, `n`, `score` (`value`, `low`, `high`; in points) and `others`: name -> the same, and the
            difference of the encoder less the other (`difference`, `difference_low`, `difference_high`), `p_adjusted`
            (Benjamini and Hochberg over the others) and `apart`, whether that is below 1 - level. With fewer than 10
            items there are no intervals and no tests. `quoted` has scores that others report on this test: `name`,
            `value` and `source`.

    Raises:
        UserError: no block has the encoder; a score file is missing or contradicts its items; or a test set that is not
            the scored one.
    """
    if not (block := block_of(chosen, blocks)):
        raise UserError(f"blocks: no score of {'/'.join(map(str, chosen[:4]))}; give its block too")
    measured, metric = measure(scores, block, chosen.test_lang, statistics), block.column.measured
    place = next(one for one in block.systems if one.recipe == chosen.recipe).seeds.index(chosen.seed)
    by_seed = measured.by_seed | {chosen.recipe: measured.by_seed[chosen.recipe][[place]]}
    items = measured.items and measured.items | {chosen.recipe: measured.items[chosen.recipe][[place]]}
    if test:
        name, own = _lexical(test, block, measured.n[chosen.recipe])
        by_seed |= {name: metric.by.statistic(own)}
        items = items and items | {name: own}
    options = {"resamples": statistics.resamples, "seed": statistics.seed}
    drawn = replicates(metric.by.statistic, items, **options) if items else {}
    measured = replace(measured, by_seed=by_seed, items=items, replicates=drawn)
    compared = _compared(chosen.recipe, measured, metric, statistics)
    facts = {"task": block.tests[chosen.test_lang], "metric": block.column.metric, "n": measured.n[chosen.recipe]}
    quoted = [{"name": one.name, "value": one.value, "source": one.source} for one in block.quoted]
    found = facts | {"score": compared.pop(chosen.recipe), "others": compared}
    return found | ({"quoted": quoted} if quoted else {})


def _lexical(test: Path, block: Block, count: int) -> tuple[str, Items]:
    """What the words of a test set score without an encoder: its name, and its items (1, n, k)."""
    protocol, metric = block.column.protocol, block.column.measured
    table = read_table(test, ["id", *COLUMNS[protocols.declared(protocol).kind]])
    name, items = protocols.lexical(protocol)(table)
    if len(items) != count:
        raise UserError(f"{test}: {len(items)} items, and {count} were scored; delete the scores and run Snakemake")
    return name, metric.by.read(items, [*metric.items])[None]


def _compared(first: str, measured: Measure, metric: Metric, statistics: Statistics) -> dict[str, dict[str, Any]]:
    """Each system's numbers in points; `first` is what the others are compared with."""
    found = {name: {"value": metric.points * float(own.mean())} for name, own in measured.by_seed.items()}
    for name in measured.replicates:
        found[name]["low"], found[name]["high"] = interval(measured, name, metric, statistics)
    others, tested = [name for name in measured.replicates if name != first], []
    for name in others:
        found[name] |= difference(measured, first, name, metric, statistics)
        tested.append(max(found[name].pop("p"), found[name].pop("p_items")))  # real by both tests, as in tables
    for name, p in zip(others, benjamini_hochberg(tested), strict=True):
        found[name] |= {
            "p_adjusted": rounded(float(p), statistics.level, DECIMALS["p_adjusted"]),
            "apart": rejects(float(p), statistics.level),
        }
    # As tables do, so that both print the same tenths.
    return {
        name: {key: round(value, DECIMALS[key]) if key in DECIMALS else value for key, value in each.items()}
        for name, each in found.items()
    }


def read_best(folder: Path) -> dict[str, Any]:
    """The facts about the choice in the manifest of a best encoder, see `link_encoder`.

    Raises:
        UserError: the manifest cannot be read, or has no choice.
    """
    found = read_json(manifest := folder / manifests.MANIFEST)
    if not isinstance(found, dict) or not isinstance(found.get("best"), dict):
        raise UserError(f"{manifest}: no `best`; expected the manifest of an encoder that choose_best chose")
    return found["best"]


def link_encoder(encoder: Path, output: Path, best: Mapping[str, Any]) -> None:
    """Copy an encoder into another folder by hard links, and add the choice to the copy's manifest.

    Files on another file system are copied.

    Args:
        encoder: the encoder's folder.
        output: the folder, which is replaced as a whole at the end.
        best: facts about the choice, for the manifest's `best`.

    Raises:
        UserError: the encoder's manifest cannot be read, or its files were changed.
    """
    manifest = manifests.of(encoder)
    with atomic_directory(output) as folder:
        for name in manifest["files"]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link((encoder / name).resolve(), folder / name)
            except OSError:
                shutil.copy2(encoder / name, folder / name)
        facts = {**best, "rows": manifests.trained_rows(manifest) or 0, "use": usage_of(folder)._asdict()}
        write_json(manifest | {"best": facts}, folder / manifests.MANIFEST)
    # A link is a change of its file; were the encoder's manifest not changed later, its files would be read each time.
    own = encoder / manifests.MANIFEST
    own.chmod(own.stat().st_mode)
