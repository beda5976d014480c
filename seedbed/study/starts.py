"""Encoders that no training or copy can start from."""

from seedbed.encoders.objectives import Copy
from seedbed.study.graph import encoders
from seedbed.study.model import Study


def consistent(study: Study) -> None:
    """What is trained or copied starts from an encoder that can be.

    Raises:
        ValueError: an encoder of two texts would be copied, or go on as one of one text; or something is made of one in
            integers, or of several seeds where there is one.
    """
    for name, recipe in study.recipes.items():
        if not recipe.trained:
            continue
        start = study.recipes.get(recipe.start)
        copied = isinstance(recipe.learns(), Copy)
        if recipe.learns().of_seeds and (not start or len(encoders.seeds_of(study, recipe.start)) < 2):
            where = f"recipes.{name}.from" if not start else f"recipes.{recipe.start}.seeds"
            raise ValueError(f"{where}: {name} is the mean of two encoders or more, of a recipe's seeds; give them")
        if copied and recipe.fusion:
            raise ValueError(f"recipes.{name}.fusion: an encoder of two texts cannot be copied; copy one of one text")
        if start and start.fusion and not recipe.paired:
            what = "copied" if copied else "trained without `fusion`"
            raise ValueError(
                f"recipes.{name}.from: {recipe.start} reads two texts and cannot be {what}; take one of one text"
            )
        if start and "quantized" in start.objective:
            raise ValueError(
                f"recipes.{name}.from: {recipe.start} is in integers, which nothing trains or copies; take the recipe "
                "that it was made from"
            )
