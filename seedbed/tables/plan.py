"""Planning a table: what a study has that it can show, and which score files, or files of triplets, it then needs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple, Self

from pydantic import Field

from seedbed.encoders.recipes import presets
from seedbed.io import UserError
from seedbed.names import languages_of
from seedbed.settings import Settings, suggest
from seedbed.tables.quotes import Quote
from seedbed.tables.specs import OVERLAP, Column, TableSpec


class AvailableRecipe(Settings):
    """The encoders of one recipe."""

    recipe: str
    """The recipe's name in the study."""
    language: str
    """Language folder of its encoders; `*`: one for each test language."""
    seeds: Annotated[list[int], Field(min_length=1)]
    """One encoder for each seed."""
    heads: list[int] = []
    """Seeds of classification heads that are fine-tuned on the encoders."""
    on_request: bool = False
    """Whether only tables that name it show it."""
    languages: list[str] | None = None
    """Available test languages; None: all."""
    backbones: list[str] | None = None
    """Available backbones; None: all."""
    chosen_on: str = ""
    """The development task that chose how they were made; tables do not show them on it."""
    triplets: str = ""
    """File of their training triplets in the folder of results, with {lang}; empty: none, or triplets whose positives
    are in another language.
    """
    gives: list[str] = []
    """What encoders that use translations provide in addition to vectors: paths, choices."""
    transformer: bool = True
    """Whether its encoders have layers and can be fine-tuned."""

    def has(self, backbone: str, language: str) -> bool:
        """Whether it has an encoder of a backbone for a language, or for both of a pair.

        If `backbone` is empty, as in a column of triplets, only the language is checked.
        """
        of_backbone = not backbone or self.backbones is None or backbone in self.backbones
        return of_backbone and (self.languages is None or {*languages_of(language)} <= {*self.languages})

    def folder(self, language: str) -> str:
        """The language folder of its encoder for a language; for a pair, of the first."""
        return languages_of(language)[0] if self.language == "*" else self.language


class AvailableTask(Settings):
    """A task of the study and its languages."""

    protocol: str
    """Its protocol."""
    languages: list[str]
    """ISO 639-3, in any order."""
    pairs: list[str] = []
    """Language pairs."""
    on_request: bool = False
    """Whether only tables that name it show it."""
    k: list[int] = []
    """Numbers of neighbours of its scores."""


class AvailableModel(Settings):
    """A backbone or classifier of the study."""

    paper: str = ""
    """Its name in the papers."""
    on_request: bool = False
    """Whether only tables that name it show it."""
    fused: bool = False
    """It provides distances only."""
    tasks: list[str] | None = None
    """Tasks that it is scored on; None: all."""
    languages: list[str] | None = None
    """Its languages; None: all."""

    def tests(self, tests: Mapping[str, str]) -> dict[str, str]:
        """Those of `tests` (language -> task) on which it is scored."""
        return {
            code: task
            for code, task in tests.items()
            if (self.tasks is None or task in self.tasks) and (self.languages is None or code in self.languages)
        }


class Cell(NamedTuple):
    """One score file, by its encoder, task and test language."""

    backbone: str
    recipe: str
    lang: str
    seed: int
    task: str
    test_lang: str

    @classmethod
    def named(cls, encoder: str, test_lang: str) -> Self:
        """The score of an encoder named `backbone/recipe/lang/seed`, without a task yet.

        Raises:
            UserError: no name of an encoder.
        """
        match encoder.split("/"):
            case [backbone, recipe, lang, seed] if seed.isdecimal():
                return cls(backbone, recipe, lang, int(seed), "", test_lang)
        raise UserError(f"encoder: {encoder!r}; expected BACKBONE/RECIPE/LANGUAGE/SEED")

    @property
    def path(self) -> str:
        """Its path in the folder of scores: {backbone}/{recipe}/{lang}/{seed}/{task}/{test_lang}.json."""
        return "/".join(map(str, self)) + ".json"


