"""Language models and their adapters: downloads, the training data of each adapter, and compositions of adapters."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seedbed.corpora.settings import Source
from seedbed.generators.settings import PART_CORPUS, POLARITIES, Composition, Part
from seedbed.generators.weights import fetch
from seedbed.languages import ANY
from seedbed.resources import ROOT, resource
from seedbed.study import paths, published
from seedbed.study.generator import StudyGenerator
from seedbed.study.graph.classifier import StudyClassifier
from seedbed.study.graph.product import Code, Files, Product
from seedbed.study.sizes import Load, Sizes


@dataclass(frozen=True)
class OfModel(Product):
    """A product of a generator, a backbone or a classifier.

    `room` is the folder of results: `generators`, `encoders` or `classifiers`. `model` is the model's name; some
    subclasses have further parts after plus signs.
    """

    room: str
    model: str

    @property
    def owner(self) -> str:
        """The name of the generator, backbone or classifier."""
        return self.model.partition("+")[0]

    @property
    def of_generator(self) -> bool:
        """Whether it is a generator's."""
        return self.room == "generators"


@dataclass(frozen=True)
class Weights(OfModel, rule="fetch_model", place=paths.WEIGHTS):
    """A model that is fetched.

    `model` is a generator's or a backbone's name; BACKBONE+LANGUAGE, what a backbone is in one language; or
    OWNER+RECIPE+LANGUAGE or OWNER+METHOD+POLARITY+LANGUAGE, a published encoder or adapter.
    """

    @cached_property
    def source(self) -> Source:
        """The source of the model."""
        study = self.study
        owner, *what = self.model.split("+")
        if not what:
            return (study.generators if self.of_generator else study.backbones)[owner].source.resolved(study.facts(ANY))
        if len(what) == 1:
            return study.backbones[owner].by_language[what[0]].resolved(study.facts(what[0]))
        return (published.adapter if self.of_generator else published.encoder)(study, owner, *what)

    def settings(self) -> dict[str, Any]:
        return {"source": self.source}

    def code(self) -> Code:
        """The code that converts weights to safetensors, which the program imports by the name of a format."""
        name = "to_safetensors" if self.source.convert else f"formats/{self.source.format}"
        file = f"seedbed/generators/weights/{name}.py"
        return Code(modules=(file,) if (ROOT / file).is_file() else ())

    def local_files(self) -> list[Path]:
        return fetch.local_files(self.source)

    def load(self, sizes: Sizes) -> Load:
        """It is opened, to see that it is whole."""
        return Load(parameters=(sizes.generator if self.of_generator else sizes.encoder)(self.owner))


@dataclass(frozen=True)
class OfGenerator(Product):
    """Something that is made with a generator."""

    generator: str

    @property
    def based_on(self) -> StudyGenerator:
        """The generator."""
        return StudyGenerator.get(self.study, self.generator)


@dataclass(frozen=True)
class Adapter(OfGenerator):
    """An adapter that is trained on a generator's weights."""

    @property
    def language(self) -> str:
        """English name, for prompts, of the language that it is trained to generate: the pivot, for a task."""
        return self.study.names[self.study.pivot]

    @property
    def prompts(self) -> Path:
        """The wording of its prompts."""
        return resource("prompts/nli.yaml")

    def inputs(self) -> dict[str, Files]:
        return {"base": self.based_on.weights}

    def settings(self) -> dict[str, Any]:
        """How it is trained. `name` is the generator whose weights it has, for its manifest: only adapters of the same
        weights can be composed.
        """
        spec = self.based_on.spec
        training = {"lora": spec.lora, "style": spec.prompts, "dtype": spec.dtype}
        return {"name": self.based_on.model, "language": self.language, **training}

    def code(self) -> Code:
        return Code(data=(self.prompts,))

    def load(self, sizes: Sizes) -> Load:
        return Load(1, sizes.adapting(self.generator), sizes.generator(self.generator))


@dataclass(frozen=True)
class TaskAdapter(Adapter, rule="train_task_adapter", place=paths.TASK_ADAPTER):
    """The adapter that is trained to generate one polarity, or both, in the pivot language."""

    polarity: str

    def inputs(self) -> dict[str, Files]:
        return super().inputs() | {"triplets": self.at(paths.CORPUS, lang=self.study.pivot, corpus="nli")}


