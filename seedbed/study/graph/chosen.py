"""What is chosen before encoders are trained or read: a scale, a prefix, and the English of each text."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from seedbed.encoders.translations.settings import Chosen
from seedbed.study import paths
from seedbed.study.backbone import endpoints_of
from seedbed.study.generator import StudyGenerator
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Files, Product
from seedbed.study.graph.score import Scores
from seedbed.study.graph.translation import translations_of
from seedbed.study.recipe import StudyRecipe
from seedbed.study.sizes import Load, Sizes
from seedbed.tables.plan import Cell


class Candidate(NamedTuple):
    """What a development task can choose."""

    value: str | float | None
    recipe: StudyRecipe
    """With `backbone` the encoders that try it."""
    backbone: str


@dataclass(frozen=True)
class ChosenCandidate(Product, rule="choose", place=paths.CHOSEN):
    """What a development task chooses for a language: of candidates, the one whose encoders score best.

    If `what` is `prefix`, `owner` is BACKBONE+RECIPE: the prefix of its encoders is chosen among those of untrained
    recipes. If `what` is `scale`, `owner` is a generator: the scale by which its adapters are composed is chosen.
    """

    what: str
    owner: str
    lang: str

    @property
    def dev(self) -> str:
        """The task that chooses."""
        return self.study.choosing[self.owner].dev if self.what == "scale" else self.study.best.dev

    @cached_property
    def candidates(self) -> dict[str, Candidate]:
        """The candidates by their names."""
        if self.what == "scale":
            tried = StudyGenerator.get(self.study, self.owner).candidates()
            return {
                f"{scale:g}": Candidate(scale, StudyRecipe.get(self.study, recipe), backbone)
                for scale, (recipe, backbone) in tried.items()
            }
        backbone, _, recipe = self.owner.partition("+")
        named = (StudyRecipe.get(self.study, name) for name in self.study.recipes[recipe].prefix_of)
        return {of.name: Candidate(of.before(backbone), of, backbone) for of in named}

    @property
    def languages(self) -> list[str]:
        """The languages whose development sets choose; for a prefix only the recipe's languages, if one has a set."""
        tested = self.study.chosen_on(self.dev, self.lang)
        if self.what == "scale":
            return tested
        recipe = StudyRecipe.get(self.study, self.owner.partition("+")[2])
        return [code for code in tested if code in recipe.codes] or tested

    def inputs(self) -> dict[str, Files]:
        scores = {}
        for name, candidate in self.candidates.items():
            of = candidate.recipe
            for code in self.languages:
                cell = Cell(candidate.backbone, of.name, of.folder(code), of.seed(), self.dev, code)
                scores[f"{name}/{code}"] = Scores.of_cell(self.study, cell).path
        return {"scores": scores}

    def settings(self) -> dict[str, Any]:
        return {"dev": self.dev, "values": {name: candidate.value for name, candidate in self.candidates.items()}}


@dataclass(frozen=True)
class ChosenTranslations(Product, rule="choose_translations", place=paths.CHOICES):
    """The English translations that encoders take as input: one of each text of a set, chosen as a recipe says.

    `lang` and `seed` are those of the encoder that chooses, see `Encoder.chosen`.
    """

    backbone: str
    recipe: str
    lang: str
    seed: int
    test_lang: str
    corpus: str

    @cached_property
    def reader(self) -> Encoder:
        """An encoder that reads them."""
        return Encoder.get(self.study, self.backbone, self.recipe, self.lang, self.seed)

    @property
    def actor(self) -> str:
        """The encoder whose policy, or features, choose; empty: the choice needs none."""
        name = self.reader.made_by.chooses_by
        return Encoder.resolved(self.study, self.backbone, name, self.lang, self.seed).path if name else ""

    @property
    def compares(self) -> bool:
        """Whether features of texts are compared with the input embeddings of their translations."""
        return bool(self.actor and not self.reader.spec.english.similarity)

    @property
    def critic(self) -> str:
        """The encoder that measures similarity of text and candidate; empty: none is needed, or features give it."""
        return self.reader.similarity if self.reader.spec.english.choose in ("actor", "critic") else ""

    def inputs(self) -> dict[str, Files]:
        english = self.reader.spec.english
        judgements = self.at(paths.JUDGEMENTS, judge=english.judge, lang=self.test_lang)
        return {
            "translations": translations_of(self.study, english.translators, self.corpus, self.test_lang),
            "judgements": judgements if english.judge else "",
            "actor": self.actor,
            "weights": self.reader.english if self.compares else "",
            "similarity": self.critic,
        }

    def settings(self) -> dict[str, Any]:
        english, weights = self.reader.spec.english, self.reader.made_by.weighs
        weighed = {"weights": weights} if weights else {}
        return {
            "how": Chosen(choose=english.choose, similarity=english.similarity != "none", **weighed),
            "endpoints": endpoints_of(self.study, [english.similarity]),
        }

    def load(self, sizes: Sizes) -> Load:
        """The encoder that computes features or a critic's vectors; other choices need no model."""
        if self.compares:
            return sizes.comparing(self.backbone)
        if not self.critic:
            return Load()
        return sizes.mining(self.reader.spec.english.similarity)
