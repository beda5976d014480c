"""What the cards and manifests of encoders say of their making."""

from types import SimpleNamespace
from typing import Any

from seedbed.corpora.fetch import origin
from seedbed.corpora.settings import Source
from seedbed.encoders.recipes import STARTS
from seedbed.names import DRAWN
from seedbed.study.graph import encoders, generators
from seedbed.study.model import Study


def lineage(study: Study, wildcards: Any) -> dict[str, Any]:
    """What the model card says of an encoder's making."""
    recipe, given = study.recipes[wildcards.recipe], encoders.published_for(study, wildcards)
    if not given and encoders.is_pivot(study, wildcards.recipe, wildcards.lang):
        return lineage(study, _beginning(study, wildcards)) | described(study, wildcards)
    source = given or encoders.source_of(study, wildcards.backbone, wildcards.lang)  # None: an endpoint
    about = described(study, wildcards) | {
        "base_model": (source and source.hub) or "",
        "backbone_licence": source.licence if source else "",
        "summary": "" if given else recipe.summary,
        "data": [],
    }
    if remote := encoders.endpoint(study, wildcards):
        about["endpoint"] = remote
    if given or (encoders.untrained(study, wildcards) and not recipe.together):
        begun = [] if given or not recipe.start else lineage(study, _beginning(study, wildcards))["data"]
        return about | {"data": begun}
    if recipe.start in STARTS:
        about["data"].append(adaptation_data(study, wildcards.lang))
    elif recipe.start:
        about["data"] += lineage(study, _beginning(study, wildcards))["data"]
    role = recipe.drawn or DRAWN.get(recipe.data.corpus, recipe.data.corpus)
    codes = encoders.learnt_in(study, wildcards.recipe, wildcards.lang)
    for code in [study.pivot] if recipe.data.translated else codes:
        for name in [role, "text"] if recipe.data.neighbours else [role]:
            about["data"].append(_data(name, study.corpus(name, code)))
    if recipe.of_several:
        about["languages"] = codes
    if any(encoders.writes(study, wildcards.recipe, code) for code in codes):
        about["generator"] = generators.of_recipe(study, wildcards.recipe)
        writer = study.generators[about["generator"]]
        served = f"{writer.served_model} at {writer.endpoint}"
        about["data"].append(_data(about["generator"], writer.source, served) | {"role": "generator"})
    about["data"] = [one for place, one in enumerate(about["data"]) if one not in about["data"][:place]]
    return about


def _beginning(study: Study, wildcards: Any) -> SimpleNamespace:
    """The encoder that another one's training starts from."""
    backbone, start = encoders.start_of(study, wildcards)
    own = {"recipe": start, "lang": encoders.trained_on(study, start, wildcards.lang)}
    return SimpleNamespace(backbone=backbone, seed=encoders.seed_of(study, start, wildcards.seed), **own)


def adaptation_data(study: Study, lang: str) -> dict[str, str]:
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


def _data(name: str, source: Source | None, served: str = "") -> dict[str, str]:
    """A source as a card names it; a server's model has a licence of its own, which nobody states here."""
    return {"name": name, "origin": origin(source) if source else served, "licence": source.terms if source else ""}
