"""Encoders that a separate program makes of another encoder and sentences: vocabulary replacement and masked language
modelling for a language (paper 004), and copies, smaller ones or the mean of several seeds.
"""

from dataclasses import dataclass
from typing import Any

from seedbed.encoders.compression.settings import START
from seedbed.encoders.settings import Training
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Files, Product
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
        return self.spoken() | {"rows": self.spec.data.rows, "about": self.lineage()}


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
        return super().settings() | {"masked": self.spec.minimises, **self.resumable}

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
