"""Synthetic triplets: shards, and what writes and audits them."""

import math
from typing import Any

from seedbed.encoders.recipes import Recipe
from seedbed.generators.settings import POLARITIES, TRANSLATION, WRITING
from seedbed.study import published
from seedbed.study.graph import generators
from seedbed.study.model import Study
from seedbed.study.paths import ANCHORS, CORPUS, RAW_TRIPLETS, SAMPLE, SHARD, WEIGHTS, XLLORA_ADAPTER, at


def rows(study: Study, wildcards: Any) -> int:
    """The anchors of a language that a generator writes for: as many as the greediest recipe trains on; 0: all."""
    count, given = study.anchors.count, [recipe.rows for recipe in _of(study, wildcards)]
    if wildcards.method == TRANSLATION:
        return max(given, default=0) if all(given) else 0
    asked = [rows or count for rows in given]
    return min(max(asked, default=count), count)


def _of(study: Study, wildcards: Any) -> list[Recipe]:
    """The recipes that a generator writes for in one way."""
    asking = {name: recipe for name, recipe in study.recipes.items() if recipe.written == wildcards.method}
    return [recipe for name, recipe in asking.items() if generators.of_recipe(study, name) == wildcards.generator]


def translated(study: Study, wildcards: Any) -> str:
    """The corpus of the pivot language that a generator translates."""
    return next((recipe.data.translated for recipe in _of(study, wildcards) if recipe.data.translated), "")


def source(study: Study, wildcards: Any) -> list[str] | str:
    """The rows that an audit compares translations with; none of triplets."""
    corpus = translated(study, wildcards)
    return at(study, CORPUS, lang=study.pivot, corpus=corpus) if corpus else []


def anchors(study: Study, wildcards: Any) -> str:
    """What a generator writes for: the anchors of a language, or the pivot's rows that are translated into it."""
    return source(study, wildcards) or at(study, ANCHORS, lang=wildcards.lang, anchors="anchors")


def shards(study: Study, wildcards: Any) -> int:
    """Enough shards for as many anchors as recipes learn from; a language with fewer has smaller ones."""
    count = rows(study, wildcards) or _expected(study, wildcards)
    return math.ceil(count / study.generators[wildcards.generator].shard_rows)


def _expected(study: Study, wildcards: Any) -> int:
    """Rows of a translated corpus, of which more make no more shards but larger ones: as many as its source says."""
    return study.corpus(translated(study, wildcards), study.pivot).rows or study.anchors.count


def shard_files(study: Study, wildcards: Any) -> list[str]:
    """All shards of a language."""
    return [at(study, SHARD, **wildcards, shard=shard) for shard in range(shards(study, wildcards))]


def output_language(study: Study, wildcards: Any) -> str:
    """The language that is written: of some ways the pivot, whatever the anchor's."""
    return study.pivot if WRITING[wildcards.method].output == "pivot" else wildcards.lang


def output_name(study: Study, wildcards: Any) -> str:
    """The name of the language that is written, as prompts use it."""
    return study.facts(output_language(study, wildcards))["name"]


def translation(study: Study, wildcards: Any) -> list[str]:
    """The codes of the languages that a translator reads and writes; empty: nothing is translated."""
    codes = (study.pivot, wildcards.lang) if wildcards.method == TRANSLATION else ()
    return [study.facts(code)["flores"] for code in codes]


def output_script(study: Study, wildcards: Any) -> str:
    """The script of the language that is written."""
    return study.facts(output_language(study, wildcards))["script"]


def adapters(study: Study, wildcards: Any) -> dict[str, str]:
    """Polarity -> the adapter that writes it; prompting has none, and a scale of 0 leaves the task's own."""
    name, method, lang = wildcards.generator, wildcards.method, wildcards.lang
    if all(published.adapter(study, name, method, polarity, lang) for polarity in POLARITIES):
        models = {polarity: "+".join([name, method, polarity, lang]) for polarity in POLARITIES}
        return {polarity: at(study, WEIGHTS, room="generators", model=model) for polarity, model in models.items()}
    if WRITING[method].adapters == "cross-lingual":
        maker = study.makers[name, method]
        return {polarity: at(study, XLLORA_ADAPTER, generator=maker, polarity=polarity) for polarity in POLARITIES}
    if WRITING[method].adapters == "none":
        return {}
    if study.generators[name].composition.scale:
        return generators.composed_adapters(study, name, lang)
    return generators.task_adapters(study, name)


def raw(study: Study, wildcards: Any) -> str:
    """What the audit reads: the published triplets, or those of our shards."""
    facts = {"generator": wildcards.generator, "method": wildcards.method, "lang": wildcards.lang}
    if published.triplets(study, *facts.values()):
        return at(study, CORPUS, lang=wildcards.lang, corpus=f"{wildcards.generator}+{wildcards.method}")
    return at(study, RAW_TRIPLETS, **facts)


def audited_text(study: Study, code: str) -> str:
    """What an audit reads of a language: its words stand in the whole corpus, and the language shows in a sample."""
    return at(study, CORPUS, lang=code, corpus="text") if study.audit.reads_words else at(study, SAMPLE, lang=code)


def audited_pivot(study: Study, wildcards: Any) -> list[str] | str:
    """Text of the pivot language, to tell a language from; none for itself, and none without the check."""
    known = wildcards.lang == study.pivot or not study.audit.reads_pivot
    return [] if known else audited_text(study, study.pivot)


def in_pivot(study: Study, wildcards: Any) -> bool:
    """Whether positives and negatives are in the pivot language."""
    return output_language(study, wildcards) == study.pivot
