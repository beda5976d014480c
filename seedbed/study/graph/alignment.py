"""Alignment with the pivot language, or of all languages: whose vectors are made, of which texts, and who learns."""

from typing import Any

from seedbed.encoders import objectives
from seedbed.encoders.objectives import Objective
from seedbed.generators.settings import POLARITIES
from seedbed.study.graph import encoders, prefixes
from seedbed.study.graph.encoders import of_recipe
from seedbed.study.model import Study
from seedbed.study.paths import CORPUS, TRIPLETS, at


def pivot_encoder(study: Study, wildcards: Any) -> str:
    """The encoder of the pivot language whose vectors are made."""
    return of_recipe(study, wildcards.backbone, wildcards.recipe, study.pivot, wildcards.seed)


def pivot_texts(study: Study, wildcards: Any) -> str:
    """The table that has them: a corpus, or the triplets of GENERATOR+METHOD."""
    generator, written, method = wildcards.corpus.partition("+")
    if written:
        return at(study, TRIPLETS, generator=generator, method=method, lang=wildcards.lang)
    return at(study, CORPUS, lang=wildcards.lang, corpus=wildcards.corpus)


def pivot_columns(study: Study, wildcards: Any) -> list[str]:
    """Its columns that are in the pivot language: of triplets that were written, what was written."""
    if "+" in wildcards.corpus:
        return [*POLARITIES]
    kind = study.roles.get(wildcards.corpus, "parallel")
    return ["pivot"] if kind == "parallel" else ["anchor", "positive", "negative"]


def pivot_rows(study: Study, wildcards: Any) -> list[str] | str:
    """The pivot's rows, which an encoder that is aligned with it learns beside its own; pairs have both sides."""
    if encoders.untrained(study, wildcards) or not encoders.pivots(study, wildcards.recipe):
        return []
    corpus, lang = study.recipes[wildcards.recipe].data.corpus, encoders.pivot_language(study, wildcards)
    return at(study, CORPUS, lang=lang, corpus=corpus) if lang != wildcards.lang else []


def together(study: Study, wildcards: Any) -> dict[str, str]:
    """Language -> its encoder, of those whose adapters are trained together."""
    start = study.recipes[wildcards.recipe].start
    codes = encoders.learnt_in(study, wildcards.recipe, "")
    return {code: of_recipe(study, wildcards.backbone, start, code, wildcards.seed) for code in codes}


def each_texts(study: Study, wildcards: Any) -> dict[str, str]:
    """Language -> what its adapters learn from."""
    codes = encoders.learnt_in(study, wildcards.recipe, "")
    return {code: encoders.data_of(study, wildcards.recipe, code).format(lang=code) for code in codes}


def objective(study: Study, wildcards: Any) -> dict[str, Objective]:
    """The objective by its name."""
    learns = study.recipes[wildcards.recipe].learns()
    return {objectives.name_of(learns): learns}


def fixed(study: Study, wildcards: Any) -> list[str]:
    """The languages whose encoders get no adapters."""
    return [] if study.recipes[wildcards.recipe].learns().pivot else [study.pivot]


def modules(study: Study, wildcards: Any) -> list[str]:
    """The objective's file, which the program imports by its name."""
    return [objectives.module_of(objectives.name_of(study.recipes[wildcards.recipe].learns()))]


def prefix(study: Study, wildcards: Any) -> str:
    """The prefix of all that is read."""
    return prefixes.of_recipe(study, wildcards.backbone, wildcards.recipe)


def about(study: Study, wildcards: Any) -> dict[str, Any]:
    """What the manifest of adapters says of their making."""
    codes = encoders.learnt_in(study, wildcards.recipe, "")
    return {"backbone": wildcards.backbone, "recipe": wildcards.recipe, "languages": codes, "seed": int(wildcards.seed)}
