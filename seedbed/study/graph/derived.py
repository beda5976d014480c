"""Encoders that a separate program makes of another encoder and sentences: vocabulary replacement and masked language
modelling for a language (paper 004), and copies, smaller ones or the mean of several seeds.
"""

from dataclasses import dataclass
from typing import Any

from seedbed.encoders.compression.settings import START
from seedbed.encoders.settings import Fusion, Training
from seedbed.study import paths
from seedbed.study.backbone import endpoints_of
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Code, Files, Product
from seedbed.study.graph.score import protocol_code, task_for
from seedbed.study.sizes import Load, Sizes


@dataclass(frozen=True)
class Derived(Encoder):
    """An encoder that a program other than `train_encoder` makes of another encoder and of sentences."""

    @property
    def training(self) -> Training:
        """The settings of its modules: its objective, or the way of copying, says how it is made."""
        return self.made_by.modules

    def inputs(self) -> dict[str, Files]:
        return {"weights": self.weights, "texts": self.texts, "chosen_prefix": self.prefix_file}

    def settings(self) -> dict[str, Any]:
        return self.module_arguments() | {"rows": self.spec.data.rows, "about": self.lineage()}


@dataclass(frozen=True)
class VocabularyEncoder(Derived, rule="train_vocabulary"):
    """An encoder with the vocabulary of one language."""

    def settings(self) -> dict[str, Any]:
        """How its tokenizer and embeddings are made. The tokenizer needs a mask token if another recipe continues with
        masked language modelling.
        """
        follow = {recipe.rule for recipe in self.study.recipes.values() if recipe.start == self.recipe}
        masks = AdaptedEncoder.rule in follow
        return super().settings() | {"vocabulary": self.spec.minimises, "masks": masks}

    load = Product.load  # no model reads anything


@dataclass(frozen=True)
class AdaptedEncoder(Derived, rule="adapt_backbone"):
    """An encoder after masked language modelling."""

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"masked": self.spec.minimises}

    def load(self, sizes: Sizes) -> Load:
        """Masked language modelling of a backbone, which is no larger with the vocabulary of one language."""
        masked = self.spec.minimises
        asked = sizes.tuning(self.backbone, masked.batch_size * masked.length, masked.precision)
        return Load(1, asked, sizes.encoder(self.backbone))


@dataclass(frozen=True)
class CopiedEncoder(Derived, rule="copy_encoder"):
    """A copy of the encoder that its recipe starts from."""

    @property
    def others(self) -> dict[str, str]:
        """Name -> another encoder that is read: `seed2`, ... of the same recipe, and what training started from."""
        way, found = self.spec.copies.way, {}
        if way.of_seeds:
            start = self.made_by.start
            for seed in start.seeds[1:]:
                found[f"seed{seed}"] = Encoder.resolved(self.study, self.backbone, start.name, self.lang, seed).path
        return found | ({START: self.begun_from.weights} if way.of_start else {})

    def inputs(self) -> dict[str, Files]:
        return super().inputs() | {"refer": self.others}

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"copies": self.spec.copies}

    def load(self, sizes: Sizes) -> Load:
        """Memory for encoding texts with the encoder and its copy. The main memory has the weights of both and of up
        to two others, since each is opened before the one before it is gone.
        """
        opened = 2 + min(len(self.others), 2)
        return sizes.mining(self.backbone)._replace(parameters=opened * sizes.encoder(self.backbone))


@dataclass(frozen=True)
class FusedEncoder(Encoder, rule="fuse_encoders"):
    """Encoders of one recipe, language and seed, whose weights are given or chosen by a development task."""

    @property
    def fusion(self) -> Fusion:
        """Its settings: the backbones that it fuses, and their weights or the task that chooses them."""
        return self.study.fused[self.backbone]

    @property
    def dev_sets(self) -> dict[str, str]:
        """Language -> path of a development set on which the weights are chosen; empty: the study gives the weights."""
        dev = self.fusion.dev
        return {code: Corpus.of_test(self.study, dev, code) for code in self.study.chosen_on(dev, self.lang)}

    def inputs(self) -> dict[str, Files]:
        members = {name: self.at(paths.ENCODER, backbone=name) for name in self.fusion.of}
        labels = {code: Corpus.of_training(self.study, self.fusion.dev, code) for code in self.dev_sets}
        trains = {code: train for code, train in labels.items() if train}
        return {"members": members, "tests": self.dev_sets, "trains": trains}

    def settings(self) -> dict[str, Any]:
        codes = [*self.dev_sets]
        dev = {"dev": self.fusion.dev, "task": task_for(self.study, self.fusion.dev, codes[0])} if codes else {}
        return dev | {
            "weights": self.fusion.weights,
            "endpoints": endpoints_of(self.study, [self.backbone]),
            "about": self.described(),
        }

    def code(self) -> Code:
        """The code of protocols that choosing the weights runs."""
        dev = self.fusion.dev
        return Code(modules=tuple(protocol_code(self.study.tasks[dev].protocol)) if dev else ())

    def load(self, sizes: Sizes) -> Load:
        """Reading the development sets; weights that are given need no encoder."""
        if not (dev := self.fusion.dev):
            return Load()
        return sizes.reading(self.backbone, [dev])
