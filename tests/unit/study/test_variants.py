"""Generators that vary others: who makes what for whom, and those that a choice of scale is among."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.study.generator import StudyGenerator
from seedbed.study.graph.available import Available
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.study.variants import makers
from seedbed.tables.plan import _fills
from seedbed.tables.specs import Column
from tests.refusals import tells

FILE = {"file": "README.md"}
DEV = {"protocol": "sts", "source": {"file": "docs/{lang}.dev.tsv"}, "on_request": True, "languages": ["hau"]}
CHOICE = {"dev": "dev"}


def config(scale: Any = CHOICE, **changes: Any) -> dict[str, Any]:
    """A study of a generator, one that chooses its scale, and one with a scale of its own."""
    return {
        "seeds": [7, 3],
        "languages": {"hau": {}, "swh": {}},
        "generators": {
            "head": {"source": FILE, "language_data": "text"},
            "chooses": {"like": "head", "composition": {"scale": scale}},
            "half": {"like": "head", "composition": {"scale": 0.5}},
            "alone": {"source": FILE, "language_data": "text", "composition": {"scale": 0.25}},
        },
        "backbones": {"far": {"endpoint": {"url": "https://h/v1", "model": "m", "dimensions": 8}}, "bert": {"source": FILE}},
        "recipes": {
            "base": {},
            "composition": {"data": {"rows": 60_000}, "training": {"epochs": 2}},
            "picked": {"on_request": True, "like": "composition", "data": {"by": "chooses"}},
        },
        "tasks": {"sts": {"protocol": "sts", "source": {"file": "docs/{lang}.tsv"}}, "dev": DEV},
        **changes,
    }  # fmt: skip


def test_each_candidate_is_a_generator_and_a_recipe_on_request() -> None:
    study = Study.model_validate(config())
    tried = StudyGenerator.get(study, "chooses").candidates()
    assert tried == {scale: (f"chooses+{scale:g}", "bert") for scale in (0.25, 0.5, 0.75, 1.0)}
    recipe = study.recipes["chooses+0.25"]
    assert (recipe.data.rows, recipe.training, recipe.only.seeds) == (50_000, {"epochs": 2}, [3])
    tries = StudyRecipe.get(study, "chooses+0.25")
    assert (tries.method, tries.seeds) == ("composition", [3]) and StudyRecipe.get(study, "picked").seeds == [3, 7]
    shown = {system.recipe for block in TablePlan.get(study, "table1").blocks for system in block.systems}
    assert shown == {"base", "composition"}, "candidates are only where they are named"
    told = {"dev": "dev", "candidates": [2, 0], "rows": 100, "backbone": "bert", "seed": 7}
    study = Study.model_validate(config(told))
    assert StudyGenerator.get(study, "chooses").candidates() == {2: ("chooses+2", "bert"), 0: ("chooses+0", "bert")}
    assert (study.recipes["chooses+2"].data.rows, StudyRecipe.get(study, "chooses+2").seeds) == (100, [7])


def test_candidates_share_with_all_of_their_family_that_would_make_the_same() -> None:
    study = Study.model_validate(config())
    made = {name: study.makers[name, "composition"] for name in study.generators if name.startswith("chooses")}
    assert made == {
        "chooses": "chooses", "chooses+0.25": "chooses+0.25", "chooses+0.5": "half", "chooses+0.75": "chooses+0.75",
        "chooses+1": "head",
    }  # fmt: skip
    assert {study.makers[name, "language"] for name in made} == {"head"}
    assert study.makers["alone", "language"] == "alone", "of another family, though its settings are the same"


@pytest.mark.parametrize(("kind", "start"), [("triplets", "triplets"), ("adapters", "adapters")])
def test_a_generator_with_published_work_of_its_own_shares_no_other(kind: str, start: str) -> None:
    own = {"prompting": {"file": "x.tsv"} if kind == "triplets" else {"positive": FILE, "negative": FILE}}
    head = {"source": FILE, "prompts": "plain"}
    family = {"head": head, "like": head | {"like": "head"}, "other": head | {"like": "head", kind: own}}
    generators = {name: Generator.model_validate(settings) for name, settings in family.items()}
    made = {step: makers(generators, step) for step in ("scratch", start)}
    assert {name: made[start][name, "prompting"] for name in family} == {
        "head": "head",
        "like": "head",
        "other": "other",
    }
    assert made["scratch"]["other", "prompting"] == "head", "what is published is not taken"
    assert made[start]["other", "weights"] == "head"


def test_no_column_shows_what_a_task_chose_on_that_task() -> None:
    study = Study.model_validate(config())
    choosers = {
        name: StudyRecipe.get(study, name).scale_chosen_on for name in ("base", "composition", "picked", "chooses+1")
    }
    assert choosers == {"base": "", "composition": "", "picked": "dev", "chooses+1": ""}
    systems = {system.recipe: system for system in Available.get(study).recipes}
    columns = {task: Column(label="STS", protocol="sts", metric="spearman", tasks=[task]) for task in ("sts", "dev")}
    assert _fills(systems["picked"], columns["sts"]) and not _fills(systems["picked"], columns["dev"])
    assert _fills(systems["chooses+1"], columns["dev"])


HUB = {"hub": "x/y", "split": "test"}
WHERE = "generators.chooses.composition.scale"
WRONG = [
    ({"dev": "dov"}, {}, f"{WHERE}.dev: no task 'dov'; did you mean 'dev'?"),
    ({"dev": "sts"}, {}, f"{WHERE}.dev: sts must be a bitext or knn or retrieval or sts task with `on_request: true`"),
    (CHOICE, {"tasks": {"dev": {**DEV, "protocol": "geometry"}}}, f"{WHERE}.dev: dev must be a bitext or"),
    (CHOICE, {"tasks": {"dev": {**DEV, "languages": []}}}, f"{WHERE}.dev: dev has no set in any language of the study"),
    (CHOICE, {"tasks": {"dev": {**DEV, "source": HUB}}}, f"{WHERE}.dev: dev is the test split of x/y; a scale is chosen on another"),
    (CHOICE, {"tasks": {"dev": DEV, "sts": {**DEV, "on_request": False}}}, f"{WHERE}.dev: dev has the test set of sts; a scale is chosen on"),
    ({**CHOICE, "candidates": [1]}, {}, "config.generators.chooses.composition.scale: choice.candidates: ... at least 2"),
    ({**CHOICE, "candidates": [1, 1]}, {}, "scale: choice.candidates: 1.0 appears twice"),
    ({**CHOICE, "candidate": [1, 2]}, {}, "scale: choice.candidate: unknown ... 'candidates'"),
    ({"candidates": [1, 2]}, {}, "scale: choice.dev: Field required"),
    ("half", {}, "config.generators.chooses.composition.scale"),
    ({**CHOICE, "backbone": "far"}, {}, f"{WHERE}.backbone: no backbone with weights 'far'; known: bert"),
    ({**CHOICE, "seed": 5}, {}, f"{WHERE}.seed: no seed '5'; known: 3, 7"),
    (CHOICE, {"recipes": {"base": {"only": {"seeds": [5]}}}}, "recipes.base.only.seeds: ... '5'; known: 3, 7"),
    (CHOICE, {"classifiers": {"c": {"generator": "chooses"}}}, "classifiers.c.generator: encoders choose the scale of chooses"),
    (CHOICE, {"classifiers": {"c": {"backbone": "bert", "composition": {"scale": CHOICE}}}}, "classifiers.c.composition.scale: of a generator alone"),
]  # fmt: skip


@pytest.mark.parametrize(("scale", "changes", "message"), WRONG, ids=[message[-50:] for *_, message in WRONG])
def test_a_choice_that_does_not_fit_is_one_line(scale: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        load(config(scale, **changes))
    assert tells(str(caught.value), message) and "\n" not in str(caught.value)
