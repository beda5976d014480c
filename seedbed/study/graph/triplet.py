"""Synthetic triplets: generation in shards, joining the shards, and the audit."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from seedbed.encoders.recipes import Recipe
from seedbed.generators.settings import POLARITIES, TRANSLATION, WRITING, Writing
from seedbed.names import ANCHORS
from seedbed.resources import resource
from seedbed.study import paths, published
from seedbed.study.graph import records
from seedbed.study.graph.adapter import OfGenerator
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.product import Code, Files
from seedbed.study.recipe import StudyRecipe
from seedbed.study.sizes import Load, Sizes


@dataclass(frozen=True)
class Written(OfGenerator):
    """Triplets of a language by a generator and a method: all of them, or a part."""

    method: str
    lang: str

    @property
    def writing(self) -> Writing:
        """The method's settings."""
        return WRITING[self.method]

    @cached_property
    def recipes(self) -> dict[str, Recipe]:
        """The recipes that are trained on them, in any language."""
        every = StudyRecipe.every(self.study)
        return {of.name: of.spec for of in every if of.spec.written == self.method and of.writer == self.generator}

    # ---- What they are written for.

    @property
    def translated(self) -> str:
        """The corpus of the pivot language that is translated; empty: triplets are generated for anchors."""
        return next((recipe.data.translated for recipe in self.recipes.values() if recipe.data.translated), "")

    @property
    def source(self) -> str:
        """The rows that are translated; empty: none are."""
        corpus = self.translated
        return self.at(paths.CORPUS, lang=self.study.pivot, corpus=corpus) if corpus else ""

    @property
    def anchors(self) -> str:
        """The texts for which triplets are generated: anchors, or rows of the pivot that are translated."""
        return self.source or self.at(paths.ANCHORS, anchors=ANCHORS)

    @property
    def rows(self) -> int:
        """The number of anchors: the rows of the recipe that trains on the most; 0: all."""
        count, given = self.study.anchors.count, [recipe.data.rows for recipe in self.recipes.values()]
        if self.method == TRANSLATION:
            return max(given, default=0) if all(given) else 0
        asked = [rows or count for rows in given]
        return min(max(asked, default=count), count)

    @property
    def shards(self) -> int:
        """Number of shards, enough for as many anchors as recipes train on; a language with fewer has smaller ones."""
        rows = self.rows
        if not rows:  # of a translated corpus as many as its source says; if it has more, shards are larger
            rows = self.study.corpus(self.translated, self.study.pivot).rows or self.study.anchors.count
        return math.ceil(rows / self.based_on.spec.shard_rows)

    # ---- The language that is written.

    @property
    def in_pivot(self) -> bool:
        """Whether positives and negatives are in the pivot language: by some methods, whatever the anchor's."""
        return self.writing.output == "pivot" or self.lang == self.study.pivot

    @property
    def output(self) -> dict[str, str]:
        """Facts about the language of positives and negatives."""
        return self.study.facts(self.study.pivot if self.in_pivot else self.lang)


@dataclass(frozen=True)
class Shard(Written, rule="synthesise", place=paths.SHARD):
    """The triplets of some of the anchors."""

    shard: str

    @property
    def writer(self) -> str:
        """The name of the generator that generates the triplets."""
        return self.generator

    @property
    def adapters(self) -> dict[str, str]:
        """Polarity -> the adapter that generates it; none for prompting. A scale of 0 is the task adapter alone."""
        name, method, lang = self.generator, self.method, self.lang
        if all(published.adapter(self.study, name, method, polarity, lang) for polarity in POLARITIES):
            models = {polarity: "+".join([name, method, polarity, lang]) for polarity in POLARITIES}
            return {one: self.at(paths.WEIGHTS, room="generators", model=model) for one, model in models.items()}
        if self.writing.adapters == "cross-lingual":
            return {one: self.based_on.part(method, paths.XLLORA_ADAPTER, polarity=one) for one in POLARITIES}
        if self.writing.adapters == "none":
            return {}
        composed = self.based_on.spec.composition.scale
        return self.based_on.composed_adapters(lang) if composed else self.based_on.task_adapters()

    def inputs(self) -> dict[str, Files]:
        return {"base": self.based_on.weights, "anchors": self.anchors, "adapters": self.adapters}

    def settings(self) -> dict[str, Any]:
        sides = (self.study.pivot, self.lang) if self.method == TRANSLATION else ()
        return {
            "name": self.generator,
            "generator": self.based_on.written_with("lora", "xllora"),
            "language": self.output["name"],
            "shards": self.shards,
            "rows": self.rows,
            "translated": [self.study.facts(code)["flores"] for code in sides],
        }

    def code(self) -> Code:
        """The method's prompts, if it has any, and what runs the generator."""
        prompts = "" if self.writing.prompt == "none" else resource(f"prompts/{self.writing.prompt}.yaml")
        return Code(data=(prompts,), modules=self.based_on.back_end)

    def load(self, sizes: Sizes) -> Load:
        return sizes.written(self.generator)


@dataclass(frozen=True)
class RawTriplets(Written, rule="join_triplets", place=paths.RAW_TRIPLETS):
    """The triplets of all anchors, before the audit."""

    def inputs(self) -> dict[str, Files]:
        shards = [self.at(paths.SHARD, shard=shard) for shard in range(self.shards)]
        return {"shards": shards, "anchors": self.anchors}

    def settings(self) -> dict[str, Any]:
        return {"rows": self.rows}


@dataclass(frozen=True)
class Triplets(Written, rule="audit_triplets", place=paths.TRIPLETS):
    """The triplets that encoders are trained on: those that pass the audit."""

    def known(self, lang: str) -> str:
        """Path of a language's sentences for language identification: the whole corpus if the audit checks single
        words, else a sample.
        """
        reads_words = self.study.audit.reads_words
        return self.at(paths.CORPUS, lang=lang, corpus="text") if reads_words else self.at(paths.SAMPLE, lang=lang)

    def inputs(self) -> dict[str, Files]:
        study, triplets = self.study, self.at(paths.RAW_TRIPLETS)
        if published.triplets(study, self.generator, self.method, self.lang):
            triplets = self.at(paths.CORPUS, corpus=f"{self.generator}+{self.method}")
        identified = study.audit.reads_pivot and self.lang != study.pivot
        return {
            "triplets": triplets,
            "corpus": self.known(self.lang),
            "pivot": self.known(study.pivot) if identified else "",
            "source": self.source,
            "tests": Corpus.get(self.study, self.lang, "text").held_out(self.recipes),
        }

    def settings(self) -> dict[str, Any]:
        return {
            "audit": self.study.audit,
            "script": self.output["script"],
            "in_pivot": self.in_pivot,
            "about": {"generator": records.model(self.study, self.generator, "generator")},
        }
