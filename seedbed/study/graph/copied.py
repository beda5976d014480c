"""Copies of encoders: smaller ones, and the mean of several seeds."""

from dataclasses import dataclass
from typing import Any

from seedbed.encoders.compression.settings import START
from seedbed.encoders.settings import Training
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Files
from seedbed.study.sizes import Load, Sizes


@dataclass(frozen=True)
class CopiedEncoder(Encoder, rule="copy_encoder"):
    """A copy of the encoder that its recipe starts from."""

    @property
    def others(self) -> dict[str, str]:
        """Name -> another encoder that is read: `seed2`, ... of the same recipe, and what training started from."""
        way, found = self.spec.copies.way, {}
        if way.of_seeds:
            start = self.made_by.start
            for seed in start.seeds[1:]:
                found[f"seed{seed}"] = Encoder.offered(self.study, self.backbone, start.name, self.lang, seed).path
        return found | ({START: self.begun_from.weights} if way.of_start else {})

    @property
    def training(self) -> Training:
        """The settings of its modules: a copy is not trained."""
        return self.made_by.modules

    def inputs(self) -> dict[str, Files]:
        """The encoder, others that have a part in it, and the texts."""
        return {
            "weights": self.weights,
            "refer": self.others,
            "texts": self.texts,
            "chosen_prefix": self.prefix_file,
        }

    def settings(self) -> dict[str, Any]:
        """How it is copied, and what its card says."""
        made = {"copies": self.spec.copies, "rows": self.spec.data.rows, "about": self.lineage()}
        return self.spoken() | made

    def load(self, sizes: Sizes) -> Load:
        """Reading texts with the encoder and its copy."""
        return sizes.mining(self.backbone)._replace(parameters=2 * sizes.encoder(self.backbone))
