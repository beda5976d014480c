"""Scores: encoders and classifiers on the tasks of a language.

One job scores a recipe's encoders, or a classifier, of all seeds on all tasks of a language, since most of the time of
a small job is its start. An optional task has a separate job. All variants of a language model on a shard of the
languages are one job, since loading its weights takes longer than prompting it. Shards depend on the language codes
alone: a further language changes one shard, which may be split into two.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.settings import EndpointSettings, Reference
from seedbed.evaluation import protocols
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems import ENCODER, module_of
from seedbed.io import UserError
from seedbed.languages import ANY, filled
from seedbed.names import TOGETHER, languages_of
from seedbed.study import paths
from seedbed.study.backbone import StudyBackbone, endpoints_of
from seedbed.study.graph.classifier import TRANSLATED, StudyClassifier, seeds_of, trained_as
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Code, Files, Product, first_of_each
from seedbed.study.graph.translation import translations_of
from seedbed.study.model import Study, once_per_study
from seedbed.study.paths import argument_of
from seedbed.study.recipe import StudyRecipe
from seedbed.study.sizes import Load, Sizes
from seedbed.tables.plan import Cell

LANGUAGES = 16
"""Languages of a shard at most."""


@dataclass(frozen=True)
class Scores(Product, rule="score", place=paths.SCORES):
    """The list of a system's scores in a language, or in an order or a pair of two.

    `backbone` is a classifier's name too, and `recipe` its variant. `tasks` is the name of a task, or TOGETHER. Where
    `recipe` is TOGETHER, it is of all variants of a language model, and `test_lang` is a shard of the languages.
    """

    lists = True

    backbone: str
    recipe: str
    lang: str
    test_lang: str
    tasks: str

    @classmethod
    def of_cell(cls, study: Study, cell: Cell) -> "Scores":
        """The list that a score is in."""
        tasks = scored_with(study, cell.task, cell.backbone, cell.recipe)
        if shares := shares_of(study, cell.backbone, tasks):
            share = next(share for share, codes in shares.items() if cell.test_lang in codes)
            return cls.get(study, cell.backbone, TOGETHER, ANY, share, tasks)
        return cls.get(study, cell.backbone, cell.recipe, cell.lang, cell.test_lang, tasks)

    # ---- Of one language and system, or of many.

    @cached_property
    def each(self) -> list["Scores"]:
        """The scores of each system and language: variant by variant, or these alone where they are of one.

        Raises:
            UserError: there is no such shard.
        """
        if self.recipe != TOGETHER:
            return [self]
        if not (codes := shares_of(self.study, self.backbone, self.tasks).get(self.test_lang)):
            raise UserError(
                f"{self.backbone}: no share {self.test_lang} of the languages of {self.tasks}; ask for a table"
            )
        tasks = self.study.tasks if self.tasks == TOGETHER else [self.tasks]
        return [
            Scores.get(self.study, self.backbone, variant, self.lang, code, self.tasks)
            for variant in self.classifier.spec.prompted.every_variant()
            if any(scored_with(self.study, task, self.backbone, variant) == self.tasks for task in tasks)
            for code in codes
        ]

    @property
    def by_variant(self) -> list["Scores"]:
        """Of `each`, the first of each variant."""
        return first_of_each(self.each, lambda one: one.recipe)

    @property
    def by_language(self) -> list["Scores"]:
        """Of `each`, the first of each language."""
        return first_of_each(self.each, lambda one: one.test_lang)

    # ---- What is scored.

    @property
    def of_encoders(self) -> bool:
        """Whether they are of a recipe's encoders, with a head or without."""
        return self.backbone in self.study.backbones

    @property
    def tuned(self) -> bool:
        """Whether they are scores of encoders that were fine-tuned for a task: `tasks` is then this task alone."""
        return tunes(self.study, self.tasks)

    @property
    def classifier(self) -> StudyClassifier | None:
        """The classifier; None: they are of encoders."""
        return None if self.of_encoders else StudyClassifier.get(self.study, self.backbone)

    @property
    def writer(self) -> str:
        """The generator that is prompted for answers; empty: none."""
        prompted = self.classifier and self.classifier.spec.prompted
        return self.classifier.spec.generator if prompted else ""

    @property
    def kind(self) -> str:
        """The kind of system."""
        if self.tuned:
            return "labelled"
        return ENCODER if self.of_encoders else self.classifier.kind

    @cached_property
    def systems(self) -> list[str]:
        """Paths of what is scored: a recipe's encoders of a language, or a classifier, one for each seed; of a language
        model, one for each variant.
        """
        if self.tuned:
            task, train_lang = trained_as(self.study, self.tasks), self.study.train_of(self.tasks, self.test_lang)
            heads = StudyRecipe.get(self.study, self.recipe).heads
            return [self.at(paths.TUNED, task=task, train_lang=train_lang, seed=seed) for seed in heads]
        if self.of_encoders:
            return self._encoders(self.lang)
        spec = self.classifier.spec
        facts = {"classifier": self.backbone}
        if spec.prompted:
            return [self.at(paths.CLASSIFIER, **facts, variant=one.recipe, seed=0) for one in self.by_variant]
        seeds = seeds_of(self.study, self.recipe) if spec.as_baseline else [0]
        if not spec.fine_tuning:
            return [self.at(paths.CLASSIFIER, **facts, variant=self.recipe, seed=seed) for seed in seeds]
        return [
            self.at(paths.FINE_TUNED, **facts, task=self.study.test_set(task), lang=train, seed=seed)
            for task in self.scored
            for train in [self.study.train_of(task, self.test_lang)]
            for seed in seeds
        ]

    def _encoders(self, folder: str) -> list[str]:
        """The recipe's encoders in a language folder, one for each seed."""
        recipe = StudyRecipe.get(self.study, self.recipe)
        return [self.at(paths.ENCODER, recipe=recipe.maker.name, lang=folder, seed=seed) for seed in recipe.seeds]

    @property
    def seconds(self) -> list[str]:
        """Paths of the encoders of the second language of a pair, one for each seed; empty: one language is tested."""
        other = languages_of(self.test_lang)[1:]
        return self._encoders(StudyRecipe.get(self.study, self.recipe).folder(other[0])) if other else []

    @property
    def adapters(self) -> bool:
        """Whether parallel adapters are on."""
        recipe = self.study.recipes.get(self.recipe)
        return not recipe or recipe.aligned not in (["never"] if self.seconds else ["never", "pairs"])

    @property
    def helpers(self) -> list[str]:
        """The encoders that find a classifier's examples in the test languages, or give vectors before questions."""
        if self.of_encoders:
            return []
        found = (self.classifier.helper(one.recipe, one.test_lang) for one in self.each)
        return [*dict.fromkeys(filter(None, found))]

    @property
    def endpoints(self) -> list[EndpointSettings]:
        """The endpoints behind an encoder, a fusion or a classifier's retriever, as they are set today."""
        if self.of_encoders:
            return endpoints_of(self.study, [self.backbone])
        retrievers = [of.backbone for one in self.by_variant if (of := self.classifier.retriever(one.recipe))]
        return endpoints_of(self.study, retrievers)

    # ---- What it is scored on.

    @cached_property
    def scored(self) -> list[str]:
        """The tasks of one system and language."""
        if not self.of_encoders:
            tasks = self.classifier.tasks_in(self.test_lang)
        elif self.recipe not in self.study.recipes:  # a classifier's variant, which no encoder has
            tasks = []
        else:
            asked = StudyBackbone.get(self.study, self.backbone).scored_on
            of = StudyRecipe.get(self.study, self.recipe)
            tasks = [
                task
                for task in self.study.tests_of(self.test_lang)
                if (protocol := self.study.declared[task]).of_encoders
                and (asked is None or task in asked)
                and protocol.serves(of.gives, transformer=of.transformer)
            ]
        return [task for task in tasks if scored_with(self.study, task, self.backbone, self.recipe) == self.tasks]

    def own_orders(self, task: str) -> list[str]:
        """The orders of a pair that have separate test sets; empty: the sets of its two languages are joined."""
        known = self.study.tests_by_pair.get(self.test_lang, {})
        return known.get(task, []) if self.study.tasks[task].orders() else []

    @property
    def sets(self) -> list[tuple[str, str]]:
        """Task and language, or order of two languages, of each test set that is scored."""
        every = languages_of(self.test_lang)
        return [(task, lang) for task in self.scored for lang in self.own_orders(task) or every]

    @property
    def every_set(self) -> list[tuple[str, str]]:
        """Task and language (or order of two) of each test set of all languages, by language and then by task.

        Raises:
            UserError: a score file was requested of a task that is not scored so.
        """
        found = [one for scores in self.by_language for one in scores.sets]
        if not found:
            raise UserError(
                f"scores of {self.backbone} by {self.recipe}: nothing in {self.test_lang} is scored as {self.tasks!r}; "
                f"{TOGETHER!r} has the tasks without `on_request`; give others by name"
            )
        return found

    @property
    def orders(self) -> dict[str, list[str]]:
        """Task -> the orders of a pair that have separate test sets."""
        every = {task: self.own_orders(task) for task in self.scored} if self.seconds else {}
        return {task: own for task, own in every.items() if own}

    @property
    def trains(self) -> dict[str, str]:
        """LANGUAGE/TASK -> training set, of those tasks that have one."""
        return {
            f"{one.test_lang}/{task}": train
            for one in self.by_language
            for task in one.scored
            if (train := Corpus.of_training(self.study, task, one.test_lang))
        }

    # ---- The English that it reads.

    @cached_property
    def english(self) -> dict[str, list[str]]:
        """PLACE/LANGUAGE -> files with the English of all texts; empty: nothing takes English as input.

        They are for an encoder of two texts, or a variant of a language model that is prompted in English; PLACE is its
        place among the systems.
        """
        if self.of_encoders:
            seeds = StudyRecipe.get(self.study, self.recipe).seeds if self.backbone in self.study.paired else []
            found = {f"{place}/{self.test_lang}": self._chosen(seed) for place, seed in enumerate(seeds)}
        else:
            order = {one.recipe: place for place, one in enumerate(self.by_variant)}
            found = {f"{order[one.recipe]}/{one.test_lang}": one._asked_in_english() for one in self.each}
        return {key: files for key, files in found.items() if files}

    def _chosen(self, seed: int) -> list[str]:
        """The English that encoders of a seed read: of a pair's texts in one language, that of this language's encoder;
        a set of both languages has one choice.
        """
        recipe, sets = StudyRecipe.get(self.study, self.recipe), list(dict.fromkeys(self._sets_of_texts()))
        folders = [recipe.folder(languages_of(lang)[0]) if self.seconds else self.lang for _, lang in sets]
        encoders = [Encoder.get(self.study, self.backbone, self.recipe, folder, seed) for folder in folders]
        return [file for encoder, one in zip(encoders, sets, strict=True) for file in encoder.chosen([one])]

    def _asked_in_english(self) -> list[str]:
        """The English that a variant of a classifier, or the encoder that helps it, reads in a language."""
        if of := self.classifier.helping(self.recipe):
            return Encoder.resolved(self.study, of.backbone, of.recipe, self.test_lang).chosen(self._sets_of_texts())
        spec = self.classifier.spec.reasoning
        translator = spec.english if spec and self.recipe == TRANSLATED else ""
        asked = dict.fromkeys(self._sets_of_texts()) if translator else ()
        return [translations_of(self.study, [translator], corpus, lang)[translator] for corpus, lang in asked]

    def _sets_of_texts(self) -> Iterator[tuple[str, str]]:
        """The sets of texts: name and language, or order of two."""
        for task, lang in self.sets:
            yield self.study.test_set(task), lang
            if len(languages_of(lang)) == 1 and Corpus.of_training(self.study, task, lang):
                yield self.study.training_name(task), self.study.train_of(task, lang)

    # ---- Its job.

    def inputs(self) -> dict[str, Files]:
        sets = [(self.study.test_set(task), lang) for task, lang in self.every_set]
        self._require_one_language()
        return {
            "systems": self.systems,
            "seconds": self.seconds,
            "retrievers": self.helpers,
            "english": self.english,
            "tests": [self.at(paths.CORPUS, lang=lang, corpus=corpus) for corpus, lang in sets],
            "records": [self.at(paths.RECORD, lang=lang, corpus=corpus) for corpus, lang in sets],
            "trains": self.trains,
        }

    def _require_one_language(self) -> None:
        """Check that no set has texts in two languages if the prefix of the encoders, or of those that find a
        classifier's examples, depends on the language.

        Raises:
            UserError: one has, and it is no test of a pair of languages.
        """
        if self.seconds or self.tuned:
            return
        for one in self.each:
            own = Reference(backbone=one.backbone, recipe=one.recipe)
            of = own if one.of_encoders else one.classifier.retriever(one.recipe)
            if not of or not StudyRecipe.get(self.study, of.recipe).prefix_by_language(of.backbone):
                continue
            for task in one.scored:
                columns, trained = COLUMNS[self.study.declared[task].kind], self.study.train_of(task, one.test_lang)
                if "pivot" in columns or trained not in ("", one.test_lang):
                    raise UserError(
                        f"tasks.{task}: it has texts in two languages, and encoders of {of.backbone} by {of.recipe} "
                        "have another prefix in each; take a protocol with `pairs`, `on_request: true`, or another "
                        "prefix"
                    )

    def settings(self) -> dict[str, Any]:
        study, codes = self.study, [one.test_lang for one in self.by_language]
        seeds = dict.fromkeys(argument_of(file).rpartition("/")[2] for file in self.systems)
        return {
            "language": codes,
            "language_name": ["-".join(study.names[code] for code in languages_of(one)) for one in codes],
            "tasks": [{task: task_for(study, task, one.test_lang) for task in one.scored} for one in self.by_language],
            "orders": self.orders,
            "adapters": self.adapters,
            "generators": [self.classifier.answering()] if self.writer else [],
            "endpoints": self.endpoints,
            "scores": [one.at(paths.SCORED, seed=seed) for one in self.by_variant for seed in seeds],
        }

    def code(self) -> Code:
        """The protocols of the tasks, the kind of system, its back end and its prompts."""
        tasks = sorted({task for one in self.by_language for task in one.scored})
        named = protocol_code(*(self.study.tasks[task].protocol for task in tasks))
        back_end, prompts = (self.classifier.back_end, self.classifier.prompts) if self.classifier else ((), ())
        return Code(data=prompts, modules=(*named, module_of(self.kind), *back_end))

    def load(self, sizes: Sizes) -> Load:
        """Encoding the texts of the tasks; predictions that exist already need no model."""
        if self.tuned:
            return Load()
        if self.of_encoders:
            # Of a pair both encoders are open.
            return sizes.reading(self.backbone, self.scored, 1 if self.seconds in ([], self.systems) else 2)
        spec, helpers = self.classifier.spec, self.classifier.helpers()
        if spec.as_baseline:  # its labels are there already, or need no model
            return Load()
        gpus = self.classifier.generator.gpus if spec.prompted else 1
        beside = max(map(sizes.encoder, helpers), default=0)
        return Load(gpus, sizes.labelling(self.backbone, helpers), sizes.classifier(self.backbone) + beside)


