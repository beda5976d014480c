"""Specs of tables and figures: the YAML files behind `seedbed.resources.specs`, checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from seedbed import yamls
from seedbed.evaluation.settings import LABELLING, Protocol, TextMap
from seedbed.io import UserError
from seedbed.settings import OnceEach, Settings, explain, suggest

OVERLAP = "overlap"
"""The protocol of columns that are measured on what encoders learn from: Dice within triplets, no scores."""
Measured = Literal[Protocol, "overlap"]


class Metric(NamedTuple):
    """A number that a score file has."""

    key: str
    """Its name there, under `metrics`; nothing for what no score file has."""
    items: tuple[str, ...] = ()
    """The columns of the per-item scores that it is computed from; none: it has no interval."""
    points: int = 100
    """Tables print it times this."""
    f1: Literal["", "macro", "weighted"] = ""
    """Its items are the gold and the predicted class, of which this is the F1."""
    k: int | None = None
    """How many of the nearest it looks at: `k` of its task must have it."""


BITEXT_F1 = {
    f"f1@{k} {way}": Metric(f"{way}_f1_at_{k}", ("place", f"{way}_{k}"), f1="weighted", k=k)
    for way in ("forward", "backward")
    for k in (1, 5, 10)
}
NEIGHBOURS = {f"accuracy@{k}": Metric(f"accuracy_at_{k}", (f"correct_{k}",), k=k) for k in (1, 5, 10)} | {
    f"macro f1@{k}": Metric(f"macro_f1_at_{k}", ("gold", f"predicted_{k}"), f1="macro", k=k) for k in (1, 5, 10)
}
METRICS: dict[str, dict[str, Metric]] = {
    "sts": {"spearman": Metric("cosine_spearman", ("gold", "cosine"))},
    "bitext": {"accuracy": Metric("accuracy", ("forward", "backward")), **BITEXT_F1},
    "knn": NEIGHBOURS,
    "retrieval": {
        "ndcg@10": Metric("ndcg_at_10", ("ndcg_at_10",)),
        "recall@10": Metric("recall_at_10", ("recall_at_10",)),
    },
    "geometry": {
        "alignment": Metric("alignment", ("distance",), points=1),
        "uniformity": Metric("uniformity", points=1),
    },
    "icl": {
        "accuracy": Metric("accuracy", ("correct",)),
        "macro f1": Metric("macro_f1", ("gold", "predicted"), f1="macro"),
    },
    "classification": {"accuracy": Metric("accuracy", ("correct",))},
    OVERLAP: {
        "anchor-positive": Metric("", ("positive",)),
        "anchor-negative": Metric("", ("negative",)),
        "positive minus negative": Metric("", ("positive", "negative")),
    },
}
"""Protocol -> metric -> where it is in a score file; of overlap: which columns of triplets meet the anchor."""


def named(metric: str) -> str:
    """A metric at the beginning of a line: `Spearman`, `Macro F1`, but `nDCG@10`."""
    metric = metric.replace("f1", "F1")
    return {"ndcg@10": "nDCG@10"}.get(metric, metric[0].upper() + metric[1:])


Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9A-Fa-f]{6}$")]


class Spec(Settings):
    """Settings that a person writes as a YAML file."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read and check a spec.

        Raises:
            UserError: as `yamls.read`; an unknown key, protocol or metric, or a value of the wrong type.
        """
        try:
            return cls.model_validate(yamls.read(path))
        except ValidationError as error:
            raise UserError(explain(error, cls, where=str(path))) from None


class Column(Settings):
    """What is measured, one number for each language: encoders on tasks of one protocol, or the triplets themselves."""

    label: str
    """As printed."""
    protocol: Measured
    """Which tasks belong here; overlap: none, but the triplets in one language that a recipe's encoders learn from."""
    metric: str
    """Which number of theirs."""
    tasks: OnceEach[str] = ()
    """Only these tasks; left out, all of the protocol but those on request."""
    recipes: OnceEach[str] = ()
    """Only these of the table's recipes."""
    languages: OnceEach[str] = ()
    """Only these languages, in print order, those on request too; left out, the table's."""
    paper_task: str = ""
    """The paper's name of the task; left out, the paper does not have this column."""
    paper_languages: int | None = None
    """Over how many languages the paper's average is, where it prints nothing else; ours over others is no attempt."""
    paper_data: OnceEach[str] = ()
    """Part of the origin of the paper's own test data; a number on other data is marked so."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.metric not in (known := METRICS[self.protocol]):
            raise ValueError(
                f"no metric {self.metric!r} in protocol {self.protocol}; {suggest(self.metric, sorted(known))}"
            )
        return self


class Overall(Settings):
    """The mean of columns of a table, each an average over languages."""

    label: str
    """As printed."""
    columns: OnceEach[str] = ()
    """Their labels, or those of means before it; left out, all columns."""
    paper_task: str = ""
    """The paper's name of it; left out, the paper does not have it."""


