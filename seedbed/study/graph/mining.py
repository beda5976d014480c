"""Whose layer finds neighbours, and what an encoder that learns them is told of it."""

from typing import Any

from seedbed.encoders.settings import Mining
from seedbed.study import paths
from seedbed.study.graph import encoders
from seedbed.study.model import Study
from seedbed.study.paths import at


def mined_weights(study: Study, wildcards: Any) -> str:
    """The backbone whose layer finds neighbours."""
    return encoders.backbone_weights(study, wildcards.backbone, wildcards.lang)


def mining_of(study: Study, wildcards: Any) -> str:
    """The way of mining by which what an encoder learns from was found, by its name; empty: it was not mined."""
    data = study.recipes[wildcards.recipe].data
    return data.neighbours if data and not encoders.untrained(study, wildcards) else ""


def audit(study: Study, wildcards: Any) -> list[str] | str:
    """What mining says of the neighbours that an encoder learns from; empty: it learns none."""
    facts = {"backbone": wildcards.backbone, "lang": wildcards.lang, "mining": mining_of(study, wildcards)}
    return at(study, paths.NEIGHBOURS_AUDIT, **facts) if facts["mining"] else []


def miner(study: Study, wildcards: Any) -> list[str] | str:
    """The backbone that mined them, where training starts from an encoder."""
    started = mining_of(study, wildcards) and study.recipes[wildcards.recipe].start
    return mined_weights(study, wildcards) if started else []


def asked(study: Study, wildcards: Any) -> Mining | None:
    """How they should have been mined, in any number: a recipe takes as many as it wants."""
    mining = mining_of(study, wildcards)
    return study.mining[mining].updated({"count": Mining().count}) if mining else None