# ---- Tasks, as arguments of jobs.


@once_per_study
def task_for(study: Study, task: str, code: str) -> Task:
    """The settings of a task that its scores in a language, or a pair of languages, depend on: without sources,
    languages and training settings. The name of mteb's subset is filled in for the language; a pair has no mteb.
    """
    spec, mteb = study.tasks[task], None
    if spec.mteb and code in study.languages:
        mteb = spec.mteb.updated({"subset": filled(spec.mteb.subset, study.facts(code))})
    read = spec.without("source", "languages", "pairs", "train", "fine_tuning", "reading")
    return read.model_copy(update={"mteb": mteb})


def protocol_code(*names: str) -> list[str]:
    """The functions of protocols that a scoring job runs, as FILE:NAME; protocols are loaded by name."""
    files = [protocols.module_of(name) for name in sorted(set(names))]
    return [f"{file}:{part}" for file in files for part in ("PROTOCOL", "score", "texts", "composed", "mteb_rows")]


def tunes(study: Study, tasks: str) -> bool:
    """Whether a task is one that encoders are fine-tuned for."""
    return tasks in study.tasks and study.declared[tasks].tunes


def scored_with(study: Study, task: str, system: str, recipe: str) -> str:
    """The job in which a backbone or classifier is scored on a task: one for the task alone, or one for all TOGETHER.

    A task that no table or figure shows has a separate job, so that it requires no further in-context examples and no
    fine-tuning. Where a prefix is chosen, adding a task must not repeat the choice and the training.
    """
    spec = study.classifiers.get(system)
    shown = spec and spec.in_context and spec.in_context.every_variant()[recipe]
    chooses = study.best and task == study.best.dev and any(recipe in one.prefix_of for one in study.recipes.values())
    alone = (spec and spec.fine_tuning) or (shown and shown.percentile) or chooses
    return task if study.tasks[task].on_request or alone or tunes(study, task) else TOGETHER


