"""Making a copy of an encoder, smaller or of several seeds, and saying how far it is from what it was."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from seedbed import manifests
from seedbed.encoders import objectives
from seedbed.encoders.compression import copies
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading, onnx_int8, two_paths
from seedbed.encoders.objectives import Copy
from seedbed.encoders.prompts import Prefix
from seedbed.encoders.settings import Training
from seedbed.io import UserError

COMPARED = 512
"""So many texts at most say what is lost."""


def copy(
    weights: Path,
    table: pd.DataFrame | None,
    training: Training,
    *,
    objective: Copy,
    prefix: Prefix,
    languages: Mapping[str, str] | None = None,
    seed: int,
    output: Path,
    about: Mapping[str, Any],
    folders: Mapping[str, Path] | None = None,
    tell: manifests.Tell | None = None,
) -> dict[str, Any]:
    """Open an encoder, make a copy of it by what texts use, and save that.

    Args:
        weights, prefix, languages: as of `loading.load`; `training` says the pooling.
        table: `id` and `text`.
        objective: the way of copying.
        folders: those of `objective.references`, or of each other seed.
        output: replaced as a whole, at the end.
        about, tell: as of `save`.

    Returns:
        How it was copied, by how many texts, the `examples` that the original learnt from, parameters and bytes of
        both, and `agreement` on the first texts, where there is one, see `copies.agreement`.

    Raises:
        UserError: bad weights, parallel adapters, an encoder of two texts or one in integers; fewer than two texts; as
            the way of copying.
    """
    name = objectives.name_of(objective)
    if table is None or len(table) < objective.least:
        raise UserError(f"{name}: {0 if table is None else len(table)} texts; at least {objective.least} are needed")
    for code, what in ((two_paths.CODE, "reads two texts"), (onnx_int8.CODE, "is in integers")):
        if (weights / code).is_file():
            raise UserError(f"{weights}: this encoder {what} and cannot be copied; copy one that it was made from")
    texts, language = objective.columns(table)["text"], (languages or {}).get("", "")
    pooling = {"pooling": training.pooling, "layers": training.layers}
    encoder = loading.load(weights, **pooling, prefix=prefix, language=language, seed=seed)
    some, was = texts[:COMPARED], copies.size(encoder)
    before = encoder.encode(some)
    small = objective.copied(encoder, texts, {**(folders or {}), "weights": weights})
    agreement = copies.agreement(before, small.encode(some))
    small = objective.stored(small)
    facts = {"copy": name, **objective.model_dump(mode="json"), "texts": len(texts), "examples": _learnt(weights)}
    facts |= {} if agreement is None else {"agreement": round(agreement, 4)}
    facts |= {f"{key} of the original": value for key, value in was.items()} | copies.size(small)
    save(small, output, {**about, "seed": seed}, facts, weights, tell=tell)
    return facts


def _learnt(weights: Path) -> int:
    """The rows that an encoder was last trained on; 0: none, as of a backbone."""
    if not (weights / manifests.MANIFEST).is_file():
        return 0
    return (manifests.read(weights / manifests.MANIFEST).get("training") or {}).get("examples") or 0
