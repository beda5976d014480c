"""A small study's score files, drawn at random from a fixed seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from seedbed.io import write_json, write_table
from seedbed.tables.pages.layout import layout
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, Block, plan
from seedbed.tables.published import Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import Measured, compare, measure_blocks, tabulate

ROOT = Path(__file__).parents[3]
PAPER = ROOT / "seedbed" / "resources" / "paper"
SKILL = {"base": 0.25, "unsupervised": 0.35, "crosslingual": 0.5, "prompting": 0.5, "composition": 0.6, "xllora": 0.7}
ROWS = {"base": 0, "unsupervised": 64, "crosslingual": 64, "prompting": 6, "composition": 36, "xllora": 1288}
"""Rows that an encoder was trained on; in each language ten times as many as in the one before it."""
FOLDER = {"base": "mul", "crosslingual": "eng"}


@dataclass(frozen=True)
class Study:
    """What a study tells `tabulate`, and where its scores lie."""

    scores: Path
    systems: list[AvailableRecipe]
    backbones: dict[str, AvailableModel]
    tasks: dict[str, AvailableTask]
    statistics: Statistics

    def plan(self, spec: TableSpec, **changes: object) -> list[Block]:
        facts = {"systems": self.systems, "backbones": self.backbones, "tasks": self.tasks, "baseline": "crosslingual"}
        return plan(spec, **{**facts, **changes})

    def tabulate(self, spec: TableSpec, **changes: object) -> pd.DataFrame:
        return tabulate(self.measured(spec, **changes), self.statistics, Published(spec.paper, PAPER))

    def compare(self, spec: TableSpec, **changes: object) -> pd.DataFrame:
        return compare(self.measured(spec, **changes), spec.compare, self.statistics)

    def measured(self, spec: TableSpec, **changes: object) -> Measured:
        return [*measure_blocks(self.plan(spec, **changes), self.scores, self.statistics, spec)]

    def score(self, backbone: str, recipe: str, seed: int, task: str, language: str) -> Path:
        """The score file of an encoder."""
        folder = FOLDER.get(recipe, language)
        return self.scores / backbone / recipe / folder / str(seed) / task / f"{language}.json"

    def items(self, backbone: str, recipe: str, task: str, language: str) -> np.ndarray:
        """Items (n_seeds, n_items, 2) as they lie on the disk."""
        (system,) = [system for system in self.systems if system.recipe == recipe]
        paths = [self.score(backbone, recipe, seed, task, language) for seed in system.seeds]
        tables = [pd.read_csv(path.with_suffix(".items.tsv"), sep="\t").iloc[:, 1:] for path in paths]
        return np.stack([table.to_numpy(float) for table in tables])

    def arguments(self, spec: TableSpec) -> list[str]:
        """The command line of scripts/tabulate.py without the spec and the outputs."""
        blocks = json.dumps([block.model_dump(mode="json") for block in self.plan(spec)])
        statistics = json.dumps(self.statistics.model_dump())
        plan = self.scores.with_name("plan.json")
        plan.write_text(blocks, encoding="utf-8")
        known = ["--scores", str(self.scores), "--plan", str(plan), "--statistics", statistics]
        return ["--papers", str(PAPER), *known]


def page(table: pd.DataFrame, spec: TableSpec, differences: pd.DataFrame | None = None) -> str:
    """The table as a person reads it."""
    return layout(table, spec, Published(spec.paper, PAPER), differences=differences)


def make_study(
    folder: Path,
    *,
    languages: tuple[str, ...] = ("hau", "ind"),
    backbones: dict[str, str] | None = None,
    recipes: tuple[str, ...] = tuple(SKILL),
    seeds: int = 3,
    n: int = 80,
    resamples: int = 400,
    origin: str = "SemRel/SemRel2024",
) -> Study:
    """Write the scores of a study; every language has one item more than the one before it."""
    study = Study(
        scores=folder / "scores",
        systems=[
            AvailableRecipe(
                recipe=name, language=FOLDER.get(name, "*"), seeds=[0] if name == "base" else list(range(1, seeds + 1))
            )
            for name in recipes
        ],
        backbones={name: AvailableModel(paper=paper) for name, paper in (backbones or {"xlmr": "XLM-R"}).items()},
        tasks={
            "semrel-sts": AvailableTask(protocol="sts", languages=list(languages)),
            "kolibri-bitext": AvailableTask(protocol="bitext", languages=list(languages)),
        },
        statistics=Statistics(resamples=resamples),
    )
    rng = np.random.default_rng(7)
    for place, language in enumerate(languages):
        gold, hard = rng.random(n + place), rng.normal(size=n + place)
        for backbone in study.backbones:
            for system in study.systems:
                for seed in system.seeds:
                    skill = SKILL[system.recipe] + rng.normal(scale=0.02)
                    own = rng.normal(size=n + place)
                    sts = pd.DataFrame(
                        {"gold": gold, "cosine": skill * gold + (0.18 * hard + 0.12 * own) * (1 - skill)}
                    )
                    hits = (skill * 2.5 + 0.5 * rng.normal(size=(n + place, 2)) > 1.2 + hard[:, None]).astype(int)
                    bitext = pd.DataFrame(hits, columns=["forward", "backward"])
                    path = study.score(backbone, system.recipe, seed, "semrel-sts", language)
                    trained = ROWS[system.recipe] * (10**place if system.language == "*" else 1)
                    rho = spearmanr(sts["gold"], sts["cosine"]).statistic
                    write_score(path, "sts", sts, rho, origin, trained)
                    path = study.score(backbone, system.recipe, seed, "kolibri-bitext", language)
                    write_score(path, "bitext", bitext, hits.mean(), "package kolibri==0.17.0", trained)
    return study


def write_score(
    path: Path, protocol: str, items: pd.DataFrame, main_score: float, origin: str, rows: int | None = None
) -> None:
    """A score file as `score` writes it, as far as tables read it."""
    items.insert(0, "id", [f"item-{number}" for number in range(len(items))])
    write_table(items, path.with_suffix(".items.tsv"))
    metric = {"sts": "cosine_spearman", "bitext": "accuracy"}[protocol]
    about = {
        "protocol": protocol,
        "main_score": round(float(main_score), 6),
        "metrics": {metric: round(float(main_score), 6)},
        "n": len(items),
        "dataset": {"origin": [{"kind": "hub", "name": origin}]},
    } | ({} if rows is None else {"encoder": {"rows": rows}})
    write_json(about | {"items": path.with_suffix(".items.tsv").name}, path)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Study]:
    """Write another study, of fewer seeds."""
    return lambda **options: make_study(tmp_path, **{"seeds": 2} | options)


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Two languages, six recipes, one backbone, two columns."""
    return make_study(tmp_path_factory.mktemp("study"))


@pytest.fixture(scope="session")
def spec() -> TableSpec:
    """The table that the project ships."""
    return TableSpec.load(ROOT / "seedbed" / "resources" / "tables" / "table1.yaml")


@pytest.fixture(scope="session")
def table(study: Study, spec: TableSpec) -> pd.DataFrame:
    """The study's table."""
    return study.tabulate(spec)
