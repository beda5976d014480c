"""Which scores, or triplets, a table is made of: its spec, met with what a study offers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple, get_args

from pydantic import Field

from seedbed.encoders.settings import Method
from seedbed.io import UserError
from seedbed.settings import Settings, suggest
from seedbed.tables.specs import METRICS, OVERLAP, Column, Measured, TableSpec


class System(Settings):
    """The encoders that one recipe offers."""

    recipe: str
    """Its name in the study."""
    language: str
    """Language folder of its encoders; `*`: each test language has its own."""
    seeds: Annotated[list[int], Field(min_length=1)]
    """One encoder per seed."""
    on_request: bool = False
    """Only in tables that name it."""
    languages: list[str] | None = None
    """Only for these test languages."""
    backbones: list[str] | None = None
    """Only of these backbones."""
    chosen_on: str = ""
    """The task that chose how they were made: no column shows them on it."""
    triplets: str = ""
    """The file of triplets that they learn from, with {lang}; nothing: none, or targets in another language."""

    def has(self, backbone: str, language: str) -> bool:
        """Whether it offers an encoder of a backbone to a language; without a backbone, what they all learn from."""
        return (not backbone or self.backbones is None or backbone in self.backbones) and (
            self.languages is None or language in self.languages
        )

    def folder(self, language: str) -> str:
        """The language folder of what it offers to a language."""
        return language if self.language == "*" else self.language


class Scored(Settings):
    """A task of the study and the languages that are scored on it."""

    protocol: Measured
    """How it is scored."""
    languages: list[str]
    """ISO 639-3, in any order."""
    on_request: bool = False
    """Only in tables that name it."""
    k: list[int] = []
    """How many of the nearest its scores are of."""


class Offered(Settings):
    """A backbone or classifier of the study."""

    paper: str = ""
    """Its name in the papers."""
    on_request: bool = False
    """Only in tables that name it."""
    tasks: list[str] | None = None
    """Only these can be asked of it."""
    languages: list[str] | None = None
    """Only in these."""

    def tests(self, tests: Mapping[str, str]) -> dict[str, str]:
        """Of tests (language -> task) those that can be asked of it."""
        return {
            code: task
            for code, task in tests.items()
            if (self.tasks is None or task in self.tasks) and (self.languages is None or code in self.languages)
        }


class Cell(NamedTuple):
    """One score file."""

    backbone: str
    recipe: str
    lang: str
    seed: int
    task: str
    test_lang: str


class Texts(NamedTuple):
    """One file of triplets."""

    recipe: str
    lang: str
    test_lang: str
    file: str


class Block(Settings):
    """The part of a table that one backbone and one column fill; a column of overlap has no backbone."""

    backbone: str
    """Its name in the study, or nothing."""
    paper_backbone: str
    """Its name in the paper, or nothing."""
    averaged: list[str] = []
    """Of an average over backbones: their names in the paper."""
    column: Column
    """What is measured."""
    tests: dict[str, str]
    """Language -> the task that tests it, in print order."""
    systems: list[System]
    """In print order."""
    names: dict[str, str]
    """Recipe -> printed name."""
    baseline: str
    """The recipe that differences are taken from."""

    def cells(self) -> Iterator[Cell]:
        """Every score that it shows: none of a column of overlap."""
        for language, task in self.tests.items() if self.column.protocol != OVERLAP else ():
            for system in self.systems:
                for seed in system.seeds if system.has(self.backbone, language) else ():
                    yield Cell(self.backbone, system.recipe, system.folder(language), seed, task, language)

    def texts(self) -> Iterator[Texts]:
        """Every file of triplets that a column of overlap is measured on."""
        for language in self.tests if self.column.protocol == OVERLAP else ():
            for system in self.systems:
                if system.has(self.backbone, language):
                    folder = system.folder(language)
                    yield Texts(system.recipe, folder, language, system.triplets.format(lang=folder))


def plan(
    spec: TableSpec,
    systems: Sequence[System],
    backbones: Mapping[str, Offered],
    tasks: Mapping[str, Scored],
    baseline: str,
    reserved: Collection[str] = (),
) -> list[Block]:
    """The blocks of a table: for each backbone and column of the spec, the recipes and languages that the study has.

    Args:
        baseline: the study's; the spec's own goes before it.
        reserved: languages that only a table shows which names them.

    Raises:
        UserError: the spec names a recipe or task that is neither the study's nor known; the study has none of its
            recipes, backbones or tasks.
    """
    own = {system.recipe: system for system in systems}
    names = _names(spec, systems)
    baseline = spec.baseline or baseline
    if baseline not in names:
        raise UserError(f"table {spec.title!r}: baseline {baseline!r} is none of its recipes: {', '.join(names)}")
    shown = _shown(spec, backbones)
    blocks = [
        Block(
            backbone=name,
            paper_backbone=offered.paper,
            column=column,
            tests=offered.tests(tests),
            systems=[own[recipe] for recipe in names if _fills(own[recipe], column)],
            names=names,
            baseline=baseline,
        )
        for name, offered in (shown | {"": Offered()}).items()
        for column, tests in _columns(spec, tasks, reserved)
        if (column.protocol == OVERLAP) == (name == "")
    ]
    if not (filled := [trimmed for block in blocks if (trimmed := _trimmed(block)).tests]):
        lacking = "is scored on a task of it, for any of its backbones"
        if all(column.protocol == OVERLAP for column in spec.columns):
            lacking = f"learns from triplets in one language, as overlap needs: {', '.join(names)}"
        raise UserError(f"table {spec.title!r}: no recipe of it {lacking}")
    return filled


def beside(
    spec: TableSpec,
    systems: Sequence[System],
    classifiers: Mapping[str, Offered],
    tasks: Mapping[str, Scored],
    baseline: str,
    reserved: Collection[str] = (),
) -> list[Block]:
    """The blocks of classifiers that a table of encoders shows too, in its columns of protocol knn.

    A column has only those that are asked in all its languages: averages over fewer would not compare.

    Args:
        systems: the variants of classifiers, each with those that have it.
        baseline: as of `plan`, which has checked the spec.
    """
    return [
        Block(
            backbone=name,
            paper_backbone=offered.paper,
            column=column,
            tests=tests,
            systems=[system],
            names={system.recipe: name},
            baseline=spec.baseline or baseline,
        )
        for name, offered in _shown(spec, classifiers).items()
        for column, tests in (_columns(spec, tasks, reserved) if spec.classifiers else ())
        if column.protocol == "knn" and offered.tests(tests) == tests
        for system in systems
        if system.recipe in spec.classifiers and system.has(name, "")
    ]


def _shown(spec: TableSpec, offered: Mapping[str, Offered]) -> dict[str, Offered]:
    """The backbones or classifiers that a table shows: those that it names, or all but those on request."""
    return {
        name: each
        for name, each in offered.items()
        if ({name, each.paper} & {*spec.backbones} if spec.backbones else not each.on_request)
    }


def _fills(system: System, column: Column) -> bool:
    """Whether a column shows a recipe: if it leaves it out, or chose it, not; of overlap, those with triplets."""
    named = (not column.recipes or system.recipe in column.recipes) and system.chosen_on not in column.tasks
    return named and (column.protocol != OVERLAP or bool(system.triplets))


def _names(spec: TableSpec, systems: Sequence[System]) -> dict[str, str]:
    """A study's recipes in print order with their printed names."""
    own = {system.recipe: system for system in systems}
    for recipe in () if spec.partial else spec.recipes:
        if recipe not in (known := sorted({*own, *get_args(Method)})):
            raise UserError(f"table spec: recipes.{recipe}: no such recipe; {suggest(recipe, known)}")
    printed = {recipe: label for recipe, label in spec.recipes.items() if recipe in own}
    others = [name for name, system in own.items() if spec.open and not system.on_request and name not in printed]
    return printed | {name: name for name in others}


