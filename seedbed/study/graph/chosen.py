"""What is chosen for encoders before they are trained or read: a prefix, and the English of each text."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seedbed.encoders.choosing_settings import Chosen
from seedbed.study import paths
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Files, Product
from seedbed.study.graph.score import Scores
from seedbed.study.graph.translation import translations_of
from seedbed.study.recipe import StudyRecipe, endpoints_of
from seedbed.study.sizes import Load, Sizes
from seedbed.tables.plan import Cell


@dataclass(frozen=True)
class ChosenPrefix(Product, rule="choose_prefix", place=paths.PREFIX):
    """Which prefix a recipe's encoders of a language get: the one whose untrained recipe has the best scores."""

    backbone: str
    recipe: str
    lang: str

    @property
    def scores(self) -> dict[str, str]:
        """RECIPE/LANGUAGE -> the scores of that recipe's encoder on the task that chooses."""
        spec, dev = self.study.recipes[self.recipe], self.study.best.dev
        tested = self.study.chosen_on(dev, self.lang)
        own = [code for code in tested if code in (spec.only.languages or self.study.languages)]
        found = {}
        for name in spec.prefix_of:
            of = StudyRecipe.get(self.study, name)
            for code in own or tested:
                cell = Cell(self.backbone, name, of.folder(code), of.seed(), dev, code)
                found[f"{name}/{code}"] = Scores.of_cell(self.study, cell).path
        return found

    def inputs(self) -> dict[str, Files]:
        """The scores of the recipes among whose prefixes one is chosen."""
        return {"scores": self.scores}

    def settings(self) -> dict[str, Any]:
        """Untrained recipe -> its prefix, among which one is chosen, and by which task."""
        named = self.study.recipes[self.recipe].prefix_of
        prefixes = {name: StudyRecipe.get(self.study, name).prefix(self.backbone) for name in named}
        return {"dev": self.study.best.dev, "prefixes": prefixes}


@dataclass(frozen=True)
class ChosenTranslations(Product, rule="choose_translations", place=paths.CHOICES):
    """The English of a set of texts that a recipe's encoder reads: for each text one of its translations."""

    backbone: str
    recipe: str
    lang: str
    seed: int
    test_lang: str
    corpus: str

    @cached_property
    def reader(self) -> Encoder:
        """The encoder that reads them."""
        return Encoder.get(self.study, self.backbone, self.recipe, self.lang, self.seed)

    @property
    def translations(self) -> dict[str, str]:
        """Translator -> what it wrote of the texts."""
        return translations_of(self.study, self.reader.spec.english.translators, self.corpus, self.test_lang)

    @property
    def actor(self) -> str:
        """The encoder whose policy, or features, choose; empty: nothing of the kind is asked."""
        spec, name = self.reader.spec, self.reader.made_by.chooser
        if (
            not name
            or spec.english.choose not in ("actor", "critic")
            or (spec.english.choose == "critic" and spec.english.similarity)
        ):
            return ""
        return Encoder.offered(self.study, self.backbone, name, self.lang, self.seed).path

    @property
    def critic(self) -> str:
        """The encoder that says how like its text each candidate is; empty: nobody is asked, or the features say it."""
        return self.reader.similarity if self.reader.spec.english.choose in ("actor", "critic") else ""

    def inputs(self) -> dict[str, Files]:
        """The translations, and what chooses among them."""
        spec = self.reader.spec
        judged = {"judge": spec.english.judge, "lang": self.test_lang}
        compares = self.actor and not spec.english.similarity
        return {
            "translations": self.translations,
            "judgements": self.at(paths.JUDGEMENTS, **judged) if spec.english.judge else "",
            "actor": self.actor,
            "weights": self.reader.english if compares else "",  # features are compared with its input embeddings
            "similarity": self.critic,
        }

    def settings(self) -> dict[str, Any]:
        """How they are chosen: as the recipe says, with the weights of the policy's training."""
        spec, chooser = self.reader.spec, self.reader.made_by.chooser
        weighed = {"weights": StudyRecipe.get(self.study, chooser).learns.weights} if chooser else {}
        return {
            "how": Chosen(choose=spec.english.choose, similarity=spec.english.similarity != "none", **weighed),
            "endpoints": endpoints_of(self.study, [spec.english.similarity]),
            "state": self.study.state,
        }

    def load(self, sizes: Sizes) -> Load:
        """Features, or a critic's vectors; other choices take no model."""
        if not (self.actor or self.critic):
            return Load()
        return Load(1, sizes.mining(self.backbone), sizes.encoder(self.backbone))
