"""A table of a user: what it must be, and what a study makes of it."""

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from seedbed.blocks import concatenate
from seedbed.corpora.read.columns import in_buckets
from seedbed.corpora.settings import Cleaning, Source
from seedbed.corpora.shape.clean import comparable
from seedbed.init import table_files
from seedbed.init.entries import PAIRS, Parts, not_taken, on_pairs
from seedbed.init.own_text import LINES, SHARE, Guess, english_share, pieces, require_language
from seedbed.init.table_files import COLUMNS, HALVED_BY, HALVES, OWN
from seedbed.init.test_sets import texts_here
from seedbed.io import UserError

ENGLISH = Guess("eng", "English", "Latn", "as of all translations unless a study says otherwise")
"""The language of translations."""
ENOUGH = 100
"""Translations of the development set, and of the test set, if there are three times this number or more."""
TESTED = 20
"""Pairs below which the halves of a test say nothing."""
APART = ", but for those with a sentence of a test set"
"""What of translations trains: a text that trains may be in a test set, too."""
OWN_PAIRS = "Contrast of pairs of sentences that belong together, each without 30 % of its tokens."
TRANSLATED = "Contrast of sentences and their translations, each without 30 % of its tokens."
OWN_TRIPLETS = "Contrast of each sentence with one that is alike and one that is unlike."
DISTILLED = "Sentences and their translations get the vector that the encoder before training gives the translation."
"""What cards say of the recipes that train on a user's tables."""
BITEXT_LIMITS = (
    "Translations say which encoder finds the same sentence in another language. For similarity within the language "
    "graded pairs say more: seedbed add pairs.tsv --test."
)


