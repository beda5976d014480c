"""Recipes as the study has them: what of an entry in its YAML depends on the other entries."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seedbed.encoders import objectives
from seedbed.encoders.objectives import Objective
from seedbed.encoders.recipes import Recipe, presets
from seedbed.encoders.settings import Pivot, Prompts, Training, text_of
from seedbed.generators.settings import POLARITIES, WRITING
from seedbed.io import UserError
from seedbed.languages import ANY, placeholders
from seedbed.names import anchors_in
from seedbed.study import paths
from seedbed.study.backbone import StudyBackbone, require_plain
from seedbed.study.model import Entry, Study, once_per_study
from seedbed.study.paths import at
from seedbed.study.settings import is_taken
from seedbed.study.variants import is_composed

MODULES = ("pooling", "layers")
"""Settings of training that encoders have which are not trained by them: those of their modules."""


@dataclass(frozen=True)
class StudyRecipe(Entry[Recipe]):
    """A recipe of the study."""

    group = "recipes"

    def other(self, name: str) -> "StudyRecipe":
        """Another recipe of the study."""
        return StudyRecipe.get(self.study, name)

    @cached_property
    def start(self) -> "StudyRecipe | None":
        """The recipe whose encoder it starts from; None: it starts from a backbone."""
        return self.other(self.spec.start) if self.spec.start else None

    @cached_property
    def varied(self) -> "StudyRecipe | None":
        """The recipe of the study that it is like; None: it varies a preset, or nothing."""
        like = self.spec.like
        return self.other(like) if like in self.study.recipes and like != self.name else None

    @cached_property
    def maker(self) -> "StudyRecipe":
        """The recipe that makes its encoders: itself, or the one that it is like if it only switches adapters off
        (`aligned`).
        """
        return self if self.spec.aligned == "always" else self.varied.maker

    @cached_property
    def method(self) -> str:
        """The preset, a paper's method, that it or the recipe that it varies is like; empty: none."""
        if self.varied:
            return self.varied.method
        return next((name for name in (self.spec.like, self.name) if name in presets()), "")

    @property
    def taken(self) -> bool:
        """Whether the study takes its published encoders instead of making them."""
        return self.spec.made and bool(self.spec.published) and is_taken(self.study.start, "encoders")

    @cached_property
    def training(self) -> Training:
        """The study's training settings with the recipe's; a recipe that continues an encoder keeps that one's modules
        and dropout.
        """
        keeps = self.start and self.spec.training.get("pooling", "own") == "own"
        own = {"pooling": "own", "dropout": None} if keeps else {}
        return self.study.training.updated(own | self.spec.training)

    @cached_property
    def modules(self) -> Training:
        """The settings of an encoder's modules in `training`, with defaults for the rest."""
        return self.training.without(*Training.model_fields.keys() - {*MODULES})

    @cached_property
    def has_adapters(self) -> bool:
        """Whether its encoders have parallel adapters, trained by it or by what it starts from."""
        parallel = self.training.part == "adapter" and self.training.adapter == "parallel"
        return (self.spec.trained and parallel) or bool(self.start and self.start.has_adapters)

    @cached_property
    def involves_training(self) -> bool:
        """Whether its encoders are trained: by the recipe, or by those that it starts from, chooses by or varies."""
        actor = self.other(self.spec.english.actor) if self.spec.english.actor else None
        return self.spec.made or any(other.involves_training for other in (self.start, actor, self.varied) if other)

    # ---- Languages.

    @cached_property
    def codes(self) -> list[str]:
        """The study's languages that it offers encoders to."""
        return self.spec.only.languages or [*self.study.languages]

    def folder(self, code: str) -> str:
        """The language folder of the encoder that it offers to a language: the language of the encoder's training data,
        or ANY for several languages. For published encoders it is the language if their source depends on it, else ANY.
        """
        spec = self.spec
        if spec.made:
            own = {"own": code, "pivot": self.study.pivot}
            return ANY if spec.of_several else own.get(spec.data.from_languages, spec.data.from_languages)
        if self.start:
            return self.start.folder(code)
        return code if any(source.placeholders for source in spec.published.values()) else ANY

    def languages(self, folder: str = "") -> list[str]:
        """The languages on whose data an encoder of a language is trained: that language, or all of the recipe's."""
        spec = self.spec
        if not (spec.together or spec.of_several):
            return [folder]
        of_all = {*self.codes, *([self.study.pivot] if spec.together else [])}
        return sorted(of_all if isinstance(spec.data.from_languages, str) else spec.data.from_languages)

    @property
    def folders(self) -> set[str]:
        """The language folders of its encoders: those that it offers, and those that others start from or refer to."""
        return _folders(self.study)[self.name]

    @property
    def every_language(self) -> list[str]:
        """The languages on whose data its encoders are trained."""
        return sorted({lang for folder in self.folders for lang in self.languages(folder)})

    def trained_on(self, code: str) -> Iterator[tuple[str, str]]:
        """Each recipe and language on whose data its encoder of a language is trained: this one, and those that it
        starts from.
        """
        folder = self.folder(code)
        if self.spec.made:
            yield from ((self.name, lang) for lang in self.languages(folder))
        if self.start:
            yield from self.start.trained_on(folder)

    @cached_property
    def pivots(self) -> dict[str, Pivot]:
        """Setting of the objective -> the encoder of the pivot language that it refers to."""
        return {name: one for name, one in self.spec.references().items() if isinstance(one, Pivot)}

    def is_pivot(self, code: str) -> bool:
        """Whether it aligns other languages' encoders with that of this language, which it leaves as it is."""
        return code == self.study.pivot and bool(self.pivots)

    # ---- Seeds.

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds of its encoders.

        Trained encoders have the study's seeds, or those of `only.seeds`. Copies, vocabulary replacement and masked
        language modelling have the seeds of the encoders that they start from, limited to `only.seeds`. If they start
        from a backbone or are the mean of several seeds, they have the first. An untrained encoder has seed 0.
        """
        if self.maker != self:
            return self.maker.seeds
        spec, study = self.spec, self.study
        if not spec.made and self.start:
            return self.start.seeds
        if not spec.made or self.taken:
            return [0]
        if spec.minimises and not spec.minimises.own_seed:
            return self.heads
        begun = self.start.seeds if self.start else sorted(study.seeds)
        if self.start and not (spec.copies and spec.copies.way.of_seeds):
            return [one for one in begun if one in (spec.only.seeds or begun)]
        return begun[:1]

    @cached_property
    def heads(self) -> list[int]:
        """The seeds of heads that are fine-tuned on its encoders, trained or not: the study's, or `only.seeds`."""
        return sorted(self.study.seeds if self.spec.only.seeds is None else self.spec.only.seeds)

    def seed(self, seed: int | None = None) -> int:
        """The seed of its encoder for a product with a given seed: the same, or its first if it lacks that one."""
        return seed if seed in self.seeds else self.seeds[0]

    # ---- Backbones.

    @cached_property
    def pools(self) -> str:
        """The pooling of encoders that are not trained, if it is another than that of `base` and `published`: token
        vectors are needed, which no endpoint gives. Empty: it is not."""
        spec, pooling = self.spec, self.spec.training.get("pooling", "own")
        return "" if spec.made or spec.start or spec.paired or pooling in ("mean", "own") else pooling

    @cached_property
    def backbones(self) -> list[str] | None:
        """The backbones that it makes encoders of: those that it names, or whose weights it needs; None: all.

        Pairs are for recipes that read translations, and these for pairs alone.
        """
        study, spec = self.study, self.spec
        weights = spec.made or bool(self.pools)
        if spec.only.backbones is not None or not (study.paired or weights):
            return spec.only.backbones
        remote = {one.name for one in StudyBackbone.every(study) if weights and one.remote}
        if study.paired:
            fit = [name for name in study.backbones if (name in study.paired) == spec.paired]
            return [name for name in fit if name not in remote]
        return [name for name in study.backbones if name not in remote] if remote else None

    @property
    def every_backbone(self) -> list[str]:
        """The names of the backbones that it makes encoders of; empty: none can be trained."""
        return [*self.study.backbones] if self.backbones is None else self.backbones

    # ---- Data.

    @property
    def generator(self) -> str:
        """The generator that it names, or the study's first; empty: the study has none."""
        return self.spec.data.by or next(iter(self.study.generators), "")

    @property
    def writer(self) -> str:
        """The generator whose triplets it trains on: `generator`, or one like it that has the same triplets."""
        return self.study.makers[self.generator, self.spec.written]

    @property
    def needs_adapters(self) -> bool:
        """Whether adapters generate the triplets that it trains on."""
        return bool(self.spec.written) and WRITING[self.spec.written].adapters != "none"

    @property
    def writes_pivot(self) -> bool:
        """Whether a generator writes its positives and negatives in the pivot language, whatever the anchors'."""
        return bool(self.spec.written) and WRITING[self.spec.written].output == "pivot"

    @property
    def scale_chosen_on(self) -> str:
        """The task that chose the scale of the adapters that generate its training data; tables show no scores of its
        encoders on this task. Empty: no task chose it.
        """
        choice = self.study.choosing.get(self.writer) if is_composed(self.spec) else None
        return choice.dev if choice else ""

    def is_written(self, code: str) -> bool:
        """Whether a generator makes the training data of its encoder of the language `code`; where these are translated
        from the pivot, those of the pivot itself are not.
        """
        return bool(self.spec.written) and not (self.spec.data.translated and code == self.study.pivot)

    def data(self, code: str = "") -> str:
        """The training data of its encoders, a path with {lang}, maybe {backbone}; empty: they are not trained.

        For the language `code`: rows of the pivot are not translated.
        """
        study, data = self.study, self.spec.data
        if self.is_written(code):
            return at(study, paths.TRIPLETS, generator=self.writer, method=self.spec.written, lang="{lang}")
        if not data:
            return ""
        if data.neighbours:
            return at(study, paths.NEIGHBOURS, backbone="{backbone}", mining=data.neighbours, lang="{lang}")
        corpus = data.origin if self.spec.drawn is None else anchors_in(self.spec.drawn)
        return at(study, paths.CORPUS, lang="{lang}", corpus=corpus)

    @cached_property
    def compared(self) -> str:
        """The triplets whose lexical overlap a table can show, a path with {lang}: of one language, in which all their
        columns are.

        The path is relative to the folder of results, so that a plan is the same in any folder. Empty: there are none.
        """
        spec = self.spec
        if not spec.data or spec.data.kind != "triplets" or spec.of_several:
            return ""
        return "" if self.writes_pivot else self.data().removeprefix(f"{self.study.results}/")

    def in_pivot(self) -> list[str]:
        """The columns of its training data that are in the pivot language, whatever the recipe's language."""
        own = ("pivot", *POLARITIES) if self.writes_pivot else ("pivot",)
        return [name for name in self.spec.data.columns if name in own]

    # ---- Translations.

    @cached_property
    def anchored(self) -> str:
        """The nearest recipe, itself or one that it starts from, which is anchored and has a policy; empty: none is."""
        if self.spec.data.candidates:
            return self.name
        return self.start.anchored if self.start else ""

    @property
    def chooser(self) -> str:
        """The recipe whose features, and policy, choose translations for it; empty: none."""
        return self.spec.english.actor or self.anchored

    @cached_property
    def chooses_by(self) -> str:
        """The recipe whose encoder chooses the English translations for it, by a policy or by features; empty: no
        encoder chooses them.
        """
        english = self.spec.english
        asked = english.choose == "actor" or (english.choose == "critic" and not english.similarity)
        return self.chooser if asked else ""

    @cached_property
    def weighs(self) -> tuple[float, ...] | None:
        """The weights of a judge's scores, where a policy was trained with some."""
        return self.other(self.chooser).spec.minimises.weights if self.chooser else None

    def chooses_like(self, backbone: str) -> "StudyRecipe":
        """The first recipe whose encoders of a backbone choose English as its own do: it is chosen once for all."""
        wanted = self._chooses(backbone)
        every = StudyRecipe.every(self.study) if wanted else ()
        return next((one for one in every if one._chooses(backbone) == wanted), self)

    def _chooses(self, backbone: str) -> tuple[Any, ...] | None:
        """What a choice of English follows from, but its texts; None: there is none for this backbone."""
        english = self.spec.english
        if not english.fusion or (self.backbones is not None and backbone not in self.backbones):
            return None
        by = (self.chooses_by, self.weighs, english.choose, english.similarity)
        return *english.translators, english.judge, *by

    @property
    def gives(self) -> list[str]:
        """What encoders of translations give in addition to vectors: the chosen translators, a vector of each path."""
        fusion = self.spec.english.fusion
        return [*(["choices"] if fusion else []), *(["paths"] if fusion and fusion != "english" else [])]

    @cached_property
    def transformer(self) -> bool:
        """Whether its encoders have layers and can be fine-tuned; static ones, and those in integers, cannot."""
        if self.spec.made:
            return not (self.spec.copies.static or self.spec.copies.int8)
        return self.start.transformer if self.start else self.training.pooling != "static"

    # ---- Prefixes (`seedbed.encoders.prompts`).

    @cached_property
    def prefixed_by(self) -> "StudyRecipe | None":
        """The recipe that says its prefix: itself, or the nearest that it starts from; None: the backbone does."""
        return self if self.spec.prefix is not None else self.start and self.start.prefixed_by

    def before(self, backbone: str) -> str | Prompts | None:
        """The prefix or prompts that the study puts before its encoders' texts; None: those in the weights' own file.

        If a development task chooses it, the first of its candidates; see `prefix_chooser`.
        """
        if not (by := self.prefixed_by):
            return StudyBackbone.get(self.study, backbone).before
        return self.other(by.spec.prefix_of[0]).before(backbone) if by.spec.prefix_of else by.spec.prefix

    def prefix(self, backbone: str) -> str:
        """As `before`, of texts that are neither query nor document."""
        return text_of(self.before(backbone))

    def prefix_by_language(self, backbone: str) -> bool:
        """Whether the prefix of its encoders of a backbone, or of one that this fuses, depends on the language."""
        members = StudyBackbone.get(self.study, backbone).members
        return any(placeholders(self.prefix(member)) for member in members)

    @property
    def prefix_chooser(self) -> str:
        """The recipe whose `prefix: {choose: ...}` lists the candidates among which a development task chooses its
        prefix; empty: the study gives the prefix.
        """
        by = self.prefixed_by
        return by.name if by and by.spec.prefix_of else ""

    def given_prefix(self, backbone: str) -> str:
        """Its prefix, for uses that need it before any encoder is scored, such as fine-tuning.

        Raises:
            UserError: a development task chooses it, or it depends on the language.
        """
        if chooser := self.prefix_chooser:
            raise UserError(
                f"recipes.{chooser}.prefix.choose: a development task chooses this prefix, which is not known yet "
                f"where encoders of {self.name} are fine-tuned; give the recipe a `prefix`, or take another"
            )
        if by := self.prefixed_by:
            return require_plain(by.spec.prefix, f"recipes.{by.name}.prefix")
        return StudyBackbone.get(self.study, backbone).plain_prefix() or ""


