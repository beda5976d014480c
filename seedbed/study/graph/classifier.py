"""Classifiers: an encoder or a language model, whose files are below generators/; and encoders with a head.

A job of fine-tuning saves what its model predicts for all test sets that share its training set. It does not save the
weights: they would take a gigabyte for each of a study's hundreds of training sets, and nothing would use them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seedbed.classifiers import learners
from seedbed.classifiers.settings import BASELINES, IN_CONTEXT, REASONING, VARIANTS, Classifier, Examples
from seedbed.encoders.settings import Reference
from seedbed.encoders.tuning_settings import FineTuning, Reading
from seedbed.generators.settings import Generator
from seedbed.resources import resource
from seedbed.study import paths
from seedbed.study.backbone import StudyBackbone
from seedbed.study.generator import StudyGenerator
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Code, Files, Product
from seedbed.study.model import Entry, Study, once_per_study
from seedbed.study.paths import at
from seedbed.study.recipe import StudyRecipe
from seedbed.study.sizes import Load, Sizes

KINDS = {
    "adapted": "adapted",
    "in_context": "in-context",
    "reasoning": "reasoning",
    "fine_tuning": "labelled",
    "baseline": "chance",
}
"""Form of a classifier -> its kind of system, a module of `evaluation.systems`."""
TRANSLATED = REASONING[1]
"""The variant of a language model that is prompted with English translations."""


@dataclass(frozen=True)
class StudyClassifier(Entry[Classifier]):
    """A classifier of the study. Its variants: untrained, with an adapter, or in context."""

    group = "classifiers"

    @property
    def learner(self) -> Classifier | Generator:
        """The settings by which its adapters are trained: the classifier's, or its generator's."""
        return self.generator.spec if self.generator else self.spec

    @property
    def generator(self) -> StudyGenerator | None:
        """Its language model; None: it is an encoder with a head, or a baseline."""
        return StudyGenerator.get(self.study, self.spec.generator) if self.spec.generator else None

    @property
    def kind(self) -> str:
        """The kind of system that it is."""
        return KINDS[self.spec.form]

    @property
    def style(self) -> str:
        """How it answers: with a head, or in its generator's style of prompts."""
        return getattr(self.learner, "prompts", "head")

    @property
    def model(self) -> str:
        """The name of the model that its adapters are trained on; a generator's adapters have the same name in their
        manifests.
        """
        return self.generator.model if self.generator else self.spec.backbone

    @property
    def weights(self) -> str:
        """The weights of its model; empty: a server alone has them, or it has none."""
        if self.spec.baseline:
            return ""
        return self.generator.weights if self.generator else StudyBackbone.get(self.study, self.spec.backbone).weights()

    @property
    def prompts(self) -> tuple[Path, ...]:
        """The files with the wording of its prompts; none if it is an encoder with a head, or a baseline."""
        of_labels = ("classification", "nli") if self.generator else ()
        names = {"in_context": ("icl",), "reasoning": ("reasoning",)}.get(self.spec.form, of_labels)
        return tuple(resource(f"prompts/{name}.yaml") for name in names)

    @property
    def back_end(self) -> tuple[str, ...]:
        """The modules that run its language model, which are loaded by name; empty: it is not prompted."""
        return self.generator.back_end if self.spec.prompted else ()

    def answering(self) -> Generator:
        """The settings of its language model, which answers without adapters."""
        return self.generator.written_with("lora", "xllora", "shots")

    def task_adapter(self, lang: str) -> str:
        """Its adapter for the task, trained on labelled pairs of a language."""
        return at(self.study, paths.CLASSIFIER_ADAPTER, classifier=self.name, part="task", lang=lang)

    def language_adapter(self, lang: str) -> str:
        """Its adapter of a language; that of a language model is its generator's."""
        if self.generator:
            return self.generator.language_adapter(lang)
        return at(self.study, paths.CLASSIFIER_ADAPTER, classifier=self.name, part="language", lang=lang)

    def about(self, variant: str, lang: str) -> dict[str, str]:
        """Facts for score files: its name, the variant, and the language of its adapters or training set. A classifier
        that tables show next to encoders (`as_baseline`) has no language.
        """
        return {"name": self.name, "variant": variant} | ({} if self.spec.as_baseline else {"language": lang})

    # ---- What it is scored on.

    @property
    def tasks(self) -> list[str]:
        """The tasks that it is scored on: those that it names, or all of its protocol."""
        if self.spec.tasks is not None:
            return self.spec.tasks
        return [name for name, task in self.study.tasks.items() if task.protocol == self.spec.protocol]

    def tasks_in(self, code: str) -> list[str]:
        """The tasks that it is scored on in a language."""
        if self.spec.languages is not None and code not in self.spec.languages:
            return []
        return [task for task in self.study.tests_by_language[code] if task in self.tasks]

    # ---- Which encoders help it.

    def examples(self, variant: str) -> Examples | None:
        """The training texts in the prompts of a variant; None: there are none, or it reads no prompts."""
        shown = self.spec.in_context
        return shown and shown.every_variant()[variant]

    def retriever(self, variant: str) -> Reference | None:
        """The encoder that finds the examples of a variant; None: it has none."""
        examples = self.examples(variant)
        return examples and examples.retriever

    def prefixing(self, variant: str) -> Reference | None:
        """The anchored encoder that gives the vectors before the questions of a variant and chooses their English;
        None: the variant has none.
        """
        return self.spec.reasoning.prefixes.get(variant) if self.spec.reasoning else None

    def helping(self, variant: str) -> Reference | None:
        """The encoder that finds a variant's examples, or chooses the English of its questions; None: none does."""
        if needed := self.retriever(variant) or self.prefixing(variant):
            return needed
        english = self.spec.reasoning.english if self.spec.reasoning and variant == TRANSLATED else None
        return english if isinstance(english, Reference) else None  # a translator needs no encoder

    def helpers(self) -> list[str]:
        """The backbones of encoders that its variants need in addition to its model, one at a time."""
        variants = self.spec.prompted.every_variant() if self.spec.prompted else ()
        needed = (self.retriever(one) or self.prefixing(one) for one in variants)
        return [*dict.fromkeys(of.backbone for of in needed if of)]

    def helper(self, variant: str, lang: str) -> str:
        """The encoder that finds a variant's examples, or gives the vectors before its questions; empty: none does."""
        if of := self.retriever(variant):
            return Encoder.resolved(self.study, of.backbone, of.recipe, lang).path
        if not (of := self.prefixing(variant)):
            return ""
        anchored = StudyRecipe.get(self.study, of.recipe).chooser
        return Encoder.resolved(self.study, of.backbone, anchored, lang).path


