"""The study: the schema of `config.yaml`, and facts that all packages use.

It composes the settings of the packages. `Part` is the base of objects of a study: `Entry` of those that stand for an
entry, in `seedbed.study.graph` of the products of jobs. No program imports this.
"""

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from itertools import combinations
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import Field, field_validator, model_validator

from seedbed.checkpoints import MINUTES
from seedbed.classifiers.settings import Classifier
from seedbed.corpora.read.folders import Paths, places
from seedbed.corpora.settings import Anchors, Cleaning, SeedPairs, Source
from seedbed.encoders.recipes import Recipe, presets
from seedbed.encoders.settings import Backbone, Fusion, Mining, Sides, Training
from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.protocols import Protocol, declared
from seedbed.evaluation.settings import Task
from seedbed.generators.settings import Generator, ScaleChoice
from seedbed.generators.writing.translation_settings import Judge, Translator
from seedbed.languages import called, registry
from seedbed.names import DRAWN, ROLES, Code, Name, Spec, languages_of, orders_of, pair_of, training_set_of
from seedbed.resources import FOLDER, specs
from seedbed.settings import EACH_ONCE, NoResult, Once, Place, Seed, Settings, require_known
from seedbed.study.settings import Corpora, Gpus, Language, Start
from seedbed.study.variants import add_candidates, choosing, makers, spelled_out, with_parents, with_starts
from seedbed.tables.settings import Best, Forecast, Quoted, Statistics
from seedbed.tracking import Tracker
from seedbed.triplets.settings import Audit


def _several(schema: dict[str, Any]) -> None:
    """Schema for editors of entries that expand to several recipes, in which any value may be a text with {}."""
    schema["patternProperties"][r"^[A-Za-z0-9.-]*\{\}[A-Za-z0-9.{}-]*$"] = {"type": "object", "required": ["over"]}


T = TypeVar("T")


def once_per_study(find: Callable[..., T]) -> Callable[..., T]:
    """Decorator of a method of `Study`, or of a function whose first argument is one: cache its values in the study."""

    @wraps(find)
    def cached(study: "Study", *args: Any) -> T:
        return study.once((find, args), lambda: find(study, *args))

    return cached


