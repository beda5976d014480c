"""Fusions: encoders of the same recipe, language and seed, in the order of their weights (paper 003)."""

from dataclasses import dataclass
from typing import Any

from seedbed.encoders.settings import Fusion
from seedbed.study import paths
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Code, Files
from seedbed.study.graph.score import protocol_code, task_for
from seedbed.study.recipe import endpoints_of
from seedbed.study.sizes import Load, Sizes


@dataclass(frozen=True)
class FusedEncoder(Encoder, rule="fuse_encoders"):
    """A fusion, with its weights given or chosen by a development task."""

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
            "state": self.study.state,
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