def adapted(study: Study) -> list[str]:
    """The classifiers with adapters, for labelled pairs."""
    return [name for name, spec in study.classifiers.items() if spec.form == "adapted"]


def variants(study: Study) -> dict[str, list[str]]:
    """Variant -> names of the classifiers that have it, for tables of classifiers."""
    found = {name: adapted(study) for name in VARIANTS} | {name: [] for name in IN_CONTEXT}
    for name, spec in study.classifiers.items():
        for variant in (*spec.composed, *(spec.prompted.every_variant() if spec.prompted else ())):
            found.setdefault(variant, []).append(name)
    return found


def labellers(study: Study) -> dict[str, list[str]]:
    """Variant (one of BASELINES) -> names of the classifiers that tables of encoders can show as it."""
    return {form: [name for name, spec in study.classifiers.items() if spec.as_baseline == form] for form in BASELINES}


def seeds_of(study: Study, form: str) -> list[int]:
    """The seeds of a variant of classifiers in a table of encoders: the study's, or only 0 where nothing is random."""
    return sorted(study.seeds) if form in ("random", "fine-tuned") else [0]


# ---- What jobs make.


@dataclass(frozen=True)
class OfClassifier(Product):
    """A product of a classifier."""

    classifier: str

    @property
    def owner(self) -> StudyClassifier:
        """The classifier."""
        return StudyClassifier.get(self.study, self.classifier)


@dataclass(frozen=True)
class ClassifierAdapter(OfClassifier, rule="train_classifier", place=paths.CLASSIFIER_ADAPTER):
    """A classifier's adapter: for the task, trained on labelled pairs, or for a language, trained on its texts."""

    part: str
    lang: str

    @property
    def kind(self) -> str:
        """The kind of its training data."""
        return "pairs" if self.part == "task" else self.owner.learner.language_data

    def inputs(self) -> dict[str, Files]:
        corpus = "nli_pairs" if self.kind == "pairs" else self.kind
        return {"base": self.owner.weights, "examples": self.at(paths.CORPUS, corpus=corpus)}

    def settings(self) -> dict[str, Any]:
        learner = self.owner.learner
        return {
            "lora": learner.lora,
            "dtype": learner.dtype,
            "style": self.owner.style,
            "kind": self.kind,
            "language": self.study.names[self.lang],
            "name": self.owner.model,
        }

    def code(self) -> Code:
        return Code(data=self.owner.prompts)

    def load(self, sizes: Sizes) -> Load:
        return Load(1, sizes.classifying(self.classifier), sizes.classifier(self.classifier))


