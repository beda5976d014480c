"""Backbones that know one language: what their vocabulary, and then all of their weights, are made of (paper 004)."""

from typing import Any

from seedbed.encoders.recipes import ADAPTED
from seedbed.names import anchors_in
from seedbed.study import paths
from seedbed.study.graph import cards, encoders
from seedbed.study.model import Study
from seedbed.study.paths import at


def weights(study: Study, wildcards: Any) -> str:
    """The backbone as it was published."""
    return encoders.backbone_weights(study, wildcards.backbone, wildcards.lang)


def swapped(study: Study, wildcards: Any) -> str:
    """The backbone with the language's vocabulary."""
    return at(study, paths.VOCABULARY, backbone=wildcards.backbone, lang=wildcards.lang)


def texts(study: Study, wildcards: Any) -> str:
    """The sentences that both learn from: no test set has them."""
    return at(study, paths.CORPUS, lang=wildcards.lang, corpus=anchors_in(study.adaptation.text))


def masks(study: Study, wildcards: Any) -> bool:
    """Whether masked language modelling follows, for which a tokenizer needs a mask."""
    return any(recipe.start == ADAPTED for recipe in study.recipes.values())


def about(study: Study, wildcards: Any) -> dict[str, Any]:
    """What a manifest says of a backbone's making."""
    source = encoders.source_of(study, wildcards.backbone, wildcards.lang)
    return {
        "backbone": wildcards.backbone,
        "base_model": source.hub or "",
        "licence": source.licence,
        "language": wildcards.lang,
        "language_name": study.facts(wildcards.lang)["name"],
        "data": [cards.adaptation_data(study, wildcards.lang)],
    }