class Study(Settings):
    """The settings of a study, as in `config.yaml`."""

    results: Place = "results"
    """Folder of results."""
    downloads: NoResult[Place] = "downloads"
    """Folder of downloads; studies share it."""
    lock: Place = "assets.lock.json"
    """Revisions, digests and licences of unpinned downloads; commit it with your study."""
    paths: Paths = {}
    """Folders of data: each name is a `{placeholder}` of every source; `none`: the folder is not available, and no
    source that names it is read."""
    pivot: Code = "eng"
    """The language of `corpora.nli` and of translations."""
    seeds: Annotated[list[Seed], Field(min_length=1), EACH_ONCE] = [1]
    """One encoder of each trained recipe per seed."""
    languages: Annotated[dict[Code, Language], Field(min_length=1)]
    """The study's languages; an entry can be as short as `swh: {}`."""
    corpora: Corpora = Corpora()
    """Sources of text."""
    cleaning: Cleaning = Cleaning()
    """Bounds of a sentence."""
    anchors: Anchors = Anchors()
    """Choice of anchors."""
    seed_pairs: SeedPairs = SeedPairs()
    """Sample of translation pairs for recipes that train on `seed_pairs`."""
    start: Start = "scratch"
    """How much published work the study takes; the rest is built from scratch."""
    generators: dict[Name, Generator] = {}
    """Language models; the first is the default of every recipe."""
    translators: dict[Name, Translator] = {}
    """What translates texts into the pivot language, for encoders that read a text and its translation (LiRA)."""
    judges: dict[Name, Judge] = {}
    """What scores those translations."""
    audit: Audit = Audit()
    """What a triplet must be."""
    backbones: Annotated[dict[Name, Backbone], Field(min_length=1)]
    """Pretrained encoders."""
    mining: dict[Name, Mining] = {"layer9": Mining()}
    """Ways of mining neighbours of the seed pairs among the anchors (NeighXLM), for `data: {neighbours: NAME}` of
    recipes."""
    training: Training = Training()
    """Encoder training, before what methods and recipes change."""
    checkpoint_minutes: NoResult[float] = Field(MINUTES, ge=0)
    """Minutes between two checkpoints of a training, from which a killed job resumes. 0: after each step."""
    changed_code: NoResult[Literal["rerun", "keep"]] = "rerun"
    """`keep`: finished jobs whose code has changed are not run again; settings and inputs still count."""
    report_to: NoResult[Tracker] = "none"
    """Where trainings report loss and rate: `<results>/tensorboard` or `<results>/trackio`. The package must be
    installed."""
    recipes: Annotated[dict[Name, Recipe], Field(min_length=1, json_schema_extra=_several)]
    """How encoders are made."""
    classifiers: dict[Name, Classifier] = {}
    """Models that label texts or pairs of sentences."""
    tasks: dict[Name, Task] = {}
    """What encoders and classifiers are scored on."""
    best: Best | None = None
    """How the best encoder of each language, `<results>/best`, is chosen; left out, none is."""
    quoted: Once[Quoted] = []
    """Scores that others report on the study's test sets; tables show them next to the study's."""
    statistics: Statistics = Statistics()
    """Intervals and tests."""
    tables: Once[Spec] = ["table1"]
    """Specs of tables, in seedbed/resources/tables or in resources/tables of the study's folder."""
    figures: Once[Spec] = Field(
        default_factory=lambda data: [name for name in data["tables"] if name in specs("figures")]
    )
    """Specs of figures, in seedbed/resources/figures or resources/figures; left out, those named like one of
    `tables`."""
    compute: Compute | None = None
    """The cost of labels, counted and timed by rule `measure_compute`; left out, not measured."""
    gpus: NoResult[Gpus] = Gpus()
    """The GPUs that the cluster has."""
    forecast: NoResult[Forecast] = Forecast()
    """Device and prices of `snakemake forecast`."""

    @property
    def state(self) -> str:
        """The folder of the states from which killed jobs resume."""
        return f"{self.results}/state"

    @model_validator(mode="before")
    @classmethod
    def _renamed(cls, study: Any) -> Any:
        """What was a key once."""
        if isinstance(study, Mapping) and "adaptation" in study:
            raise ValueError("adaptation: is now two recipes, `vocabulary` and `adapted`, see docs/papers/modular.md")
        return study

    @field_validator("languages", mode="before")
    @classmethod
    def _entries(cls, entries: Any) -> Any:
        """`swh:` with nothing after it is `swh: {}`."""
        if not isinstance(entries, Mapping):
            return entries
        for key in map(str, entries):
            if key not in registry() and (code := called(key)):
                raise ValueError(f"{key!r} is no code of ISO 639-3; did you mean {code!r}?")
        return {key: {} if value is None else value for key, value in entries.items()}

    @field_validator("recipes", mode="before")
    @classmethod
    def _methods(cls, recipes: Any) -> Any:
        """A recipe like another, or a preset, has its settings; so has one with the name of a preset."""
        return with_starts(with_parents(spelled_out(recipes), presets()), presets())

    @field_validator("generators", mode="before")
    @classmethod
    def _variants(cls, generators: Any) -> Any:
        """A generator like another has its settings."""
        return with_parents(generators)

    @model_validator(mode="after")
    def _with_kinds_and_candidates(self) -> Self:
        kinds = self.roles | {drawn: self.roles[role] for drawn, role in DRAWN.items()}
        for name, recipe in self.recipes.items():
            require_known(f"recipes.{name}.data.corpus", "corpus", recipe.data.corpus, kinds)
            try:
                recipe.of_kind(kinds.get(recipe.data.corpus, ""))
            except ValueError as error:
                raise ValueError(f"recipes.{name}: {error}") from None
        add_candidates(self.generators, self.recipes, self.backbones, self.seeds)
        return self

    @property
    def codes(self) -> list[str]:
        """All languages whose texts are used: its languages, the pivot, and languages that are only trained on."""
        taught = [code for generator in self.generators.values() for code in generator.xllora.languages]
        trained = [task.train_language for task in self.tasks.values() if task.train_language]
        return [*dict.fromkeys([*self.languages, self.pivot, *taught, *trained])]

    @cached_property
    def roles(self) -> dict[str, str]:
        """Name of a corpus -> the kind of its rows, for the built-in corpora and `corpora.others`."""
        return ROLES | {name: corpus.kind for name, corpus in self.corpora.others.items()}

    @property
    def baseline(self) -> str:
        """The recipe that differences are taken from: the first on the pivot's data, else the first untrained."""
        shown = {name: recipe for name, recipe in self.recipes.items() if not recipe.on_request}
        usual = [name for name, recipe in shown.items() if recipe.data.from_languages == "pivot"]
        usual += [name for name, recipe in shown.items() if not recipe.made]
        return next(name for name in [self.statistics.baseline, *usual, *self.recipes] if name in self.recipes)

    @cached_property
    def reserved(self) -> set[str]:
        """Languages that a table shows only if its spec names them."""
        return {code for code, language in self.languages.items() if language.on_request}

    @cached_property
    def fused(self) -> dict[str, Fusion]:
        """Backbone -> its fusion, for the backbones that fuse several."""
        return {name: spec.fusion for name, spec in self.backbones.items() if spec.fusion}

    @property
    def weighted(self) -> list[str]:
        """The backbones that have weights of their own: no fusions, no pairs, no API embedding models."""
        return [name for name, spec in self.backbones.items() if spec.source]

    @cached_property
    def paired(self) -> dict[str, Sides]:
        """Backbone -> its two encoders, for the backbones that encode a text and its English translation."""
        return {name: spec.pair for name, spec in self.backbones.items() if spec.pair}

    @cached_property
    def choosing(self) -> dict[str, ScaleChoice]:
        """Generator -> how a development task chooses its scale; generators with a given scale are left out."""
        return choosing(self.generators)

    @cached_property
    def makers(self) -> dict[tuple[str, str], str]:
        """`variants.makers` of the study's generators, cached."""
        return makers(self.generators, self.start)

    @cached_property
    def declared(self) -> dict[str, Protocol]:
        """Task -> the declaration of its protocol, cached."""
        return {name: declared(task.protocol) for name, task in self.tasks.items()}

    def __copy__(self) -> Self:
        """A copy without cached values: its settings may be changed."""
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied

    @cached_property
    def _found(self) -> dict[Hashable, Any]:
        return {}

    def once(self, key: Hashable, find: Callable[[], T]) -> T:
        """The value for a key, computed at the first call and cached, since thousands of jobs use it."""
        if key not in self._found:
            self._found[key] = find()
        return self._found[key]

    # ---- Languages, their corpora and their tests.

    @once_per_study
    def facts(self, code: str) -> dict[str, str]:
        """Values of the placeholders of sources, templates and prefixes for a language.

        They are `lang`, its code; all columns of the language registry with the study's changes, empty if unknown; the
        study's `paths`; and `resources`, the folder of packaged data.
        """
        columns = dict.fromkeys(next(iter(registry().values())), "")
        known = columns | {"code": code, "lang": code} | registry().get(code, {})
        entry = self.languages.get(code, Language())
        own = {key: value for key, value in (("name", entry.name), ("script", entry.script)) if value}
        return known | own | entry.codes | places(self.paths) | {"resources": os.path.relpath(FOLDER)}

    @cached_property
    def names(self) -> dict[str, str]:
        """Language -> its name, as prompts use it."""
        return {code: self.facts(code)["name"] for code in self.codes}

    @once_per_study
    def corpus(self, role: str, code: str) -> Source | None:
        """The source of one role (`text`, `nli`, ..., or a name of `others`) for a language; None if there is none.

        Role `annotated` is `instructions` without their `top_up`.
        """
        _, source = self.given_corpus("instructions" if role == "annotated" else role, code)
        if source and role == "annotated":
            source = source.updated({"top_up": None})
        return source and source.resolved(self.facts(code))

    def given_corpus(self, role: str, code: str) -> tuple[str, Source | None]:
        """The key that gives the corpus of a role for a language, and what it gives, placeholders not yet filled."""
        entry, others = self.languages.get(code, Language()), self.corpora.others
        if source := {"text": entry.corpus, "instructions": entry.instructions}.get(role):
            return f"languages.{code}.{'corpus' if role == 'text' else role}", source
        if source := entry.corpora.get(role):
            return f"languages.{code}.corpora.{role}", source
        if role in others:
            return f"corpora.others.{role}", others[role].source
        return f"corpora.{role}", getattr(self.corpora, role)

    def test_set(self, task: str) -> str:
        """The task whose test set a task is scored on."""
        return self.tasks[task].set_of or task

    def training_name(self, task: str) -> str:
        """The name of the training set of a task, which may be another task's."""
        return training_set_of(self.test_set(task))

    def test(self, task: str, code: str) -> Source | None:
        """The test set of a task for a language; None if the task lacks it."""
        if self.tasks[task].set_of and code not in (self.tasks[task].languages or [code]):
            return None
        task = self.test_set(task)
        spec = self.tasks[task]
        if code in spec.orders():
            return spec.of_order(code).resolved(self.facts(languages_of(code)[0]) | {"code": code, "lang": code})
        own = self.languages.get(code, Language()).tests.get(task)
        if own or spec.source is None or (spec.languages is not None and code not in spec.languages):
            return own and own.resolved(self.facts(code))
        found = spec.source.resolved(self.facts(code))
        # The pivot language is no test of what a language is compared with it for.
        return None if found and found.compares_with_itself else found

    def train_of(self, task: str, code: str) -> str:
        """The language of the training set of a task for a language; empty: the task has no training set."""
        spec = self.tasks[task]
        return spec.train_language or code if self.declared[task].learns else ""

    def training_set(self, task: str, code: str) -> Source | None:
        """The source of a task's training set in a language; None if there is none."""
        train = self.tasks[self.test_set(task)].train
        return train and train.resolved(self.facts(code))

    @cached_property
    def tests_by_language(self) -> dict[str, list[str]]:
        """Language -> all its tasks, cached."""
        return {code: sorted(task for task in self.tasks if self._tests(task, code)) for code in self.languages}

    @cached_property
    def tests_by_pair(self) -> dict[str, dict[str, list[str]]]:
        """Pair of languages -> its tasks -> the orders in which each tests it.

        Sets that are joined have both orders; separate sets have those that exist.
        """
        found: dict[str, dict[str, list[str]]] = {}
        for task, spec in sorted(self.tasks.items()):
            tested = self.tested_by(task) if spec.pairs else []
            named = combinations(tested, 2) if spec.pairs == "all" else map(languages_of, spec.pairs)
            joined = [pair_of("-".join(both)) for both in named if {*both} <= {*tested} and not spec.orders()]
            orders = [order for pair in joined for order in orders_of(pair)]
            for order in [*orders, *(order for name, order in self.own_sets if name == task)]:
                found.setdefault(pair_of(order), {}).setdefault(task, []).append(order)
        return found

    @cached_property
    def own_sets(self) -> list[tuple[str, str]]:
        """Task and order of each separate test set of an order, for the study's languages."""
        every = [(task, order) for task, spec in sorted(self.tasks.items()) for order in spec.orders()]
        here = [(task, order) for task, order in every if {*languages_of(order)} <= {*self.languages}]
        return [(task, order) for task, order in here if self.test(task, order)]

    def tests_of(self, test_lang: str) -> list[str]:
        """The tasks with a test set in a language, or in a pair of languages."""
        return self.tests_by_language.get(test_lang) or [*self.tests_by_pair.get(test_lang, ())]

    def _tests(self, task: str, code: str) -> bool:
        """Whether a language is tested by a task: it has a test set and, where one is needed, a training set."""
        if self.test(task, code) is None:
            return False
        other = self.train_of(task, code)
        # A language is no test of what its own training set is for.
        return not other or (self.tasks[task].train_language != code and self.training_set(task, other) is not None)

    def tested_by(self, task: str) -> list[str]:
        """The languages that a task tests."""
        return [code for code in sorted(self.languages) if task in self.tests_by_language[code]]

    def pairs_tested_by(self, task: str) -> list[str]:
        """The pairs of languages that a task tests."""
        return sorted(pair for pair, tasks in self.tests_by_pair.items() if task in tasks)

    def of_encoders(self, task: str) -> bool:
        """Whether encoders are scored on a task, or retrieve in-context examples for it."""
        return self.tasks[task].protocol not in ("classification", "lengths")  # of classifiers alone; of no system

    def held_out(self, code: str) -> list[str]:
        """The tasks whose test texts in a language must not be in encoders' training data."""
        return [task for task in self.tests_by_language[code] if self.of_encoders(task)]

    def chosen_on(self, dev: str, code: str) -> list[str]:
        """The languages whose development sets choose a fusion's weights or a scale for a language; possibly none.

        That is the language itself; if it has no development set, all languages that have one, without optional ones
        unless there are no others.
        """
        tested = self.tested_by(dev) if dev else []
        return [code] if code in tested else [other for other in tested if other not in self.reserved] or tested


@dataclass(frozen=True)
class Part:
    """An object of a study that is identified by its fields other than the study: a recipe, an encoder, a table."""

    study: Study = field(compare=False, repr=False)

    @classmethod
    def get(cls, study: Study, *names: Any) -> Self:
        """The part with these names, cached: thousands of jobs use it."""
        return study.once((cls, names), lambda: cls(study, *names))


@dataclass(frozen=True)
class Entry(Part, Generic[T]):
    """An entry of one group of the study's settings, with what depends on other entries."""

    group: ClassVar[str] = ""
    """The key of the group."""

    name: str

    @property
    def spec(self) -> T:
        """Its settings."""
        return getattr(self.study, self.group)[self.name]

    @classmethod
    def every(cls, study: Study) -> list[Self]:
        """All entries of the group."""
        return [cls.get(study, name) for name in getattr(study, cls.group)]
