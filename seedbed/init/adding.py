"""Add pairs, triplets, translations, graded pairs or text to an existing study; its entries do not change."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.init import beginning
from seedbed.init.beginning import ADJACENT_WHY, BARE_WHY, GIVEN_WHY, NEXT_LINE_LIMITS
from seedbed.init.entries import PAIRS, Parts, not_taken, on_pairs, without_kind
from seedbed.init.own_table import BITEXT_LIMITS, OwnTable
from seedbed.init.own_text import Guess, language_of, sentences
from seedbed.init.table_files import COLUMNS
from seedbed.init.test_sets import TestSet, count_repeating, tests_of, texts_here
from seedbed.init.yaml_text import Keys
from seedbed.io import UserError
from seedbed.study.model import Study

KINDS = (*COLUMNS, "text")
"""What can be added."""
MOST_LEFT_OUT = 0.1
"""Share of a new test set above which what repeats it is left out of training instead."""


def entries(
    study: Study, config: Mapping[str, Any], file: Path, kind: str, code: str, *, sure: bool
) -> tuple[list[tuple[Keys, Any]], list[str]]:
    """The configuration entries that a file adds, by the path of keys of each, and messages about them.

    Args:
        config: the study's configuration, as text.
        kind: one of KINDS.
        code: the language of the file, one of the study's.
        sure: True if the language is certain and is not checked.

    Raises:
        UserError: the file is in the study already, or is one that `seedbed init` refuses.
    """
    if os.path.realpath(file) in map(os.path.realpath, _files(config)):  # resolve() fails at links in a circle
        raise UserError(f"{file}: is in the study already; give another file, or change its entry by hand")
    facts, corpus = study.facts(code), study.corpus("text", code)
    language = Guess(code, facts["name"], facts["script"], "as the study says", sure)
    taken = {*study.corpora.others, *study.recipes, *study.tasks, *({"parallel"} if study.corpora.parallel else ())}
    taken |= {name.rpartition("-")[0] for name in study.tasks}
    if kind == "text":
        parts = _more_text(_others(study, config, code), file, language, taken)
    else:
        texts = sentences(Path(corpus.file)) if corpus and corpus.file else []
        pivot = study.facts(study.pivot)
        into = Guess(study.pivot, pivot["name"], pivot["script"], "as the study says")
        table = OwnTable(
            kind, file, language, _teacher(study), tested=False, pivot=into, cleaning=study.cleaning, taken=taken
        )
        table.require(texts)
        parts = table.parts()
        if kind in ("pairs", "triplets") and (config.get("best") or {}).get("why") == BARE_WHY:
            parts.best = {"recipe": next(iter(parts.recipes)), "why": GIVEN_WHY}
        if parts.tasks and study.best and (study.best.dev or (study.best.recipe and len(study.languages) > 1)):
            _report_alone(parts)
        if parts.others:
            seen = beginning.texts_of([*_tests_here(study), *tests_of(parts.tasks)], study.cleaning)
            beginning.leave_out_tested(parts, seen, facts, study.cleaning)
            if not (parts.recipes or parts.tasks):
                raise UserError(f"{file}: of all its rows but one at most, a test set has a sentence; give others")
            if kind == "parallel" and "bootstrap" not in study.recipes:
                parts.add(beginning.of_both(_others(study, config, code) | parts.others, seen, facts, study.cleaning))
    if len(study.languages) > 1:
        _for_one_language(parts, code, taken)
    trained = _trained(study)
    if parts.tasks and trained and Path(study.results, "encoders").is_dir():
        parts.said.append(_keep_apart(study, code, trained, parts))
    recipes = beginning.prefixed(parts.recipes, _prefix(study, config))
    sections = {("corpora",): parts.corpora, ("corpora", "others"): parts.others}
    sections |= {("recipes",): recipes, ("tasks",): parts.tasks}
    found: list[tuple[Keys, Any]] = [
        ((*keys, name), value) for keys, new in sections.items() for name, value in new.items()
    ]
    best, said = _best(config.get("best") or {}, parts)
    found += [(("best",), best)] if best else []
    # Without a test set a new study has no table.
    found += [(("tables",), ["table1"])] if best.get("dev") and config.get("tables") == [] else []
    return found, [*parts.said, *said]


def _others(study: Study, config: Mapping[str, Any], code: str) -> dict[str, Any]:
    """The corpora under `others` that a language has, as they are written: its own, and those that are not only trained
    on for other languages."""
    written, own = (config.get("corpora") or {}).get("others") or {}, config["languages"][code] or {}
    learn: dict[str, list[bool]] = {}
    for recipe in study.recipes.values():
        if recipe.data and recipe.data.corpus:
            learn.setdefault(recipe.data.corpus, []).append(code in (recipe.only.languages or study.languages))
    return {name: one for name, one in written.items() if any(learn.get(name, [True]))} | (own.get("corpora") or {})


def _tests_here(study: Study) -> list[TestSet]:
    """The study's test sets that are files of this machine; others are not fetched for this."""
    named = [(task, code) for code in study.languages for task in study.held_out(code)]
    return [
        TestSet(source, study.declared[task].kind, not study.tasks[study.test_set(task)].clean)
        for task, code in named
        if (source := study.test(task, code)) and source.is_local
    ]