class Texts(NamedTuple):
    """One file of triplets."""

    recipe: str
    lang: str
    test_lang: str
    file: str
    """Its path in the folder of results."""


class Other(Settings):
    """The row of another backbone that differences are taken from: its system of the baseline recipe."""

    backbone: str
    """The backbone's name in the study."""
    system: AvailableRecipe
    languages: list[str]
    """Languages in which it is scored on the tests of a block."""


class Block(Settings):
    """The part of a table with one backbone and one column; a column of overlap has no backbone."""

    backbone: str
    """The backbone's name in the study; empty: none."""
    paper_backbone: str
    """The backbone's name in the paper; empty: the paper does not have it."""
    averaged: list[tuple[str, str]] = []
    """What is averaged over backbones: (the paper's name of the backbone, language); empty: a single backbone."""
    column: Column
    """What is measured."""
    tests: dict[str, str]
    """Language -> its test task, in print order."""
    systems: list[AvailableRecipe]
    """Systems in print order."""
    names: dict[str, str]
    """Recipe -> printed name."""
    baseline: str
    """The recipe that differences are taken from."""
    other: Other | None = None
    """What differences of the baseline itself, and of systems without a baseline, are taken from; None: nothing."""
    quoted: list[Quote] = []
    """Scores that others report on the same tests."""

    def cells(self) -> Iterator[Cell]:
        """Iterate over its score files; none for a column of overlap."""
        for language in self.tests if self.column.protocol != OVERLAP else ():
            for system in self.systems:
                if system.has(self.backbone, language):
                    yield from self._of_system(self.backbone, system, language)

    def compared(self, language: str) -> list[Cell]:
        """The score files of `other` in a language; empty: no differences are taken from it."""
        if not self.other or language not in self.other.languages:
            return []
        return [*self._of_system(self.other.backbone, self.other.system, language)]

    def _of_system(self, backbone: str, system: AvailableRecipe, language: str) -> Iterator[Cell]:
        """The score files of one system in a language: of each seed, or of each head that is fine-tuned."""
        for seed in system.heads if self.column.declared.tunes else system.seeds:
            yield Cell(backbone, system.recipe, system.folder(language), seed, self.tests[language], language)

    def texts(self) -> Iterator[Texts]:
        """Iterate over the files of triplets of a column of overlap."""
        for language in self.tests if self.column.protocol == OVERLAP else ():
            for system in self.systems:
                if system.has(self.backbone, language):
                    folder = system.folder(language)
                    yield Texts(system.recipe, folder, language, system.triplets.format(lang=folder))


def plan(
    spec: TableSpec,
    systems: Sequence[AvailableRecipe],
    backbones: Mapping[str, AvailableModel],
    tasks: Mapping[str, AvailableTask],
    baseline: str,
    reserved: Collection[str] = (),
) -> list[Block]:
    """Plan a table: one block for each backbone and column of its spec, with the recipes and languages that the study
    has.

    Args:
        baseline: the study's baseline recipe; the spec's own has priority.
        reserved: languages that appear only in tables that name them.

    Raises:
        UserError: the spec names an unknown recipe or task, its baseline is none of its recipes, or it gives two
            recipes of a block one printed name; a task lacks a column's k; or the study has none of its recipes,
            backbones or tasks.
    """
    own = {system.recipe: system for system in systems}
    names = _names(spec, own)
    baseline = spec.baseline or baseline
    if baseline not in names:
        raise UserError(f"table {spec.title!r}: baseline {baseline!r} is none of its recipes: {', '.join(names)}")
    shown = _shown(spec, backbones)
    blocks = [
        Block(
            backbone=name,
            paper_backbone=model.paper,
            column=column,
            tests=model.tests(tests),
            systems=[own[recipe] for recipe in names if _fills(own[recipe], column)],
            names=names,
            baseline=baseline,
        )
        for name, model in (shown | {"": AvailableModel()}).items()
        for column, tests in _columns(spec, tasks, reserved)
        if (column.protocol == OVERLAP) == (name == "") and (spec.of_classifiers or not column.answered_by)
    ]
    if not (filled := [trimmed for block in blocks if (trimmed := _trimmed(block)).tests]):
        lacking = (
            "is scored on a task of it, for any of its backbones; add one of each to the study, or leave the table out"
        )
        if all(column.protocol == OVERLAP for column in spec.columns):
            lacking = f"learns from triplets in one language, as overlap needs: {', '.join(names)}; add one that does"
        what = "variant of a classifier" if spec.of_classifiers else "recipe"
        raise UserError(f"table {spec.title!r}: no {what} of it {lacking}")
    return _require_unique_names(spec, filled, "recipe a printed name of its own")