@once_per_study
def _folders(study: Study) -> dict[str, set[str]]:
    """Recipe -> `StudyRecipe.folders`."""
    found: dict[str, set[str]] = {name: set() for name in study.recipes}
    todo = [(of, of.folder(code)) for of in StudyRecipe.every(study) for code in of.codes]
    while todo:
        of, folder = todo.pop()
        if folder in found[of.name]:
            continue
        found[of.name].add(folder)
        if of.start and not of.is_pivot(folder):
            todo.append((of.start, of.start.folder(folder)))
        for one in of.spec.references().values():
            other = of.other(one.recipe or of.spec.start)
            todo.append((other, other.folder(study.pivot if isinstance(one, Pivot) else folder)))
    return found


@once_per_study
def served(study: Study) -> dict[tuple[str, str], set[str]]:
    """Recipe and language of training data -> the languages to which some recipe offers an encoder trained on them."""
    found: dict[tuple[str, str], set[str]] = {}
    for recipe in StudyRecipe.every(study):
        for code in recipe.codes:
            for data in recipe.trained_on(code):
                found.setdefault(data, set()).add(code)
    return found


def untrained(study: Study) -> str:
    """The first recipe that uses a backbone as it is; empty: there is none."""
    return next((name for name, recipe in study.recipes.items() if not (recipe.made or recipe.paired)), "")


def objective_of(objective: Objective | None) -> dict[str, Objective] | None:
    """An objective by its name, as programs get it."""
    return objective and {objectives.name_of(objective): objective}
