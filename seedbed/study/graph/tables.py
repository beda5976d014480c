"""What tables, figures and the report are made of."""

import functools
import os
from types import SimpleNamespace
from typing import Any

from seedbed.evaluation import protocols
from seedbed.evaluation.settings import TextMap
from seedbed.names import TRAINING, languages_of
from seedbed.resources import FOLDER, resource, spec_file, specs
from seedbed.study import pairs, paths
from seedbed.study.graph import choices, corpora, encoders, generators, mining, plans, shares
from seedbed.study.model import Study
from seedbed.study.paths import at
from seedbed.tables.figure_specs import FigureSpec, Map
from seedbed.tables.maps import Mapped
from seedbed.tables.plan import Block, Cell
from seedbed.tables.specs import TableSpec


@functools.cache
def table_of(name: str) -> TableSpec:
    """The spec of a table; raises as `TableSpec.load`."""
    return TableSpec.load(spec_file("tables", name))


@functools.cache
def figure_of(name: str) -> FigureSpec:
    """The spec of a figure; raises as `FigureSpec.load`."""
    return FigureSpec.load(spec_file("figures", name))


def check_specs() -> None:
    """Read every spec of a table or figure that is the study's own; raises a UserError at the first that is wrong."""
    for kind, read in (("tables", table_of), ("figures", figure_of)):
        for name, file in sorted(specs(kind).items()):
            if not file.is_relative_to(FOLDER):
                read(name)


def _mapped(study: Study, wildcards: Any) -> Mapped:
    """What a map shows of the study."""
    return plans.mapped(study, figure_of(wildcards.figure))


def spec(study: Study, wildcards: Any) -> str:
    """The file of the spec of a figure, or of a table."""
    drawn = hasattr(wildcards, "figure")
    return os.path.relpath(spec_file("figures", wildcards.figure) if drawn else spec_file("tables", wildcards.table))


def paper(study: Study, wildcards: Any) -> list[str] | str:
    """The paper's numbers for a table."""
    found = table_of(wildcards.table).paper
    return os.path.relpath(resource(f"paper/{found.csv}")) if found else []


def metrics(study: Study, wildcards: Any) -> list[str]:
    """The metrics of the protocols that a table, or a figure of one, shows; they are loaded by name."""
    drawn = figure_of(wildcards.figure) if hasattr(wildcards, "figure") else wildcards
    named = getattr(drawn, "table", "")
    known = {column.protocol for column in table_of(named).columns} & {*protocols.names()} if named else set()
    return [f"{protocols.module_of(name)}:METRICS" for name in sorted(known)]


def plan(study: Study, wildcards: Any) -> list[Block]:
    """What a table shows of the study."""
    return plans.plan(study, wildcards.table)


def scores(study: Study, wildcards: Any) -> list[str]:
    """Every list of scores that a table is made of."""
    cells = {cell for block in plans.plan(study, wildcards.table) for cell in block.cells()}
    return sorted({shares.listed_in(study, cell) for cell in cells})


def texts(study: Study, wildcards: Any) -> list[str]:
    """Every file of triplets that a table measures."""
    files = {texts.file for block in plans.plan(study, wildcards.table) for texts in block.texts()}
    return [f"{study.results}/{file}" for file in sorted(files)]


def of_paper(study: Study, paper: str) -> list[str]:
    """The tables and figures of one paper, and what it measures apart from scores.

    A partial table is left out where the study has no column of it: its data may be nowhere (LazRetrieval).
    """
    tables = sorted(
        name for name in specs("tables") if (spec := table_of(name)).group == paper and has_column(study, spec)
    )
    figures = [
        name
        for name in sorted(specs("figures"))
        for spec in [figure_of(name)]
        if (spec.group == paper and _drawable(study, spec) if isinstance(spec, Map) else spec.table in tables)
    ]
    return [
        *(at(study, paths.TABLE, table=table) for table in tables),
        *(at(study, paths.FIGURE, figure=figure, form="svg") for figure in figures),
        *([at(study, paths.COMPUTE)] if paper == "miners" and study.compute else []),
    ]


def has_column(study: Study, spec: TableSpec) -> bool:
    """Whether the study has the tasks of a column of a table that may lack some, and their data."""
    known = {task.protocol for task in study.tasks.values()}
    there = {name for name in study.tasks if not corpora.lacking(study, name)}
    return not spec.partial or any(
        {*column.tasks} <= there if column.tasks else column.protocol in known for column in spec.columns
    )


def _drawable(study: Study, spec: Map) -> bool:
    """Whether the study has any of the backbones that a map names, and not on request alone."""
    offered = {called for name, one in study.backbones.items() if not one.on_request for called in (name, one.paper)}
    return not spec.backbones or bool({*spec.backbones} & offered)


