"""Sentences: the source of each corpus, samples of it, and the test sets whose texts neither may contain."""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from seedbed.corpora.read import folders
from seedbed.corpora.settings import Anchors as Drawing
from seedbed.corpora.settings import Source
from seedbed.io import UserError
from seedbed.names import SEED_PAIRS, languages_of, task_of
from seedbed.study import leakage, paths, published
from seedbed.study.graph.product import Files, Product
from seedbed.study.graph.translation import GIVEN, StudyTranslator, translations_of
from seedbed.study.model import Study
from seedbed.study.paths import at
from seedbed.study.recipe import StudyRecipe, served


@dataclass(frozen=True)
class Corpus(Product, rule="fetch_corpus", place=paths.CORPUS):
    """What is fetched in a language, or in an order of two: a corpus of the study, a task's test or training set,
    published triplets (GENERATOR+METHOD), or translations that a translator has (TRANSLATOR+given)."""

    lang: str
    corpus: str

    @classmethod
    def of_test(cls, study: Study, task: str, lang: str) -> str:
        """The test set of a task in a language."""
        return at(study, paths.CORPUS, lang=lang, corpus=study.test_set(task))

    @classmethod
    def of_training(cls, study: Study, task: str, lang: str) -> str:
        """The training set of a task for a language; empty: the task has none."""
        other = study.train_of(task, lang)
        return other and at(study, paths.CORPUS, lang=other, corpus=study.training_name(task))

    # ---- What it is.

    @property
    def task(self) -> str:
        """The task whose test or training set it is, if it is one."""
        return task_of(self.corpus)

    @cached_property
    def source(self) -> Source:
        """The source of its rows.

        Raises:
            UserError: there is no source.
        """
        if found := self._entry[0]:
            return found
        if missing := lacking(self.study, self.task):
            raise UserError(f"no {self.corpus} corpus of {self.lang}: {missing}")
        raise UserError(
            f"no source for the {self.corpus} corpus of {self.lang}: give one under `corpora.{self.corpus}` or "
            f"`languages.{self.lang}`"
        )

    @property
    def form(self) -> dict[str, Any]:
        """Its kind; of a test set also its scale, and whether its texts stay as they are."""
        return self._entry[1]

    @cached_property
    def _entry(self) -> tuple[Source | None, dict[str, Any]]:
        """Its source, if there is one, and its form."""
        study, name = self.study, self.corpus
        owner, _, what = name.partition("+")
        if what == GIVEN:
            return StudyTranslator.get(study, owner).given(self.lang), {"kind": "translations", "test": True}
        if what:
            return published.triplets(study, owner, what, self.lang), {"kind": "triplets"}
        if name in study.roles:
            return study.corpus(name, self.lang), {"kind": study.roles[name]}
        task, found = study.tasks[self.task], study.test if self.task == name else study.training_set
        form = {"kind": study.declared[self.task].kind, "test": not task.clean, "scale": task.scale}
        return found(self.task, self.lang), form

    # ---- What is tested.

    def _tests(self, languages: Set[str]) -> list[tuple[str, str]]:
        """Task and language, or order of two, of the test sets with texts in some languages. Those of tasks that were
        added after encoders were trained on it are left out: they drop the texts that it has.
        """
        study = self.study
        sets = {(task, code) for code in languages for task in study.held_out(code)}
        sets |= {(task, order) for task, order in study.own_sets if languages & {*languages_of(order)}}
        return [one for one in sets if self.corpus not in study.tasks[study.test_set(one[0])].apart_from]

    def held_out(self, recipes: Iterable[str]) -> list[str]:
        """The test sets whose texts samples of the corpus, and triplets generated for samples, must not contain.

        They are those of its language, of each language that has an encoder trained on them, since the
        pivot's sentences may be in the sets of several, and of pairs with one of these languages.

        Args:
            recipes: the recipes that train on the samples or the triplets.
        """
        study = self.study
        met = {self.lang}.union(*(served(study).get((name, self.lang), ()) for name in recipes))
        return sorted({Corpus.of_test(study, *one) for one in self._tests(met & study.languages.keys())})

    def kept_apart(self) -> list[str]:
        """Test sets whose texts none of its rows may contain. For pairs, queries and candidates that encoders train on
        these are all test sets of the study, in any language. For those of `corpora.others` they are also English
        versions of their texts that translators give or that a trained encoder may read.

        Other training data are sampled from a corpus, or audited, and lose such rows there.
        """
        study = self.study
        if not leakage.trained_on_whole(study, self.corpus):
            return []
        sets = self._tests(study.languages.keys())
        tests = {Corpus.of_test(study, task, code) for task, code in sets}
        names = self._whose_english()
        english = {
            file
            for task, code in sets
            for file in translations_of(study, names, study.test_set(task), code).values()
            if code != study.pivot
        }
        return sorted(tests | english)

    def _whose_english(self) -> list[str]:
        """Translators whose English of tests none of its rows may contain: it is given, or is input of recipes that
        train or start from a trained one.
        """
        study = self.study
        if self.corpus not in study.corpora.others:
            return []  # a generator whose adapter is trained on a built-in corpus would wait for its own translations
        trained = [of.spec.english for of in StudyRecipe.every(study) if of.involves_training]
        read = {one for english in trained for one in english.translators}
        return [name for name, translator in study.translators.items() if translator.given or name in read]

    # ---- Its job.

    def inputs(self) -> dict[str, Files]:
        """The files whose texts none of its rows may contain: test sets, and for a test set the corpora that encoders
        were trained on before it was added, of its language or of both of a pair.
        """
        study, task = self.study, self.study.tasks.get(self.corpus)
        before = product(task.apart_from, languages_of(self.lang)) if task else ()
        trained = [self.at(paths.CORPUS, lang=code, corpus=name) for name, code in before if study.corpus(name, code)]
        return {"tests": self.kept_apart(), "trained": trained}

    def settings(self) -> dict[str, Any]:
        form = self.form
        bounds = {} if form.get("test") else {"cleaning": self.study.cleaning}  # no bounds drop a row of a test set
        return form | {"source": self.source} | bounds

    def local_files(self) -> list[Path]:
        return self.source.local_files()


