"""Which prefix a recipe's encoders get: among which, and by which scores it is chosen."""

from typing import Any

from seedbed.study.graph import encoders, prefixes
from seedbed.study.graph.shares import listed_in
from seedbed.study.model import Study
from seedbed.tables.plan import Cell


def offered(study: Study, wildcards: Any) -> dict[str, str]:
    """Untrained recipe -> its prefix, among which one is chosen."""
    named = study.recipes[wildcards.recipe].prefix_of
    return {name: prefixes.of_recipe(study, wildcards.backbone, name) for name in named}


def trials(study: Study, wildcards: Any) -> dict[str, str]:
    """RECIPE/LANGUAGE -> the scores of that recipe's encoder on the task that chooses."""
    spec, found = study.recipes[wildcards.recipe], {}
    chosen_on = study.chosen_on(study.best.dev, wildcards.lang)
    own = [code for code in chosen_on if code in (spec.languages or study.languages)]
    for name in spec.prefix_of:
        for code in own or chosen_on:
            lang, seed = encoders.trained_on(study, name, code), encoders.seeds_of(study, name)[0]
            found[f"{name}/{code}"] = listed_in(study, Cell(wildcards.backbone, name, lang, seed, study.best.dev, code))
    return found
