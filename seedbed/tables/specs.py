"""Specs of tables: validated contents of the YAML files of `seedbed.resources.specs`."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from seedbed import yamls
from seedbed.evaluation import protocols
from seedbed.evaluation.aggregation import MEAN
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.names import languages_of
from seedbed.settings import OnceEach, Settings, suggest, validated

OVERLAP = "overlap"
"""The protocol of columns that are measured on training triplets: Dice coefficients, without scores."""
OVERLAPS = {
    "anchor-positive": Metric("", ("positive",)),
    "anchor-negative": Metric("", ("negative",)),
    "positive minus negative": Metric("", ("positive", "negative"), MEAN),
}
"""Metrics of the protocol overlap: which columns of triplets are compared with the anchor."""
OF_TRIPLETS = Protocol(kind="triplets", asks=("vectors",))
"""The protocol overlap as it would be declared: for encoders of any kind."""


def metric_of(protocol: str, name: str) -> Metric | None:
    """A protocol's metric by its name in tables; None: it has no such metric."""
    return OVERLAPS.get(name) if protocol == OVERLAP else protocols.metric(protocol, name)


class Spec(Settings):
    """Base class of settings that are written as a YAML file."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read and validate a spec.

        Raises:
            UserError: the file cannot be read; an unknown key, protocol or metric; or a value of the wrong type.
        """
        content = yamls.read(path)
        return validated(cls.of(content), content, path)

    @classmethod
    def of(cls, content: Any) -> type[Self]:
        """The class for a file's content, if there are several."""
        return cls


class Column(Settings):
    """What is measured, one number for each language: encoders on tasks of one protocol, or the triplets themselves."""

    label: str
    """The label as printed."""
    group: str = ""
    """With `across: columns`, columns of one group have a separate grid, without the group's name at the ends of their
    labels."""
    protocol: Literal["overlap"] | protocols.Name
    """The tasks' protocol; overlap: no task, but the monolingual triplets that a recipe's encoders are trained on."""
    metric: str
    """The metric of these tasks."""
    tasks: OnceEach[str] = ()
    """Tasks of the column; default: all of the protocol without `on_request`."""
    recipes: OnceEach[str] = ()
    """Those of the table's recipes that the column shows; default: all."""
    languages: OnceEach[str] = ()
    """Languages of the column, in print order, also with `on_request`; default: the table's."""
    pairs: bool = False
    """Tests of two languages instead of those of one: a number for each pair, and the average over pairs."""
    paper_task: str = ""
    """The paper's name of the task; left out, the paper does not have this column."""
    paper_languages: int | None = None
    """Number of languages of the paper's average, if the paper prints only averages; an average of ours over another
    number of languages is not compared with it. 0: no average of ours is compared with it, because the paper's number
    is over the texts of all languages as one sample, or over languages that the paper does not name."""
    paper_data: OnceEach[str] = ()
    """Part of the origin of the paper's own test data; a number on other data is marked so."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.measured is None:
            known = OVERLAPS if self.protocol == OVERLAP else protocols.load(self.protocol).METRICS
            raise ValueError(
                f"no metric {self.metric!r} in protocol {self.protocol}; {suggest(self.metric, sorted(known))}"
            )
        if self.pairs and not self.declared.second:
            raise ValueError(f"pairs: protocol {self.protocol} has no tests of two languages; leave it out")
        return self

    @property
    def measured(self) -> Metric | None:
        """The metric, as its protocol declares it; None: no such metric."""
        return metric_of(self.protocol, self.metric)

    @property
    def declared(self) -> Protocol:
        """What its protocol declares."""
        return OF_TRIPLETS if self.protocol == OVERLAP else protocols.declared(self.protocol)

    @property
    def labelled(self) -> bool:
        """Whether it can show classifiers; not those of encoders that are fine-tuned for it."""
        return "labels" in self.declared.asks and not self.declared.tunes

    def of_task(self, task: str) -> Self:
        """The column of one of its tasks by itself."""
        return self.model_copy(update={"label": f"{self.label} ({task})"})

    @property
    def answered_by(self) -> str:
        """Empty for columns of encoders or triplets; else the protocol, which only classifiers answer."""
        return "" if self.declared.of_encoders else self.protocol


class Overall(Settings):
    """The mean of columns of a table, each an average over languages; or the mean over the languages of all of them."""

    label: str
    """The label as printed."""
    columns: OnceEach[str] = ()
    """Labels of the columns, or of means before this one; left out, all columns."""
    over: Literal["columns", "languages"] = "columns"
    """What counts alike: columns, or languages, so that a column counts as often as it has languages or pairs."""
    paper_task: str = ""
    """The paper's name of it; left out, the paper does not have it."""
    paper_languages: int | None = None
    """Number of languages, or pairs, of its columns together in the paper; a mean of ours over another number is not
    compared with the paper's. Left out: the columns say so."""

    def as_column(self, first: Column) -> Column:
        """The mean as a column, which has the metric of the first of its columns."""
        return first.model_copy(update={"label": self.label, "paper_task": self.paper_task})


