"""Figures: plotted from a table, or from vectors of texts."""

import os
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from seedbed.resources import resource, spec_file
from seedbed.study import paths
from seedbed.study.backbone import endpoints_of
from seedbed.study.graph.available import Available
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.product import Code, Files, Product
from seedbed.study.graph.table import Table, TablePlan
from seedbed.study.sizes import Load, Sizes
from seedbed.tables.figures.maps import Mapped
from seedbed.tables.figures.specs import FigureSpec, Map


@dataclass(frozen=True)
class Figure(Product, rule="plot", place=paths.SVG):
    """A drawing of a table, or a map of texts."""

    figure: str

    @property
    def spec_file(self) -> str:
        """The file of its spec."""
        return os.path.relpath(spec_file("figures", self.figure))

    @cached_property
    def spec(self) -> FigureSpec:
        """Its spec; raises as `FigureSpec.load`."""
        return FigureSpec.load(spec_file("figures", self.figure))

    @cached_property
    def mapped(self) -> Mapped:
        """The contents of the map, if the figure is one; raises as `Available.mapped`."""
        return Available.get(self.study).mapped(self.spec)

    def inputs(self) -> dict[str, Files]:
        if not isinstance(self.spec, Map):
            return {"data": Table.get(self.study, self.spec.table).path, "spec": self.spec_file}
        encoders = product(self.mapped.backbones, self.mapped.systems)
        points = [MapPoints.get(self.study, self.figure, backbone, recipe).path for backbone, recipe in encoders]
        return {"data": points, "spec": self.spec_file}

    def code(self) -> Code:
        """Its spec, names of languages, and the metrics of its table, which are loaded by name; a map has none."""
        metrics = () if isinstance(self.spec, Map) else TablePlan.get(self.study, self.spec.table).metrics
        return Code(data=(self.spec_file, resource("languages.tsv")), modules=metrics)


@dataclass(frozen=True)
class MapPoints(Product, rule="map_texts", place=paths.MAP):
    """Coordinates of the texts of a map in the plane, by one encoder."""

    figure: str
    backbone: str
    recipe: str

    @property
    def mapped(self) -> Mapped:
        """The map."""
        return Figure.get(self.study, self.figure).mapped

    @property
    def encoder(self) -> Encoder:
        """The encoder whose vectors are plotted."""
        system = self.mapped.systems[self.recipe]
        return Encoder.get(self.study, self.backbone, system.recipe, system.language, system.seeds[0])

    def inputs(self) -> dict[str, Files]:
        study, task, languages = self.study, self.mapped.map.task, self.mapped.languages
        if self.mapped.map.pairs:
            name, file = study.test_set(task), Corpus.of_test
        else:
            name, file = study.training_name(task), Corpus.of_training
        return {
            "encoder": self.encoder.path,
            "texts": {lang: file(study, task, lang) for lang in languages},
            "english": self.encoder.chosen((name, lang) for lang in languages),
        }

    def settings(self) -> dict[str, Any]:
        spec = self.mapped.map
        return {
            "map": spec,
            "pivot": self.study.pivot,
            "batch_size": self.study.tasks[spec.task].batch_size,
            "endpoints": endpoints_of(self.study, [self.backbone]),
        }

    def load(self, sizes: Sizes) -> Load:
        return sizes.reading(self.backbone, [self.mapped.map.task])
