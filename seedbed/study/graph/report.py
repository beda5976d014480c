"""The final products of a study: the report, or the tables and figures of one paper."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seedbed.names import languages_of
from seedbed.resources import resource, specs
from seedbed.study import paths
from seedbed.study.graph.available import Available
from seedbed.study.graph.best_encoder import Answer
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.figure import Figure
from seedbed.study.graph.measurement import Measurement
from seedbed.study.graph.product import Code, Files, Product, first_of_each
from seedbed.study.graph.table import Table, TablePlan
from seedbed.study.model import Part, Study
from seedbed.study.paths import argument_of, at
from seedbed.study.recipe import StudyRecipe
from seedbed.tables.figures.specs import Map
from seedbed.tables.plan import Cell


@dataclass(frozen=True)
class Report(Product, rule="report", place=paths.REPORT):
    """The report, and the answer that it begins with."""

    @property
    def plans(self) -> list[TablePlan]:
        """The plans of the study's tables."""
        return [TablePlan.get(self.study, table) for table in self.study.tables]

    @cached_property
    def encoders(self) -> list[Encoder]:
        """Every encoder of its tables, of each in the order of its seeds."""
        plans = (plan for plan in self.plans if not plan.spec.of_classifiers)
        found = {encoder for plan in plans for cell in plan.cells for encoder in _scored(self.study, cell)}
        return sorted(found, key=lambda one: (one.backbone, one.recipe, one.lang, one.seed))

    def triplets(self, path: str) -> list[str]:
        """The file `path`, a template of `paths`, of each set of generated triplets that encoders of its tables are
        trained on or whose overlap its tables show.
        """
        shown = {(one.recipe, one.lang) for one in self.encoders if not one.published}
        shown |= {(texts.recipe, texts.lang) for plan in self.plans for texts in plan.texts}
        recipes = ((StudyRecipe.get(self.study, name), folder) for name, folder in shown)
        each = ((of, code) for of, folder in recipes for code in of.languages(folder))
        made = {(of.writer, of.spec.written, code) for of, code in each if of.is_written(code)}
        return [at(self.study, path, generator=name, method=method, lang=lang) for name, method, lang in sorted(made)]

    def inputs(self) -> dict[str, Files]:
        answer = Answer.get(self.study)
        tables = [Table.get(self.study, table) for table in self.study.tables]
        figures = [Figure.get(self.study, figure) for figure in self.study.figures]
        mined = [one for one in self.encoders if one.mining]
        audits = {one.at(paths.NEIGHBOURS_AUDIT, mining=one.mining) for one in mined}
        return {
            "best": answer.best(),
            "encoders": {self.study.names[code]: files for code, files in answer.listed.items()},
            "unchosen": answer.unchosen(),
            "tables": [table.path for table in tables],
            "compared": [table.at(paths.COMPARED) for table in tables],
            "layouts": [table.at(paths.LAYOUT) for table in tables],
            "figures": [figure.at(path) for figure in figures for path in (paths.SVG, paths.PNG)],
            "audits": self.triplets(paths.AUDIT),
            "triplets": self.triplets(paths.TRIPLETS),
            "rejected": self.triplets(paths.REJECTED),
            "neighbours": sorted(audits | {one.texts for one in mined}),
        }

    def settings(self) -> dict[str, Any]:
        results = self.study.results
        first_seeds = first_of_each(self.encoders, lambda one: (one.backbone, one.recipe, one.lang))
        return {
            "title": f"Seedbed: {results}",
            "cards": [f"{argument_of(one.path)}/README.md" for one in first_seeds],
            "benchmarks": f"{results}/benchmarks",
            "prices": self.study.forecast,
        }

    def code(self) -> Code:
        """The page's template and script, what is known of languages, and what papers claim."""
        return Code(data=tuple(map(resource, ("report.html.j2", "report.js", "languages.tsv", "claims.yaml"))))


def _scored(study: Study, cell: Cell) -> Iterator[Encoder]:
    """The encoder that has a score, of two languages that of each; none: a classifier of the same table has it."""
    if cell.backbone in study.backbones:
        of = StudyRecipe.get(study, cell.recipe)
        seconds = languages_of(cell.test_lang)[1:]
        for lang in (cell.lang, *map(of.folder, seconds)):  # the seed of a head may be another
            yield Encoder.get(study, cell.backbone, of.maker.name, lang, of.seed(cell.seed))


@dataclass(frozen=True)
class Paper(Part):
    """The products that a study can make for one paper."""

    name: str

    @property
    def tables(self) -> list[str]:
        """The names of its tables, without partial ones (`partial`) of which the study can fill no column."""
        named = ((name, TablePlan.get(self.study, name).spec) for name in sorted(specs("tables")))
        parts = Available.get(self.study)
        return [name for name, spec in named if spec.group == self.name and parts.has_column(spec)]

    @property
    def figures(self) -> list[str]:
        """Its maps, and the figures of its tables."""
        tables, parts = self.tables, Available.get(self.study)
        named = ((name, Figure.get(self.study, name).spec) for name in sorted(specs("figures")))
        return [
            name
            for name, spec in named
            if (spec.group == self.name and parts.has_backbone(spec) if isinstance(spec, Map) else spec.table in tables)
        ]

    def files(self) -> list[str]:
        """Its tables and figures, and what it measures apart from scores."""
        study = self.study
        return [
            *(Table.get(study, table).path for table in self.tables),
            *(Figure.get(study, figure).path for figure in self.figures),
            *([Measurement.get(study).path] if self.name == "miners" and study.compute else []),
        ]