class Paper(Settings):
    """Where the paper's own numbers are: a CSV of slug, backbone, language, task, metric, value, std and note."""

    csv: str
    """File of the folder of paper numbers."""
    slugs: dict[str, str] = {}
    """Recipe -> its slug there, where that is not the recipe's name."""
    backbones: dict[str, str] | None = None
    """Recipe -> its cell in the column `backbone`, empty for recipes left out; default: the backbone's name in the
    paper."""
    skip_notes: OnceEach[str] = ()
    """Notes that are not shown, because they are only about the print."""


class TableSpec(Spec):
    """A table: recipes x languages for each backbone and column, with the paper's numbers next to ours."""

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
    """Show the study's other recipes last, without those with `on_request`."""
    baseline: str = ""
    """The recipe that differences are taken from; left out, the study's `statistics.baseline`."""
    compare: list[tuple[str, str]] = []
    """Pairs of recipes, or of kinds of classifiers, that are tested against each other in addition to the baseline:
    `[composition, crosslingual]`. Their differences are in `tables/{table}.compared.csv`."""
    baseline_backbone: str = ""
    """The backbone, by the papers' name or the study's, from whose baseline the differences of other backbones'
    baselines are taken, and of classifiers in the same table; left out, the study's `statistics.baseline_backbone`."""
    backbones: OnceEach[str] = ()
    """Backbones of the table, by the papers' names or the study's; default: all without `on_request`."""
    classifiers: OnceEach[str] | dict[str, str] = ()
    """The study's classifiers of these kinds are rows too, in the columns of protocol knn and in those that classifiers
    alone answer: random, majority, fine-tuned; or zero-shot, source or another variant of a language model. Kind ->
    printed name where a classifier has several, else the classifier's name is printed."""
    baseline_classifier: str = ""
    """The kind of classifier, in a table of encoders, that differences of a classifier's other kinds are taken from."""
    languages: OnceEach[str] = ()
    """Languages in print order; others come after them."""
    only_languages: bool = False
    """Show only the languages in `languages`."""
    over_backbones: bool = False
    """Add the average over backbones and languages."""
    over_columns: list[Overall] = []
    """Add means of columns, as columns of their own."""
    across: Literal["languages", "columns", "means"] = "languages"
    """What a table has across the page. columns: their averages over languages, a row for each backbone and recipe;
    means: of those only the means of columns."""
    partial: bool = False
    """A column of a task that the study does not have is left out, and so are a recipe, and a metric that no encoder of
    a backbone has (a layer above its last); a mean of columns is then of the others."""
    paper: Paper | None = None
    """The paper's numbers; left out, no paper has this table."""
    absent: dict[str, str] = {}
    """A column, a group of columns or a row that its shipped study does not make -> why; printed below the caption
    where it is not there. A row by the paper's name, or as it would be printed: backbone, recipe, or both."""

    @model_validator(mode="after")
    def _own_recipes(self) -> Self:
        for column in self.columns:
            if other := [recipe for recipe in column.recipes if recipe not in self.recipes]:
                near = suggest(other[0], sorted(self.recipes))
                raise ValueError(f"columns.{column.label}.recipes: {other[0]!r} is not the table's; {near}")
        return self

    @model_validator(mode="after")
    def _compares_its_own(self) -> Self:
        for pair in self.compare:
            known = (
                self.classifiers if {*pair} & {*self.classifiers} and not {*pair} <= {*self.recipes} else self.recipes
            )
            if other := [recipe for recipe in pair if recipe not in known]:
                raise ValueError(f"compare: {other[0]!r} is not the table's; {suggest(other[0], sorted(known))}")
            if pair[0] == pair[1] or self.compare.count(pair) + self.compare.count(pair[::-1]) > 1:
                raise ValueError(f"compare: {', '.join(pair)}: give two recipes, and each pair once")
        return self

    @model_validator(mode="after")
    def _one_scale(self) -> Self:
        labels = {column.label: (column.measured.points, column.declared.tunes) for column in self.columns}
        columns = [*labels]
        for mean in self.over_columns:
            if unknown := sorted({*mean.columns} - {*labels}):
                near = suggest(unknown[0], sorted(labels))
                raise ValueError(f"over_columns.{mean.label}: no column {unknown[0]!r}; {near}")
            units = {labels[label] for label in mean.columns or columns}
            if len(units) > 1:
                raise ValueError(
                    f"over_columns.{mean.label}: the columns are not in the same unit, or encoders are fine-tuned, "
                    "with seeds of their own, for some of them alone"
                )
            labels[mean.label] = units.pop()
        return self

    @model_validator(mode="after")
    def _one_kind_of_system(self) -> Self:
        kinds = {column.answered_by for column in self.columns}
        if len(kinds) > 1 and not ("" in kinds and self.classifiers):
            raise ValueError(
                "columns: encoders and either kind of classifiers need separate tables; divide them, or name the "
                "classifiers that appear with encoders in `classifiers`"
            )
        if self.classifiers and not any(column.labelled for column in self.columns):
            raise ValueError("classifiers: they need a column of protocol knn, or of classifiers, and there is none")
        if self.baseline_classifier and self.baseline_classifier not in self.classifiers:
            near = suggest(self.baseline_classifier, sorted(self.classifiers))
            raise ValueError(f"baseline_classifier: {self.baseline_classifier!r} is none of `classifiers`; {near}")
        if self.classifiers and self.over_backbones:
            raise ValueError("over_backbones: an average over backbones has no classifiers; leave one of both out")
        return self

    @property
    def columns_and_means(self) -> dict[str, Column]:
        """Label -> column, or mean of columns."""
        found = {column.label: column for column in self.columns}
        for mean in self.over_columns:
            found[mean.label] = mean.as_column(found[[*mean.columns, *found][0]])
        return found

    def column_of(self, label: str) -> Column:
        """The column, or mean of columns, that a label in the table is of; it may be one of its tasks by itself."""
        known = self.columns_and_means
        whole = max((name for name in known if label.startswith(name + " (")), key=len, default="")
        return known[label if label in known else whole]

    @property
    def printed(self) -> set[tuple[str, str]]:
        """The paper's names of task and metric of all columns and means."""
        return {(each.paper_task, each.metric) for each in self.columns_and_means.values()}

    def classifier_name(self, kind: str, name: str) -> str:
        """The label of a classifier's row."""
        return self.classifiers[kind] if isinstance(self.classifiers, dict) else name

    @property
    def of_classifiers(self) -> bool:
        """Whether it shows classifiers instead of encoders."""
        return all(column.answered_by for column in self.columns)

    def ordered(self, languages: Iterable[str], reserved: Collection[str] = ()) -> list[str]:
        """Languages in print order: those that the spec lists, then the others.

        Others are left out if the spec has `only_languages`, or if they are reserved. A pair is listed by its own name,
        or by both its languages; then it comes after what is listed by its own name.
        """
        closed, named = set(languages) if self.only_languages else set(reserved), {*self.languages}
        others = [
            language
            for language in languages
            if language not in named and (language not in closed or {*languages_of(language)} <= named)
        ]
        return [language for language in self.languages if language in languages] + others
