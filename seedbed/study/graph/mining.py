"""Whose layer finds neighbours, and what an encoder that learns them is told of it."""

from typing import Any

from seedbed.encoders.settings import Mining
from seedbed.study import paths
from seedbed.study.graph import encoders
from seedbed.study.model import Study
from seedbed.study.paths import at, told


def mined_weights(study: Study, wildcards: Any) -> str:
    """The backbone whose layer finds neighbours."""
    return encoders.backbone_weights(study, wildcards.backbone, wildcards.lang)


def mining_of(study: Study, wildcards: Any) -> str:
    """The way of mining by which what an encoder learns from was found, by its name; empty: it was not mined."""
    data = study.recipes[wildcards.recipe].data
    return data.neighbours if data and not encoders.untrained(study, wildcards) else ""


def mined(study: Study, wildcards: Any) -> dict[str, str]:
    """What mining says of its neighbours; and the backbone that mined them, where training starts from an encoder."""
    if not (mining := mining_of(study, wildcards)):
        return {}
    facts = {"backbone": wildcards.backbone, "lang": wildcards.lang}
    audit = {"audit": at(study, paths.NEIGHBOURS_AUDIT, mining=mining, **facts)}
    started = study.recipes[wildcards.recipe].start
    return audit | ({"miner": mined_weights(study, wildcards)} if started else {})


def rows_arguments(study: Study, wildcards: Any) -> list[Any]:
    """How many texts an encoder learns from at most, and how and by whom they should have been mined, as arguments."""
    rows, mining = study.recipes[wildcards.recipe].rows, mining_of(study, wildcards)
    found = ["--rows", rows] if rows else []
    if mining:  # any number of neighbours: a recipe takes as many as it wants
        found += ["--mining", study.mining[mining].updated({"count": Mining().count}).dump()]
    if miner := mined(study, wildcards).get("miner"):
        found += ["--miner", told(miner)]
    return found
