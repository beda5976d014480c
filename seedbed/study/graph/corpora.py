"""Sentences: where each corpus comes from, and what it must not repeat."""

from pathlib import Path
from typing import Any

from seedbed.corpora import folders
from seedbed.corpora.settings import Anchors, Source
from seedbed.encoders.recipes import STARTS
from seedbed.evaluation.protocols import declared
from seedbed.io import UserError
from seedbed.names import TRAINING
from seedbed.study import leakage, pairs, published
from seedbed.study.graph import encoders, translations
from seedbed.study.model import Study
from seedbed.study.paths import CORPUS, SAMPLE, at


def source(study: Study, wildcards: Any) -> Source:
    """Where a corpus, a test set or published triplets come from.

    Raises:
        UserError: there is no source.
    """
    name, lang = wildcards.corpus, wildcards.lang
    if name.endswith(f"+{translations.GIVEN}"):
        found = translations.given_source(study, name, lang)
    elif "+" in name:
        found = published.triplets(study, *name.split("+"), lang)
    elif name in study.roles:
        found = study.corpus(name, lang)
    else:
        task = name.removesuffix(TRAINING)
        found = (study.test if task == name else study.training_set)(task, lang)
    if found is None:
        if missing := lacking(study, name.removesuffix(TRAINING)):
            raise UserError(f"no {name} corpus of {lang}: {missing}")
        raise UserError(
            f"no source for the {name} corpus of {lang}: give one under `corpora.{name}` or `languages.{lang}`"
        )
    return found


def lacking(study: Study, task: str) -> str:
    """What to do about a folder that nobody has and a task's sets are in; empty: it is there, or there is no task."""
    spec = study.tasks.get(task)
    source = spec and study.tasks[study.test_set(task)].source
    return folders.lacking(source.dump(), study.paths) if source else ""


def local_files(study: Study, wildcards: Any) -> list[Path]:
    """A person's files that a corpus is read from."""
    return source(study, wildcards).local_files()


def form(study: Study, wildcards: Any) -> dict[str, Any]:
    """The kind of a corpus; of a test set also its scale, and whether its texts stay as they are."""
    if wildcards.corpus.endswith(f"+{translations.GIVEN}"):
        return {"kind": "translations", "test": True}
    if kind := study.roles.get(wildcards.corpus) or ("triplets" if "+" in wildcards.corpus else ""):
        return {"kind": kind}
    task = study.tasks[wildcards.corpus.removesuffix(TRAINING)]
    return {"kind": declared(task.protocol).kind, "test": not task.clean, "scale": task.scale}


def other_text(study: Study, wildcards: Any) -> str:
    """The one of `corpora.others` that anchors are drawn from; empty: they are drawn from `text`."""
    return wildcards.anchors.rpartition("+")[0]


def drawn_corpus(study: Study, wildcards: Any) -> str:
    """The corpus that anchors are drawn from."""
    return at(study, CORPUS, lang=wildcards.lang, corpus=other_text(study, wildcards) or "text")


def drawn(study: Study, wildcards: Any) -> Anchors:
    """How anchors are drawn: of one of `corpora.others` as many as the greediest recipe trains on."""
    if not (text := other_text(study, wildcards)):
        return study.anchors
    count = study.anchors.count
    asked = [recipe.rows or count for recipe in study.recipes.values() if recipe.drawn == text]
    if text == study.adaptation.text and any(recipe.start in STARTS for recipe in study.recipes.values()):
        asked.append(study.adaptation.vocabulary.sentences)
    return study.anchors.updated({"count": max(asked, default=count)})


def pivot_sample(study: Study, wildcards: Any) -> list[str] | str:
    """Sentences of the pivot language, to tell a language from; none for itself, and none without the check."""
    known = wildcards.lang == study.pivot or not study.anchors.language_id
    return [] if known else at(study, SAMPLE, lang=study.pivot)


def test_set(study: Study, task: str, lang: str) -> str:
    """The test set of a task in a language."""
    return at(study, CORPUS, lang=lang, corpus=study.test_set(task))