def _for_one_language(parts: Parts, code: str, taken: set[str]) -> None:
    """Limit new recipes to the language of the file, since the study has others; `corpora.parallel` would be of all."""
    for name, recipe in parts.recipes.items():
        parts.recipes[name] = recipe | {"only": {"languages": [code]}}
    if "parallel" in parts.corpora:
        name = not_taken("own-parallel", taken)
        parts.others[name] = {"kind": "parallel"} | parts.corpora.pop("parallel")
        parts.recipes["distilled"]["data"] = {"corpus": name}


def _report_alone(parts: Parts) -> None:
    """Replace the development and test task by one test task, where another task or a recipe that is recommended for
    several languages says which encoder is the best."""
    dev, test = parts.tasks.values()
    rows = [dev["source"]["buckets"][0], test["source"]["buckets"][1]]
    whole = rows == [0, 100]  # then there is nothing to split
    source = {"file": test["source"]["file"]} if whole else test["source"] | {"buckets": rows}
    name = parts.best["test"].removesuffix("-test")
    parts.tasks, parts.best = {name: test | {"source": source}}, {"test": name}
    parts.said = [f"{rows[1]} % of its rows report, and the others train." if parts.recipes else "All its rows report."]


def _teacher(study: Study) -> str:
    """The backbone that `distilled` learns from, which has an encoder before training; empty: there is none, or several
    backbones are there."""
    if len(study.backbones) > 1 or "base" not in study.recipes or study.recipes["base"].made:
        return ""
    return next(iter(study.backbones))


def _trained(study: Study) -> list[str]:
    """The corpora that the study's recipes train on."""
    data = (recipe.data for recipe in study.recipes.values() if recipe.made and recipe.data)
    return [*dict.fromkeys(one.origin for one in data if one.origin in study.roles)]


def _keep_apart(study: Study, code: str, trained: list[str], parts: Parts) -> str:
    """Leave out of new test sets what encoders were trained on, or, where that is much, have them trained again;
    returns a sentence that says which.
    """
    known: list[str] = []
    for source, kind in ((study.corpus(corpus, code), study.roles[corpus]) for corpus in trained):
        if source is None or not source.is_local:
            continue  # what is not here is not fetched for this
        for texts in texts_here(source, kind, study.cleaning):
            known += texts.to_numpy().ravel().tolist()
    seen, read, left_out = EvaluationTexts(known), 0, 0
    for one in tests_of(parts.tasks):
        for texts in texts_here(one.source, one.kind, study.cleaning, test=True):
            left_out += count_repeating(texts, seen)
            read += len(texts)
    if left_out > MOST_LEFT_OUT * read:
        return (
            f"{left_out} of its {read} rows have a text that encoders are trained on: those texts are taken out of "
            "training, so encoders are trained again."
        )
    for task in parts.tasks.values():
        task["apart_from"] = trained
    return (
        f"{left_out} of its {read} rows have a text that encoders were trained on, and are left out; nothing is "
        "trained again."
    )


