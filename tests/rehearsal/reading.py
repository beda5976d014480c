"""Fetch every source of a study from the replica, in one process; write what came of each as a line of JSON.

The test starts it with `HF_ENDPOINT` set, which the hub's libraries read when they are imported.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from seedbed import origins, yamls
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Kind, Source
from seedbed.corpora.shape.labels import check_scores
from seedbed.evaluation.protocols import declared
from seedbed.generators.settings import PART_CORPUS
from seedbed.io import UserError
from seedbed.names import DRAWN, TRAINING
from seedbed.study import published
from seedbed.study.graph.available import Available
from seedbed.study.graph.classifier import StudyClassifier, adapted
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.tables.plan import Cell
from seedbed.tables.specs import TableSpec
from tests.whole import fetch

SHOWN = 12
"""Rows of each corpus that the test sees."""


class Reading(NamedTuple):
    """One corpus that the graph may fetch, as seedbed/study/graph/corpus.py names it and says how."""

    corpus: str
    lang: str
    kind: Kind
    source: Source
    task: str = ""


def readings(study: Study) -> Iterator[Reading]:
    """Every corpus that a table of the study's papers needs: made from scratch, and with published triplets."""
    train: dict[tuple[str, str], Reading] = {}
    for role, lang in sorted({*roles(study)}):
        if source := study.corpus(role, lang):
            yield Reading(role, lang, study.roles[role], source)
    for lang, tasks in study.tests_by_language.items():
        for task in tasks:
            kind = declared(study.tasks[task].protocol).kind
            if not study.tasks[task].set_of:
                yield Reading(task, lang, kind, study.test(task, lang), task)
            if other := study.train_of(task, lang):
                of = study.test_set(task)
                train[of, other] = Reading(of + TRAINING, other, kind, study.training_set(task, other), of)
    yield from train.values()
    for task, order in study.own_sets:
        yield Reading(task, order, declared(study.tasks[task].protocol).kind, study.test(task, order), task)
    taken = study.model_copy(update={"start": "triplets"})
    methods = {name: recipe.written for name, recipe in study.recipes.items() if recipe.written}
    trained = [cell for cell in cells(study) if cell.recipe in methods]
    made = {(StudyRecipe.get(study, cell.recipe).writer, methods[cell.recipe], cell.lang) for cell in trained}
    for generator, method, lang in sorted(made):
        if source := published.triplets(taken, generator, method, lang):
            yield Reading(f"{generator}+{method}", lang, "triplets", source)


def roles(study: Study) -> Iterator[tuple[str, str]]:
    """Role and language of every training corpus."""
    for lang in {*study.languages, study.pivot}:
        yield from (("text", lang), ("instructions", lang))
    yield from (("nli", study.pivot), ("nli_pairs", study.pivot))
    for name, recipe in study.recipes.items():
        origin = recipe.data.origin if recipe.data else ""
        if recipe.drawn is None and origin in study.corpora.others:
            taught = recipe.only.languages or study.languages
            learnt = {code for lang in taught for code in StudyRecipe.get(study, name).languages(lang)}
            yield from ((origin, lang) for lang in ({study.pivot} if recipe.data.translated else learnt))
        drawn = recipe.drawn or DRAWN.get(origin)
        yield from ((drawn, lang) for lang in (recipe.only.languages or study.languages) if drawn)
    for generator in study.generators.values():
        for part in generator.xllora.parts:
            yield from ((PART_CORPUS[part], lang) for lang in generator.xllora.languages)
    for cell in cells(study):
        if cell.recipe in study.recipes and study.recipes[cell.recipe].written == "composition":
            role = study.generators[StudyRecipe.get(study, cell.recipe).writer].language_corpus
            yield from (
                (role, lang) for lang in (cell.lang, study.pivot)
            )  # equation 2: minus the pivot's, plus its own
    for classifier in adapted(study):
        for lang in study.languages:
            yield from (("nli_pairs", lang) for _ in StudyClassifier.get(study, classifier).tasks_in(lang))


def cells(study: Study) -> Iterator[Cell]:
    """Every score that the study's tables show, and the others of their papers."""
    specs = {path.stem: TableSpec.load(str(path)) for path in sorted(Path("seedbed/resources/tables").glob("*.yaml"))}
    papers = {specs[table].group for table in study.tables}
    for table, spec in specs.items():
        if spec.group in papers and Available.get(study).has_column(spec):
            for block in TablePlan.get(study, table).blocks:
                yield from block.cells()


def read(reading: Reading, study: Study, store: Store) -> dict[str, Any]:
    """What came of one, as `scripts.fetch_corpus` does it."""
    done: dict[str, Any] = {"corpus": reading.corpus, "lang": reading.lang, "kind": reading.kind}
    task = study.tasks.get(reading.task)
    start = time.monotonic()
    try:
        test = task is not None and not task.clean
        table, record = fetch(reading.source, reading.kind, store, study.cleaning, test=test)
        if reading.kind == "pairs":
            check_scores(table, task.scale if task else (0, 1), origins.in_words(record["origin"]))
    except UserError as error:
        return done | {"error": str(error)}
    rows = table.iloc[:: max(len(table) // SHOWN, 1)].to_dict("list")
    return done | {
        "test": test,
        "counts": record["counts"],
        "rows": rows,
        "seconds": round(time.monotonic() - start, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    args = parser.parse_args()
    study = load(yamls.read(args.config))
    store = Store(args.folder / "downloads", args.folder / "assets.lock.json")
    with (args.folder / "read.jsonl").open("w") as file:
        for reading in readings(study):
            file.write(json.dumps(read(reading, study, store), ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
