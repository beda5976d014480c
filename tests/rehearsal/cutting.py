"""The papers' tables and studies as a rehearsal has them: cut to the languages that stand for all, see covering.py."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from seedbed import yamls
from seedbed.resources import resource, specs
from seedbed.study.graph.available import Available
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.tables.plan import Block
from seedbed.tables.specs import TableSpec
from tests.rehearsal import covering


@cache
def shipped(config: str) -> Study:
    """A study as it is shipped."""
    return load(read(config))


class Paper(NamedTuple):
    """One paper's study."""

    group: str
    """The group of its tables; `all_{group}` makes them."""
    config: str
    sources: str
    """What it reads from outside, beside what those of other papers name."""
    overlays: tuple[str, ...]
    """Laid over it: sizes, and what costs money elsewhere."""
    whole: tuple[str, ...] = ()
    """Tables that keep all of their languages."""
    beside: tuple[str, ...] = ()
    """Tables of no paper, of what its study has beyond it."""
    fewer: bool = False
    """Whether its tasks keep no more languages than its tables show of them: eight translate each text of a test."""

    @property
    def tables(self) -> list[str]:
        """All that a rehearsal makes."""
        own = [table for table, path in sorted(specs("tables").items()) if self._makes(TableSpec.load(path))]
        return [*own, *self.beside]

    def _makes(self, spec: TableSpec) -> bool:
        """Whether a table is the paper's, and its data are somewhere."""
        return spec.group == self.group and Available.get(shipped(self.config)).has_column(spec)


PAPERS = {
    "000": Paper(
        "bootstrapping", "config.yaml", "sources.yaml", ("tests/rehearsal/overlay.yaml",), ("table1",),
        ("composition_scale",),
    ),
    "001": Paper(
        "neighxlm", "config/neighxlm.yaml", "sources-neighxlm.yaml", ("tests/rehearsal/overlay-neighxlm.yaml",),
        (*(f"neighxlm_table{number}" for number in range(1, 7)), "neighxlm_figure6"),
    ),
    "002": Paper("lira", "config/lira.yaml", "sources-lira.yaml", ("tests/rehearsal/overlay-lira.yaml",), fewer=True),
    "003": Paper(
        "miners", "config/miners.yaml", "sources-miners.yaml",
        ("tests/rehearsal/overlay-miners.yaml", "tests/rehearsal/priced.yaml"),
    ),
    "004": Paper(
        "modular", "config/modular.yaml", "sources-modular.yaml", ("tests/rehearsal/overlay-modular.yaml",),
        beside=("modular_written",),
    ),
}  # fmt: skip


class Cut(NamedTuple):
    """What is cut of a paper."""

    study: Study
    """Whole."""
    plans: dict[str, list[Block]]
    """What its tables show of it."""
    cover: covering.Cover
    config: dict[str, Any]
    """The configuration, of fewer languages where none of its tables is whole."""
    specs: dict[str, dict[str, Any]]
    """The specs of tables that are not whole."""


@cache
def cut(paper: Paper) -> Cut:
    """Cut a paper to the languages that stand for all; what is found is for reading, since all share it."""
    config = read(paper.config)
    study = load(merged(config, *(read(file) for file in paper.overlays)))
    plans = {table: TablePlan.get(study, table).blocks for table in paper.tables}
    cover = covering.covering(study, plans, paper.whole)
    spoken = covering.spoken(study, cover)
    languages = {lang: entry for lang, entry in config["languages"].items() if lang in spoken}
    specs = {
        table: covering.reduced(read(resource(f"tables/{table}.yaml")), columns)
        for table, columns in cover.items()
        if table not in paper.whole
    }
    config = config | {"languages": languages}
    if "recipes" in config:
        config |= {"recipes": covering.narrowed(config["recipes"], spoken)}
    if paper.fewer:
        config |= {"tasks": covering.shortened(config["tasks"], covering.asked(study, plans, cover))}
    return Cut(study, plans, cover, config, specs)


def instead() -> dict[str, str]:
    """File -> what stands in it in a rehearsal: specs as those of a study's own, which take the place of the library's."""
    files: dict[str, dict[str, Any]] = {}
    for paper in PAPERS.values():
        found = cut(paper)
        files |= {f"resources/tables/{table}.yaml": spec for table, spec in found.specs.items()}
        files |= {} if paper.whole else {paper.config: found.config}
    return {file: yaml.safe_dump(content, sort_keys=False, allow_unicode=True) for file, content in files.items()}


def read(path: str | Path) -> dict[str, Any]:
    """A YAML file."""
    return yamls.read(path)


def merged(config: dict[str, Any], *overlays: dict[str, Any]) -> dict[str, Any]:
    """A configuration with others laid over it, as Snakemake does."""
    for overlay in overlays:
        for key, value in overlay.items():
            both = isinstance(value, dict) and isinstance(config.get(key), dict)
            config = config | {key: merged(config[key], value) if both else value}
    return config
