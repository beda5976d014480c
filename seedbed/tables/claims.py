"""Claims of the papers that tables can test: the paper's numbers, ours from a study, and a verdict."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import pandas as pd
from pydantic import Field, model_validator

from seedbed import markdown
from seedbed.resources import resource, spec_file
from seedbed.settings import OnceEach, Settings
from seedbed.tables.cells import difference, interval, significant
from seedbed.tables.measures import OTHER_DATA
from seedbed.tables.published import AVERAGE, KEY, NAME, Published
from seedbed.tables.specs import Spec, TableSpec
from seedbed.tables.tabulate import NOT_REPRODUCED, NOT_RUN, REPRODUCED

CANNOT, UNDECIDED = "cannot be run", "undecided"
FILE = resource("claims.yaml")
DIFFERENCES = ["difference", "difference_low", "difference_high"]
TESTED = ["recipe", "baseline", *DIFFERENCES, "backbone", "column", "language", "p_adjusted", "level"]
TURNED = ["baseline", "recipe", "difference", "difference_high", "difference_low", *TESTED[5:]]
"""Columns of a tested difference, and what they are for the second number less the first."""
FEW = 4
"""Maximum number of comparisons in a cell of the page."""
STATED = {
    "n": re.compile(r"\bn \d").search,
    "seeds": re.compile(r"\bseeds?\b").search,
    "an interval": re.compile(r"\[[^]]+, [^]]+\]").search,
}
"""What the numbers of a study must have for a verdict."""


class Side(Settings):
    """One of two numbers that are compared."""

    recipe: str
    """A recipe of the table, or a kind of classifier."""
    backbone: str = ""
    """By the paper's name; left out, each backbone that has both rows."""
    column: str = ""
    """Label of its column, where both sides have another; left out, each of the claim's columns."""


class Ours(Settings):
    """The result of a study of this project for a claim."""

    study: str
    """Its file."""
    page: str
    """The page that reports it."""
    numbers: str
    """The study's numbers; with n, seeds and interval, unless the verdict is undecided."""
    verdict: Literal["reproduced", "not reproduced", "undecided"]
    """At this study's scale; undecided: nothing was tested, or the two are not significantly different."""

    @model_validator(mode="after")
    def _decided_by_numbers(self) -> Self:
        if self.verdict != "undecided" and (
            lacking := [name for name, form in STATED.items() if not form(self.numbers)]
        ):
            raise ValueError(f"numbers: {self.verdict} without {' and '.join(lacking)}; state them, or it is undecided")
        return self


class Claim(Settings):
    """One number of a table is better than another."""

    claim: str
    """The claim in a sentence."""
    where: str
    """The place in the paper, such as its section or table."""
    table: str
    """A table's name."""
    columns: Annotated[OnceEach[str], Field(min_length=1)] = ("",)
    """Labels of the table's columns, or of means of them; left out, each side has its own."""
    better: Side
    than: Side
    lower: bool = False
    """The better number is the lower one."""
    languages: OnceEach[str] = (AVERAGE,)
    """Languages of the paper's numbers; `avg`: their average."""
    cannot: str = ""
    """Why the comparison cannot be run; left out, a cluster can run it."""
    ours: list[Ours] = []

    @model_validator(mode="after")
    def _of_the_table(self) -> Self:
        spec = self.spec
        for side in (self.better, self.than):
            for label in (side.column or column for column in self.columns):
                if label not in spec.columns_and_means:
                    raise ValueError(f"columns: table {self.table} has no {label!r}")
            if side.recipe not in {*spec.recipes, *spec.classifiers}:
                raise ValueError(f"{side.recipe}: no row of table {self.table}")
        pair = self.better.recipe, self.than.recipe
        baselines, pairs = {spec.baseline, spec.baseline_classifier}, {pair, pair[::-1]}
        if self.of_one_encoder and not baselines & {*pair} and not pairs & {*spec.compare}:
            raise ValueError(f"compare: table {self.table} does not compare {' and '.join(pair)}; add them there")
        return self

    @cached_property
    def spec(self) -> TableSpec:
        """The table that tests the claim."""
        return TableSpec.load(spec_file("tables", self.table))

    @property
    def of_one_encoder(self) -> bool:
        """Whether both sides are of one backbone in one column, so that its table tests them."""
        return self.better.recipe != self.than.recipe and not (
            self.better.backbone or self.better.column or self.than.backbone or self.than.column
        )

    def holds(self, better: float, than: float) -> bool:
        """Whether the number `better` is higher than the number `than`, or lower if the claim has `lower`."""
        return better < than if self.lower else better > than


