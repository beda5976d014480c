"""What stands before texts: the same before all, or by their languages (`seedbed.encoders.prompts`)."""

from typing import Any

from seedbed.encoders.recipes import STARTS
from seedbed.generators.settings import POLARITIES, WRITING
from seedbed.io import UserError
from seedbed.languages import filled, placeholders, registry
from seedbed.study import paths
from seedbed.study.graph import encoders
from seedbed.study.model import Study
from seedbed.study.paths import at


def of_recipe(study: Study, backbone: str, recipe: str) -> str:
    """What stands before every text that a recipe's encoder reads; where the vocabulary is new, not the backbone's.

    Where a development task chooses it, the first of those that it chooses among; see `chosen`.
    """
    spec = study.recipes[recipe]
    if spec.prefix_of:
        return of_recipe(study, backbone, spec.prefix_of[0])
    if spec.prefix is not None:
        return spec.prefix
    if spec.start in STARTS:
        return ""
    body = encoders.body_of(study, backbone)
    return of_recipe(study, backbone, spec.start) if spec.start else study.backbones[body].prefix


def of_encoder(study: Study, wildcards: Any) -> str:
    """The prefix of an encoder; of what others are aligned with, its own."""
    return of_recipe(study, *_maker(study, wildcards))


def _maker(study: Study, wildcards: Any) -> tuple[str, str]:
    """The backbone and the recipe whose prefix an encoder has."""
    if encoders.is_pivot(study, wildcards.recipe, wildcards.lang):
        return encoders.start_of(study, wildcards)
    return wildcards.backbone, wildcards.recipe


def chooser_of(study: Study, recipe: str) -> str:
    """The recipe that says among which ones a development task chooses a recipe's prefix; empty: the study gives it."""
    spec = study.recipes[recipe]
    if spec.prefix_of:
        return recipe
    if spec.prefix is not None or not spec.start or spec.start in STARTS:
        return ""
    return chooser_of(study, spec.start)


def chosen(study: Study, wildcards: Any) -> list[str] | str:
    """The file that says which prefix was chosen for an encoder; empty where the study gives it."""
    backbone, recipe = _maker(study, wildcards)
    if encoders.published_for(study, wildcards) or not (chooser := chooser_of(study, recipe)):
        return []
    lang = encoders.trained_on(study, chooser, wildcards.lang)
    return at(study, paths.PREFIX, backbone=backbone, recipe=chooser, lang=lang)


def by_language(study: Study, wildcards: Any) -> dict[str, Any]:
    """The language of an encoder whose prefix is by language, and of columns in another; of any other encoder nothing.

    What the prefix is in a language the registry says, so that a language more changes no encoder of another; where the
    study says otherwise, that is told too.
    """
    prefix = of_encoder(study, wildcards)
    if not placeholders(prefix):
        return {}
    columns = [] if encoders.untrained(study, wildcards) else in_pivot(study, wildcards)
    own = {code: prompt for code in study.codes if (prompt := _own(study, prefix, code))}
    return {"language": wildcards.lang, "languages": dict.fromkeys(columns, study.pivot), "own_prefixes": own}


def in_pivot(study: Study, wildcards: Any) -> list[str]:
    """The columns that an encoder learns from which are in the pivot language, whatever its own."""
    spec = study.recipes[wildcards.recipe]
    written = spec.written and WRITING[spec.written].output == "pivot"
    return [name for name in spec.data.columns if name == "pivot" or (written and name in POLARITIES)]


def _own(study: Study, prefix: str, code: str) -> str:
    """The prefix of a language for which the study says otherwise than the registry; empty: it does not, or none."""
    facts, known, columns = study.facts(code), registry().get(code, {}), placeholders(prefix)
    if not all(facts.get(name) for name in columns) or all(facts[name] == known.get(name) for name in columns):
        return ""
    return filled(prefix, facts)


def alone(study: Study, wildcards: Any) -> str:
    """The prefix of an encoder for what reads all texts alike, such as fine-tuning; raises as `given` and `same`."""
    return same(given(study, *_maker(study, wildcards)), wildcards.backbone)


def given(study: Study, backbone: str, recipe: str) -> str:
    """The prefix of a recipe's encoders for what has to know it before anything is scored.

    Raises:
        UserError: a development task chooses it.
    """
    if chooser := chooser_of(study, recipe):
        raise UserError(
            f"recipes.{chooser}.prefix_of: a development task chooses this prefix, which is not known yet where "
            f"encoders of {recipe} are fine-tuned; give the recipe a `prefix`, or take another"
        )
    return of_recipe(study, backbone, recipe)


def of_backbone(study: Study, wildcards: Any) -> str:
    """The prefix of a backbone, likewise."""
    return same(study.backbones[wildcards.backbone].prefix, wildcards.backbone)


def same(prefix: str, backbone: str) -> str:
    """A prefix that is the same for all languages.

    Raises:
        UserError: it is by language.
    """
    if placeholders(prefix):
        raise UserError(
            f"backbones.{backbone}.prefix: {prefix!r} is another in each language, which only encoders know that "
            "recipes train or use as they are; take another backbone to mine with or to fine-tune"
        )
    return prefix