def shown_encoders(study: Study) -> set[tuple[str, str, str, int]]:
    """Backbone, recipe, language and seed of every encoder in the study's tables."""
    shown = [table for table in study.tables if not table_of(table).of_classifiers]
    cells = {cell for table in shown for block in plans.plan(study, table) for cell in block.cells()}
    return {
        # The seed of a head may be another.
        (cell.backbone, pairs.maker(study, cell.recipe), lang, encoders.seed_of(study, cell.recipe, cell.seed))
        for cell in cells
        if cell.backbone in study.backbones  # no classifiers of the same tables
        for lang in (cell.lang, *_partner(study, cell))
    }


def _partner(study: Study, cell: Cell) -> list[str]:
    """Of a score of two languages, the language folder of the second's encoder."""
    return [encoders.trained_on(study, cell.recipe, code) for code in languages_of(cell.test_lang)[1:]]


def shown_triplets(study: Study, path: str) -> list[str]:
    """A file of each set of triplets that the study's tables rest on."""
    learnt = {(recipe, lang) for _, recipe, lang, _ in shown_encoders(study)}
    learnt |= {texts[:2] for table in study.tables for block in plans.plan(study, table) for texts in block.texts()}
    made = {
        (generators.of_recipe(study, recipe), study.recipes[recipe].written, lang)
        for recipe, lang in learnt
        if encoders.writes(study, recipe, lang)
    }
    return [at(study, path, generator=name, method=method, lang=lang) for name, method, lang in sorted(made)]


def shown_neighbours(study: Study, wildcards: Any) -> list[str]:
    """The mined neighbours that the encoders of the study's tables learnt from, and what mining says of them."""
    found = set()
    for backbone, recipe, lang, _ in shown_encoders(study):
        job = SimpleNamespace(backbone=backbone, recipe=recipe, lang=lang)
        if audit := mining.audit(study, job):
            found |= {audit, encoders.texts(study, job)}
    return sorted(found)


def cards(study: Study, wildcards: Any) -> list[str]:
    """Model cards of the encoders in tables, one of each, of its first seed."""
    first: dict[str, str] = {}
    for backbone, recipe, lang, seed in sorted(shown_encoders(study)):
        folder = f"{study.results}/encoders/{backbone}/{recipe}/{lang}"
        first.setdefault(folder, f"{folder}/{seed}/README.md")
    return [*first.values()]


def drawn_from(study: Study, wildcards: Any) -> list[str] | str:
    """The table of a figure, or the points of a map, encoder by encoder."""
    spec = figure_of(wildcards.figure)
    if not isinstance(spec, Map):
        return at(study, paths.TABLE, table=spec.table)
    shown = _mapped(study, wildcards)
    return [
        at(study, paths.MAP, figure=wildcards.figure, backbone=backbone, recipe=recipe)
        for backbone in shown.backbones
        for recipe in shown.systems
    ]


# ---- Maps.


def mapped_encoder(study: Study, wildcards: Any) -> str:
    """The encoder whose map is drawn."""
    system = _mapped(study, wildcards).systems[wildcards.recipe]
    facts = {"recipe": system.recipe, "lang": system.language, "seed": system.seeds[0]}
    return at(study, paths.ENCODER, backbone=wildcards.backbone, **facts)


def mapped_english(study: Study, wildcards: Any) -> list[str]:
    """The English of a map's texts, for an encoder that reads both; empty: it reads none."""
    shown = _mapped(study, wildcards)
    system = shown.systems[wildcards.recipe]
    job = SimpleNamespace(backbone=wildcards.backbone, recipe=system.recipe, lang=system.language)
    name = f"{study.test_set(shown.map.task)}{'' if shown.map.pairs else TRAINING}"
    return choices.of_sets(study, job, system.seeds[0], [(name, lang) for lang in shown.languages])


def mapped_texts(study: Study, wildcards: Any) -> dict[str, str]:
    """Language -> training set, of pairs the test set, of the languages of a map in their order."""
    shown = _mapped(study, wildcards)
    file = corpora.test_set if shown.map.pairs else corpora.training_set
    return {lang: file(study, shown.map.task, lang) for lang in shown.languages}


def map_settings(study: Study, wildcards: Any) -> TextMap:
    """How a map is drawn."""
    return _mapped(study, wildcards).map


def map_rows(study: Study, wildcards: Any) -> int:
    """Texts that are encoded together at most."""
    return study.tasks[_mapped(study, wildcards).map.task].batch_size
