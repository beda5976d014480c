"""Specs of figures: validated contents of the YAML files of `seedbed.resources.specs`, one class for each kind."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from seedbed.evaluation.settings import TextMap
from seedbed.settings import OnceEach
from seedbed.tables.specs import Spec

Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9A-Fa-f]{6}$")]
Inches = Annotated[float, Field(gt=0)]
Places = Annotated[dict[str, dict[str, float]], Field(min_length=1)]


class FigureSpec(Spec):
    """Settings of all figures."""

    kind: Literal["dots", "curve", "plane", "pairs", "columns", "groups", "members", "shares", "map"] = "dots"
    """Which of the classes below it is."""
    backbones: OnceEach[str] = ()
    """Backbones that the figure shows, by the study's names, on a map also by the papers'; `avg`: the average over
    backbones. Default of a map: all that have embeddings. No map shows a backbone with `on_request`."""
    title: str
    """Title: what the figure shows."""
    note: str = ""
    """How to read it; may hold {level}, {alpha}, {baseline} and {seeds}: "seeds and ", or nothing for one seed."""
    paper_note: str = ""
    """Added if the paper's numbers are plotted."""
    palette: Annotated[list[Colour], Field(min_length=1)]
    """Colours of the recipes, in the table's order."""
    width: float = Field(9.6, gt=2)
    """Inches."""
    dpi: int = Field(200, gt=0)
    """Dots per inch of the PNG."""

    @classmethod
    def of(cls, content: Any) -> type[Self]:
        """The class for a file's kind."""
        kind = content.get("kind", "dots") if isinstance(content, dict) else "dots"
        return next((one for one in KINDS if one.model_fields["kind"].default == kind), cls)

    @property
    def columns(self) -> list[str]:
        """The columns of the table that it shows; empty: all."""
        return []

    @field_validator("note")
    @classmethod
    def _fillable(cls, note: str) -> str:
        try:
            note.format(level="", alpha="", baseline="", seeds="")
        except (KeyError, IndexError, ValueError):
            raise ValueError("only {level}, {alpha}, {baseline} and {seeds} may be in braces") from None
        return note


class OfTable(FigureSpec):
    """A figure of a table; it belongs to the table's paper."""

    table: str = Field(min_length=1)
    """Name of the table."""


class Labelled(OfTable):
    """A figure with a quantity on its x axis."""

    x_label: str = ""
    """Label of the x axis."""


class Spaced(OfTable):
    """A figure with rows of dots or bars."""

    spacing: Inches = 0.135
    """Inches from one dot or bar to the next."""


class Panelled(OfTable):
    """A figure with a panel for each group of columns."""

    panels: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]
    """Title of a panel -> column -> what the kind needs of it."""

    @property
    def columns(self) -> list[str]:
        """The columns of all panels."""
        return [column for each in self.panels.values() for column in each]


class Dots(Spaced):
    """A row of dots for each recipe and language."""

    kind: Literal["dots"] = "dots"


class Curve(Labelled):
    """Scores over a quantity."""

    kind: Literal["curve"] = "curve"
    series: Places
    """Name of a line -> recipe -> its place on the x axis."""
    log_x: bool = False
    """Make the x axis logarithmic; every place must be above 0."""

    @model_validator(mode="after")
    def _has_logarithms(self) -> Self:
        lowest = min((place for places in self.series.values() for place in places.values()), default=1)
        if self.log_x and lowest <= 0:
            raise ValueError(
                f"log_x: place {lowest:g} of `series` has no logarithm; give places above 0, or leave it out"
            )
        return self


class Plane(OfTable):
    """One column against another."""

    kind: Literal["plane"] = "plane"


class Pairs(Labelled, Spaced):
    """Two columns on one line for each encoder and language."""

    kind: Literal["pairs"] = "pairs"
    pairs: Annotated[dict[str, dict[str, str]], Field(min_length=1)]
    """Title of a panel -> column -> what its dots are called; two columns a panel, the same names in each."""

    @property
    def columns(self) -> list[str]:
        """The columns of all panels."""
        return [column for each in self.pairs.values() for column in each]

    @field_validator("pairs")
    @classmethod
    def _two_of_a_name(cls, pairs: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        names = [tuple(sides.values()) for sides in pairs.values()]
        if any(len(sides) != 2 or sides != names[0] for sides in names):
            raise ValueError("a panel takes two columns, and their dots have the same two names in every panel")
        return pairs


class Columns(Panelled, Labelled):
    """Lines over columns for each backbone and recipe: averages over languages, or language by language."""

    kind: Literal["columns"] = "columns"
    panels: Places
    """Title of a panel -> column -> its place on the x axis."""
    by_language: bool = False
    """A panel for each language and one for their average, instead of only the average."""
    y_label: str = ""
    """Label of the y axis."""
    height: Inches = 2.3
    """Height of a panel, in inches."""
    across: int = Field(5, gt=0)
    """Panels in a row at most."""


class Groups(Labelled, Spaced):
    """Means over the languages of a family or script."""

    kind: Literal["groups"] = "groups"
    by: Literal["family", "script"]
    """What languages are grouped by, as the language registry has it."""


class Members(Labelled, Spaced):
    """Gains of one recipe over others on language pairs, by their languages."""

    kind: Literal["members"] = "members"
    recipe: str
    """The recipe whose gains are shown."""
    over: Annotated[OnceEach[str], Field(min_length=1)]
    """Recipes that the gains are over, in print order; those that the table lacks are left out, but one must be there.
    """


class Shares(Panelled, Labelled, Spaced):
    """Shares of a whole, averaged over languages, compared with shares by chance."""

    kind: Literal["shares"] = "shares"
    panels: Annotated[dict[str, dict[str, str]], Field(min_length=1)]
    """Title of a panel -> column -> label of the part whose share it is."""
    uniform: dict[str, str]
    """Title of a panel -> the column with the share that a random choice gives."""

    @model_validator(mode="after")
    def _uniform_everywhere(self) -> Self:
        if {*self.uniform} != {*self.panels}:
            raise ValueError(f"uniform: a column for each panel; expected {', '.join(self.panels)}")
        return self


class Map(FigureSpec):
    """Texts in the plane."""

    kind: Literal["map"] = "map"
    group: str = ""
    """The paper that it belongs to: `all_{group}` makes it."""
    recipes: Annotated[dict[str, str], Field(min_length=1)] = {"published": "as published"}
    """Recipe whose encoders are shown -> its printed name; one encoder must serve all languages."""
    languages: OnceEach[str] = ()
    """Languages of the task that the map shows, in this order, also with `on_request`; default: all without."""
    map: TextMap
    """Which texts are shown, and how they are projected to the plane."""


KINDS: tuple[type[FigureSpec], ...] = (Dots, Curve, Plane, Pairs, Columns, Groups, Members, Shares, Map)
