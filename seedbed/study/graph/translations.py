"""Translations into the pivot language: which texts are translated, by whom, and who judges them.

A set of texts has the name of what holds them: a task, of its test set; `TASK_train`, of its training set; or a corpus.
"""

from collections.abc import Iterable
from typing import Any

from seedbed.corpora.choices import OPTIONS
from seedbed.corpora.settings import COLUMNS, NO_TEXT, Source
from seedbed.generators.candidates import greedy
from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.names import DRAWN, TRAINING, languages_of
from seedbed.study import paths
from seedbed.study.graph import generators
from seedbed.study.model import Study
from seedbed.study.paths import at

GIVEN = "given"
"""What the corpus of a translator that has files is called after its name and a plus."""


def text_sets(study: Study) -> list[str]:
    """The names of all sets of texts."""
    return [*study.roles, *DRAWN, *study.tasks, *(f"{task}{TRAINING}" for task in study.tasks)]


def text_files(study: Study, corpus: str, lang: str) -> list[str]:
    """The files whose texts a set has, in a language or in an order of a pair."""
    task = corpus.removesuffix(TRAINING)
    name = corpus.replace(task, study.test_set(task)) if task in study.tasks else corpus
    return [at(study, paths.CORPUS, lang=lang, corpus=name)]


def columns_of(study: Study, corpus: str, lang: str) -> dict[str, str]:
    """Column -> the language of its texts: of an order of two, the first column's is the first."""
    task = study.declared.get(corpus.removesuffix(TRAINING))
    kind = task.kind if task else study.roles[DRAWN.get(corpus, corpus)]
    listed = (OPTIONS,) if kind == "choices" else ()
    names = [name for name in COLUMNS[kind] if name not in NO_TEXT or name in listed]
    first, *others = languages_of(lang)
    rest = others[0] if others else first
    return {
        name: study.pivot if name == "pivot" and not others else rest if place else first
        for place, name in enumerate(names)
    }


def translated(study: Study, corpus: str, lang: str) -> list[str]:
    """The languages of a set that are not the pivot."""
    return sorted({*columns_of(study, corpus, lang).values()} - {study.pivot})


def translations(study: Study, translators: Iterable[str], corpus: str, lang: str) -> list[str]:
    """The translations of a set of texts, in the order of the translators."""
    return [at(study, paths.TRANSLATIONS, translator=name, lang=lang, corpus=corpus) for name in translators]


def texts(study: Study, wildcards: Any) -> list[str]:
    """What a job translates, or judges translations of."""
    return text_files(study, wildcards.corpus, wildcards.lang)


def writes(study: Study, wildcards: Any) -> bool:
    """Whether a model writes or scores: not where all is in the pivot language, or given."""
    return bool(generators.writer(study, wildcards) and translated(study, wildcards.corpus, wildcards.lang))


def base(study: Study, wildcards: Any) -> list[str] | str:
    """The weights of a translator or judge; empty: a server alone has them, or there are none."""
    name = generators.writer(study, wildcards)
    return generators.weights(study, name) if writes(study, wildcards) and study.generators[name].source else []


def given(study: Study, wildcards: Any) -> dict[str, str]:
    """Language -> translations that are there."""
    name, codes = wildcards.translator, translated(study, wildcards.corpus, wildcards.lang)
    source = study.translators[name].given
    return {
        code: at(study, paths.CORPUS, lang=code, corpus=f"{name}+{GIVEN}")
        for code in codes
        if source and source.resolved(study.facts(code))
    }


def adapters(study: Study, wildcards: Any) -> dict[str, str]:
    """Language -> the adapter that translates it."""
    spec = study.translators[wildcards.translator]
    codes = translated(study, wildcards.corpus, wildcards.lang) if spec.adapter else []
    path = paths.LANGUAGE_ADAPTER
    return {code: generators.part(study, spec.generator, "language", path, lang=code) for code in codes}


def candidates(study: Study, wildcards: Any) -> dict[str, str]:
    """Translator -> what it wrote, of those whose candidates a judge scores."""
    named = study.judges[wildcards.judge].translators or [*study.translators]
    return dict(zip(named, translations(study, named, wildcards.corpus, wildcards.lang), strict=True))


def columns(study: Study, wildcards: Any) -> dict[str, str]:
    """Column -> language of the texts of a job."""
    return columns_of(study, wildcards.corpus, wildcards.lang)


def languages(study: Study, wildcards: Any) -> dict[str, dict[str, str]]:
    """Code -> the name of each language of a job, and what a translator that reads codes calls it.

    Raises:
        UserError: it has no code for one.
    """
    codes = [study.pivot, *translated(study, wildcards.corpus, wildcards.lang)]
    named = {code: {"name": study.facts(code)["name"]} for code in codes}
    spec = study.translators[wildcards.translator] if "translator" in wildcards.keys() else None  # noqa: SIM118
    if spec is None or spec.reads != "codes":
        return named
    return {code: facts | {"code": code_of(study, wildcards.translator, code)} for code, facts in named.items()}


def code_of(study: Study, translator: str, code: str) -> str:
    """A translator's token of a language.

    Raises:
        UserError: the registry has nothing for it.
    """
    template = study.translators[translator].code
    facts = study.facts(code)
    try:
        found = template.format_map(facts)
        lacking = any(f"{{{name}}}" in template and not value for name, value in facts.items())
    except (KeyError, ValueError, IndexError):
        known = ", ".join(sorted(facts))
        raise UserError(
            f"translators.{translator}.code: {template!r} names no registry column; known: {known}"
        ) from None
    if lacking:
        raise UserError(
            f"translators.{translator}.code: nothing for {template} of {code} in the registry; set "
            f"`languages.{code}.codes`, or translate {code} by another translator"
        )
    return found


def reads(study: Study, wildcards: Any) -> str:
    """How a translator is asked."""
    return study.translators[wildcards.translator].reads


def generator(study: Study, wildcards: Any) -> Generator | None:
    """The settings of the generator that translates or judges, greedily; None where none does."""
    if not writes(study, wildcards):
        return None
    return greedy(generators.written_with(study, generators.writer(study, wildcards), "lora", "xllora", "shots"))


def given_source(study: Study, name: str, lang: str) -> Source | None:
    """Where a translator's own corpus comes from; None: from nowhere."""
    translator, _, kind = name.partition("+")
    spec = study.translators.get(translator)
    return spec.given.resolved(study.facts(lang)) if kind == GIVEN and spec and spec.given else None