def compared(spec: TableSpec, blocks: Sequence[Block], backbone: str) -> list[Block]:
    """The blocks, each with its `other`: the baseline's row of another backbone in the same column.

    Args:
        backbone: the study's backbone for comparisons, which a table may lack; the spec's own has priority.

    Raises:
        UserError: the spec names a backbone that the table does not show, and is not partial.
    """
    name = spec.baseline_backbone or backbone
    shown = {called: block.backbone for block in blocks for called in (block.backbone, block.paper_backbone) if called}
    if name not in shown:
        if spec.baseline_backbone and not spec.partial:
            near = suggest(name, sorted(shown))
            raise UserError(f"table {spec.title!r}: baseline_backbone {name!r} is none of its backbones; {near}")
        return [*blocks]
    own = {block.column.label: block for block in blocks if block.backbone == shown[name]}
    return [block.model_copy(update={"other": _other(block, own.get(block.column.label))}) for block in blocks]


def _other(block: Block, own: Block | None) -> Other | None:
    """What a block is compared with: the baseline in the same column of a backbone, but for this itself."""
    if own is None or block.backbone in ("", own.backbone):
        return None
    system = next((one for one in own.systems if one.recipe == own.baseline), None)
    same = [code for code, task in own.tests.items() if block.tests.get(code) == task]
    languages = [code for code in same if system and system.has(own.backbone, code)]
    return Other(backbone=own.backbone, system=system, languages=languages) if languages else None


def of_labellers(
    spec: TableSpec,
    systems: Sequence[AvailableRecipe],
    classifiers: Mapping[str, AvailableModel],
    tasks: Mapping[str, AvailableTask],
    baseline: str,
    reserved: Collection[str] = (),
) -> list[Block]:
    """Plan the rows of classifiers in a table of encoders: blocks, as `plan` returns them, for the columns that
    classifiers can answer.

    Kinds of classifiers are in the spec's order. A column has only classifiers that are scored in all its languages,
    because averages over fewer could not be compared.

    Args:
        systems: the variants of classifiers, each with the classifiers that have it.

    Raises:
        UserError: two kinds of one classifier would have one printed name.
    """
    by_kind = {system.recipe: system for system in systems}
    kinds = [by_kind[kind] for kind in spec.classifiers if kind in by_kind]
    blocks = [
        Block(
            backbone=name,
            paper_backbone=model.paper,
            column=column,
            tests=tests,
            systems=shown,
            names={system.recipe: spec.classifier_name(system.recipe, name) for system in shown},
            baseline=spec.baseline_classifier or spec.baseline or baseline,
        )
        for name, model in _shown(spec, classifiers).items()
        for column, tests in (_columns(spec, tasks, reserved) if spec.classifiers else ())
        if column.labelled and model.tests(tests) == tests
        if (shown := [system for system in kinds if system.has(name, "")])
    ]
    right = "`classifiers: {" + ", ".join(f"{kind}: ..." for kind in spec.classifiers) + "}`"
    return _require_unique_names(spec, blocks, f"kind a printed name of its own: {right}")


def _require_unique_names(spec: TableSpec, blocks: list[Block], right: str) -> list[Block]:
    """Return blocks in which each row has a name of its own; `right` says in the message what each must be given.

    Raises:
        UserError: two rows of a block have one printed name, so that nobody could say whose numbers are whose.
    """
    for block in blocks:
        named: dict[str, str] = {}
        for system in block.systems:
            label = block.names[system.recipe]
            if (other := named.setdefault(label, system.recipe)) != system.recipe:
                rows = f"{other} and {system.recipe} would both be rows {label!r}"
                raise UserError(f"table {spec.title!r}: {rows}; give each {right}")
    return blocks


