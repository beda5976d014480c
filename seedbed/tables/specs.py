"""Specs of tables and figures: the YAML files under resources/tables and resources/figures, checked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

import yaml
from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from seedbed.encoders.settings import Method
from seedbed.evaluation.settings import Protocol
from seedbed.io import UserError
from seedbed.settings import Settings, explain, suggest

METRICS: dict[str, dict[str, tuple[str, str]]] = {
    "sts": {"spearman": ("gold", "cosine")},
    "bitext": {"accuracy": ("forward", "backward")},
    "retrieval": {"ndcg": ("ndcg_at_10",)},
    "geometry": {"alignment": ("distance",)},
}
"""Protocol -> metric -> the columns of the per-item scores that it is computed from."""

Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9A-Fa-f]{6}$")]
Fact = Literal["recipe", "backbone", "language", "task", "metric"]


class Spec(Settings):
    """Settings that a person writes as a YAML file."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read and check a spec.

        Raises:
            UserError: no such file, not YAML, an unknown key, protocol or metric, or a value of the wrong type.
        """
        try:
            return cls.model_validate(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise UserError(f"{path}: no such file; expected a {cls.__name__} in YAML") from None
        except yaml.YAMLError as error:
            raise UserError(f"{path}: not YAML ({' '.join(str(error).split())})") from None
        except ValidationError as error:
            raise UserError(explain(error, cls, where=str(path))) from None


class Column(Settings):
    """What is measured: every task of one protocol, one number for each language."""

    label: str
    """As printed."""
    protocol: Protocol
    """Which tasks belong here."""
    metric: str
    """Which number of theirs."""
    paper_task: str = ""
    """The paper's name of the task; left out, the paper does not have this column."""
    paper_data: tuple[str, ...] = ()
    """Part of the origin of the paper's own test data; a number on other data is marked so."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.metric not in (known := METRICS[self.protocol]):
            raise ValueError(
                f"no metric {self.metric!r} in protocol {self.protocol}; {suggest(self.metric, sorted(known))}"
            )
        return self


class Paper(Settings):
    """Where the paper's own numbers are."""

    csv: str
    """File of the folder of paper numbers."""
    keys: dict[str, Fact]
    """Its column -> our fact that it holds: `backbone` by the paper's name, `task` by the column's `paper_task`."""
    skip_notes: tuple[str, ...] = ()
    """Notes on print alone."""


class TableSpec(Spec):
    """A table: recipes x languages for each backbone and column, with the paper's numbers beside ours."""

    title: str
    """Heading."""
    caption: str
    """What a reader must know before the numbers."""
    columns: Annotated[list[Column], Field(min_length=1)]
    """What is measured, in print order."""
    recipes: Annotated[dict[str, str], Field(min_length=1)]
    """Recipes in print order, with their printed names."""
    languages: tuple[str, ...] = ()
    """Languages in print order; others come after them."""
    paper: Paper | None = None
    """Left out, no paper has this table."""

    def methods(self, recipes: Iterable[str]) -> dict[str, str]:
        """A study's recipes in print order with their printed names; one that the spec lacks comes last, as it is.

        Raises:
            UserError: the spec has a recipe that is neither the study's nor a method of making encoders.
        """
        own = list(dict.fromkeys(recipes))
        for recipe in self.recipes:
            if recipe not in (known := sorted({*own, *get_args(Method)})):
                raise UserError(f"table spec: recipes.{recipe}: no such recipe; {suggest(recipe, known)}")
        printed = {recipe: label for recipe, label in self.recipes.items() if recipe in own}
        return printed | {recipe: recipe for recipe in own if recipe not in printed}

    def ordered(self, languages: Iterable[str]) -> list[str]:
        """Languages in print order; one that the spec lacks comes last."""
        places = {language: place for place, language in enumerate(self.languages)}
        return sorted(languages, key=lambda language: places.get(language, len(places)))


class FigureSpec(Spec):
    """A dot plot of a table."""

    table: str
    """Name of the table."""
    title: str
    """What is seen."""
    note: str = ""
    """How to read it; may hold {level}, {alpha} and {baseline}."""
    paper_note: str = ""
    """Added where the paper's numbers are drawn."""
    palette: Annotated[list[Colour], Field(min_length=1)]
    """Colours of the recipes, in the table's order."""
    width: float = Field(9.6, gt=2)
    """Inches."""
    spacing: float = Field(0.135, gt=0)
    """Inches from one dot to the next."""
    dpi: int = Field(200, gt=0)
    """Of the PNG."""

    @field_validator("note")
    @classmethod
    def _fillable(cls, note: str) -> str:
        try:
            note.format(level="", alpha="", baseline="")
        except (KeyError, IndexError, ValueError):
            raise ValueError("only {level}, {alpha} and {baseline} may stand in braces") from None
        return note


class System(Settings):
    """The encoders that one recipe offers."""

    recipe: str
    """Its name in the study."""
    language: str
    """Language folder of its encoders; `*`: each test language has its own."""
    seeds: Annotated[list[int], Field(min_length=1)]
    """One encoder per seed."""


class Scored(Settings):
    """A task of the study and the languages that are scored on it."""

    protocol: Protocol
    """How it is scored."""
    languages: list[str]
    """ISO 639-3, in any order."""
