"""Recipes and their presets."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.encoders.recipes import Recipe, presets
from seedbed.generators.settings import METHODS
from seedbed.study.variants import with_parents


def of(name: str, entry: dict[str, Any]) -> Recipe:
    """A recipe of this name, with the settings of the preset that it varies."""
    return Recipe.model_validate(with_parents({name: entry}, presets())[name])


@pytest.mark.parametrize("name", presets())
def test_each_preset_is_a_recipe(name: str) -> None:
    recipe = of("mine", {"like": name})
    assert recipe.made == (name not in ("base", "published", "static", "translated"))
    written = name.removeprefix("neighxlm-")
    assert recipe.written == (written if written in METHODS else "")
    named = [one for one in recipe.references().values() if one.recipe]
    assert not named, "a preset knows no recipe of the study by name"
    assert recipe.on_request == (name in ("vocabulary", "adapted"))


def test_a_recipe_with_the_name_of_a_preset_varies_that_if_it_is_like_no_other() -> None:
    assert (
        of("prompting", {}).data
        == of("mine", {"like": "prompting"}).data
        == of("prompting", {"like": "prompting"}).data
    )
    assert of("prompting", {"like": "composition"}).data.written == "composition"


def test_a_recipes_own_keys_lie_over_its_presets() -> None:
    own = {"training": {"epochs": 3, "batch_size": 4}, "objective": {"contrast": {}}, "data": {"rows": 9}}
    recipe = of("mine", {"like": "unsupervised"} | own)
    assert recipe.training == {"learning_rate": 1e-5, "epochs": 3, "batch_size": 4}
    assert (recipe.data.corpus, recipe.data.rows) == ("text", 9)
    assert presets()["unsupervised"]["training"] == {"learning_rate": 1e-5, "epochs": 1}, "the preset stays as it is"


def test_a_recipe_may_be_no_papers() -> None:
    recipe = of("mine", {"data": {"corpus": "own"}, "objective": "ranking", "from": "other"})
    assert (recipe.like, recipe.start, recipe.objective) == ("", "other", {"ranking": {}})
    with pytest.raises(ValueError, match=r"xlora:.*'xllora'"):
        of("xlora", {})
