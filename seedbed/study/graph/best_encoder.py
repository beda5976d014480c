"""The best encoder of each language: among which it is chosen, by which scores; and what the answer lists."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seedbed.evaluation import protocols
from seedbed.study import paths, quoted
from seedbed.study.graph.available import Available
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Code, Files, Product, first_of_each
from seedbed.study.graph.score import Scores
from seedbed.study.graph.table import metrics_of
from seedbed.study.model import Part
from seedbed.study.recipe import StudyRecipe
from seedbed.tables.plan import AvailableRecipe, Block
from seedbed.tables.specs import Column


@dataclass(frozen=True)
class BestEncoder(Product, rule="choose_best", place=paths.BEST):
    """The best encoder of a language: chosen by tasks, or of the recipe that is recommended."""

    lang: str

    # ---- The tasks.

    @property
    def tested(self) -> list[str]:
        """The tasks that have a test set in its language."""
        return self.study.tests_by_language[self.lang]

    @property
    def chosen_on(self) -> list[str]:
        """The tasks that choose it; none: a recipe is recommended, or nothing chooses."""
        return self.study.best.choosing(self.tested) if self.study.best else []

    @cached_property
    def reported_on(self) -> str:
        """The task that reports its score; empty: there is none, or no task chooses."""
        study, best = self.study, self.study.best
        if not best or (best.dev and not self.chosen_on):
            return ""
        there = [task for task in study.tasks if task in self.tested and not study.tasks[task].on_request]
        if best.test:
            there = [best.test] if best.test in self.tested else []
        read = [task for task in there if study.declared[task].chooses]  # which says what is better
        others = [task for task in read if study.test_set(task) not in {study.test_set(dev) for dev in self.chosen_on}]
        return min(others, key=lambda task: study.tasks[task].protocol != "sts", default="")

    @property
    def shown_on(self) -> list[str]:
        """Further tasks whose scores of all encoders the answer shows."""
        return [task for task in self.study.best.also if task in self.tested]

    @property
    def words_answer(self) -> bool:
        """Whether the task that reports its score has a word baseline, which is then scored too."""
        task = self.reported_on
        return bool(task and protocols.lexical(self.study.tasks[task].protocol))

    # ---- The encoders.

    def systems(self, task: str) -> dict[str, list[AvailableRecipe]]:
        """Backbone -> the recipes among whose encoders one is chosen, without those whose scale a task chose.

        Fusions and API embedding models are left out, since they have no weights to download, and so are recipes that
        only switch adapters off, since they make no encoder. Optional backbones and recipes are left out too.
        """
        study = self.study
        usual = [one for one in Available.get(study).recipes if not one.on_request]
        makers = [one for one in usual if StudyRecipe.get(study, one.recipe).maker.name == one.recipe]
        found = {}
        for backbone, spec in study.backbones.items():
            own = [one for one in makers if one.has(backbone, self.lang) and (not task or one.chosen_on != task)]
            if own and not (spec.on_request or spec.fusion or spec.endpoint):
                found[backbone] = own
        return found

    def encoders(self, task: str) -> list[Encoder]:
        """The encoders of `systems`."""
        return [
            Encoder.get(self.study, backbone, system.recipe, system.folder(self.lang), seed)
            for backbone, own in self.systems(task).items()
            for system in own
            for seed in system.seeds
        ]

    @cached_property
    def candidates(self) -> list[Encoder]:
        """Every encoder that may be chosen."""
        return self.encoders(self.reported_on)

    @property
    def recommended(self) -> Encoder | None:
        """The encoder of the recommended recipe; None: there is none of the language, or none is recommended."""
        recipe = self.study.best.recipe if self.study.best else ""
        return next((one for one in self.candidates if one.recipe == recipe), None)

    @property
    def exists(self) -> bool:
        """Whether the language has one: a task reports the one that is chosen among its encoders, or the recommended
        recipe has an encoder.
        """
        if self.lang in self.study.reserved:
            return False
        if self.study.best and self.study.best.recipe:
            return bool(self.recommended)
        return bool(self.reported_on and self.candidates)

    def blocks(self, task: str) -> list[Block]:
        """Blocks of a table whose column is a task: one for each backbone, with the recipes among whose encoders one is
        chosen. There are none if `task` is empty.
        """
        if not task:
            return []
        study, backbones = self.study, Available.get(self.study).backbones
        spec = study.tasks[task]
        metric = protocols.main_metric(spec.protocol, spec.k)
        column = Column(label=task, protocol=spec.protocol, metric=metric, tasks=[task])
        found = []
        for backbone, own in self.systems(task).items():
            names = {system.recipe: system.recipe for system in own}
            facts = {"backbone": backbone, "paper_backbone": backbones[backbone].paper, "tests": {self.lang: task}}
            untrained = (name for name in names if not study.recipes[name].made)
            block = Block(**facts, column=column, systems=own, names=names, baseline=next(untrained, ""))
            found.append(quoted.with_quotes(study, block))
        return found

    # ---- Its job.

    @property
    def scores(self) -> list[str]:
        """Lists of the candidates' scores: on the tasks that choose, on the one that reports, and on further ones."""
        cells = {
            cell._replace(task=name)
            for task in {self.reported_on, *self.shown_on}
            for block in self.blocks(task)
            for cell in block.cells()
            for name in (task, *self.chosen_on)
        }
        return sorted({Scores.of_cell(self.study, cell).path for cell in cells})

    def inputs(self) -> dict[str, Files]:
        return {
            "encoders": [one.path for one in self.candidates],
            "scores": self.scores,
            "test": Corpus.of_test(self.study, self.reported_on, self.lang) if self.words_answer else "",
        }

    def settings(self) -> dict[str, Any]:
        study, one = self.study, None if self.chosen_on else self.recommended
        return {
            "language": self.lang,
            "name": study.names[self.lang],
            "blocks": self.blocks(self.reported_on),
            "dev": self.chosen_on,
            "encoder": f"{one.backbone}/{one.recipe}/{one.lang}/{one.seed}" if one else "",
            "also": [self.blocks(task) for task in self.shown_on],
            "why": study.best.why,
            "limits": study.best.limits,
            "root": study.results,
        }

    def code(self) -> Code:
        """The code that is loaded by name: metrics of the protocols that the answer reports, and the word baseline."""
        tasks = [task for task in (self.reported_on, *self.shown_on) if task]
        of_tasks = [*dict.fromkeys(self.study.tasks[task].protocol for task in tasks)]
        lexical = [f"{protocols.module_of(of_tasks[0])}:lexical"] if self.words_answer else []
        return Code(modules=(*metrics_of(of_tasks), *lexical))


