"""Products outside of a study's results: a forecast of its cost, and a comparison with reference numbers."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from seedbed.manifests import MANIFEST
from seedbed.operations.verify import Reference
from seedbed.resources import resource, spec_file
from seedbed.study import paths
from seedbed.study.graph.product import Code, Product
from seedbed.study.graph.table import Table
from seedbed.study.model import Part, Study


@dataclass(frozen=True)
class CostForecast(Product, rule="forecast", place=paths.FORECAST):
    """The forecast of the study's cost, before it runs. How it was requested is known only to the run."""

    def settings(self) -> dict[str, Any]:
        return {"forecast": self.study.forecast, "benchmarks": f"{self.study.results}/benchmarks"}

    def code(self) -> Code:
        return Code(data=(resource("forecast.yaml"),))


@dataclass(frozen=True)
class Verified(Product, rule="verify", place=paths.VERIFIED):
    """A comparison of tables and choices with those of a reference."""


@dataclass(frozen=True)
class StudyReference(Part):
    """The reference numbers and choices of a study, from an earlier run."""

    name: str

    @classmethod
    def of(cls, study: Study, configuration: Sequence[str]) -> Self:
        """The reference of a study, which has the name of the first file of its configuration."""
        return cls.get(study, Path([*configuration, "config.yaml"][0]).stem)

    @property
    def file(self) -> str:
        """Its file, which may not be there."""
        return os.path.relpath(spec_file("reference", self.name))

    def tables(self) -> list[str]:
        """The tables that it has numbers of; raises as `Reference.load`."""
        return [Table.get(self.study, name).path for name in Reference.load(self.file).numbers]

    def best(self) -> list[str]:
        """Paths of the manifests of the best encoders that it names; raises as `Reference.load`."""
        return [f"{folder}/{MANIFEST}" for folder in Reference.load(self.file).best]