# ---- Shards of the languages in which a language model is prompted.


@once_per_study
def shares_of(study: Study, system: str, tasks: str) -> dict[str, list[str]]:
    """Shard -> its languages, for a system that prompts a language model; empty for any other system.

    An optional language has a separate shard, named by its code.
    """
    if not (spec := study.classifiers.get(system)) or not spec.prompted:
        return {}
    classifier = StudyClassifier.get(study, system)
    named = {name for name in study.tasks if tasks in (TOGETHER, name)}
    asked = [code for code in sorted(study.languages) if named.intersection(classifier.tasks_in(code))]
    alone = {code: [code] for code in asked if code in study.reserved}
    return _split([code for code in asked if code not in alone]) | alone


def _split(codes: list[str], prefix: str = "") -> dict[str, list[str]]:
    """Shards of at most LANGUAGES languages: more are split by the next bit of the codes' hashes."""
    if not codes:
        return {}
    if len(codes) <= LANGUAGES:
        return {f"{ANY}-{prefix}" if prefix else ANY: codes}
    halves = {bit: [code for code in codes if _bits(code).startswith(prefix + bit)] for bit in "01"}
    return _split(halves["0"], f"{prefix}0") | _split(halves["1"], f"{prefix}1")


def _bits(code: str) -> str:
    return f"{int.from_bytes(hashlib.sha256(code.encode()).digest()):0256b}"