def recipes_trained_on(study: Study, corpus: str) -> list[str]:
    """The recipes that train on a corpus, or on what is sampled, generated or mined from it."""
    return [name for name, recipe in study.recipes.items() if corpus in recipe.data.drawn_from]


def lacking(study: Study, task: str) -> str:
    """A message about the missing folder of a task's data sets; empty: it exists, or there is no task."""
    spec = study.tasks.get(task)
    source = spec and study.tasks[study.test_set(task)].source
    return folders.lacking(source.dump(), study.paths) if source else ""


@dataclass(frozen=True)
class Sample(Product, rule="sample_text", place=paths.SAMPLE):
    """Sentences of a language for language identification."""

    lang: str

    def inputs(self) -> dict[str, Files]:
        return {"corpus": self.at(paths.CORPUS, corpus="text")}


@dataclass(frozen=True)
class Anchors(Product, rule="select_anchors", place=paths.ANCHORS):
    """Sentences sampled from `text` or one of `corpora.others`, to train encoders on and as anchors of triplets."""

    lang: str
    anchors: str

    @property
    def other_text(self) -> str:
        """That of `corpora.others` that they are sampled from; empty: they are sampled from `text`."""
        return self.anchors.rpartition("+")[0]

    @property
    def drawing(self) -> Drawing:
        """Settings of sampling; from one of `corpora.others`, `count` is that of the recipe with the most rows."""
        study, text = self.study, self.other_text
        if not text:
            return study.anchors
        count = study.anchors.count
        asked = [recipe.data.rows or count for recipe in study.recipes.values() if recipe.drawn == text]
        return study.anchors.updated({"count": max(asked, default=count)})

    def inputs(self) -> dict[str, Files]:
        study, corpus = self.study, Corpus.get(self.study, self.lang, self.other_text or "text")
        identified = study.anchors.language_id and self.lang != study.pivot
        return {
            "corpus": corpus.path,
            "pivot": self.at(paths.SAMPLE, lang=study.pivot) if identified else "",
            "tests": corpus.held_out(recipes_trained_on(study, corpus.corpus)),
        }

    def settings(self) -> dict[str, Any]:
        return {"anchors": self.drawing, "script": self.study.facts(self.lang)["script"]}


@dataclass(frozen=True)
class SeedPairs(Product, rule="select_pairs", place=paths.SEED_PAIRS):
    """Sampled sentences of a language with translations into the pivot language, for recipes that train on few."""

    lang: str

    @property
    def sides(self) -> tuple[str, str]:
        """Their languages."""
        return self.lang, self.study.pivot

    def inputs(self) -> dict[str, Files]:
        corpus = Corpus.get(self.study, self.lang, "parallel")
        identified = self.sides if self.study.seed_pairs.language_id else ()
        return {
            "corpus": corpus.path,
            "record": corpus.at(paths.RECORD),
            "known": [self.at(paths.SAMPLE, lang=code) for code in identified],
            "tests": corpus.held_out(recipes_trained_on(self.study, SEED_PAIRS)),
        }

    def settings(self) -> dict[str, Any]:
        scripts = [self.study.facts(code)["script"] for code in self.sides]
        return {"seed_pairs": self.study.seed_pairs, "scripts": scripts}