@dataclass(frozen=True)
class FineTuned(OfClassifier, rule="fine_tune", place=paths.FINE_TUNED):
    """A backbone with a head that is fine-tuned on the training set of a task in a language."""

    task: str
    lang: str
    seed: int

    @property
    def encoder(self) -> Encoder | None:
        """The recipe's encoder of the training set's language that is fine-tuned; None: a backbone is."""
        spec = self.owner.spec
        return Encoder.resolved(self.study, spec.backbone, spec.recipe, self.lang, self.seed) if spec.recipe else None

    @property
    def prefix(self) -> str | None:
        """The prefix of every text that it encodes; None: what the model itself says."""
        if self.encoder:
            return self.encoder.plain_prefix
        return StudyBackbone.get(self.study, self.owner.spec.backbone).plain_prefix()

    @property
    def tests(self) -> dict[str, str]:
        """LANGUAGE/NAME -> test set that it labels: those of all languages that use this training set."""
        study = self.study
        return {
            f"{code}/{self.task}": self.at(paths.CORPUS, lang=code, corpus=self.task)
            for code in sorted(study.languages)
            for task in self.owner.tasks_in(code)
            if study.test_set(task) == self.task and study.train_of(task, code) == self.lang
        }

    def inputs(self) -> dict[str, Files]:
        base = self.encoder.path if self.encoder else self.owner.weights
        return {"base": base, "train": self.at(paths.TRAINING_SET), "tests": self.tests}

    def settings(self) -> dict[str, Any]:
        spec = self.owner.spec
        return {
            "fine_tuning": spec.fine_tuning,
            "prefix": self.prefix,
            "dtype": spec.dtype,
            "about": self.owner.about("fine-tuned", self.lang),
        }

    def load(self, sizes: Sizes) -> Load:
        spec, learning = self.owner.spec, self.owner.spec.fine_tuning
        asked = sizes.tuning(spec.backbone, learning.batch_size * learning.max_length, spec.dtype)
        return Load(1, asked, sizes.classifier(self.classifier))


@dataclass(frozen=True)
class TunedEncoder(Product, rule="tune_encoder", place=paths.TUNED):
    """A recipe's encoder with a head that is fine-tuned on the training set of a task in a language."""

    backbone: str
    recipe: str
    lang: str
    task: str
    train_lang: str
    seed: int

    @property
    def encoder(self) -> Encoder:
        """The encoder as score files describe it: its seed is the head's."""
        return Encoder.get(self.study, self.backbone, self.recipe, self.lang, self.seed)

    @property
    def kind(self) -> str:
        """The kind of its training and test sets."""
        return self.study.declared[self.task].kind

    @property
    def learning(self) -> FineTuning | Reading:
        """How encoders are fine-tuned for the task."""
        spec = self.study.tasks[self.task]
        return spec.reading if "reading" in self.study.declared[self.task].options else spec.fine_tuning

    @property
    def tests(self) -> dict[str, str]:
        """LANGUAGE/NAME -> path of a test set that it predicts: every set that shares this training, in the languages
        for which the recipe has this encoder.
        """
        study, recipe = self.study, StudyRecipe.get(self.study, self.recipe)
        alike = trained_as(study, self.task)
        return {
            f"{code}/{study.test_set(task)}": Corpus.of_test(study, task, code)
            for code in sorted(recipe.codes)
            if recipe.folder(code) == self.lang
            for task in study.tests_by_language[code]
            if trained_as(study, task) == alike and study.train_of(task, code) == self.train_lang
        }

    def inputs(self) -> dict[str, Files]:
        """The encoder of this seed, or of a recipe without seeds; the training set and the test sets."""
        base = Encoder.resolved(self.study, self.backbone, self.recipe, self.lang, self.seed)
        return {
            "base": base.path,
            "train": self.at(paths.CORPUS, lang=self.train_lang, corpus=self.study.training_name(self.task)),
            "tests": self.tests,
        }

    def settings(self) -> dict[str, Any]:
        """How it is fine-tuned, and facts for score files. Their seed is that of the head, even if the encoder is
        untrained.
        """
        trained_on = {"task": self.task, "train_language": self.train_lang}
        return {
            "kind": self.kind,
            "learning": self.learning,
            "prefix": self.encoder.plain_prefix,
            "dtype": self.encoder.made_by.training.precision,
            "about": self.encoder.described() | trained_on,
        }

    def code(self) -> Code:
        return Code(modules=(learners.module_of(self.kind),))

    def load(self, sizes: Sizes) -> Load:
        learning, training = self.learning, self.encoder.made_by.training
        asked = sizes.tuning(self.backbone, learning.batch_size * learning.max_length, training.precision)
        return Load(1, asked, sizes.encoder(self.backbone))