class Claims(Spec):
    """The claims of each paper, in FILE."""

    papers: dict[str, list[Claim]]
    """Title of a paper -> its claims."""

    @property
    def tables(self) -> set[str]:
        """The tables that test the claims."""
        return {claim.table for own in self.papers.values() for claim in own}


class Compared(NamedTuple):
    """Two numbers of a paper that a claim compares."""

    what: str
    better: float
    than: float

    @property
    def text(self) -> str:
        """The comparison, such as `72.3 > 70.4 (XLM-R)`."""
        sign = ">" if self.better > self.than else "=" if self.better == self.than else "<"
        return f"{self.better:.1f} {sign} {self.than:.1f}{f' ({self.what})' if self.what else ''}"


def printed(claim: Claim) -> list[Compared]:
    """The paper's numbers of both rows, for every column, backbone and language that has both."""
    spec = claim.spec
    published, columns = Published(spec.paper, resource("paper")), spec.columns_and_means
    backbones = list(dict.fromkeys(key[1] for key in published.cells))
    several = len({*backbones} - {AVERAGE}) > 1
    found = []
    for label in claim.columns:
        for backbone in [""] if claim.better.backbone else backbones:
            for language in claim.languages:
                sides = [
                    published.cell(columns[side.column or label], side.recipe, side.backbone or backbone, language)
                    for side in (claim.better, claim.than)
                ]
                if all(sides):
                    names = [label if len(claim.columns) > 1 else "", backbone if several else ""]
                    names.append(language if len(claim.languages) > 1 else "")
                    found.append(Compared(", ".join(filter(None, names)), *(side.value for side in sides)))
    return found


def held_by_its_paper(claim: Claim) -> str:
    """In how many of the paper's own comparisons a claim holds, such as `in 3 of 4`; empty: in all."""
    found = printed(claim)
    held = sum(claim.holds(one.better, one.than) for one in found)
    return "" if held == len(found) else f"in {held} of {len(found)}"


# ------------------------------------------------------------------------------------------------------- the page


def page(claims: Claims) -> str:
    """All claims in Markdown, a table for each paper, with the results of this project's studies."""
    parts = []
    for paper, own in claims.papers.items():
        rows = [[_claim(one), _printed(one), _here(one), _verdict(one)] for one in own]
        parts += [f"## {paper}", markdown.table(["Claim", "The paper's numbers", "Here", "Verdict"], rows)]
    return "\n\n".join(parts) + "\n"


def _claim(claim: Claim) -> str:
    """The claim, where it is, and the table that tests it, by the paper's number."""
    tested = claim.spec.title.partition(":")[0].rpartition(", ")[2].lower()
    return f"{claim.claim} ({', '.join(dict.fromkeys([claim.where, tested]))})"


def _printed(claim: Claim) -> str:
    if not (found := printed(claim)):
        return "a figure without numbers"
    told = _few([one.text for one in found])
    held = held_by_its_paper(claim)
    return f"{told} (holds {held})" if held else told


def _here(claim: Claim) -> str:
    told = [f"{one.numbers} ([{Path(one.study).name}]({Path(one.page).relative_to('docs')}))" for one in claim.ours]
    return "; ".join(told) or "-"


def _verdict(claim: Claim) -> str:
    small = list(dict.fromkeys(one.verdict for one in claim.ours))
    return "; ".join([_verdict_without_study(claim), *(f"in a small study: {one}" for one in small)])


def _verdict_without_study(claim: Claim) -> str:
    """The verdict of a claim that nobody tried, or can."""
    return f"{CANNOT}: {claim.cannot}" if claim.cannot else NOT_RUN


def _few(comparisons: Sequence[str]) -> str:
    return "; ".join(comparisons[:FEW]) + ("; ..." if len(comparisons) > FEW else "")


# ------------------------------------------------------------------------------------------------------ of a study


def of_study(claims: Claims, tables: Mapping[str, pd.DataFrame], compared: Mapping[str, pd.DataFrame]) -> str:
    """The papers' claims with a study's results, as a table in Markdown; empty if the study tests none.

    It has all claims of each paper of which the study tests one, on the paper's data and encoders.

    Args:
        tables: name -> the table as `tabulate.read` returns it.
        compared: name -> the differences of its pairs, likewise.
    """
    tests = {name: _tests(table, compared.get(name)) for name, table in tables.items()}
    rows = []
    for own in claims.papers.values():
        tried = [
            [*_comparisons(claim, tables[claim.table], tests[claim.table])] if claim.table in tables else []
            for claim in own
        ]
        if any(tried):
            rows += [[_claim(one), _printed(one), *_judged(one, found)] for one, found in zip(own, tried, strict=True)]
    return markdown.table(["Claim", "The paper's numbers", "Of this study", "Verdict"], rows) if rows else ""


