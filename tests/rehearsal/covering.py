"""Which languages of each table stand for all: every table, column, row, model and task is made at least once, of few jobs.

A table needs all of its cells, so nothing but languages is left out: of a table in seven languages one remains, or two where
a row or a column has none in common with the others. They are chosen greedily, as in Chvatal (1979): what costs the least
for each row that it adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from seedbed.evaluation.protocols import declared
from seedbed.generators.settings import POLARITIES
from seedbed.languages import ANY
from seedbed.names import languages_of, pair_of
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.tables.plan import Block, Cell

Plans = Mapping[str, list[Block]]
Shown = set[tuple[str, ...]]
Files = set[tuple[Any, ...]]
Cover = dict[str, dict[str, list[str]]]
"""Table -> column -> the languages that it keeps, in print order."""


class Part(NamedTuple):
    """One language of one table."""

    table: str
    lang: str


def shown(plans: Plans) -> dict[Part, Shown]:
    """What each language of each table shows: the rows of its columns, and tasks."""
    found: dict[Part, Shown] = {}
    for table, block, lang, task in _tests(plans):
        seen = found.setdefault(Part(table, lang), set())
        systems = [system.recipe for system in block.systems if system.has(block.backbone, lang)]
        seen |= {("task", task), *((table, block.column.label, block.backbone, recipe) for recipe in systems)}
    return found


def needs(study: Study, plans: Plans) -> dict[Part, Files]:
    """What is made for each language of each table: about one entry for a job."""
    found: dict[Part, Files] = {}
    for table, planned in plans.items():
        for block in planned:
            for cell in block.cells():
                found.setdefault(Part(table, cell.test_lang), set()).update(scored(study, cell))
            for text in block.texts():
                found.setdefault(Part(table, text.test_lang), set()).update(learnt(study, text.recipe, text.lang))
    return found


def scored(study: Study, cell: Cell) -> Iterator[tuple[Any, ...]]:
    """A score and what it needs."""
    of, lent = study.test_set(cell.task), study.train_of(cell.task, cell.test_lang)
    yield ("score", *cell[:3], cell.test_lang, cell.task if study.tasks[cell.task].on_request else "")
    yield ("test set", of, cell.test_lang)
    if declared(study.tasks[cell.task].protocol).learns:
        yield ("training set", of, lent)
    if cell.recipe == "fine-tuned":
        yield ("labels", cell.backbone, of, lent, cell.seed)
    if cell.backbone in study.backbones:
        yield ("encoder", *cell[:4])
        yield from learnt(study, cell.recipe, cell.lang)
    elif cell.recipe.startswith("composition"):
        yield ("composed", cell.backbone, cell.recipe, cell.lang)


def learnt(study: Study, recipe: str, lang: str) -> Iterator[tuple[Any, ...]]:
    """What an encoder learns from: anchors, and what a generator writes for them."""
    method, alone = study.recipes[recipe].written, study.recipes[recipe].drawn is not None
    if lang == ANY or not (method or alone):
        return
    yield from (("text", lang), ("anchors", lang))
    if alone:
        return
    generator = StudyRecipe.get(study, recipe).writer
    yield from ((step, generator, method, lang) for step in ("synthesised", "joined", "audited"))
    if method == "composition":
        yield ("corpus", study.generators[generator].language_corpus, lang)
        yield ("language adapter", study.makers[generator, "language"], lang)
        yield from (("composed", generator, lang, polarity) for polarity in POLARITIES)


def covering(study: Study, plans: Plans, whole: Iterable[str] = ()) -> Cover:
    """The languages that each table keeps.

    Args:
        plans: table -> what it shows of the study.
        whole: tables that keep all of theirs; what they need costs no other table anything.
    """
    shows, costs = shown(plans), needs(study, plans)
    chosen = [part for part in shows if part.table in whole]
    missing = Shown().union(*shows.values()).difference(*(shows[part] for part in chosen))
    have = Files().union(*(costs[part] for part in chosen))
    if study.compute:
        have.add(("test set", study.test_set(study.compute.task), study.compute.language))
    while missing:
        adds = {part: count for part, seen in shows.items() if (count := len(seen & missing))}
        best = min(adds, key=lambda part: (len(costs[part] - have) / adds[part], part))
        chosen.append(best)
        missing -= shows[best]
        have |= costs[best]
    for part in [part for part in reversed(chosen) if part.table not in whole]:
        others = [other for other in chosen if other != part]
        if shows[part] <= Shown().union(*(shows[other] for other in others)):
            chosen = others  # what was chosen later shows all that this one does
    cover: Cover = {}
    for table, block, lang, _ in _tests(plans):
        column = cover.setdefault(table, {}).setdefault(block.column.label, [])
        column += [lang] if Part(table, lang) in chosen and lang not in column else []
    return cover


def _tests(plans: Plans) -> Iterator[tuple[str, Block, str, str]]:
    """Table, block, language and task of everything that is measured."""
    for table, planned in plans.items():
        for block in planned:
            for lang, task in block.tests.items():
                yield table, block, lang, task


def reduced(spec: dict[str, Any], columns: Mapping[str, list[str]]) -> dict[str, Any]:
    """A table's spec whose columns keep the languages of a cover; columns that the study does not have stay as they are."""
    cut = [
        {**column, "languages": columns[column["label"]]} if column["label"] in columns else column
        for column in spec["columns"]
    ]
    return {**spec, "columns": cut}


def asked(study: Study, plans: Plans, cover: Cover) -> dict[str, set[str]]:
    """Task -> the languages, and pairs, that some table still shows of it, or of a task that is scored on its set."""
    found: dict[str, set[str]] = {}
    for table, block, lang, task in _tests(plans):
        if lang in cover[table][block.column.label]:
            for name in (task, study.test_set(task)):
                found.setdefault(name, set()).add(lang)
    return found


def shortened(tasks: Mapping[str, dict[str, Any]], wanted: Mapping[str, set[str]]) -> dict[str, dict[str, Any]]:
    """Tasks as a configuration has them, in the languages and pairs of `asked` alone; what is not asked stays."""
    found = dict(tasks)
    for task, langs in wanted.items():
        found[task] = tasks[task] | {"languages": sorted(lang for lang in langs if languages_of(lang) == [lang])}
        if "pairs" in tasks[task]:
            kept = {order: own for order, own in tasks[task]["pairs"].items() if pair_of(order) in langs}
            found[task]["pairs"] = kept
    return found


def narrowed(recipes: Mapping[str, dict[str, Any]], spoken: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Recipes as a configuration has them, whose own languages are among those that it still has."""
    found = dict(recipes)
    for name, recipe in recipes.items():
        if own := recipe.get("only", {}).get("languages"):
            kept = [lang for lang in own if lang in spoken]
            found[name] = recipe | {"only": recipe["only"] | {"languages": kept}}
    return found


def spoken(study: Study, cover: Cover) -> list[str]:
    """The study's languages that some table still shows or learns from, or that labels are counted and timed in."""
    kept = {lang for columns in cover.values() for langs in columns.values() for lang in langs}
    kept |= {task.train_language for task in study.tasks.values()}
    kept |= {study.compute.language} if study.compute else set()
    kept = {code for lang in kept for code in languages_of(lang)}
    kept |= {code for recipe in study.recipes.values() if recipe.of_several for code in recipe.data.from_languages}
    return [lang for lang in study.languages if lang in kept or study.languages[lang].on_request]
