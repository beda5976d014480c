"""The study: what `config.yaml` may say, checked at once, and what follows from it.

The settings of each room are models of that room; this module composes them and answers the questions of the graph. No
program imports it, so that an edit here re-runs no job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from seedbed.corpora.settings import Anchors, Cleaning, Paths, Source, check_paths
from seedbed.encoders.classifier_settings import IN_CONTEXT, VARIANTS, Classifier
from seedbed.encoders.settings import METHOD_TRAINING, SYNTHETIC, UNTRAINED, Backbone, Fusion, Recipe, Training
from seedbed.evaluation.settings import LABELLING, LEARNING, SEARCHING, Task
from seedbed.generators.settings import MADE_FROM, PART_CORPUS, Generator
from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.settings import Settings, explain, suggest
from seedbed.tables.plan import Block, Offered, Scored, System, plan
from seedbed.tables.settings import Forecast, Statistics
from seedbed.tables.specs import OVERLAP, TableSpec
from seedbed.triplets.settings import Audit

Code = Annotated[str, StringConstraints(pattern=r"^[a-z]{3}(-[A-Z][a-z]{3})?$")]
"""ISO 639-3, with a script (ISO 15924) where it is not the one that the language is mostly written in: `ace-Arab`."""
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]*$")]
"""A name that becomes one path segment."""

Spec = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+$")]
"""A name of a file under resources."""

Start = Literal["scratch", "adapters", "triplets", "encoders"]
"""The reproduction ladder, from the bottom."""

TRIPLETS = "training triplets"
"""What stands for the task of columns of overlap; with its blank it is no task's name."""
ANY = "mul"
"""ISO 639-3 for several languages: where the encoders of recipe base lie, which belong to none."""


class Language(Settings):
    """One language of the study; what it leaves out comes from resources/languages.tsv."""

    name: str = ""
    """English name, as prompts use it."""
    script: str = Field("", pattern=r"^([A-Z][a-z]{3})?$")
    """ISO 15924."""
    corpus: Source | None = None
    """Its sentences, instead of `corpora.text`."""
    instructions: Source | None = None
    """Its instructions, instead of `corpora.instructions`."""
    tests: dict[Name, Source] = {}
    """Its own test sets by task, instead of the task's source."""
    codes: dict[str, str] = {}
    """Registry columns to set or to change (its name in some resource)."""
    on_request: bool = False
    """Only in tables that name it."""


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


