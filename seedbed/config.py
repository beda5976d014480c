"""The study: what `config.yaml` may say, checked at once, and what follows from it.

The settings of each room are models of that room; this module composes them and answers the questions of the graph. No
program imports it, so that an edit here re-runs no job.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from seedbed import checks, supplies, tracking
from seedbed.checkpoints import MINUTES
from seedbed.corpora.clean import unicode_scripts
from seedbed.corpora.settings import Anchors, Cleaning, Paths, Source, Word
from seedbed.encoders.classifier_settings import BESIDE, IN_CONTEXT, VARIANTS, Classifier
from seedbed.encoders.settings import METHOD_TRAINING, SYNTHETIC, UNTRAINED, Backbone, Fusion, Recipe, Training
from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.settings import LABELLING, LEARNING, SEARCHING, Task
from seedbed.generators.settings import Choice, Generator
from seedbed.inheritance import with_parents
from seedbed.io import UserError
from seedbed.languages import ANY, called, registry
from seedbed.names import ROLES, Code, Name, Spec, anchors_in
from seedbed.resources import FOLDER, spec_file
from seedbed.settings import EACH_ONCE, Once, Place, Seed, Settings, explain, written
from seedbed.tables.maps import Mapped, plan_map
from seedbed.tables.plan import Block, Offered, Scored, System, beside, plan
from seedbed.tables.settings import Forecast, Statistics
from seedbed.tables.specs import OVERLAP, FigureSpec, TableSpec
from seedbed.tracking import Tracker
from seedbed.triplets.settings import Audit
from seedbed.variants import add_candidates, candidate, choosing, makers

LONGEST = 1000
"""Characters of an error at most: a name in it may be a page long."""

Start = Literal["scratch", "adapters", "triplets", "encoders"]
"""The reproduction ladder, from the bottom."""

TRIPLETS = "training triplets"
"""What stands for the task of columns of overlap; with its blank it is no task's name."""


def _known_script(script: str) -> str:
    if script and not unicode_scripts(script):
        raise ValueError("expected a script of ISO 15924 that Unicode knows, like Latn")
    return script


class Language(Settings):
    """One language of the study; what it leaves out comes from the registry, seedbed/resources/languages.tsv."""

    name: Annotated[str, written(r"\p{L}[\p{L}\p{M}\p{N} .,/()'’-]*", "a name like Swahili (Congo)")] = ""
    """English name, as prompts use it."""
    script: Annotated[str, AfterValidator(_known_script)] = ""
    """ISO 15924, like Latn."""
    corpus: Source | None = None
    """Its sentences, instead of `corpora.text`. Of a list, the first that is there (see `otherwise`)."""
    instructions: Source | None = None
    """Its instructions, instead of `corpora.instructions`."""
    tests: dict[Name, Source] = {}
    """Its own test sets by task, instead of the task's source."""
    codes: dict[Word, Annotated[str, written(r"[\p{L}\p{M}\p{N}_ .,:/+()'-]+", "a plain name, like hin_Deva")]] = {}
    """Registry columns to set or to change (its name in some resource)."""
    on_request: bool = False
    """Only in tables that name it."""

    @field_validator("corpus", mode="before")
    @classmethod
    def _in_turn(cls, corpus: Any) -> Any:
        """`[first, second]` is the first, otherwise the second."""
        if not isinstance(corpus, list) or not all(isinstance(source, Mapping) for source in corpus):
            return corpus
        chosen = None
        for source in reversed(corpus):
            chosen = {**source, "otherwise": chosen}
        return chosen


class Corpora(Settings):
    """Where text comes from, as templates over the registry. What only scores encoders needs none."""

    text: Source | None = None
    """Sentences of a language: `text`."""
    instructions: Source | None = None
    """Prompts and responses in a language: `prompt`, `response`."""
    nli: Source | None = None
    """Triplets in the pivot language: `anchor`, `positive`, `negative`."""
    nli_translations: Source | None = None
    """Human translations of NLI premises with the pivot's hypotheses (or labelled rows: premise, hypothesis, label)."""
    nli_machine: Source | None = None
    """Machine translations of NLI premises, in the same shape."""
    parallel: Source | None = None
    """Human translations: `text` in a language, `pivot` in the pivot language."""
    nli_pairs: Source | None = None
    """Labelled pairs of a language, which classifiers learn from: `premise`, `hypothesis`, `label`."""
    published_positive: Source | None = None
    """Ready examples for the positive XL-LoRA adapter: `anchor` in any language, `target` in the pivot language."""
    published_negative: Source | None = None
    """The same for the negative adapter."""
    others: dict[Name, Source] = {}
    """Sentences under names of your own, which recipes learn that give one as their `text`: `text`."""