@dataclass(frozen=True)
class OwnTable:
    """A table of a user, and what a study makes of it: training data, or test sets."""

    kind: str
    """One of COLUMNS."""
    file: Path
    language: Guess
    teacher: str
    """The backbone that `distilled` learns from, by recipe `base`; empty: there is no `distilled`."""
    tested: bool
    """Whether there is another test set, so that all translations are training data."""
    pivot: Guess = ENGLISH
    """The language that translations are in."""
    cleaning: Cleaning = field(default_factory=Cleaning)
    taken: Container[str] = ()
    """Names that are used in the study."""

    @cached_property
    def rows(self) -> pd.DataFrame:
        """All rows as they are in the file; raises as `table_files.read`."""
        return table_files.read(self.file, COLUMNS[self.kind])

    # ---- What it must be.

    def require(self, texts: list[str]) -> None:
        """Check its languages and, for a test set, its number of rows; `texts` are sentences of its language.

        Raises:
            UserError: it cannot be read, lacks a column, has cells without text, is in another language, or too short
                to test by.
        """
        count = len(self.rows)
        if count < TESTED:  # too few to be classified
            if self.kind == "test" or (self.kind == "parallel" and not self.tested):
                raise self._too_few(count)
            if count < 2:
                raise UserError(
                    f"{self.file}: {count} rows; two are the least that a training takes, and some hundred help"
                )
            return
        for column in COLUMNS[self.kind]:
            where, own = f"{self.file}: column {column}", pieces(self.rows[column])
            if len(own) < TESTED:
                first = min(count, LINES)
                raise UserError(
                    f"{where}: {len(own)} of the first {first} cells have text (an object has none, nor has a list of "
                    f"lists); expected {TESTED} or more"
                )
            if column not in OWN[self.kind]:
                continue
            require_language(where, own, self.language)
            if self.language.sure or self.language.code == "eng":
                continue
            if (share := english_share(texts, own)) > SHARE:
                raise UserError(f"{where}: {share:.0%} reads like English; expected {self.language.name}")
        if self.kind == "parallel":
            self._require_pivot()
        if self.kind in ("pairs", "triplets"):
            self._require_unlike()

    def _require_unlike(self) -> None:
        """Require that the sentences of most pairs or triplets are different ones."""
        cells = self.rows[COLUMNS[self.kind]].fillna("").map(comparable)
        for one, other, right in (
            ("positive", "negative", "a negative that means something else"),
            ("anchor", "positive", "a positive that says the same in other words"),
            ("anchor", "negative", "a negative that means something else"),
        ):
            if other not in cells:
                continue
            table_files.require_unlike(self.file, cells[one] == cells[other], f"the {other} is the {one}", right)

    def _require_pivot(self) -> None:
        """Require that translations are in the pivot language, and not the texts again."""
        where, own = f"{self.file}: column pivot", pieces(self.rows["pivot"])
        texts, pivots = (self.rows[column].fillna("").map(comparable) for column in ("text", "pivot"))
        share = float((texts == pivots).mean())
        if share > 1 / 2 and self.pivot.code != self.language.code:
            raise UserError(f"{where}: {share:.0%} of its cells are the texts themselves; expected {self.pivot.name}")
        require_language(where, own, self.pivot._replace(sure=self.language.sure))

    def _too_few(self, pairs: int) -> UserError:
        return UserError(
            f"{self.file}: {pairs} pairs; at least {TESTED} are needed, of which half choose the best encoder and half "
            "say how good it is"
        )

    # ---- What it gives.

    def parts(self) -> Parts:
        """Its entries of a study.

        Raises:
            UserError: its graded pairs cannot be a test set, or no translation is kept.
        """
        if self.kind == "pairs":
            name = self._free("own-pairs")
            return Parts(others={name: self._matched(*COLUMNS["pairs"])}, recipes={name: on_pairs(name, OWN_PAIRS)})
        if self.kind == "triplets":
            name = self._free("own-triplets")
            recipe = {"summary": OWN_TRIPLETS, "data": {"corpus": name}, "objective": "contrast"}
            return Parts(others={name: {"kind": "triplets", "file": str(self.file)}}, recipes={name: recipe})
        return self._graded() if self.kind == "test" else self._translations()

    def _graded(self) -> Parts:
        """Graded pairs: one half chooses, the other reports."""
        halves = table_files.halves_of(self.file, self.rows)
        low, high = table_files.scale_of(pd.concat(half["score"] for half in halves))
        chosen, told = map(len, halves)
        said = f"Scores of the test set are from {low:g} to {high:g}; {chosen} of its pairs choose, {told} report."
        return self._tests("own-sts", {"protocol": "sts", "scale": [low, high]}, HALVES, said, by=HALVED_BY)

    def _translations(self) -> Parts:
        """Translations: a hundred choose, a hundred report and the others train; of fewer than three hundred, halves
        choose and report.
        """
        source = Source(file=str(self.file))
        kept = concatenate(texts_here(source, "parallel", self.cleaning))
        parts, rest, many = Parts(), {}, len(kept) >= 3 * ENOUGH
        if not self.tested:
            if len(kept) < TESTED:
                raise self._too_few(len(kept))
            share = min(33, math.ceil(100 * ENOUGH / len(kept)))
            parted = [(0, share), (share, 2 * share), (2 * share, 100)] if many else HALVES
            tested = [source.updated({"buckets": rows}) for rows in parted[:2]]
            choose, report = (len(concatenate(texts_here(one, "parallel", self.cleaning))) for one in tested)
            train = len(in_buckets(kept, Source(file="-", buckets=parted[-1])))
            said = f"There is no test set, so translations are: of {len(kept)}, {choose} choose, {report} report, and "
            said += f"{train} train{APART}." if many else f"none train: for that {3 * ENOUGH} are needed."
            # Cleaned: a sentence that is there twice has two right answers, of which one counts.
            parts.add(self._tests("own-bitext", {"protocol": "bitext", "clean": True}, parted[:2], said))
            parts.best["limits"] = BITEXT_LIMITS
            rest = {"buckets": [*parted[2]]} if many else {}
        if lost := len(self.rows) - len(kept):
            parts.said.append(
                f"{lost} of {len(self.rows)} translations are left out: blank, repeated, or outside `cleaning`."
            )
        if self.tested or many:
            name = self._free("translations")
            # The pivot column comes first: buckets hash it, so that test translations are not trained on.
            parts.others[name] = self._matched("pivot", "text") | rest
            parts.said += [f"Its {len(kept)} translations train{APART}."] if self.tested else []
            parts.recipes[name] = on_pairs(name, TRANSLATED)
            if self.teacher and not any(one in self.taken for one in ("distilled", "parallel")):
                parts.corpora["parallel"] = {"file": str(self.file)} | rest
                learns = {"teacher": {"backbone": self.teacher, "recipe": "base"}}  # it reads the pivot's side
                parts.recipes["distilled"] = {
                    "summary": DISTILLED, "data": {"corpus": "parallel"}, "objective": {"distillation": learns}
                }  # fmt: skip
        return parts

    def _tests(
        self, name: str, task: dict[str, Any], halves: Sequence[tuple[int, int]], said: str, *, by: str = ""
    ) -> Parts:
        """Tasks of the rows that choose, and of those that report, divided by the hash of column `by`; empty: of
        `pivot`.
        """
        name, split = self._free(name), {"buckets_by": by} if by else {}
        tasks = {
            f"{name}-{half}": task
            | {"source": {"file": str(self.file), "buckets": [*rows]} | split, "languages": [self.language.code]}
            for half, rows in zip(("dev", "test"), halves, strict=True)
        }
        return Parts(tasks=tasks, best={"dev": f"{name}-dev", "test": f"{name}-test"}, said=[said])

    def _matched(self, one: str, other: str) -> dict[str, Any]:
        """A corpus of pairs of two of its columns; without ids rows are numbered."""
        known = {"id": "id"} if "id" in self.rows.columns else {}
        return PAIRS | {"file": str(self.file), "columns": known | {"sentence1": one, "sentence2": other}}

    def _free(self, name: str) -> str:
        return not_taken(name, self.taken)