def _shown(spec: TableSpec, models: Mapping[str, AvailableModel]) -> dict[str, AvailableModel]:
    """The backbones or classifiers that a table shows: those that it names, else all without `on_request`."""
    return {
        name: each
        for name, each in models.items()
        if ({name, each.paper} & {*spec.backbones} if spec.backbones else not each.on_request)
    }


def _fills(system: AvailableRecipe, column: Column) -> bool:
    """Whether a column shows a recipe: if it leaves it out, or chose it, not; of overlap, those with triplets."""
    named = (not column.recipes or system.recipe in column.recipes) and system.chosen_on not in column.tasks
    named = named and column.declared.serves(system.gives, transformer=system.transformer)
    return named and (column.protocol != OVERLAP or bool(system.triplets))


def _names(spec: TableSpec, own: Mapping[str, AvailableRecipe]) -> dict[str, str]:
    """A study's recipes in print order with their printed names."""
    known = sorted({*own, *presets()})
    for recipe in () if spec.partial else spec.recipes:
        if recipe not in known:
            raise UserError(f"table spec: recipes.{recipe}: no such recipe; {suggest(recipe, known)}")
    printed = {recipe: label for recipe, label in spec.recipes.items() if recipe in own}
    others = [name for name, system in own.items() if spec.open and not system.on_request and name not in printed]
    return printed | dict(zip(others, others, strict=True))


def _columns(
    spec: TableSpec, tasks: Mapping[str, AvailableTask], reserved: Collection[str]
) -> list[tuple[Column, dict[str, str]]]:
    """Columns and their tests (language -> task).

    Tasks of one protocol share a column unless two of them have one of its languages in common.
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
            columns.append((column.of_task(name), {code: name for code in shown if code in languages}))
    if not any(tests for _, tests in columns):
        wanted = " or ".join(dict.fromkeys(column.protocol for column in spec.columns))
        open_to_all = {column.protocol for column in spec.columns if not column.tasks}
        asked = [name for name, task in tasks.items() if task.protocol in open_to_all and task.on_request]
        remedy = f"name {asked[0]!r}, which has on_request, under `tasks` of a column" if asked else "add one"
        raise UserError(
            f"table {spec.title!r}: no task has protocol {wanted} and a language; {remedy}, or leave out the table and "
            "figures of it"
        )
    return [(column, tests) for column, tests in columns if tests]


def _tasks(column: Column, tasks: Mapping[str, AvailableTask]) -> dict[str, list[str]]:
    """The tasks of a column, with their languages."""
    for name in column.tasks:
        if name not in tasks:
            raise UserError(f"table spec: columns.{column.label}: no task {name!r}; {suggest(name, sorted(tasks))}")
        if tasks[name].protocol != column.protocol:
            raise UserError(f"table spec: task {name!r} is {tasks[name].protocol}; {column.label} is {column.protocol}")
    usual = [name for name, task in tasks.items() if task.protocol == column.protocol and not task.on_request]
    chosen = {name: task for name, task in tasks.items() if name in (column.tasks or usual)}
    k = column.measured.k
    for name, task in chosen.items():
        if k and k not in task.k:
            raise UserError(f"tasks.{name}.k: {task.k}; column {column.label!r} shows {column.metric}: add {k}")
    return {name: task.pairs if column.pairs else task.languages for name, task in chosen.items()}


def _trimmed(block: Block) -> Block:
    """The block without recipes and languages that meet nowhere."""
    met = {code: [system for system in block.systems if system.has(block.backbone, code)] for code in block.tests}
    systems = [system for system in block.systems if any(system in some for some in met.values())]
    tests = {code: task for code, task in block.tests.items() if met[code]}
    return block.model_copy(update={"systems": systems, "tests": tests})
