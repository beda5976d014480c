"""Translations into the pivot language: which texts are translated, by which translators, and by whom they are judged.

A set of texts has the name of its origin: a task, for its test set; `TASK_train`, for its training set; or a corpus.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from seedbed.corpora.settings import COLUMNS, NO_TEXT, Source
from seedbed.corpora.shape.choices import OPTIONS
from seedbed.generators.writing.translation_settings import Judge, Translator
from seedbed.io import UserError
from seedbed.languages import filled, placeholders
from seedbed.names import DRAWN, languages_of, task_of, training_set_of
from seedbed.resources import resource
from seedbed.study import paths
from seedbed.study.generator import StudyGenerator
from seedbed.study.graph.product import Code, Files, Product
from seedbed.study.model import Entry, Study
from seedbed.study.paths import at
from seedbed.study.sizes import Load, Sizes

GIVEN = "given"
"""What the corpus of a translator that has files is called after its name and a plus."""


def text_sets(study: Study) -> list[str]:
    """The names of all sets of texts."""
    return [*study.roles, *DRAWN, *study.tasks, *map(training_set_of, study.tasks)]


def translations_of(study: Study, translators: Iterable[str], corpus: str, lang: str) -> dict[str, str]:
    """Translator -> its translations of a set of texts."""
    return {name: at(study, paths.TRANSLATIONS, translator=name, lang=lang, corpus=corpus) for name in translators}


@dataclass(frozen=True)
class StudyTranslator(Entry[Translator]):
    """A translator of the study: a generator, or given translations."""

    group = "translators"

    def given(self, lang: str) -> Source | None:
        """The source of its given translations of a language; None: it has none, or a generator translates."""
        return self.spec.given and self.spec.given.resolved(self.study.facts(lang))

    def code(self, lang: str) -> str:
        """The code by which its model knows a language, such as `swh_Latn`.

        Raises:
            UserError: a column of the registry that the translator's `code` names is empty for the language.
        """
        template, facts = self.spec.code, self.study.facts(lang)
        if not all(map(facts.get, placeholders(template))):
            raise UserError(
                f"translators.{self.name}.code: nothing for {template} of {lang} in the registry; set "
                f"`languages.{lang}.codes`, or translate {lang} by another translator"
            )
        return filled(template, facts)


class OfTexts(Product):
    """Translations or judgements of a set of texts, in a language or in an order of two. Subclasses declare the fields:
    translator or judge come first.
    """

    lang: str
    corpus: str

    @property
    def texts(self) -> str:
        """The file that has the texts; a task may share the sets of another."""
        name, task = self.corpus, task_of(self.corpus)
        if task in self.study.tasks:
            name = self.study.test_set(task) if name == task else self.study.training_name(task)
        return self.at(paths.CORPUS, corpus=name)

    @property
    def columns(self) -> dict[str, str]:
        """Column -> the language of its texts: of an order of two, the first column's is the first."""
        protocol = self.study.declared.get(task_of(self.corpus))
        kind = protocol.kind if protocol else self.study.roles[DRAWN.get(self.corpus, self.corpus)]
        listed = (OPTIONS,) if kind == "choices" else ()
        names = [name for name in COLUMNS[kind] if name not in NO_TEXT or name in listed]
        first, *others = languages_of(self.lang)
        rest = others[0] if others else first
        return {
            name: self.study.pivot if name == "pivot" and not others else rest if place else first
            for place, name in enumerate(names)
        }

    @property
    def translated(self) -> list[str]:
        """The languages of the texts that are not the pivot."""
        return sorted({*self.columns.values()} - {self.study.pivot})

    @property
    def writes(self) -> bool:
        """Whether a model generates or scores: not if all texts are in the pivot language, or given."""
        return bool(self.writer and self.translated)

    @property
    def model(self) -> StudyGenerator:
        """The generator that is prompted, if one is."""
        return StudyGenerator.get(self.study, self.writer)

    @property
    def languages(self) -> dict[str, dict[str, str]]:
        """Code -> the name of each language of the texts, and of the pivot."""
        codes = [self.study.pivot, *self.translated]
        return {code: {"name": self.study.facts(code)["name"]} for code in codes}

    def inputs(self) -> dict[str, Files]:
        return {"texts": self.texts, "base": self.model.weights if self.writes else ""}

    def settings(self) -> dict[str, Any]:
        generator = None
        if self.writes:  # greedy: one candidate of each translator; paper 002 does not say how it decodes
            generator = self.model.written_with("lora", "xllora", "shots").greedy()
        return {
            "columns": self.columns,
            "languages": self.languages,
            "pivot": self.study.pivot,
            "generator": generator,
        }

    def code(self) -> Code:
        """The wording of the prompts, and the back end."""
        prompts = resource("prompts/translation.yaml")
        return Code(data=(prompts,), modules=self.model.back_end if self.writer else ())

    def load(self, sizes: Sizes) -> Load:
        """The generator; texts that are given or in the pivot language need no model."""
        return sizes.written(self.writer) if self.writes else Load()


@dataclass(frozen=True)
class Translations(OfTexts, rule="translate", place=paths.TRANSLATIONS):
    """The translations of a set of texts into the pivot language by a translator."""

    translator: str
    lang: str
    corpus: str

    @property
    def by(self) -> StudyTranslator:
        """The translator."""
        return StudyTranslator.get(self.study, self.translator)

    @property
    def writer(self) -> str:
        """The generator that translates; empty: the translations are there."""
        return self.by.spec.generator

    @property
    def languages(self) -> dict[str, dict[str, str]]:
        """Code -> the name of each language, and what a translator that reads codes calls it.

        Raises:
            UserError: it has no code for one.
        """
        named = super().languages
        if self.by.spec.reads != "codes":
            return named
        return {code: facts | {"code": self.by.code(code)} for code, facts in named.items()}

    def inputs(self) -> dict[str, Files]:
        codes, given = self.translated, f"{self.translator}+{GIVEN}"
        adapted = codes if self.by.spec.adapter else []
        return super().inputs() | {
            "adapters": {code: self.model.language_adapter(code) for code in adapted},
            "given": {code: self.at(paths.CORPUS, lang=code, corpus=given) for code in codes if self.by.given(code)},
        }

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"name": self.translator, "reads": self.by.spec.reads}


@dataclass(frozen=True)
class Judgements(OfTexts, rule="judge", place=paths.JUDGEMENTS):
    """The judge's scores of the translations of a set of texts."""

    judge: str
    lang: str
    corpus: str

    @property
    def spec(self) -> Judge:
        """The judge's entry."""
        return self.study.judges[self.judge]

    @property
    def writer(self) -> str:
        """The generator that judges."""
        return self.spec.generator

    def inputs(self) -> dict[str, Files]:
        translators = self.spec.translators or self.study.translators
        return super().inputs() | {"translations": translations_of(self.study, translators, self.corpus, self.lang)}

    def settings(self) -> dict[str, Any]:
        return super().settings() | {"name": self.judge, "answer": self.spec.answer}

    def code(self) -> Code:
        code = super().code()
        return code._replace(data=(*code.data, resource("prompts/judging.yaml")))