@dataclass(frozen=True)
class LanguageAdapter(Adapter, rule="train_language_adapter", place=paths.LANGUAGE_ADAPTER):
    """The adapter of one language."""

    lang: str

    @property
    def language(self) -> str:
        """The name of its language."""
        return self.study.names[self.lang]

    @property
    def translates(self) -> bool:
        """Whether it is trained to translate."""
        return self.based_on.spec.language_data == "translations"

    @property
    def prompts(self) -> Path:
        """The file with the wording of its prompts; an adapter that is trained to translate has that of translators."""
        return resource("prompts/translation.yaml") if self.translates else super().prompts

    def inputs(self) -> dict[str, Files]:
        return super().inputs() | {"texts": self.at(paths.CORPUS, corpus=self.based_on.spec.language_corpus)}

    def settings(self) -> dict[str, Any]:
        spec, study = self.based_on.spec, self.study
        return super().settings() | {
            "kind": spec.language_data,
            "loss": spec.language_loss,
            "pivot": study.names[study.pivot] if self.translates else "",
        }


@dataclass(frozen=True)
class XlloraAdapter(Adapter, rule="train_xllora_adapter", place=paths.XLLORA_ADAPTER):
    """The XL-LoRA adapter that generates one polarity in the pivot language for anchors of any language."""

    polarity: str

    def inputs(self) -> dict[str, Files]:
        return super().inputs() | {"examples": self.at(paths.XLLORA_EXAMPLES)}


@dataclass(frozen=True)
class XlloraExamples(
    OfGenerator, rule="build_xllora_examples", place=paths.XLLORA_EXAMPLES.replace("{polarity}", "positive")
):
    """The training examples of XL-LoRA adapters, of both polarities."""

    @property
    def writer(self) -> str:
        """The generator."""
        return self.generator

    def corpora(self, part: Part) -> dict[str, str]:
        """Language -> corpus of one part of the examples, for the languages that the adapters are trained on."""
        xllora, role = self.based_on.spec.xllora, PART_CORPUS[part]
        codes = [code for code in xllora.languages if xllora.uses(part) and self.study.corpus(role, code)]
        return {code: self.at(paths.CORPUS, lang=code, corpus=role) for code in codes}

    @property
    def adapters(self) -> dict[str, str]:
        """Polarity -> the adapter that generates the targets for parallel text; other examples need none."""
        return self.based_on.task_adapters() if self.based_on.spec.xllora.uses("synthetic") else {}

    def inputs(self) -> dict[str, Files]:
        ready = POLARITIES if self.based_on.spec.xllora.source == "published" else ()
        return {
            "base": self.based_on.weights,
            "adapters": self.adapters,
            "parallel": self.corpora("synthetic"),
            "nli": self.corpora("human"),
            "machine": self.corpora("machine"),
            "published": {
                polarity: self.at(paths.CORPUS, lang=ANY, corpus=f"published_{polarity}") for polarity in ready
            },
        }

    def settings(self) -> dict[str, Any]:
        return {
            "generator": self.based_on.written_with("shots"),
            "language": self.study.names[self.study.pivot],
            "count": self.based_on.spec.lora.examples,
        }

    def code(self) -> Code:
        """The wording of prompts and the back end, where targets are generated; other examples need neither."""
        return Code(data=(resource("prompts/nli.yaml"),), modules=self.based_on.back_end if self.adapters else ())

    def load(self, sizes: Sizes) -> Load:
        """The models of the job; nothing is generated if all examples exist already."""
        return sizes.written(self.generator) if self.adapters else Load()


@dataclass(frozen=True)
class ComposedAdapter(OfModel, rule="compose_adapters", place=paths.COMPOSED):
    """A task adapter of the pivot language, composed with two language adapters to work in another language.

    It belongs to a generator, or in room `classifiers` to a classifier. `model` is the name of that, or NAME+SCALE for
    another scale than in its settings. `polarity` is what a generator's task adapter generates; for a classifier it is
    the language of its training set.
    """

    lang: str
    polarity: str

    @property
    def based_on(self) -> StudyGenerator | StudyClassifier:
        """The generator or the classifier."""
        return (StudyGenerator if self.of_generator else StudyClassifier).get(self.study, self.owner)

    @property
    def scale_file(self) -> str:
        """Path of the JSON file with the scale that a development task chose; empty: the study gives it."""
        chooses = self.of_generator and self.model in self.study.choosing
        return self.at(paths.CHOSEN, what="scale", owner=self.model) if chooses else ""

    @property
    def composition(self) -> Composition:
        """How the adapters are composed: by the generator's or classifier's settings, with the scale in `model` if it
        has one.
        """
        learner = self.based_on.spec if self.of_generator else self.based_on.learner
        given, scale = learner.composition, self.model.partition("+")[2]
        if self.scale_file:
            scale = "1"  # never read: the chosen one is in a file
        return given.updated({"scale": float(scale)}) if scale else given

    def inputs(self) -> dict[str, Files]:
        return {
            "task": self.based_on.task_adapter(self.polarity),
            "target": self.based_on.language_adapter(self.lang),
            "source": self.based_on.language_adapter(self.study.pivot),
            "chosen": self.scale_file,
        }

    def settings(self) -> dict[str, Any]:
        return {"composition": self.composition}
