"""Checks of what training and copies start from, and of recipes that only switch the adapters of others off."""

from seedbed.encoders.objectives.vocabulary import Vocabulary
from seedbed.encoders.recipes import TRAINED
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe

SAME = ("like", "aligned", "on_request", "only", "published")
"""Settings that a recipe with `aligned: pairs` or `never` may change: those that do not change how encoders are made.
"""


def of_starts(study: Study) -> None:
    """Check that everything that is trained or compressed starts from an encoder that allows it."""
    for of in StudyRecipe.every(study):
        name, recipe = of.name, of.spec
        if not recipe.made:
            continue
        where = f"recipes.{name}.from: {recipe.start}"
        done = "copied" if recipe.copies else f"trained by objective {next(iter(recipe.objective))}"
        if recipe.copies and recipe.copies.way.of_seeds:
            _several(of)
        if recipe.published and recipe.rule != TRAINED:
            raise ValueError(f"recipes.{name}.published: {recipe.rule} makes its encoders here; leave it out")
        if recipe.copies and recipe.english.fusion:
            raise ValueError(
                f"recipes.{name}.english.fusion: an encoder of two texts cannot be copied; copy one of one text"
            )
        if not (start := of.start):
            continue
        if start.has_adapters and recipe.rule != TRAINED:
            raise ValueError(f"{where} has parallel adapters and cannot be {done}; take another recipe")
        if start.has_adapters and of.training.pooling != "own":
            raise ValueError(
                f"recipes.{name}.training.pooling: the parallel adapters of {recipe.start} are of encoders with their "
                "own; leave it out"
            )
        if not start.transformer:
            raise ValueError(f"{where} has no transformer and cannot be {done}; take another recipe")
        headless = not start.taken and (start.spec.copies or start.spec.reads_training)
        if headless and recipe.reads_training and of.training.mlm_weight:
            raise ValueError(
                f"recipes.{name}.training.mlm_weight: encoders of {recipe.start} have no head for masked words; set it "
                "to 0, or start from a backbone, or from recipe adapted"
            )
        if start.spec.data.candidates and not recipe.paired:
            raise ValueError(
                f"{where} is anchored to translations, and this recipe reads none; give `english.fusion`, or take "
                "another"
            )
        if start.spec.english.fusion and not recipe.paired:
            raise ValueError(f"{where} reads two texts and cannot be {done}; take one of one text")


def _several(of: StudyRecipe) -> None:
    """The mean of several seeds is of a recipe that has them, all of them."""
    name, recipe, start = of.name, of.spec, of.start
    seeds, key = (start.seeds, _seeds_of(start)) if start else ([], "")
    too_few = len(seeds) < 2 and not recipe.copies.way.of_start
    if not start or seeds == [0] or (too_few and not key):
        raise ValueError(
            f"recipes.{name}.from: {name} is the mean of a recipe's seeds; name one that is trained here, with the "
            "study's seeds"
        )
    if of.training.pooling != "own":
        raise ValueError(
            f"recipes.{name}.training.pooling: the mean has the pooling of the encoders of {recipe.start}; leave it out"
        )
    if too_few:
        raise ValueError(
            f"recipes.{recipe.start}: {name} is the mean over its seeds, and it has one, {seeds[0]}; give two or more "
            f"in `{key}`, or give {name} `copies: {{averaged: {{share: ...}}}}`"
        )
    if recipe.copies.way.of_start and start.spec.rule == Vocabulary.rule:
        raise ValueError(
            f"recipes.{name}.copies.averaged.share: encoders of {recipe.start} have another vocabulary than what they "
            "started from, so their weights have no mean; take another recipe"
        )
    if recipe.only.seeds is not None and sorted(recipe.only.seeds) != seeds:
        raise ValueError(
            f"recipes.{name}.only.seeds: it is the mean of all seeds of {recipe.start}; give "
            f"`recipes.{recipe.start}.only.seeds` the same"
        )


def _seeds_of(of: StudyRecipe) -> str:
    """The key that limits a recipe's seeds: its own, its start's or the study's; empty: one seed in any study."""
    if of.spec.only.seeds is not None:
        return f"recipes.{of.name}.only.seeds"
    if of.spec.minimises and not of.spec.minimises.own_seed:
        return "seeds"
    return _seeds_of(of.start) if of.start else ""


def of_switched_adapters(study: Study) -> None:
    """Check that a recipe with `aligned: pairs` or `never` has the encoders of another, with parallel adapters."""
    for name, recipe in study.recipes.items():
        if recipe.aligned == "always":
            continue
        where = f"recipes.{name}.aligned"
        if recipe.like not in {*study.recipes} - {name}:
            raise ValueError(f"{where}: it scores the encoders of another recipe of the study; name that as `like`")
        other = study.recipes[recipe.like]
        if recipe.training.get("adapter") != "parallel":
            raise ValueError(f"{where}: encoders of {recipe.like} have no parallel adapters; leave it out")
        for key in type(recipe).model_fields:
            if key not in SAME and getattr(recipe, key) != getattr(other, key):
                raise ValueError(
                    f"recipes.{name}.{key}: `aligned: {recipe.aligned}` has the encoders of {recipe.like}; leave it out"
                )


def of_seeds(study: Study) -> None:
    """Check that encoders with the seeds of those that they start from are limited to some of these."""
    for of in StudyRecipe.every(study):
        if not of.seeds:
            where, has = f"recipes.{of.name}.only.seeds", ", ".join(map(str, of.start.seeds))
            raise ValueError(f"{where}: {of.start.name} has encoders of seed {has} alone; give it, or leave it out")