@dataclass(frozen=True)
class Answer(Part):
    """What the study answers: the best encoder of each language, and which others there are."""

    @property
    def chosen(self) -> list[BestEncoder]:
        """The best encoders, of the languages that have one."""
        each = (BestEncoder.get(self.study, code) for code in self.study.languages)
        return [one for one in each if one.exists]

    def best(self) -> list[str]:
        """The files of the best encoders."""
        return [one.path for one in self.chosen]

    @cached_property
    def listed(self) -> dict[str, list[str]]:
        """Language -> paths of the encoders that the answer lists.

        If one is chosen for the language, these are the candidates, otherwise the encoders of `_unchosen`; of each
        recipe and backbone only the first seed.
        """
        found = {best.lang: best.candidates for best in self.chosen}
        for code in self.study.languages:
            if code not in found and (own := self._unchosen(code)):
                found[code] = own
        return {
            code: [one.path for one in first_of_each(own, lambda one: (one.backbone, one.recipe))]
            for code, own in found.items()
        }

    def unchosen(self) -> list[str]:
        """Paths of the encoders of languages for which none is chosen; a run makes them even if no table shows them."""
        return [one.path for code in self.study.languages for one in self._unchosen(code)]

    def _unchosen(self, code: str) -> list[Encoder]:
        """The encoders of a language of which the study chooses none, or, where it chooses nothing, of one without a
        test set; none of a language with `on_request`.
        """
        study, best = self.study, BestEncoder.get(self.study, code)
        shown = best.exists if study.best else best.tested
        return [] if shown or code in study.reserved else [one for one in best.encoders("") if one.spec.made]