class Gpus(Settings):
    """The GPUs that a cluster has, so that each job asks for one that its model fits. It changes no result."""

    memory: dict[Annotated[str, Field(pattern=r"^\w+$")], Annotated[int, Field(gt=0)]] = {}
    """MiB of each kind; a job that fits none is refused before anything is submitted. Nothing: no job says which."""
    told_by: Literal["constraint", "gpu_model"] = "constraint"
    """What the names are to Slurm. constraint: features; all that fit are offered. gpu_model: types of `--gpus`; the
    smallest that fits is asked for."""


class Study(Settings):
    """Everything that `config.yaml` says."""

    results: Place = "results"
    """Where results go."""
    downloads: Place = "downloads"
    """Where downloads are kept; studies share it."""
    lock: Place = "assets.lock.json"
    """Revisions, digests and licences of unpinned downloads; commit it with your study."""
    paths: Paths = {}
    """Folders of data: each name is a `{placeholder}` of every source."""
    pivot: Code = "eng"
    """The language that lends its NLI data."""
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
    start: Start = "scratch"
    """Where the study takes up published work; the rest is made from scratch."""
    generators: dict[Name, Generator] = {}
    """Language models; the first is the default of every recipe."""
    audit: Audit = Audit()
    """What a triplet must be."""
    backbones: Annotated[dict[Name, Backbone], Field(min_length=1)]
    """Pretrained encoders."""
    training: Training = Training()
    """Encoder training, before what methods and recipes change."""
    checkpoint_minutes: float = Field(MINUTES, ge=0)
    """Between two checkpoints of a training, whatever it trains; a killed job goes on from the last. 0: one after each
    step. It changes no result and re-runs nothing."""
    report_to: Tracker = "none"
    """Where trainings report the loss and the rate of each step: under `<results>/tensorboard`, or in
    `<results>/trackio`. The package of that name must be installed. It changes no result and re-runs nothing."""
    recipes: Annotated[dict[Name, Recipe], Field(min_length=1)]
    """The ways of making an encoder."""
    classifiers: dict[Name, Classifier] = {}
    """Models that label pairs of sentences, or texts: in tables of their own, or beside encoders."""
    tasks: Annotated[dict[Name, Task], Field(min_length=1)]
    """What encoders and classifiers are scored on."""
    statistics: Statistics = Statistics()
    """Intervals and tests."""
    tables: Once[Spec] = ["table1"]
    """Specs of tables: those of seedbed/resources/tables, and your own in resources/tables where you run."""
    figures: Once[Spec] = ["table1"]
    """Specs of figures, likewise."""
    compute: Compute | None = None
    """What labels cost, counted and timed by rule `measure_compute`; nothing: no measurement."""
    gpus: Gpus = Gpus()
    """The cluster's."""
    forecast: Forecast = Forecast()
    """Device and prices of `snakemake forecast`."""

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
        """A recipe named as a method has that method; one like another has its settings."""
        return with_parents(recipes, lambda name, recipe: recipe if recipe.get("like") else {"method": name, **recipe})

    @field_validator("generators", mode="before")
    @classmethod
    def _variants(cls, generators: Any) -> Any:
        """A generator like another has its settings."""
        return with_parents(generators, lambda name, generator: generator)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        add_candidates(self)
        checks.consistent(self)
        return self

    def borrowed(self) -> set[str]:
        """Languages that lend their translations to XL-LoRA adapters."""
        return {code for generator in self.generators.values() for code in generator.xllora.languages}

    @property
    def roles(self) -> dict[str, str]:
        """What a corpus of a language can be -> its kind."""
        return ROLES | dict.fromkeys(self.corpora.others, "text")

    def lent(self) -> set[str]:
        """Languages that lend their training sets to others."""
        return {task.train_language for task in self.tasks.values() if task.train_language}

    # ------------------------------------------------------------------ what follows from it

    def facts(self, code: str) -> dict[str, str]:
        """Registry columns of a language with the study's changes, all there, maybe empty; and `paths`."""
        columns = dict.fromkeys(next(iter(registry().values())), "")
        known = columns | {"code": code, "lang": code} | registry().get(code, {})
        entry = self.languages.get(code, Language())
        own = {key: value for key, value in (("name", entry.name), ("script", entry.script)) if value}
        return known | own | entry.codes | self.paths | {"resources": os.path.relpath(FOLDER)}

    def corpus(self, role: str, code: str) -> Source | None:
        """The source of one role (`text`, `nli`, ..., or a name of `others`) for a language; None if there is none.

        Role `annotated` is `instructions` without what tops them up.
        """
        entry = self.languages.get(code, Language())
        key = "instructions" if role == "annotated" else role
        source = {"text": entry.corpus, "instructions": entry.instructions}.get(key)
        source = source or self.corpora.others.get(key) or getattr(self.corpora, key)
        if source and role == "annotated":
            source = source.updated({"top_up": None})
        return source and source.resolved(self.facts(code))

    def test(self, task: str, code: str) -> Source | None:
        """The test set of a task for a language; None if the task lacks it."""
        if self.tasks[task].set_of and code not in (self.tasks[task].languages or [code]):
            return None
        task = self.test_set(task)
        own = self.languages.get(code, Language()).tests.get(task)
        spec = self.tasks[task]
        if own or spec.source is None or (spec.languages is not None and code not in spec.languages):
            return own and own.resolved(self.facts(code))
        found = spec.source.resolved(self.facts(code))
        # The pivot language is no test of what a language is compared with it for.
        return None if found and found.compares_with_itself else found

    def train_of(self, task: str, code: str) -> str:
        """The language of the training set of a task for a language; nothing: the task learns from nothing."""
        spec = self.tasks[task]
        return spec.train_language or code if spec.protocol in LEARNING else ""

    def training_set(self, task: str, code: str) -> Source | None:
        """The training set in a language that a task's votes or shots come from; None if there is none."""
        train = self.tasks[self.test_set(task)].train
        return train and train.resolved(self.facts(code))

    def test_set(self, task: str) -> str:
        """The task whose test set a task is scored on."""
        return self.tasks[task].set_of or task

    def tests(self, code: str) -> list[str]:
        """The tasks that encoders are scored on in a language."""
        return [task for task in self.tests_by_language[code] if self.tasks[task].protocol not in LABELLING]

    def held_out(self, code: str) -> list[str]:
        """The tasks whose texts what trains an encoder must not repeat: all that it is scored on or finds shots for."""
        return [task for task in self.tests_by_language[code] if self.tasks[task].protocol != "classification"]

    def answered_by(self, classifier: str, code: str) -> list[str]:
        """The tasks that a classifier is scored on in a language."""
        spec = self.classifiers[classifier]
        if spec.languages is not None and code not in spec.languages:
            return []
        tasks = [task for task in self.tests_by_language[code] if self.tasks[task].protocol == spec.protocol]
        return tasks if spec.tasks is None else [task for task in tasks if task in spec.tasks]

    def variants(self) -> dict[str, list[str]]:
        """What a table can show of classifiers -> those of which it can."""
        trained = self.adapted()
        found: dict[str, list[str]] = {**dict.fromkeys(VARIANTS, trained), **{name: [] for name in IN_CONTEXT}}
        for name, spec in self.classifiers.items():
            for variant in (*spec.composed, *(spec.in_context.shown() if spec.in_context else ())):
                found.setdefault(variant, []).append(name)
        return found

    def adapted(self) -> list[str]:
        """The classifiers with adapters, for labelled pairs."""
        return [name for name, spec in self.classifiers.items() if not (spec.in_context or spec.beside)]

    def labellers(self) -> dict[str, list[str]]:
        """What a table can show of classifiers beside encoders -> those of which it can."""
        return {form: [name for name, spec in self.classifiers.items() if spec.beside == form] for form in BESIDE}

    def labelled_by(self, classifier: str, task: str, code: str) -> list[str]:
        """The languages whose test sets a fine-tuned classifier labels, having learnt a task's training set in one."""
        return sorted(
            {
                test
                for test in self.languages
                for other in self.answered_by(classifier, test)
                if self.test_set(other) == task and self.train_of(other, test) == code
            }
        )

    @cached_property
    def tests_by_language(self) -> dict[str, list[str]]:
        """Language -> all its tasks; every rule asks for them again and again."""
        return {code: sorted(task for task in self.tasks if self._tests(task, code)) for code in self.languages}

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

    def untested(self) -> list[dict[str, str | int]]:
        """What is trained for languages without a test set: no table asks for it."""
        return [
            {"backbone": backbone, "recipe": name, "lang": self.trained_on(name, code), "seed": seed}
            for code, tasks in self.tests_by_language.items()
            for name, recipe in self.recipes.items()
            for backbone in self.backbones_of(name) or self.backbones
            for seed in self.seeds_of(name)
            if not (tasks or code in self._reserved or recipe.like or recipe.method in UNTRAINED)
            and code in (recipe.languages or [code])
            and not (self.backbones[backbone].on_request or self.backbones[backbone].fusion)
        ]

    @property
    def baseline(self) -> str:
        """The recipe that differences are taken from."""
        usual = [self.statistics.baseline, "crosslingual", "base", *self.recipes]
        return next(name for name in usual if name in self.recipes)

    def task_for(self, task: str, code: str) -> Task:
        """A task's protocol as one language's scores need it: without its source, names resolved."""
        spec = self.tasks[task]
        mteb = spec.mteb and spec.mteb.updated({"subset": spec.mteb.subset.format_map(self.facts(code))})
        nothing = {"source": None, "languages": None, "train": None}
        return spec.updated({**nothing, "mteb": mteb and mteb.model_dump()})

    @cached_property
    def _reserved(self) -> set[str]:
        """Languages that a table shows only if its spec names them."""
        return {code for code, language in self.languages.items() if language.on_request}

    def plan(self, table: str) -> list[Block]:
        """What a table shows of this study.

        Raises:
            UserError: as `seedbed.tables.plan.plan`, and `TableSpec.load`.
        """
        tasks = {
            name: Scored(protocol=task.protocol, languages=self.tested_by(name), on_request=task.on_request, k=task.k)
            for name, task in sorted(self.tasks.items())
        }
        tasks[TRIPLETS] = Scored(protocol=OVERLAP, languages=sorted(self.languages))
        spec = TableSpec.load(spec_file("tables", table))
        others = tasks, self.baseline, self._reserved
        systems, models = self._of_classifiers() if spec.of_classifiers else self._of_encoders()
        return plan(spec, systems, models, *others) + beside(spec, self._beside(), self._classifiers(), *others)

    def mapped(self, spec: FigureSpec) -> Mapped:
        """What a map shows of this study.

        Raises:
            UserError: as `seedbed.tables.maps.plan_map`.
        """
        own = [name for name, task in self.tasks.items() if task.protocol in LEARNING and not task.train_language]
        tasks = {name: [code for code in self.tested_by(name) if code not in self._reserved] for name in sorted(own)}
        return plan_map(spec, *self._of_encoders(), tasks)

    def _of_encoders(self) -> tuple[list[System], dict[str, Offered]]:
        """The recipes and backbones that a table of encoders can show."""
        systems = [
            System(
                recipe=name,
                language=self.trained_on(name, "*"),
                seeds=self.seeds_of(name),
                on_request=bool(recipe.like),
                languages=recipe.languages,
                backbones=self.backbones_of(name),
                chosen_on=self.chooser_of(name),
                triplets="" if recipe.method == "xllora" else self.triplets_of(name),
            )
            for name, recipe in self.recipes.items()
        ]
        offered = {
            name: Offered(paper=spec.paper, on_request=spec.on_request, tasks=self.asked_of(name))
            for name, spec in self.backbones.items()
        }
        return systems, offered

    def _of_classifiers(self) -> tuple[list[System], dict[str, Offered]]:
        """The variants and classifiers that a table of classifiers can show; one seed, that of their adapters."""
        folders = {"task-target": "*", "composition": "*", "task-pivot": self.pivot}
        folders |= {variant: "*" for spec in self.classifiers.values() for variant in spec.composed}
        taught = {"task-target": [code for code in self.languages if self.corpus("nli_pairs", code)]}
        systems = [
            System(
                recipe=name,
                language=folders.get(name, ANY),
                seeds=[0],
                languages=taught.get(name),
                backbones=classifiers,
            )
            for name, classifiers in self.variants().items()
        ]
        return systems, self._classifiers()

    def _beside(self) -> list[System]:
        """What a table of encoders can show of classifiers; a majority is one whatever the seed."""
        return [
            System(recipe=form, language=ANY, seeds=self.seeds_of_classifier(form), backbones=classifiers)
            for form, classifiers in self.labellers().items()
        ]

    def seeds_of_classifier(self, form: str) -> list[int]:
        """Of a classifier beside encoders: nothing is random about a majority."""
        return [0] if form == "majority" else sorted(self.seeds)

    def _classifiers(self) -> dict[str, Offered]:
        """The classifiers as tables see them."""
        return {
            name: Offered(paper=spec.paper, on_request=spec.on_request, languages=spec.languages, tasks=spec.tasks)
            for name, spec in self.classifiers.items()
        }

    @cached_property
    def fused(self) -> dict[str, Fusion]:
        """The backbones that are several."""
        return {name: spec.fusion for name, spec in self.backbones.items() if spec.fusion}

    def asked_of(self, backbone: str) -> list[str] | None:
        """The tasks that a backbone's encoders can be scored on; None: all of encoders.

        A fusion has distances alone, and what chose its weights tells nothing of it.
        """
        if not (fusion := self.fused.get(backbone)):
            return None
        return [name for name, task in self.tasks.items() if task.protocol in SEARCHING and name != fusion.dev]

    @cached_property
    def choosing(self) -> dict[str, Choice]:
        """The generators whose scale a development task chooses, and how."""
        return choosing(self)

    def candidates_of(self, generator: str) -> dict[float, tuple[str, str]]:
        """Scale -> recipe and backbone of the encoders that try it for such a generator."""
        names = {scale: candidate(generator, scale) for scale in self.choosing[generator].candidates}
        return {scale: (name, self.recipes[name].backbones[0]) for scale, name in names.items()}

    def chooser_of(self, recipe: str) -> str:
        """The task that chose the scale of the adapters behind a recipe: no table shows it there. Nothing: none did."""
        if self.recipes[recipe].method != "composition":
            return ""
        choice = self.choosing.get(self.generator_of(recipe))
        return choice.dev if choice else ""

    def chosen_on(self, dev: str, code: str) -> list[str]:
        """The languages whose development sets choose for a language folder: a fusion's weights, or a scale.

        Its own; or, where it has none or belongs to no language, all that have one, but for those on request unless
        there are no others. Nothing: no task chooses.
        """
        tested = self.tested_by(dev) if dev else []
        return [code] if code in tested else [other for other in tested if other not in self._reserved] or tested

    def backbones_of(self, recipe: str) -> list[str] | None:
        """The backbones that a recipe makes encoders of; None: all.

        It names them, or takes all; but nobody can train an endpoint, or what fuses one.
        """
        spec = self.recipes[recipe]
        if spec.backbones is not None or spec.method in UNTRAINED:
            return spec.backbones
        remote = {name for name, backbone in self.backbones.items() if backbone.endpoint}
        remote |= {name for name, fusion in self.fused.items() if remote & {*fusion.of}}
        return [name for name in self.backbones if name not in remote] if remote else None

    def begins(self, rung: Start) -> bool:
        """Whether the study takes published work of a rung of the ladder."""
        ladder = get_args(Start)
        return ladder.index(self.start) >= ladder.index(rung)

    def published_adapter(self, generator: str, method: str, polarity: str, code: str) -> Source | None:
        """The published adapter that writes one polarity for a language, if the study takes it."""
        source = self.generators[generator].adapters.get(method, {}).get(polarity)
        return source.resolved(self.facts(code)) if source and self.begins("adapters") else None

    def published_triplets(self, generator: str, method: str, code: str) -> Source | None:
        """The published triplets of a language, if the study takes them."""
        spec = self.generators[generator]
        source, taken = spec.triplets.get(method), self.begins("triplets") or spec.backend == "published"
        return source.resolved(self.facts(code)) if source and taken else None

    def published_encoder(self, backbone: str, recipe: str, code: str) -> Source | None:
        """The published encoder of a recipe for a language, if the study takes it."""
        spec = self.recipes[recipe]
        source = spec.encoders.get(backbone)
        taken = self.begins("encoders") or spec.method == "published"
        return source.resolved(self.facts(code)) if source and taken else None

    def maker(self, generator: str, part: str) -> str:
        """Who makes a part (see MADE_FROM) for a generator: itself, or one of its family if both would be equal."""
        return self._makers[generator, part]

    @cached_property
    def _makers(self) -> dict[tuple[str, str], str]:
        """As `variants.makers`; every job of a generator asks for them."""
        return makers(self.generators)

    def weights_of(self, backbone: str) -> str:
        """Who has a backbone's weights: the first of those with its source, so that they are fetched once."""
        source = self.backbones[backbone].source
        return next(name for name, other in self.backbones.items() if other.source == source)

    def generator_of(self, recipe: str) -> str:
        """The generator whose triplets a recipe trains on."""
        spec = self.recipes[recipe]
        return self.maker(spec.generator or next(iter(self.generators)), spec.method)

    def triplets_of(self, recipe: str) -> str:
        """The file of triplets that a recipe's encoders learn from, with {lang}; nothing: it learns from none."""
        method = self.recipes[recipe].method
        if method == "crosslingual":
            return f"{self.results}/corpora/{{lang}}/nli.tsv"
        return (
            f"{self.results}/triplets/{self.generator_of(recipe)}/{method}/{{lang}}.tsv" if method in SYNTHETIC else ""
        )

    def anchors_for(self, generator: str, method: str) -> int:
        """The anchors of a language that a generator writes for: as many as the greediest recipe trains on."""
        rows = [
            recipe.rows or self.anchors.count
            for name, recipe in self.recipes.items()
            if recipe.method == method and self.generator_of(name) == generator
        ]
        return min(max(rows, default=self.anchors.count), self.anchors.count)

    def sentences_of(self, recipe: str) -> str:
        """The file of anchors that a recipe's encoders learn from without triplets, with {lang}."""
        return f"{self.results}/corpora/{{lang}}/{anchors_in(self.recipes[recipe].text)}.tsv"

    def drawn_from(self, text: str) -> Anchors:
        """How anchors are drawn from a corpus: of one of `others` as many as the greediest recipe trains on."""
        if not text:
            return self.anchors
        count = self.anchors.count
        asked = [recipe.rows or count for recipe in self.recipes.values() if recipe.text == text]
        return self.anchors.updated({"count": max(asked, default=count)})

    def training_of(self, recipe: str) -> Training:
        """Training settings of a recipe: the study's, changed by the method, changed by the recipe."""
        spec = self.recipes[recipe]
        return self.training.updated(METHOD_TRAINING.get(spec.method, {})).updated(spec.training)

    def trained_on(self, recipe: str, code: str) -> str:
        """The language folder of the encoder that a recipe offers to a language."""
        spec = self.recipes[recipe]
        if spec.method == "published":
            return code if any("{" in str(source.hub or source.file) for source in spec.encoders.values()) else ANY
        return {"base": ANY, "crosslingual": self.pivot}.get(spec.method, code)

    def seeds_of(self, recipe: str) -> list[int]:
        """Nothing is random about an encoder that is not trained."""
        spec = self.recipes[recipe]
        untrained = spec.method in UNTRAINED or (spec.encoders and self.begins("encoders"))
        return [0] if untrained else sorted(self.seeds if spec.seeds is None else spec.seeds)


def load(config: Mapping[str, Any], *, where: str = "config") -> Study:
    """Check a configuration as Snakemake merged it.

    Raises:
        UserError: the first fault in one line.
    """
    try:
        study = Study.model_validate(dict(config))
        supplies.with_sources(study)
        tracking.require(study.report_to)
    except ValidationError as error:
        fault = explain(error, Study, where=where)
    except UserError as error:
        fault = str(error)
    else:
        return study
    raise UserError(textwrap.shorten(fault, LONGEST, placeholder=" ..."))
