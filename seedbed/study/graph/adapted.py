"""What is made of a backbone before recipes train: one of a language (paper 004), and neighbours (paper 001)."""

from dataclasses import dataclass
from typing import Any

from seedbed.encoders.recipes import ADAPTED
from seedbed.names import anchors_in
from seedbed.study import paths
from seedbed.study.graph import records
from seedbed.study.graph.product import Files, Product
from seedbed.study.recipe import StudyBackbone
from seedbed.study.sizes import Load, Sizes


@dataclass(frozen=True)
class OfBackbone(Product):
    """Something that is made of a backbone for a language."""

    backbone: str
    lang: str

    @property
    def based_on(self) -> StudyBackbone:
        """The backbone."""
        return StudyBackbone.get(self.study, self.backbone)

    @property
    def texts(self) -> str:
        """The sentences that a backbone is adapted by: no test set has them."""
        return self.at(paths.CORPUS, corpus=anchors_in(self.study.adaptation.text))

    def about(self) -> dict[str, Any]:
        """What a manifest says of its making."""
        source = self.based_on.source(self.lang)
        return {
            "backbone": self.backbone,
            "base_model": source.hub or "",
            "licence": source.licence,
            "language": self.lang,
            "language_name": self.study.facts(self.lang)["name"],
            "data": [records.adaptation(self.study, self.lang)],
        }


@dataclass(frozen=True)
class Vocabulary(OfBackbone, rule="train_vocabulary", place=paths.VOCABULARY):
    """A backbone with the vocabulary of one language."""

    def inputs(self) -> dict[str, Files]:
        """The backbone as it was published, and the language's sentences."""
        return {"weights": self.based_on.weights(self.lang), "texts": self.texts}

    def settings(self) -> dict[str, Any]:
        """How it is made. Where masked language modelling follows, a tokenizer needs a mask."""
        masks = any(recipe.start == ADAPTED for recipe in self.study.recipes.values())
        return {"vocabulary": self.study.adaptation.vocabulary, "masks": masks, "about": self.about()}


@dataclass(frozen=True)
class AdaptedBackbone(OfBackbone, rule="adapt_backbone", place=paths.ADAPTED):
    """A backbone with the vocabulary of one language after masked language modelling."""

    def inputs(self) -> dict[str, Files]:
        """The backbone with the language's vocabulary, and the sentences that both learn from."""
        return {"weights": self.at(paths.VOCABULARY), "texts": self.texts}

    def settings(self) -> dict[str, Any]:
        """How it is trained."""
        adaptation = self.study.adaptation
        sentences = adaptation.vocabulary.sentences
        return {"masked": adaptation.masked, "sentences": sentences, "about": self.about(), **self.resumable}

    def load(self, sizes: Sizes) -> Load:
        """Masked language modelling."""
        return Load(1, sizes.masking(self.backbone), sizes.encoder(self.backbone))


@dataclass(frozen=True)
class Neighbours(Product, rule="mine_neighbours", place=paths.NEIGHBOURS):
    """The seed pairs of a language, each with the sentences that a backbone's layer finds for it."""

    backbone: str
    mining: str
    lang: str

    @property
    def based_on(self) -> StudyBackbone:
        """The backbone whose layer finds neighbours."""
        return StudyBackbone.get(self.study, self.backbone)

    def inputs(self) -> dict[str, Files]:
        """The backbone, the pairs, and the sentences among which neighbours are sought."""
        pool = self.at(paths.ANCHORS, anchors=anchors_in(""))
        return {"weights": self.based_on.weights(self.lang), "pairs": self.at(paths.SEED_PAIRS), "pool": pool}

    def settings(self) -> dict[str, Any]:
        """How they are mined."""
        prefix = self.based_on.plain_prefix()
        return {"mining": self.study.mining[self.mining], "prefix": prefix, "state": self.study.state}

    def load(self, sizes: Sizes) -> Load:
        """Reading the pool."""
        return Load(1, sizes.mining(self.backbone), sizes.encoder(self.backbone))