class Paper(Settings):
    """Where the paper's own numbers are: a CSV of slug, backbone, language, task, metric, value, std and note."""

    csv: str
    """File of the folder of paper numbers."""
    slugs: dict[str, str] = {}
    """Recipe -> its slug there, where that is not the recipe's name."""
    backbones: dict[str, str] | None = None
    """Recipe -> what the column `backbone` says of it, where that is not the encoder; nothing for one left out."""
    skip_notes: OnceEach[str] = ()
    """Notes on print alone."""


class TableSpec(Spec):
    """A table: recipes x languages for each backbone and column, with the paper's numbers beside ours."""

    title: str
    """Heading."""
    caption: str
    """What a reader must know before the numbers."""
    group: str = ""
    """The paper that it belongs to: `all_{group}` makes it."""
    columns: Annotated[list[Column], Field(min_length=1)]
    """What is measured, in print order."""
    recipes: Annotated[dict[str, str], Field(min_length=1)]
    """Recipes in print order, with their printed names."""
    open: bool = False
    """The study's other recipes come last, but those that vary one."""
    baseline: str = ""
    """The recipe that differences are taken from; left out, the study's `statistics.baseline`."""
    backbones: OnceEach[str] = ()
    """Only these backbones, by the papers' names or the study's; left out, all but those on request."""
    classifiers: OnceEach[Literal["random", "majority", "fine-tuned"]] = ()
    """The study's classifiers of these kinds are rows too, in the columns of protocol knn."""
    languages: OnceEach[str] = ()
    """Languages in print order; others come after them."""
    only_languages: bool = False
    """No others."""
    over_backbones: bool = False
    """Add the average over backbones and languages."""
    over_columns: list[Overall] = []
    """Add means of columns, as columns of their own."""
    across: Literal["languages", "columns", "means"] = "languages"
    """What stands across a page; columns: their averages over languages, a row for each backbone and recipe; means: of
    those only the means of columns."""
    partial: bool = False
    """A column of a task that the study does not have is left out, and so is a recipe; a mean of columns is then of the
    others."""
    paper: Paper | None = None
    """Left out, no paper has this table."""

    @model_validator(mode="after")
    def _own_recipes(self) -> Self:
        for column in self.columns:
            for recipe in column.recipes:
                if recipe not in self.recipes:
                    near = suggest(recipe, sorted(self.recipes))
                    raise ValueError(f"columns.{column.label}.recipes: {recipe!r} is not the table's; {near}")
        return self

    @model_validator(mode="after")
    def _one_scale(self) -> Self:
        labels = {column.label: METRICS[column.protocol][column.metric].points for column in self.columns}
        columns = [*labels]
        for mean in self.over_columns:
            if unknown := sorted({*mean.columns} - {*labels}):
                near = suggest(unknown[0], sorted(labels))
                raise ValueError(f"over_columns.{mean.label}: no column {unknown[0]!r}; {near}")
            units = {labels[label] for label in mean.columns or columns}
            if len(units) > 1:
                raise ValueError(f"over_columns.{mean.label}: the columns are not in the same unit")
            labels[mean.label] = units.pop()
        return self

    @model_validator(mode="after")
    def _one_kind_of_system(self) -> Self:
        if len({column.protocol if column.protocol in LABELLING else "" for column in self.columns}) > 1:
            raise ValueError("columns: encoders and either kind of classifiers have tables of their own; divide them")
        return self

    @model_validator(mode="after")
    def _beside_encoders(self) -> Self:
        if self.classifiers and not any(column.protocol == "knn" for column in self.columns):
            raise ValueError("classifiers: they stand in columns of protocol knn, and there is none")
        if self.classifiers and self.over_backbones:
            raise ValueError("over_backbones: an average over backbones has no classifiers; leave one of both out")
        return self

    @property
    def printed(self) -> set[tuple[str, str]]:
        """Task and metric of columns and means by the paper's names; a mean's metric is that of its first column."""
        metrics = {column.label: column.metric for column in self.columns}
        for mean in self.over_columns:
            metrics[mean.label] = metrics[[*mean.columns, *metrics][0]]
        return {(each.paper_task, metrics[each.label]) for each in (*self.columns, *self.over_columns)}

    @property
    def of_classifiers(self) -> bool:
        """Whether it shows classifiers, not encoders."""
        return self.columns[0].protocol in LABELLING

    def ordered(self, languages: Iterable[str], reserved: Collection[str] = ()) -> list[str]:
        """Languages in print order; one that the spec lacks comes last, or not at all if it is reserved."""
        places = {language: place for place, language in enumerate(self.languages)}
        closed = set(languages) if self.only_languages else set(reserved)
        wanted = [language for language in languages if language in places or language not in closed]
        return sorted(wanted, key=lambda language: places.get(language, len(places)))


