"""Making a copy of an encoder, smaller or of several seeds, and saying how far it is from what it was."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed import manifests
from seedbed.encoders.compression.measure import agreement, size
from seedbed.encoders.compression.settings import COMPARED, Copies
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading, onnx_int8, two_paths
from seedbed.encoders.prompts import Prefix
from seedbed.encoders.settings import Training
from seedbed.io import UserError

LEAST = 2
"""Texts."""


def copy(
    weights: Path,
    texts: Sequence[str],
    copies: Copies,
    *,
    training: Training,
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
        texts: without what stands before them.
        copies: the way of copying.
        folders: as of `Copy.copied`.
        output: replaced as a whole, at the end.
        about, tell: as of `save`.

    Returns:
        How it was copied, by how many texts, the `examples` that the original learnt from, parameters and bytes of
        both, and `agreement` on the first texts, where there is one, see `measure.agreement`.

    Raises:
        UserError: bad weights, parallel adapters, an encoder of two texts or one in integers; fewer than two texts; as
            the way of copying.
    """
    name, way, texts = copies.name, copies.way, [*texts]
    if len(texts) < LEAST:
        raise UserError(f"{name}: {len(texts)} texts; at least {LEAST} are needed")
    for code, what in ((two_paths.CODE, "reads two texts"), (onnx_int8.CODE, "is in integers")):
        if (weights / code).is_file():
            raise UserError(f"{weights}: this encoder {what} and cannot be copied; copy one that it was made from")
    modules = {"pooling": training.pooling, "layers": training.layers, "language": (languages or {}).get("", "")}
    encoder = loading.load(weights, **modules, prefix=prefix, seed=seed)
    some, was = texts[:COMPARED], size(encoder)
    before = encoder.encode(some)
    small = way.copied(encoder, texts, folders or {})
    agreed = agreement(before, small.encode(some))
    small = way.stored(small)
    facts = {"copy": name, **way.model_dump(mode="json"), "texts": len(texts), "examples": _learnt(weights)}
    facts |= {} if agreed is None else {"agreement": round(agreed, 4)}
    facts |= {f"{key} of the original": value for key, value in was.items()} | size(small)
    save(small, output, {**about, "seed": seed}, facts, weights, tell=tell)
    return facts


def _learnt(weights: Path) -> int:
    """The rows that an encoder was last trained on; 0: none, as of a backbone."""
    if not (weights / manifests.MANIFEST).is_file():
        return 0
    return (manifests.read(weights / manifests.MANIFEST).get("training") or {}).get("examples") or 0
