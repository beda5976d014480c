"""Settings of how a source changes rows after reading: replacements, joins, transliteration, adjacent rows."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, TypeAdapter, model_validator

from seedbed.settings import Settings

SCRIPTS = {"uig-Cyrl-Arab": ("UCS", "UAS")}
"""A change of script -> the names of both scripts in the package umsc."""
Script = Literal[tuple(SCRIPTS)]

Changes = dict[str, dict[str, str]]
"""Column -> regular expression -> its replacement, in this order."""
_PAIRS = TypeAdapter(list[tuple[str, str]])


def _from_pairs(replace: Any) -> Any:
    """Changes from their form in JSON, see `Replacements`."""
    if not isinstance(replace, dict):
        return replace
    items = replace.items()
    return {name: dict(_PAIRS.validate_python(given)) if isinstance(given, list) else given for name, given in items}


def _usable(replace: Changes) -> Changes:
    for column, changes in replace.items():
        for expression, text in changes.items():
            try:
                re.compile(expression).sub(text, "")
            except (re.error, IndexError) as error:
                raise ValueError(f"{column}: {expression!r} -> {text!r}: {error}") from None
    return replace


_as_pairs = PlainSerializer(lambda replace: {column: list(changes.items()) for column, changes in replace.items()})
Replacements = Annotated[Changes, BeforeValidator(_from_pairs), AfterValidator(_usable), _as_pairs]
"""Changes by regular expressions. In JSON they are lists of pairs, because JSON mappings lose the order."""


class Join(Settings):
    """How the rows of another reading are matched with a source's."""

    by: dict[str, str] = {}
    """Our column -> the other's; empty: rows are matched by their ids."""
    keep: Literal["matched", "all"] = "matched"
    """all: rows of the other reading that match none of ours are added too."""

    @model_validator(mode="after")
    def _all_of_what(self) -> Self:
        if self.keep == "all" and not self.by:
            raise ValueError("`keep: all` needs `by: {our column: its column}`")
        return self


class Following(Settings):
    """Columns that a row gets from the next row of its document; the last row of each document is left out."""

    columns: Annotated[dict[str, str], Field(min_length=1)]
    """A new column -> ours whose text in the next row it gets; `{sentence2: sentence1}` makes pairs."""
    within: str = ""
    """Column with the row's document; left out, one exploded row is a document, else each file or set is one."""
    disjoint: bool = False
    """Each row in one pair only: the first with the second, the third with the fourth, as a test needs."""
