"""Encoders that are prepared for a language: vocabulary replacement, and masked language modelling (paper 004)."""

from dataclasses import dataclass
from typing import Any

from seedbed.encoders.settings import Training
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Files, Product
from seedbed.study.sizes import Load, Sizes


@dataclass(frozen=True)
class Prepared(Encoder):
    """An encoder that an objective with a separate program makes of another encoder and the sentences of one
    language.
    """

    @property
    def training(self) -> Training:
        """The settings of its modules: its objective says how it is trained."""
        return self.made_by.modules

    def inputs(self) -> dict[str, Files]:
        """What it starts from, and the sentences."""
        return {"weights": self.weights, "texts": self.texts, "chosen_prefix": self.prefix_file}

    def settings(self) -> dict[str, Any]:
        """The arguments that every encoder's program gets, and the number of sentences that are used."""
        return self.spoken() | {"rows": self.spec.data.rows, "about": self.lineage()}


@dataclass(frozen=True)
class VocabularyEncoder(Prepared, rule="train_vocabulary"):
    """An encoder with the vocabulary of one language."""

    def settings(self) -> dict[str, Any]:
        """How its tokenizer and its rows are made; where masked language modelling follows, it needs a mask."""
        follow = {recipe.rule for recipe in self.study.recipes.values() if recipe.start == self.recipe}
        masks = AdaptedEncoder.rule in follow
        return super().settings() | {"vocabulary": self.spec.minimises, "masks": masks}

    load = Product.load  # no model reads anything


@dataclass(frozen=True)
class AdaptedEncoder(Prepared, rule="adapt_backbone"):
    """An encoder after masked language modelling."""

    def settings(self) -> dict[str, Any]:
        """How it is trained."""
        return super().settings() | {"masked": self.spec.minimises, **self.resumable}

    def load(self, sizes: Sizes) -> Load:
        """Masked language modelling."""
        return Load(1, sizes.masking(self.backbone, self.spec.minimises), sizes.encoder(self.backbone))