def _judged(claim: Claim, found: list[tuple[str, bool | None]]) -> tuple[str, str]:
    """A study's comparisons, those in which a claim fails first, then those that decide nothing, and the verdict.

    Reproduced: it holds in all. Not reproduced: in one the other side is significantly better. Else undecided.
    """
    if not found:
        return "-", _verdict_without_study(claim)
    answers = [better for _, better in found]
    order = {False: 0, None: 1, True: 2}
    told = _few([text for text, _ in sorted(found, key=lambda one: order[one[1]])])
    if (held := answers.count(True)) < len(found) > 1:
        told += f" (holds in {held} of {len(found)})"
    if False in answers:
        return told, NOT_REPRODUCED
    return told, REPRODUCED if all(answers) else UNDECIDED


def _comparisons(claim: Claim, table: pd.DataFrame, tests: pd.DataFrame) -> Iterator[tuple[str, bool | None]]:
    """Each comparison that a table has of a claim, with the answer of `_better`; `tests`: see `_tests`."""
    if claim.cannot:
        return
    comparable = table["paper"].notna() & ~table["paper_note"].str.contains(OTHER_DATA, regex=False)
    mine = table[table["language"].isin(claim.languages) & comparable]
    for language, rows in mine.groupby("language", sort=False):
        for label in claim.columns:
            better, than = (_side(rows, side, label) for side in (claim.better, claim.than))
            for backbone in sorted({*better} & {*than}):
                one, other = better[backbone], than[backbone]
                names = ", ".join(filter(None, (label if len(claim.columns) > 1 else "", backbone, language)))
                decimals = claim.spec.columns_and_means[label or claim.better.column].measured.decimals
                test = _test(tests, one, other)
                told = f"{_number(one, decimals)} against {_number(other, decimals)} ({names})"
                told += "" if test is None else f": {difference(test, decimals)}"
                yield told, _better(claim, one, other, test)


def _side(rows: pd.DataFrame, side: Side, label: str) -> dict[str, pd.Series]:
    """Backbone, by the paper's name -> the row of one side; one that the claim names has an empty name here."""
    own = rows[(rows["recipe"] == side.recipe) & (rows["column"] == (side.column or label))]
    named = {_paper_backbone(row): row for _, row in own.iterrows()}
    if not side.backbone:
        return named
    return {"": named[side.backbone]} if side.backbone in named else {}


def _paper_backbone(row: pd.Series) -> str:
    """A row's backbone by the paper's name; by the study's where its number is a mean of several cells of the paper."""
    return row["paper_cell"].split(NAME)[KEY.index("backbone")] if row["paper_cell"] else row["backbone"]


def _number(row: pd.Series, decimals: int) -> str:
    within = "" if pd.isna(row["low"]) else f" {interval(row, decimals)}"
    return f"{row['value']:z.{decimals}f}{within}, n {row['n']:.0f}, seeds {row['seeds']:.0f}"


def _tests(table: pd.DataFrame, pairs: pd.DataFrame | None) -> pd.DataFrame:
    """The tested differences of a table, each in both directions.

    Args:
        table: the table, whose rows are compared with its baseline.
        pairs: the differences of its pairs; None: there are none.
    """
    rows = pd.concat([frame[TESTED].dropna(subset="p_adjusted") for frame in (table, pairs) if frame is not None])
    turned = rows.set_axis(TURNED, axis=1)
    turned[DIFFERENCES] *= -1
    return pd.concat([rows, turned])


def _test(tests: pd.DataFrame, one: pd.Series, other: pd.Series) -> dict[str, float] | None:
    """The difference of one number of a table less another, as the table tested it; None: it did not."""
    if one["backbone"] != other["backbone"] or one["column"] != other["column"]:
        return None
    wanted = {name: one[name] for name in ("backbone", "column", "language", "recipe")} | {"baseline": other["recipe"]}
    same = tests[(tests[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    return same.iloc[0].to_dict() if len(same) else None


def _better(claim: Claim, one: pd.Series, other: pd.Series, test: dict[str, float] | None) -> bool | None:
    """Whether a number is significantly better, by the table's test, else by both intervals; False: the other one is;
    None: neither.

    The interval of the difference follows from those of both (Zou and Donner 2008) as if they had no items in common.
    """
    if test is not None:
        return claim.holds(test["difference"], 0) if significant(test) else None
    upper, lower = (one, other) if one["value"] > other["value"] else (other, one)
    uncertain = math.hypot(upper["value"] - upper["low"], lower["high"] - lower["value"])
    apart = upper["value"] - lower["value"] > uncertain  # not where a bound is NaN
    return claim.holds(one["value"], other["value"]) if apart else None
