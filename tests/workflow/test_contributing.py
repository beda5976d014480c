"""docs/contributing.md: its examples, added to a copy of the project all at once, do what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tests.workflow.conftest import STUDY, Project, copy_project
from tests.workflow.test_graph import planned

PAGE = Path("docs/contributing.md").read_text()
EXAMPLES = re.findall(r"^```\w+\n# (\S+)\n(.*?)^```", PAGE, flags=re.M | re.S)
"""The file of each example, and its text."""
SMALL = STUDY | {"generators": {}, "recipes": {"base": {}}}
MADE = ["results/own/tables/ranks.csv", "results/own/corpora/hau/words.json", "results/own/figures/ranks.svg"]


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Project:
    """The project with all examples in it, and in its study."""
    project = copy_project(tmp_path_factory.mktemp("architecture"), SMALL)
    study = dict(SMALL)
    for file, text in EXAMPLES:
        place = project.root / file
        if file == "study.yaml":
            for key, value in yaml.safe_load(text).items():
                study[key] = study[key] | value if isinstance(value, dict) else value
        else:
            place.parent.mkdir(exist_ok=True)
            before = place.read_text() + "\n\n" if place.is_file() else ""
            place.write_text(before + text)
    (project.root / "study.yaml").write_text(yaml.safe_dump(study))
    return project


@pytest.fixture(scope="module")
def made(extended: Project) -> Path:
    """The folder in which the new table, its figure and the new rule's output were made."""
    done = extended.snakemake(*MADE)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return extended.root


def test_the_table_has_each_language_and_recipe_by_the_new_protocol(made: Path) -> None:
    table = pd.read_csv(made / MADE[0]).set_index(["recipe", "language"])
    assert {*table.index} == {
        (recipe, language)
        for recipe in ("base", "unsupervised-longer", "then-english")
        for language in ("hau", "swh", "avg")
    }
    scores = json.loads((made / "results/own/scores/tiny-bert/base/mul/0/own-ranks/hau.json").read_text())
    assert {*table["metric"]} == {*scores["metrics"]} == {"mrr"}
    assert table.loc[("base", "hau"), "value"] == pytest.approx(100 * scores["main_score"], abs=1e-3)


def test_the_figure_of_the_table_names_its_recipes(made: Path) -> None:
    assert "Unsupervised, two epochs" in (made / MADE[2]).read_text()


def test_the_new_objective_trained_what_the_other_recipe_had_begun(made: Path) -> None:
    manifest = made / "results/own/encoders/tiny-bert/then-english/hau/1/seedbed.json"
    training = json.loads(manifest.read_text())["training"]
    assert training["loss"][0] == pytest.approx(0.2, abs=0.05), "the margin: so far no text is nearer than another"
    assert training["pooling"] == "own" and training["examples"] == 24


def test_the_new_rule_counts_words(made: Path) -> None:
    texts = pd.read_csv(made / "results/own/corpora/hau/text.tsv", sep="\t")["text"]
    assert json.loads((made / MADE[1]).read_text()) == {"words": int(texts.str.split().str.len().sum())}


def test_an_example_is_short() -> None:
    assert max(len(text.splitlines()) for _, text in EXAMPLES) < 40 and len(EXAMPLES) > 10


def test_the_new_encoder_to_start_from_is_in_the_graph(extended: Project) -> None:
    done = extended.snakemake("--dry-run", "results/own/encoders/prefixed/base/mul/0/seedbed.json")
    assert planned(done).keys() >= {"train_encoder"}


def test_the_study_then_lacks_its_report_alone(made: Path, extended: Project) -> None:
    assert planned(extended.snakemake("--dry-run")) == {"all": 1, "report": 1}