def _columns(
    spec: TableSpec, tasks: Mapping[str, Scored], reserved: Collection[str]
) -> list[tuple[Column, dict[str, str]]]:
    """Columns and their tests (language -> task).

    Tasks of one protocol share a column unless they share a language that is shown: others cannot part them.
    """
    columns: list[tuple[Column, dict[str, str]]] = []
    for column in spec.columns:
        if spec.partial and not {*column.tasks} <= {*tasks}:
            continue
        chosen = _tasks(column, tasks)
        every = dict.fromkeys(language for languages in chosen.values() for language in languages)
        shown = column.languages or spec.ordered(every, reserved)
        tests = [(code, name) for code in shown for name, languages in chosen.items() if code in languages]
        if len(dict(tests)) == len(tests):
            columns.append((column, dict(tests)))
            continue
        for name, languages in chosen.items():
            own = column.model_copy(update={"label": f"{column.label} ({name})"})
            columns.append((own, {code: name for code in shown if code in languages}))
    if not any(tests for _, tests in columns):
        wanted = " or ".join(dict.fromkeys(column.protocol for column in spec.columns))
        raise UserError(f"tasks: none has protocol {wanted} and a language; add one, or leave the table out")
    return [(column, tests) for column, tests in columns if tests]


def _tasks(column: Column, tasks: Mapping[str, Scored]) -> dict[str, list[str]]:
    """The tasks of a column, with their languages."""
    for name in column.tasks:
        if name not in tasks:
            raise UserError(f"table spec: columns.{column.label}: no task {name!r}; {suggest(name, sorted(tasks))}")
        if tasks[name].protocol != column.protocol:
            raise UserError(f"table spec: task {name!r} is {tasks[name].protocol}; {column.label} is {column.protocol}")
    chosen = {
        name: task
        for name, task in tasks.items()
        if (name in column.tasks if column.tasks else task.protocol == column.protocol and not task.on_request)
    }
    k = METRICS[column.protocol][column.metric].k
    for name, task in chosen.items():
        if k and k not in task.k:
            raise UserError(f"tasks.{name}.k: {task.k}; column {column.label!r} shows {column.metric}: add {k}")
    return {name: task.languages for name, task in chosen.items()}


def _trimmed(block: Block) -> Block:
    """The block without recipes and languages that meet nowhere."""
    systems = [system for system in block.systems if any(system.has(block.backbone, code) for code in block.tests)]
    tests = {
        code: task for code, task in block.tests.items() if any(system.has(block.backbone, code) for system in systems)
    }
    return block.model_copy(update={"systems": systems, "tests": tests})
