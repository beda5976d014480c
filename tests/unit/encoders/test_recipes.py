"""Recipes and their presets: a method's name stands in their file, and in no code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from seedbed.encoders.recipes import Recipe, presets, with_preset
from seedbed.generators.settings import METHODS

ADAPTERS = "a group of a generator's settings, or the kind of adapter behind it"
VARIANT = "what a table can show of a classifier"
BASE = "the model below an adapter"
POOLING = "a pooling"
AS_IT_IS = "what somebody else has made, of any method"
MEANS_SOMETHING_ELSE = {
    "seedbed/classifiers/settings.py": {"base": VARIANT, "composition": VARIANT, "translated": VARIANT},
    "seedbed/classifiers/adapters.py": {"base": BASE},
    "seedbed/evaluation/systems/reasoning.py": {"base": BASE, "translated": VARIANT},
    "seedbed/generators/adapter_card.py": {"base": BASE, "composition": ADAPTERS},
    "seedbed/generators/lora.py": {"base": BASE},
    "seedbed/operations/publishing/repositories.py": {"base": BASE},
    "seedbed/encoders/backbone.py": {"static": POOLING},
    "seedbed/encoders/settings.py": {"static": POOLING, "mixed": "a setting of training"},
    "seedbed/encoders/training.py": {"static": POOLING, "mixed": "a setting of training"},
    "seedbed/tables/answer.py": {"base": "what a record calls the encoder before training"},
    "seedbed/tables/standing.py": {"base": "what a record calls the encoder before training"},
    "Snakefile": {"lira": "a paper"},
    "scripts/choose_best.py": {"base": "what a record calls the encoder before training"},
    "seedbed/study/translators.py": {"published": AS_IT_IS},
    "seedbed/study/beginning.py": dict.fromkeys(
        ("base", "unsupervised", "crosslingual"), "the recipes of a study to begin with"
    ),
    "seedbed/study/graph/translations.py": {"xllora": ADAPTERS},
    "rules/generators.smk": {"base": "an option"},
    "seedbed/evaluation/systems/adapted.py": {"base": VARIANT},
    "seedbed/evaluation/systems/in_context.py": {"base": VARIANT},
    "seedbed/study/graph/classifiers.py": {"base": VARIANT, "composition": VARIANT, "xllora": ADAPTERS},
    "seedbed/study/graph/plans.py": {"composition": VARIANT},
    "seedbed/study/graph/published.py": {"published": AS_IT_IS},
    "seedbed/study/variants.py": {"composition": ADAPTERS},
    "seedbed/study/graph/generators.py": {"composition": ADAPTERS, "xllora": ADAPTERS, "published": AS_IT_IS},
    "seedbed/study/graph/compute.py": {"xllora": ADAPTERS},
    "seedbed/generators/settings.py": {"composition": ADAPTERS, "xllora": ADAPTERS, "published": AS_IT_IS},
    "seedbed/generators/composition.py": {"composition": ADAPTERS},
    "seedbed/generators/xllora.py": {"published": AS_IT_IS},
    "seedbed/encoders/recipes.py": {"translated": "a kind of data"},
    "seedbed/encoders/joint.py": {"crosslingual": "a setting of training"},
    "seedbed/operations/job.py": {"base": "an option"},
    "seedbed/operations/forecasting/work.py": {"base": "an option", "composition": ADAPTERS},
    "seedbed/tables/figure_specs.py": {"published": "the name of a recipe, by default"},
    "seedbed/study/needs.py": {"published": AS_IT_IS},
    "seedbed/study/supplies.py": {"published": AS_IT_IS},
    "seedbed/study/checks.py": {"published": AS_IT_IS},
    "scripts/train_xllora_adapter.py": {"xllora": ADAPTERS},
    "rules/triplets.smk": {"base": "an option", "xllora": ADAPTERS},
}


def test_no_code_knows_a_method_by_its_name() -> None:
    names = re.compile(f"""["']({"|".join(presets())})["']""")
    files = [
        *Path("seedbed").rglob("*.py"),
        *Path("rules").rglob("*.smk"),
        *Path("scripts").glob("*.py"),
        Path("Snakefile"),
    ]
    found = {str(file): {*names.findall(file.read_text())} for file in files}
    allowed = {file: {*words} for file, words in MEANS_SOMETHING_ELSE.items()}
    assert {
        file: words - allowed.get(file, set()) for file, words in found.items() if words - allowed.get(file, set())
    } == {}


@pytest.mark.parametrize("name", presets())
def test_each_preset_is_a_recipe(name: str) -> None:
    recipe = Recipe.model_validate(with_preset(name, {"method": name}))
    assert recipe.trained == (name not in ("base", "published", "static", "translated"))
    written = name.removeprefix("neighxlm-")
    assert recipe.written == (written if written in METHODS else "")
    named = [one for one in recipe.references().values() if one.recipe]
    assert not named and not recipe.on_request, "a preset knows no recipe of the study by name"


def test_a_recipes_own_keys_lie_over_its_presets() -> None:
    own = {
        "method": "unsupervised",
        "training": {"epochs": 3, "batch_size": 4},
        "objective": {"contrast": {}},
        "rows": 9,
    }
    recipe = Recipe.model_validate(with_preset("mine", own))
    assert recipe.training == {"learning_rate": 1e-5, "epochs": 3, "batch_size": 4} and recipe.rows == 9
    assert presets()["unsupervised"]["training"] == {"learning_rate": 1e-5, "epochs": 1}, "the preset stays as it is"


def test_a_recipe_may_be_no_papers() -> None:
    recipe = Recipe.model_validate(
        with_preset("mine", {"data": {"pairs": "own"}, "objective": "ranking", "from": "other"})
    )
    assert (recipe.method, recipe.start, recipe.objective) == ("", "other", {"ranking": {}})
    with pytest.raises(ValueError, match="xlora: no method of this name; give one, .*did you mean 'xllora'"):
        with_preset("xlora", {})
