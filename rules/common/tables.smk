"""What tables, figures and the report are made of."""

import os
import time

from seedbed.tables.specs import FigureSpec

CONFIGURATION = [os.path.relpath(file) for file in workflow.configfiles]
"""Its files, from where it is run: where that lies is no part of a result."""
FIGURES = checked("figures", FigureSpec)


def encoders_shown():
    """Backbone, recipe, language and seed of every encoder in the study's tables."""
    shown = [table for table in STUDY.tables if not SPECS[table].of_classifiers]
    cells = {cell[:4] for table in shown for block in plan_of(table) for cell in block.cells()}
    return {cell for cell in cells if cell[0] in STUDY.backbones}  # not the classifiers beside them


def triplets_of(ending):
    """A file of each set of triplets that the study's tables rest on."""
    learnt = {(recipe, lang) for _, recipe, lang, _ in encoders_shown()}
    learnt |= {texts[:2] for table in STUDY.tables for block in plan_of(table) for texts in block.texts()}
    made = {
        (STUDY.generator_of(recipe), STUDY.recipes[recipe].method, lang)
        for recipe, lang in learnt
        if STUDY.recipes[recipe].method in SYNTHETIC
    }
    return [f"<results>/triplets/{generator}/{method}/{lang}{ending}" for generator, method, lang in sorted(made)]


def cards():
    """Model cards of the encoders in tables, one of each, of its first seed."""
    first = {}
    for backbone, recipe, lang, seed in sorted(encoders_shown()):
        folder = f"{STUDY.results}/encoders/{backbone}/{recipe}/{lang}"
        first.setdefault(folder, f"{folder}/{seed}/README.md")
    return list(first.values())


def spec_of(kind):
    """The spec of the wildcard's table or figure."""
    return lambda wildcards: os.path.relpath(spec_file(f"{kind}s", getattr(wildcards, kind)))


def paper_of(wildcards):
    """The paper's numbers for a table."""
    paper = SPECS[wildcards.table].paper
    return os.path.relpath(resource(f"paper/{paper.csv}")) if paper else []


def of_paper(paper):
    """The tables and figures of one paper, and what it measures beside scores."""
    tables = sorted(name for name, spec in SPECS.items() if spec.group == paper)
    figures = [
        name for name, spec in FIGURES.items() if spec.table in tables or (spec.group == paper and drawable(spec))
    ]
    return [
        *(f"<results>/tables/{table}.csv" for table in tables),
        *(f"<results>/figures/{figure}.svg" for figure in figures),
        *(["<results>/compute/miners_table4.md"] if paper == "miners" and STUDY.compute else []),
    ]


def drawable(spec):
    """Whether the study has any of the backbones that a map names, and not on request alone."""
    offered = {called for name, one in STUDY.backbones.items() if not one.on_request for called in (name, one.paper)}
    return not spec.backbones or bool({*spec.backbones} & offered)


def drawn_from(wildcards):
    """The table of a figure, or the points of a map, backbone by backbone."""
    spec = FIGURES[wildcards.figure]
    if spec.kind != "map":
        return f"<results>/tables/{spec.table}.csv"
    return collect(MAPPED, figure=wildcards.figure, backbone=mapped(wildcards.figure).backbones)


BEGUN = time.time()


def show_forecast():
    """Print a forecast that this run made: at its end, since a job's own words would tear what a logger draws."""
    page = Path(STUDY.results, "forecast.md")
    if page.is_file() and page.stat().st_mtime >= BEGUN:
        print(page.read_text(encoding="utf-8"), end="", flush=True)


IN_MODULE = not workflow.modifier.is_main_snakefile()


def asked():
    """How this very run was asked for, as arguments of a program that plans it again; of a module the study as it is."""
    given = workflow.config_settings
    files, settings = ([], config) if IN_MODULE else (given.configfiles, given.config)
    threads = {rule: int(getattr(n, "value", n)) for rule, n in workflow.resource_settings.overwrite_threads.items()}
    arguments = ["--configfiles", *map(str, files), "--config", compact(dict(settings))]
    return [*arguments, "--threads", compact(threads)]