def training_set(study: Study, task: str, lang: str) -> str:
    """The training set of a task for a language; empty: the task has none."""
    other = study.train_of(task, lang)
    return other and at(study, CORPUS, lang=other, corpus=f"{study.test_set(task)}{TRAINING}")


def tests(study: Study, wildcards: Any) -> list[str]:
    """Every evaluation set of a language: what its training texts must not repeat."""
    text = other_text(study, wildcards) if hasattr(wildcards, "anchors") else ""  # triplets are written to `text`
    return sorted(_held_out(study, wildcards.lang, text or "text")) if wildcards.lang in study.languages else []


def _held_out(study: Study, code: str, corpus: str) -> set[str]:
    """The test sets of a language that a corpus must not repeat: its own, and those of the pairs that it is in."""
    own = {test_set(study, task, code) for task in study.held_out(code) if not _before(study, task, corpus)}
    return own | {test_set(study, task, order) for task, order in pairs.own_sets_of(study, code)}


def _before(study: Study, task: str, corpus: str) -> bool:
    """Whether a corpus was trained on before a test set was there, which then must not repeat it."""
    return corpus in study.tasks[study.test_set(task)].apart_from


def trained_before(study: Study, wildcards: Any) -> list[str]:
    """What no row of a test set may repeat: corpora that were trained on before."""
    spec = study.tasks.get(wildcards.corpus)
    return [at(study, CORPUS, lang=wildcards.lang, corpus=corpus) for corpus in spec.apart_from] if spec else []


def every_test(study: Study, wildcards: Any) -> list[str]:
    """Every evaluation set that encoders of a language are scored on, in whatever language: what its pairs must not
    repeat. The pivot's sentences may be in the sets of several."""
    offered = {
        code: {code, *(encoders.trained_on(study, name, code) for name in study.recipes)} for code in study.languages
    }
    codes = [code for code, folders in offered.items() if wildcards.lang in folders]
    return sorted({file for code in codes for file in _held_out(study, code, "parallel")})


def kept_apart(study: Study, wildcards: Any) -> list[str]:
    """What no row of a corpus may repeat: of pairs, of queries and of candidates that encoders learn from, every test
    set of the study, whatever its language or languages, and the English of its texts that people give, or that an
    encoder may read which has learnt.

    Other training data are drawn from a corpus, or audited, and lose such rows there.
    """
    if not leakage.learnt_whole(study, wildcards.corpus):
        return []
    sets = {(task, code) for code in study.languages for task in study.held_out(code)} | {*pairs.own_sets(study)}
    sets = {(task, code) for task, code in sets if not _before(study, task, wildcards.corpus)}
    files = {test_set(study, task, code) for task, code in sets}
    english = {
        file
        for task, code in sets
        for file in translations.translations(study, _translators_of_learners(study), study.test_set(task), code)
        if code != study.pivot
    }
    return sorted(files | english)


def _translators_of_learners(study: Study) -> list[str]:
    """Who writes the English that recipes read which learn, or start from one that does, and whose English is given."""

    def learnt(name: str) -> bool:
        recipe = study.recipes.get(name)
        return bool(recipe) and (recipe.trained or any(map(learnt, (recipe.start, recipe.actor, recipe.like))))

    read = {one for name, recipe in study.recipes.items() if learnt(name) for one in recipe.translators}
    return [name for name, translator in study.translators.items() if translator.given or name in read]


def known(study: Study, wildcards: Any) -> list[str]:
    """Sentences of a language and of the pivot, to tell the sides of a pair apart; none without the check."""
    if not study.seed_pairs.language_id:
        return []
    return [at(study, SAMPLE, lang=code) for code in (wildcards.lang, study.pivot)]


def scripts(study: Study, wildcards: Any) -> list[str]:
    """The scripts of a language and of the pivot."""
    return [study.facts(code)["script"] for code in (wildcards.lang, study.pivot)]


def script(study: Study, wildcards: Any) -> str:
    """The script of a language."""
    return study.facts(wildcards.lang)["script"]
