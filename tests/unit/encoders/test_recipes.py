"""Recipes and their presets."""

from __future__ import annotations

import pytest

from seedbed.encoders.recipes import Recipe, presets, with_preset
from seedbed.generators.settings import METHODS


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
        "like": "unsupervised",
        "training": {"epochs": 3, "batch_size": 4},
        "objective": {"contrast": {}},
        "data": {"rows": 9},
    }
    recipe = Recipe.model_validate(with_preset("mine", own))
    assert recipe.training == {"learning_rate": 1e-5, "epochs": 3, "batch_size": 4} and recipe.rows == 9
    assert presets()["unsupervised"]["training"] == {"learning_rate": 1e-5, "epochs": 1}, "the preset stays as it is"


def test_a_recipe_may_be_no_papers() -> None:
    recipe = Recipe.model_validate(
        with_preset("mine", {"data": {"corpus": "own"}, "objective": "ranking", "from": "other"})
    )
    assert (recipe.method, recipe.start, recipe.objective) == ("", "other", {"ranking": {}})
    with pytest.raises(ValueError, match=r"xlora:.*'xllora'"):
        with_preset("xlora", {})
