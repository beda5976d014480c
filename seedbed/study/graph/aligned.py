"""Alignment with the pivot language, or of all languages: pivot vectors, and adapters that are trained jointly."""

from dataclasses import dataclass
from typing import Any

from seedbed.encoders import objectives
from seedbed.generators.settings import POLARITIES
from seedbed.study import paths
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Code, Files, Product
from seedbed.study.recipe import StudyRecipe, objective_of
from seedbed.study.sizes import Load, Sizes


@dataclass(frozen=True)
class PivotVectors(Product, rule="embed_pivot", place=paths.PIVOT):
    """The vectors that an encoder of the pivot language gives texts, with which other encoders are aligned.

    `corpus` is a corpus, or the triplets of GENERATOR+METHOD.
    """

    backbone: str
    recipe: str
    corpus: str
    lang: str
    seed: int

    @property
    def columns(self) -> list[str]:
        """The columns in the pivot language; of generated triplets, the generated ones."""
        if "+" in self.corpus:
            return [*POLARITIES]
        kind = self.study.roles.get(self.corpus, "parallel")
        return ["pivot"] if kind == "parallel" else ["anchor", "positive", "negative"]

    def inputs(self) -> dict[str, Files]:
        encoder = Encoder.resolved(self.study, self.backbone, self.recipe, self.study.pivot, self.seed)
        generator, written, method = self.corpus.partition("+")
        triplets = self.at(paths.TRIPLETS, generator=generator, method=method)
        return {"encoder": encoder.path, "texts": triplets if written else self.at(paths.CORPUS)}

    def settings(self) -> dict[str, Any]:
        by_language = StudyRecipe.get(self.study, self.recipe).prefix_by_language(self.backbone)
        return {"columns": self.columns} | ({"language": self.study.pivot} if by_language else {})

    def load(self, sizes: Sizes) -> Load:
        return sizes.mining(self.backbone)


@dataclass(frozen=True)
class JointAdapters(Product, rule="align_encoders", place=paths.JOINT):
    """The parallel adapters of a recipe's encoders of all languages, which are trained jointly."""

    backbone: str
    recipe: str
    seed: int

    @property
    def made_by(self) -> StudyRecipe:
        """The recipe."""
        return StudyRecipe.get(self.study, self.recipe)

    def inputs(self) -> dict[str, Files]:
        start, codes = self.made_by.spec.start, self.made_by.languages()
        encoders = {code: Encoder.resolved(self.study, self.backbone, start, code, self.seed) for code in codes}
        return {
            "encoders": {code: encoder.path for code, encoder in encoders.items()},
            "each": {code: self.made_by.data(code).format(lang=code) for code in codes},
        }

    def settings(self) -> dict[str, Any]:
        objective = self.made_by.spec.minimises
        about = {"languages": self.made_by.languages(), "seed": self.seed}
        return {
            "rows": self.made_by.spec.data.rows,
            "fixed": [] if objective.pivot else [self.study.pivot],
            "objective": objective_of(objective),
            "training": self.made_by.training,
            "about": {"backbone": self.backbone, "recipe": self.recipe} | about,
        }

    def code(self) -> Code:
        """The objective's file, which the program imports by its name."""
        return Code(modules=(objectives.module_of(objectives.name_of(self.made_by.spec.minimises)),))

    def load(self, sizes: Sizes) -> Load:
        """All encoders are open, and a step reads one after the other."""
        count = len(self.made_by.languages())
        return Load(1, sizes.aligning(self.backbone, self.recipe, count), count * sizes.encoder(self.backbone))
