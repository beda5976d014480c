"""What the cards and manifests of encoders say of their making."""

from collections.abc import Sequence
from typing import Any

from seedbed import licences, origins
from seedbed.corpora.fetch import origin
from seedbed.corpora.settings import Source
from seedbed.encoders.recipes import STARTS, Recipe
from seedbed.names import DRAWN
from seedbed.study.graph import encoders, generators
from seedbed.study.model import Study


def lineage(study: Study, wildcards: Any) -> dict[str, Any]:
    """What the model card says of an encoder's making."""
    recipe, given = study.recipes[wildcards.recipe], encoders.published_for(study, wildcards)
    if not given and encoders.is_pivot(study, wildcards.recipe, wildcards.lang):
        return lineage(study, encoders.start_job(study, wildcards)) | described(study, wildcards)
    body, others = (wildcards.backbone, []) if given else _weights(study, wildcards)
    source = given or encoders.source_of(study, body, wildcards.lang)  # None: an endpoint
    about = described(study, wildcards) | {
        "base_model": (source and source.hub) or "",
        "backbone_licence": source.licence if source else "",
        "summary": "" if given else recipe.summary,
        "data": [],
    }
    if remote := encoders.endpoint(study, wildcards):
        about["endpoint"] = remote
    if given or (encoders.untrained(study, wildcards) and not recipe.together):
        begun = [] if given or not recipe.start else lineage(study, encoders.start_job(study, wildcards))["data"]
        return about | {"data": origins.once(begun + others)}
    if recipe.start in STARTS:
        about["data"].append(adaptation_data(study, wildcards.lang))
    elif recipe.start:
        about["data"] += lineage(study, encoders.start_job(study, wildcards))["data"]
    role = recipe.drawn or DRAWN.get(recipe.data.corpus, recipe.data.corpus)
    codes = encoders.learnt_in(study, wildcards.recipe, wildcards.lang)
    for code in [study.pivot] if recipe.data.translated else codes:
        for name in [role, "text"] if recipe.data.neighbours else [role]:
            about["data"].append(_data(name, study.corpus(name, code)))
    if recipe.of_several:
        about["languages"] = codes
    if any(encoders.writes(study, wildcards.recipe, code) for code in codes):
        about["generator"] = generators.of_recipe(study, wildcards.recipe)
        about["data"].append(_model(study, about["generator"], "generator"))
    about["data"] = origins.once(about["data"] + _translators(study, recipe, codes) + others)
    return about


def _weights(study: Study, wildcards: Any) -> tuple[str, list[dict[str, Any]]]:
    """The backbone whose weights an encoder has; and of one that reads a text and its English a record of the other."""
    pair, fusion = study.paired.get(wildcards.backbone), study.recipes[wildcards.recipe].fusion
    if not (pair and fusion):
        return wildcards.backbone, []
    if fusion == "english":
        return pair.english, []
    record = _data(pair.english, encoders.source_of(study, pair.english, wildcards.lang))
    return wildcards.backbone, [record | {"role": licences.BACKBONE}]


def _translators(study: Study, recipe: Recipe, codes: Sequence[str]) -> list[dict[str, Any]]:
    """Who put what an encoder learnt from into the pivot language, and who judged that; none: it was not translated."""
    if {*codes} <= {study.pivot}:
        return []
    found = []
    for name in recipe.translators:
        spec = study.translators[name]
        if spec.generator:
            found.append(_model(study, spec.generator, "translator"))
            continue
        sources = [spec.given.resolved(study.facts(code)) for code in codes if code != study.pivot]
        found += [_data(name, source) for source in sources if source]
    return found + ([_model(study, study.judges[recipe.judge].generator, "judge")] if recipe.judge else [])


def _model(study: Study, generator: str, role: str) -> dict[str, Any]:
    """A generator as a card names it."""
    spec = study.generators[generator]
    served = [] if spec.source else origins.one(kind="server", name=spec.served_model, endpoint=spec.endpoint)
    return _data(generator, spec.source, served) | {"role": role}


def adaptation_data(study: Study, lang: str) -> dict[str, Any]:
    """The text that a backbone is adapted to a language by, as a card names it."""
    name = study.adaptation.text or "text"
    return _data(name, study.corpus(name, lang))


def described(study: Study, wildcards: Any) -> dict[str, Any]:
    """What every encoder's manifest says of it."""
    return {
        "backbone": wildcards.backbone,
        "recipe": wildcards.recipe,
        "method": study.recipes[wildcards.recipe].method,
        "language": wildcards.lang,
        "language_name": study.facts(wildcards.lang)["name"],
        "seed": int(wildcards.seed),
    }


def _data(name: str, source: Source | None, served: origins.Origin = ()) -> dict[str, Any]:
    """A source as a card names it; a server's model has a licence of its own, which nobody states here."""
    return {"name": name, "origin": origin(source) if source else [*served], "licence": source.terms if source else ""}