OWN = {
    "series": ("curve", "a curve needs them", "them"),
    "pairs": ("pairs", "a figure of pairs needs them", "them"),
    "panels": ("columns", "a figure of columns needs them", "them"),
    "by": ("groups", "a figure of groups needs it", "it"),
    "map": ("map", "a map needs it", "it"),
}
"""What figures of one kind alone have: key -> that kind, and how a person is told."""


class FigureSpec(Spec):
    """A figure of a table, or a map of texts."""

    kind: Literal["dots", "curve", "plane", "pairs", "columns", "groups", "map"] = "dots"
    """dots: a row for each recipe and language. curve: scores over a quantity. plane: one column against another.
    pairs: two columns on one line for each recipe and language. columns: averages over languages, columns being points
    of a line for each backbone. groups: means over the languages of a family or script. map: texts in the plane."""
    table: str = ""
    """Name of the table; a map has none."""
    group: str = ""
    """map: the paper that it belongs to: `all_{group}` makes it. Other figures belong to their table's."""
    backbones: OnceEach[str] = ()
    """Only these, by the study's names; `avg`: the average over backbones. Of a map by the papers' names too; left out,
    all that have embeddings. Those on request are on no map."""
    series: dict[str, dict[str, float]] = {}
    """curve: name of a line -> recipe -> its place on the x axis."""
    pairs: dict[str, dict[str, str]] = {}
    """pairs: title of a panel -> column -> what its dots are called; two columns a panel, the same names in each."""
    panels: dict[str, dict[str, float]] = {}
    """columns: title of a panel -> column -> its place on the x axis."""
    by: Literal["", "family", "script"] = ""
    """groups: what languages are grouped by, as the language registry has it."""
    map: TextMap | None = None
    """map: which texts, and how they are brought to the plane."""
    x_label: str = ""
    """curve, pairs, columns and groups: what the x axis is."""
    y_label: str = ""
    """columns: what the y axis is."""
    log_x: bool = False
    """curve: on a logarithmic axis."""
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

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        for key, (kind, needs, has) in OWN.items():
            if (self.kind == kind) != bool(getattr(self, key)):
                raise ValueError(f"{key}: {needs}, and no other figure has {has}")
        if self.group and self.kind != "map":
            raise ValueError("group: a map has one, and every other figure is of its table's")
        if (self.kind == "map") == bool(self.table):
            raise ValueError("table: a map has none, and every other figure is drawn from one")
        names = [tuple(sides.values()) for sides in self.pairs.values()]
        if any(len(sides) != 2 or sides != names[0] for sides in names):
            raise ValueError("pairs: a panel takes two columns, and their dots have the same two names in every panel")
        return self

    @field_validator("note")
    @classmethod
    def _fillable(cls, note: str) -> str:
        try:
            note.format(level="", alpha="", baseline="")
        except (KeyError, IndexError, ValueError):
            raise ValueError("only {level}, {alpha} and {baseline} may stand in braces") from None
        return note
