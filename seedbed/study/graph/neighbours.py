"""Neighbours of the seed pairs of a language (paper 001)."""

from dataclasses import dataclass
from typing import Any

from seedbed.names import anchors_in
from seedbed.study import paths
from seedbed.study.backbone import StudyBackbone
from seedbed.study.graph.product import Files, Product
from seedbed.study.sizes import Load, Sizes


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
        pool = self.at(paths.ANCHORS, anchors=anchors_in(""))
        return {"weights": self.based_on.weights(self.lang), "pairs": self.at(paths.SEED_PAIRS), "pool": pool}

    def settings(self) -> dict[str, Any]:
        return {"mining": self.study.mining[self.mining], "prefix": self.based_on.plain_prefix()}

    def load(self, sizes: Sizes) -> Load:
        return sizes.mining(self.backbone)