class Study(Settings):
    """Everything that `config.yaml` says."""

    results: str = "results"
    """Where results go."""
    downloads: str = "downloads"
    """Where downloads are kept; studies share it."""
    lock: str = "assets.lock.json"
    """Revisions, digests and licences of unpinned downloads; commit it with your study."""
    paths: Paths = {}
    """Folders of data: each name is a `{placeholder}` of every source."""
    pivot: Code = "eng"
    """The language that lends its NLI data."""
    seeds: Annotated[list[int], Field(min_length=1)] = [1]
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
    recipes: Annotated[dict[Name, Recipe], Field(min_length=1)]
    """The ways of making an encoder."""
    classifiers: dict[Name, Classifier] = {}
    """Models that label pairs of sentences, or texts, in tables of their own."""
    tasks: Annotated[dict[Name, Task], Field(min_length=1)]
    """What encoders and classifiers are scored on."""
    statistics: Statistics = Statistics()
    """Intervals and tests."""
    tables: list[Spec] = ["table1"]
    """Specs under resources/tables."""
    figures: list[Spec] = ["table1"]
    """Specs under resources/figures."""
    forecast: Forecast = Forecast()
    """Device and prices of `snakemake forecast`."""

    @field_validator("languages", mode="before")
    @classmethod
    def _entries(cls, entries: Any) -> Any:
        """`swh:` with nothing after it is `swh: {}`."""
        return {key: value or {} for key, value in entries.items()} if isinstance(entries, Mapping) else entries

    @field_validator("recipes", mode="before")
    @classmethod
    def _methods(cls, recipes: Any) -> Any:
        """A recipe named as a method has that method; one like another has its settings."""
        return _with_parents(recipes, lambda name, recipe: recipe if recipe.get("like") else {"method": name, **recipe})

    @field_validator("generators", mode="before")
    @classmethod
    def _variants(cls, generators: Any) -> Any:
        """A generator like another has its settings."""
        return _with_parents(generators, lambda name, generator: generator)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for code in [*self.languages, self.pivot, *self.borrowed(), *self.lent()]:
            self._check_language(code)
        for name, recipe in self.recipes.items():
            self._check_recipe(name, recipe)
        for name, classifier in self.classifiers.items():
            self._check_classifier(name, classifier)
        _require("statistics.baseline", "recipe", self.statistics.baseline, self.recipes)
        for name, task in self.tasks.items():
            _require(f"tasks.{name}.set_of", "task", task.set_of or name, self.tasks)
            if task.protocol in LEARNING and self.tasks[self.test_set(name)].train is None:
                raise ValueError(
                    f"tasks.{name}: no training set; protocol {task.protocol} needs `train`, or `set_of` a task with "
                    "one"
                )
            for code in task.languages or []:
                _require(f"tasks.{name}.languages", "language", code, {*self.languages, *registry()})
        for name in self.fused:
            self._check_fusion(name)
        for code, language in self.languages.items():
            for name in language.tests:
                _require(f"languages.{code}.tests", "task", name, self.tasks)
        for kind, names in (("tables", self.tables), ("figures", self.figures)):
            for name in names:
                _require(kind, f"resources/{kind}/*.yaml", name, specs(kind))
        return self

    def borrowed(self) -> set[str]:
        """Languages that lend their translations to XL-LoRA adapters."""
        return {code for generator in self.generators.values() for code in generator.xllora.languages}

    def lent(self) -> set[str]:
        """Languages that lend their training sets to others."""
        return {task.train_language for task in self.tasks.values() if task.train_language}

    def _check_language(self, code: str) -> None:
        facts = self.facts(code)
        if not facts["name"] or not facts["script"]:
            raise ValueError(
                f"languages.{code}: not in resources/languages.tsv; {suggest(code, sorted(registry()))}; "
                "or give `name`, `script` and `corpus`"
            )

    def _check_recipe(self, name: str, recipe: Recipe) -> None:
        where = f"recipes.{name}"
        if recipe.method in SYNTHETIC and not self.generators:
            raise ValueError(f"{where}: method {recipe.method} needs a generator; add one under `generators:`")
        if recipe.generator:
            _require(f"{where}.generator", "generator", recipe.generator, self.generators)
        for kind in ("languages", "backbones"):
            for entry in getattr(recipe, kind) or []:
                _require(f"{where}.{kind}", kind.removesuffix("s"), entry, getattr(self, kind))
        for entry in recipe.backbones or self.backbones:
            if self.backbones[entry].endpoint and recipe.method not in UNTRAINED:
                raise ValueError(f"{where}.backbones: {entry} is an endpoint and cannot be trained; name others")
        for entry in {*(recipe.backbones or [])} & {*self.fused}:
            if lacking := sorted({*self.fused[entry].of} - {*(recipe.backbones or [])}):
                raise ValueError(f"{where}.backbones: {entry} fuses {lacking[0]}; name that too, or leave {entry} out")
        if wrong := sorted({*recipe.encoders} & {*self.fused}):
            raise ValueError(f"{where}.encoders: {wrong[0]} is a fusion; give those of its backbones")
        try:
            self.training_of(name)
        except ValidationError as error:
            raise ValueError(explain(error, Training, where=f"{where}.training")) from None

    def _check_classifier(self, name: str, classifier: Classifier) -> None:
        where = f"classifiers.{name}"
        if name in {*self.backbones, *self.generators}:
            raise ValueError(f"{where}: a backbone or generator has this name; give it another")
        for kind in ("backbone", "generator"):
            if given := getattr(classifier, kind):
                _require(f"{where}.{kind}", kind, given, getattr(self, f"{kind}s"))
        if classifier.generator and self.generators[classifier.generator].backend == "published":
            raise ValueError(f"{where}.generator: {classifier.generator} has no weights; take another")
        if classifier.backbone and not self.backbones[classifier.backbone].source:
            raise ValueError(f"{where}.backbone: {classifier.backbone} has no weights; take another")
        if spec := classifier.in_context:
            _require(f"{where}.in_context.retriever.backbone", "backbone", spec.retriever.backbone, self.backbones)
            _require(f"{where}.in_context.retriever.recipe", "recipe", spec.retriever.recipe, self.recipes)
            backend = self.generators[classifier.generator].backend
            if spec.answer == "likelihood" and backend != "transformers":
                raise ValueError(
                    f"{where}.in_context.answer: backend {backend} of {classifier.generator} has no likelihoods of "
                    "labels; take generation, or backend transformers"
                )

    def _check_fusion(self, name: str) -> None:
        where, fusion = f"backbones.{name}.fusion", self.fused[name]
        for member in fusion.of:
            _require(f"{where}.of", "backbone", member, {*self.backbones} - {*self.fused})
        if not (dev := fusion.dev):
            return
        _require(f"{where}.dev", "task", dev, self.tasks)
        if self.tasks[dev].protocol not in SEARCHING or not self.tasks[dev].on_request:
            raise ValueError(f"{where}.dev: {dev} must be a {' or '.join(SEARCHING)} task with `on_request: true`")
        if not self.tested_by(dev):
            raise ValueError(f"{where}.dev: {dev} has no set in any language of the study")
        for other in {*self.tasks} - {fusion.dev for fusion in self.fused.values()}:
            for code in self.tested_by(dev):
                if self.test(other, code) == self.test(dev, code):
                    raise ValueError(f"{where}.dev: {dev} has the test set of {other}; weights are chosen on another")

    # ------------------------------------------------------------------ what follows from it

    def facts(self, code: str) -> dict[str, str]:
        """Registry columns of a language with the study's changes; all columns are there, maybe empty."""
        columns = dict.fromkeys(next(iter(registry().values())), "")
        known = columns | {"code": code, "lang": code} | registry().get(code, {})
        entry = self.languages.get(code, Language())
        own = {key: value for key, value in (("name", entry.name), ("script", entry.script)) if value}
        return known | own | entry.codes | self.paths

    def corpus(self, role: str, code: str) -> Source | None:
        """The source of one role (`text`, `instructions`, `nli`, ...) for a language; None if there is none.

        Role `annotated` is `instructions` without what tops them up.
        """
        entry = self.languages.get(code, Language())
        key = "instructions" if role == "annotated" else role
        source = {"text": entry.corpus, "instructions": entry.instructions}.get(key) or getattr(self.corpora, key)
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
        return spec.source.resolved(self.facts(code))

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

    def variants(self) -> dict[str, list[str]]:
        """What a table can show of classifiers -> those of which it can."""
        trained = [name for name, spec in self.classifiers.items() if not spec.in_context]
        found: dict[str, list[str]] = {**dict.fromkeys(VARIANTS, trained), **{name: [] for name in IN_CONTEXT}}
        for name, spec in self.classifiers.items():
            for variant in spec.in_context.variants() if spec.in_context else ():
                found.setdefault(variant, []).append(name)
        return found

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

    def task_for(self, task: str, code: str) -> Task:
        """A task's protocol as one language's scores need it: without its source, names resolved."""
        spec = self.tasks[task]
        mteb = spec.mteb and spec.mteb.updated({"subset": spec.mteb.subset.format_map(self.facts(code))})
        nothing = {"source": None, "languages": None, "train": None}
        return spec.updated({**nothing, "mteb": mteb and mteb.model_dump()})

    def plan(self, table: str) -> list[Block]:
        """What a table shows of this study.

        Raises:
            UserError: as `seedbed.tables.plan.plan`, and `TableSpec.load`.
        """
        tasks = {
            name: Scored(
                protocol=task.protocol,
                languages=self.tested_by(name),
                on_request=task.on_request,
            )
            for name, task in sorted(self.tasks.items())
        }
        tasks[TRIPLETS] = Scored(protocol=OVERLAP, languages=sorted(self.languages))
        spec = TableSpec.load(f"resources/tables/{table}.yaml")
        systems, models = self._of_classifiers() if spec.of_classifiers else self._of_encoders()
        reserved = {code for code, language in self.languages.items() if language.on_request}
        return plan(spec, systems, models, tasks, self.statistics.baseline, reserved)

    def _of_encoders(self) -> tuple[list[System], dict[str, Offered]]:
        """The recipes and backbones that a table of encoders can show."""
        systems = [
            System(
                recipe=name,
                language=self.trained_on(name, "*"),
                seeds=self.seeds_of(name),
                on_request=bool(recipe.like),
                languages=recipe.languages,
                backbones=recipe.backbones,
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
        return systems, {name: Offered(paper=spec.paper) for name, spec in self.classifiers.items()}

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

    def chosen_on(self, backbone: str, code: str) -> list[str]:
        """The languages whose development sets choose the weights of a fusion's encoder in a language folder.

        Its own; or, where it has none or belongs to no language, all that have one. Nothing: the weights are given.
        """
        dev = self.fused[backbone].dev
        tested = self.tested_by(dev) if dev else []
        return [code] if code in tested else tested

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
        """Who makes a part (see MADE_FROM) for a generator: itself, or the one it varies if both would be equal."""
        variant = self.generators[generator]
        if not variant.like:
            return generator
        parent = self.generators[variant.like]
        same = all(getattr(variant, name) == getattr(parent, name) for name in MADE_FROM[part])
        return self.maker(variant.like, part) if same else generator

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
        return [0] if untrained else sorted(self.seeds)

    def check_sources(self) -> None:
        """Every corpus that a recipe needs has a source, and every local file is there.

        Raises:
            UserError: one is not.
        """
        check_paths(self.paths)
        trained = [name for name, recipe in self.recipes.items() if recipe.method not in UNTRAINED]
        for code in self.languages:
            for role in ("text", "instructions"):
                _check_file(self.corpus(role, code), f"the {role} corpus of {code}")
            for task in self.tests_by_language[code]:
                _check_file(self.test(task, code), f"the {task} test set of {code}")
                if other := self.train_of(task, code):
                    _check_file(self.training_set(task, other), f"the {task} training set of {other}")
            if trained and self.corpus("text", code) is None:
                raise UserError(
                    f"languages.{code}: no corpus; give `corpus:` (a file, say), or `corpora.text` for all languages"
                )
            if not self.tests_by_language[code]:
                raise UserError(f"languages.{code}: no test set in any task; give one under `tests:` (a file, say)")
        if trained and not self.corpora.nli:
            raise UserError(
                f"corpora.nli: no source; recipe {trained[0]} needs NLI triplets in {self.pivot}: give a file, say"
            )
        _check_file(self.corpus("nli", self.pivot), "corpora.nli")
        for kind in ("generators", "backbones"):
            for name, model in getattr(self, kind).items():
                _check_file(model.source and model.source.resolved(self.facts(ANY)), f"{kind}.{name}.source")
        if any(not classifier.in_context for classifier in self.classifiers.values()):
            self._check_pairs()
        for name, recipe in self.recipes.items():
            if recipe.method == "composition":
                self._check_composition(self.generator_of(name))
            if recipe.method == "xllora":
                self._check_xllora(self.generator_of(name))

    def _check_pairs(self) -> None:
        if self.corpus("nli_pairs", self.pivot) is None:
            raise UserError(f"classifiers: they learn from labelled pairs in {self.pivot}; give `corpora.nli_pairs`")
        asked = {code for code, tasks in self.tests_by_language.items() if {*tasks} - {*self.held_out(code)}}
        for code in sorted({*asked, self.pivot}):
            _check_file(self.corpus("nli_pairs", code), f"the nli_pairs corpus of {code}")

    def _check_composition(self, generator: str) -> None:
        if not self.generators[generator].composition.scale:
            return
        role = self.generators[generator].language_corpus
        key = "instructions" if role == "annotated" else role
        if lacking := [code for code in [*self.languages, self.pivot] if self.corpus(role, code) is None]:
            raise UserError(
                f"recipes.composition: language adapters learn from {role}, which {', '.join(lacking)} lack; "
                f"give `corpora.{key}`, or set `language_data` of {generator} to another kind"
            )

    def _check_xllora(self, generator: str) -> None:
        spec = self.generators[generator].xllora
        if spec.source == "published":
            if not (self.corpora.published_positive and self.corpora.published_negative):
                raise UserError(
                    "recipes.xllora: published examples need corpora.published_positive and .published_negative"
                )
            return
        where = f"generators.{generator}.xllora"
        roles = [PART_CORPUS[part] for part in spec.parts]
        lacking = [code for code in spec.languages if not any(self.corpus(role, code) for role in roles)]
        if lacking or not spec.languages:
            raise UserError(
                f"{where}.languages: xllora learns from {', '.join(lacking) or 'no language'}, which have no "
                f"{' or '.join(f'`corpora.{role}`' for role in roles)}; give one, or other languages"
            )
        if "machine" in spec.parts and not any(self.corpus("nli_machine", code) for code in spec.languages):
            raise UserError(f"{where}.parts: machine needs `corpora.nli_machine`; give it, or other parts")


def _with_parents(entries: Any, complete: Callable[[str, dict[str, Any]], dict[str, Any]]) -> Any:
    """Entries with the settings of the entry that each is `like`, groups of settings merged; what is wrong stays so."""
    if not isinstance(entries, Mapping):
        return entries
    entries = {name: entry or {} for name, entry in entries.items()}
    if not all(isinstance(entry, Mapping) for entry in entries.values()):
        return entries

    def whole(name: str, seen: tuple[str, ...] = ()) -> dict[str, Any]:
        entry = complete(name, dict(entries[name]))
        if not (parent := entry.get("like")):
            return entry
        if parent in (*seen, name) or parent not in entries:
            others = sorted({*entries} - {*seen, name})
            raise ValueError(f"{name}.like: no {parent!r} to start from; {suggest(str(parent), others)}")
        return _merged(whole(parent, (*seen, name)), entry)

    return {name: whole(name) for name in entries}


OWN = ("adapters", "triplets", "encoders")
"""What is published of an entry is not of one like it."""


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Settings on top of others; groups are merged, but a source is replaced whole."""
    groups = {
        name: _merged(below[name], value)
        for name, value in above.items()
        if name != "source" and isinstance(value, Mapping) and isinstance(below.get(name), Mapping)
    }
    return {name: value for name, value in below.items() if name not in OWN} | {**above, **groups}


def specs(kind: str) -> list[str]:
    """The tables or figures that can be asked for."""
    return sorted(path.stem for path in Path("resources", kind).glob("*.yaml"))


def _require(where: str, what: str, name: str, known: Iterable[str]) -> None:
    if name not in (names := sorted(known)):
        raise ValueError(f"{where}: no {what} {name!r}; {suggest(name, names)}")


def _check_file(source: Source | None, what: str) -> None:
    if source and source.file and not Path(source.file).exists():
        raise UserError(f"{what}: no such file {source.file}; paths are relative to the folder of the Snakefile")


def load(config: Mapping[str, Any], *, where: str = "config") -> Study:
    """Check a configuration as Snakemake merged it.

    Raises:
        UserError: the first fault in one line.
    """
    try:
        study = Study.model_validate(dict(config))
    except ValidationError as error:
        raise UserError(explain(error, Study, where=where)) from None
    study.check_sources()
    return study
