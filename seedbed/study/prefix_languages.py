"""Prefixes that hang on the language of a text: what they name is known of each language that has an encoder."""

from itertools import chain

from seedbed.languages import placeholders, registry
from seedbed.settings import suggest
from seedbed.study.graph import encoders
from seedbed.study.model import Study


def of_prefixes(study: Study) -> None:
    """Every column that a prefix names is there, in each language whose texts a recipe's encoders read.

    Raises:
        ValueError: the first that is not.
    """
    given = {f"backbones.{name}.prefix": backbone.prefix for name, backbone in study.backbones.items()}
    given |= {f"recipes.{name}.prefix": recipe.prefix or "" for name, recipe in study.recipes.items()}
    known = {*next(iter(registry().values())), *chain.from_iterable(one.codes for one in study.languages.values())}
    for where, prefix in given.items():
        for column in placeholders(prefix):
            if column not in known:
                raise ValueError(
                    f"{where}: no column {column!r} of the language registry; {suggest(column, sorted(known))}"
                )
    for name, recipe in study.recipes.items():
        for backbone in encoders.backbones_of(study, name) or study.backbones:
            _in_languages(study, backbone, name, recipe.languages or [*study.languages])


def _in_languages(study: Study, backbone: str, recipe: str, codes: list[str]) -> None:
    for column in placeholders(prefix := encoders.prefix_of(study, backbone, recipe)):
        for code in codes:
            if not study.facts(code).get(column):
                raise ValueError(
                    f"languages.{code}: no {column}, which stands in the prefix {prefix!r} of {backbone} before its "
                    f"texts; set `codes: {{{column}: ...}}`, or leave it out of `recipes.{recipe}.languages`"
                )
