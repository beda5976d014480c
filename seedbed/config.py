"""The study: what `config.yaml` may say, checked at once, and what follows from it.

The settings of each room are models of that room; this module composes them and answers the questions of the graph. No
program imports it, so that an edit here re-runs no job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from seedbed.corpora.settings import Anchors, Cleaning, Source
from seedbed.encoders.settings import METHOD_TRAINING, SYNTHETIC, Backbone, Recipe, Training
from seedbed.evaluation.settings import Task
from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.settings import Settings, explain, suggest
from seedbed.tables.settings import Forecast, Statistics
from seedbed.triplets.settings import Audit

Code = Annotated[str, StringConstraints(pattern=r"^[a-z]{3}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]*$")]
"""A name that becomes one path segment."""

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


class Corpora(Settings):
    """Where text comes from, as templates over the registry."""

    text: Source
    """Sentences of a language: `text`."""
    instructions: Source | None = None
    """Prompts and responses in a language: `prompt`, `response`."""
    nli: Source
    """Triplets in the pivot language: `anchor`, `positive`, `negative`."""
    nli_translations: Source | None = None
    """Human translations of NLI premises with the pivot's hypotheses (or labelled rows: premise, hypothesis, label)."""
    parallel: Source | None = None
    """Human translations: `text` in a language, `pivot` in the pivot language."""
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
    pivot: Code = "eng"
    """The language that lends its NLI data."""
    seeds: Annotated[list[int], Field(min_length=1)] = [1]
    """One encoder of each trained recipe per seed."""
    languages: Annotated[dict[Code, Language], Field(min_length=1)]
    """The study's languages; an entry can be as short as `swh: {}`."""
    corpora: Corpora
    """Sources of text."""
    cleaning: Cleaning = Cleaning()
    """Bounds of a sentence."""
    anchors: Anchors = Anchors()
    """Choice of anchors."""
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
    tasks: Annotated[dict[Name, Task], Field(min_length=1)]
    """What encoders are scored on."""
    statistics: Statistics = Statistics()
    """Intervals and tests."""
    tables: list[Name] = ["table1"]
    """Specs under resources/tables."""
    figures: list[Name] = ["table1"]
    """Specs under resources/figures."""
    forecast: Forecast = Forecast()
    """Device and prices of `snakemake forecast`."""

    @field_validator("languages", "recipes", mode="before")
    @classmethod
    def _entries(cls, entries: Any) -> Any:
        """`swh:` with nothing after it is `swh: {}`."""
        return {key: value or {} for key, value in entries.items()} if isinstance(entries, Mapping) else entries

    @field_validator("recipes", mode="before")
    @classmethod
    def _methods(cls, recipes: Any) -> Any:
        """A recipe named as a method has that method."""
        return {name: {"method": name, **recipe} for name, recipe in recipes.items() if isinstance(recipe, Mapping)}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for code in [*self.languages, self.pivot, *self.borrowed()]:
            self._check_language(code)
        for name, recipe in self.recipes.items():
            self._check_recipe(name, recipe)
        _require("statistics.baseline", "recipe", self.statistics.baseline, self.recipes)
        for name, task in self.tasks.items():
            for code in task.languages or []:
                _require(f"tasks.{name}.languages", "language", code, {*self.languages, *registry()})
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
        try:
            self.training_of(name)
        except ValidationError as error:
            raise ValueError(explain(error, Training, where=f"{where}.training")) from None

    # ------------------------------------------------------------------ what follows from it

    def facts(self, code: str) -> dict[str, str]:
        """Registry columns of a language with the study's changes; all columns are there, maybe empty."""
        columns = dict.fromkeys(next(iter(registry().values())), "")
        known = columns | {"code": code, "lang": code} | registry().get(code, {})
        entry = self.languages.get(code, Language())
        own = {key: value for key, value in (("name", entry.name), ("script", entry.script)) if value}
        return known | own | entry.codes

    def corpus(self, role: str, code: str) -> Source | None:
        """The source of one role (`text`, `instructions`, `nli`, ...) for a language; None if there is none."""
        entry = self.languages.get(code, Language())
        own = {"text": entry.corpus, "instructions": entry.instructions}.get(role)
        source = own or getattr(self.corpora, role)
        return source and source.resolved(self.facts(code))

    def test(self, task: str, code: str) -> Source | None:
        """The test set of a task for a language; None if the task lacks it."""
        own = self.languages.get(code, Language()).tests.get(task)
        spec = self.tasks[task]
        if own or spec.source is None or (spec.languages is not None and code not in spec.languages):
            return own and own.resolved(self.facts(code))
        return spec.source.resolved(self.facts(code))

    def tests(self, code: str) -> list[str]:
        """The tasks that a language is scored on."""
        return sorted(task for task in self.tasks if self.test(task, code) is not None)

    def task_for(self, task: str, code: str) -> Task:
        """A task's protocol as one language's scores need it: without its source, names resolved."""
        spec = self.tasks[task]
        mteb = spec.mteb and spec.mteb.updated({"subset": spec.mteb.subset.format_map(self.facts(code))})
        return spec.updated({"source": None, "languages": None, "mteb": mteb and mteb.model_dump()})

    def scored(self) -> dict[str, dict[str, Any]]:
        """Each task's protocol and the languages that are scored on it."""
        languages = {task: [code for code in sorted(self.languages) if task in self.tests(code)] for task in self.tasks}
        return {
            task: {"protocol": self.tasks[task].protocol, "languages": languages[task]} for task in sorted(self.tasks)
        }

    def generator_of(self, recipe: str) -> str:
        """The generator whose triplets a recipe trains on."""
        return self.recipes[recipe].generator or next(iter(self.generators))

    def training_of(self, recipe: str) -> Training:
        """Training settings of a recipe: the study's, changed by the method, changed by the recipe."""
        spec = self.recipes[recipe]
        return self.training.updated(METHOD_TRAINING.get(spec.method, {})).updated(spec.training)

    def trained_on(self, recipe: str, code: str) -> str:
        """The language folder of the encoder that a recipe offers to a language."""
        return {"base": ANY, "crosslingual": self.pivot}.get(self.recipes[recipe].method, code)

    def seeds_of(self, recipe: str) -> list[int]:
        """Nothing is random about an encoder that is not trained."""
        return [0] if self.recipes[recipe].method == "base" else sorted(self.seeds)

    def systems(self) -> list[dict[str, Any]]:
        """Each recipe with the language folder (`*`: the test language) and seeds of its encoders."""
        folders = {recipe: self.trained_on(recipe, "*") for recipe in self.recipes}
        return [
            {"recipe": recipe, "language": folders[recipe], "seeds": self.seeds_of(recipe)} for recipe in self.recipes
        ]

    def check_sources(self) -> None:
        """Every corpus that a recipe needs has a source, and every local file is there.

        Raises:
            UserError: one is not.
        """
        for code in self.languages:
            for role in ("text", "instructions"):
                _check_file(self.corpus(role, code), f"the {role} corpus of {code}")
            for task in self.tests(code):
                _check_file(self.test(task, code), f"the {task} test set of {code}")
            if self.corpus("text", code) is None:
                raise UserError(
                    f"languages.{code}: no corpus; the registry has none for it, so give `corpus:` (a file, say)"
                )
            if not self.tests(code):
                raise UserError(f"languages.{code}: no test set in any task; give one under `tests:` (a file, say)")
        _check_file(self.corpus("nli", self.pivot), "corpora.nli")
        for kind in ("generators", "backbones"):
            for name, model in getattr(self, kind).items():
                _check_file(model.source, f"{kind}.{name}.source")
        for name, recipe in self.recipes.items():
            if recipe.method == "composition":
                self._check_composition(self.generator_of(name))
            if recipe.method == "xllora":
                self._check_xllora(self.generator_of(name))

    def _check_composition(self, generator: str) -> None:
        role = self.generators[generator].language_data
        if lacking := [code for code in [*self.languages, self.pivot] if self.corpus(role, code) is None]:
            raise UserError(
                f"recipes.composition: language adapters learn from {role}, which {', '.join(lacking)} lack; "
                f"give `corpora.{role}`, or set `language_data` of {generator} to the other kind"
            )

    def _check_xllora(self, generator: str) -> None:
        spec = self.generators[generator].xllora
        if spec.source == "published":
            if not (self.corpora.published_positive and self.corpora.published_negative):
                raise UserError(
                    "recipes.xllora: published examples need corpora.published_positive and .published_negative"
                )
            return
        roles = ("parallel", "nli_translations")
        lacking = [code for code in spec.languages if not any(self.corpus(role, code) for role in roles)]
        if lacking or not spec.languages:
            where = f"generators.{generator}.xllora.languages"
            raise UserError(
                f"{where}: xllora learns from {', '.join(lacking) or 'no language'}, "
                "which have neither `corpora.parallel` nor `corpora.nli_translations`; give one, or other languages"
            )


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