@once_per_study
def trained_as(study: Study, task: str) -> str:
    """The task that names a training: of all with the same training sets and settings, the first that has its own test
    set and not another task's (`set_of`), so that a further task on a set moves no training.
    """
    alike = [name for name in study.tasks if _training_of(study, name) == _training_of(study, task)]
    return min(alike, key=lambda name: (study.test_set(name) != name, name))


def _training_of(study: Study, task: str) -> tuple[Any, ...]:
    """All that a task's training depends on but the language."""
    spec, sets = study.tasks[task], study.tasks[study.test_set(task)]
    return spec.protocol, sets.train, sets.clean, spec.fine_tuning, spec.reading


@dataclass(frozen=True)
class DescribedClassifier(OfClassifier, rule="describe_classifier", place=paths.CLASSIFIER):
    """A variant of a classifier as it is scored: what it is made of, and how it answers."""

    variant: str
    lang: str
    seed: int

    @property
    def adapter(self) -> str:
        """Path of its adapter; empty: it is untrained, a baseline, or a prompted language model."""
        spec = self.owner.spec
        if self.variant == "base" or spec.prompted or spec.baseline:
            return ""
        form, _, scale = self.variant.partition("-")
        if form != "composition":
            return self.owner.task_adapter(self.lang)
        model = f"{self.classifier}+{scale}" if scale else self.classifier
        return self.at(paths.COMPOSED, room="classifiers", model=model, polarity=self.study.pivot)

    @property
    def head(self) -> str:
        """The task adapter whose head an encoder takes; empty: it is untrained, a language model or a baseline."""
        spec = self.owner.spec
        if self.variant == "base" or spec.generator or spec.baseline:
            return ""
        return self.owner.task_adapter(self.study.pivot if self.variant.startswith("composition") else self.lang)

    def inputs(self) -> dict[str, Files]:
        """What it is made of, with the encoder that it needs if this is the same in all languages: its manifest has
        their digests.
        """
        helper = self.owner.helper(self.variant, "{lang}")
        retriever = "" if "{" in helper else helper
        return {"base": self.owner.weights, "adapter": self.adapter, "head": self.head, "retriever": retriever}

    def settings(self) -> dict[str, Any]:
        """How it answers, and the paths of what it is made of. `{lang}` in a helper's path is the tested language."""
        use = "prefix" if self.owner.prefixing(self.variant) else "retriever"
        parts = {"base": self.owner.weights, "adapter": self.adapter, "head": self.head}
        parts[use] = self.owner.helper(self.variant, "{lang}")
        return {
            "system": self._system(),
            "parts": {name: file for name, file in parts.items() if file},
            "about": self.owner.about(self.variant, self.lang),
        }

    def _system(self) -> dict[str, Any]:
        """How it answers, as its kind of system says it."""
        spec, kind = self.owner.spec, self.owner.kind
        if kind == "chance":
            return {"kind": kind, "choice": spec.baseline, "seed": self.seed}
        if kind == "adapted":
            return {"kind": kind, "style": self.owner.style, "seed": self.owner.learner.lora.seed}
        asked = {"kind": kind, "generator": self.owner.answering().decisive()}
        if kind == "reasoning":
            return asked | {"reasoning": spec.reasoning, "variant": self.variant}
        shots = self.owner.examples(self.variant)
        examples = {"count": shots.shots, "percentile": shots.percentile} if shots else {"count": 0}
        balance = {"balance": spec.in_context.balance}
        return asked | {"answering": spec.in_context.answering(), "examples": examples | balance}