def _files(value: Any) -> set[str]:
    """Every file that a configuration names."""
    if isinstance(value, Mapping):
        own = {value["file"]} if isinstance(value.get("file"), str) else set()
        return own.union(*map(_files, value.values()))
    return set().union(*map(_files, value)) if isinstance(value, list) else set()


def _more_text(others: Mapping[str, Any], file: Path, language: Guess, taken: set[str]) -> Parts:
    """A recipe that trains on the neighbouring sentences of the text and of all running text before it.

    Args:
        others: corpora of the language, as they are written.
    """
    language_of(file, sentences(file), language.code, language.name, language.script, sure=language.sure)
    if why := beginning.unordered(file):
        raise UserError(f"{file}: its lines do not follow one another: {why}")
    before = [name for name in others if name == "adjacent" or name.startswith("adjacent-")]
    sets = _sets(others[before[-1]]) if before else {}
    name = not_taken("adjacent", taken | {*sets})
    new = beginning.own_source(file) | {"columns": {"sentence1": "text"}}
    new |= {"following": {"columns": {"sentence2": "sentence1"}}}
    source = PAIRS | ({"sets": sets | {name: new}} if before else new)
    said = [f"`{name}` trains on the neighbouring lines of all texts; its held-out lines stay the same."]
    best = {"recipe": name, "why": ADJACENT_WHY}
    return Parts(others={name: source}, recipes={name: on_pairs(name)}, said=said, best=best)


def _sets(source: Mapping[str, Any]) -> dict[str, Any]:
    """The sets of a source, or it alone as one."""
    return dict(source["sets"]) if "sets" in source else {"adjacent": without_kind(source)}


def _prefix(study: Study, config: Mapping[str, Any]) -> dict[str, Any]:
    """What new recipes say of the prefix: what those of the study say that are trained."""
    for name, recipe in (config.get("recipes") or {}).items():
        if study.recipes[name].made and "prefix" in recipe:
            return {"prefix": recipe["prefix"]}
    return {}


def _best(before: Mapping[str, Any], parts: Parts) -> tuple[dict[str, Any], list[str]]:
    """The new choice of the best encoder, and messages about it; empty: it is unchanged.

    A task that encoders are chosen by stays, since prefixes are chosen by it before anything is trained.
    """
    if not parts.best:
        return {}, []
    if recipe := parts.best.get("recipe"):  # more text, or pairs or triplets where nothing trained is recommended
        if not before.get("recipe"):
            return {}, []
        if only := parts.recipes[recipe].get("only"):
            return {}, [
                f"`{before['recipe']}` is still recommended, since `{recipe}` is of {only['languages'][0]} alone."
            ]
        return {**before, **parts.best}, [f"`{recipe}` is recommended now."]
    also = {**before, "also": [*before.get("also", []), parts.best["test"]]}
    if parts.tasks[parts.best["test"]]["protocol"] == "sts":
        also = {key: value for key, value in also.items() if value not in (NEXT_LINE_LIMITS, BITEXT_LIMITS)}
    if before.get("recipe") and "dev" not in parts.best:
        said = f"`{before['recipe']}` is still recommended, since {parts.best['test']} tests one language alone."
        return also if before.get("test") else {}, [said]
    if chooses := before.get("dev"):
        return also, [
            f"{chooses} still chooses, and the answer shows {parts.best['test']} too: with another `best.dev` "
            "prefixes would be chosen again, and every encoder trained again."
        ]
    shown = {"also": [before["test"]]} if before.get("test") else {}
    return {**parts.best, **shown}, [f"{parts.best['dev']} chooses the best encoder now."]
