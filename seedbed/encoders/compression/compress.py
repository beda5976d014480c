"""Compress an encoder and save it, with its size and its agreement with the original."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Transformer

from seedbed import manifests
from seedbed.encoders.compression.settings import COMPARED, ORIGINAL, Copies
from seedbed.encoders.export.save import save
from seedbed.encoders.models import onnx_int8, two_paths
from seedbed.encoders.models.loading import Original
from seedbed.io import UserError


def compress(
    original: Original,
    texts: Sequence[str],
    copies: Copies,
    *,
    seed: int,
    output: Path,
    about: Mapping[str, Any],
    folders: Mapping[str, Path] | None = None,
    tell: manifests.Tell | None = None,
) -> dict[str, Any]:
    """Load an encoder, compress it by the usage of tokens in texts, and save the result.

    Args:
        texts: sentences without prompts, two or more.
        copies: the way of compression.
        seed: seed of new weights of its pooling; it is in the manifest.
        output: the folder that is written; it is replaced as a whole at the end.
        about: facts for the card.
        tell: writes the card; None: no card.
        folders: folders of further encoders, see `Copy.compress`.

    Returns:
        The way of compression with its settings, the number of texts, `examples` that the original was trained on,
        parameters and bytes of both, and `agreement` on the first texts, see `agreement`.

    Raises:
        UserError: weights that cannot be loaded or compressed (parallel adapters, two paths, int8); fewer than two
            texts; or settings that the encoder or the texts do not allow.
    """
    name, way, texts, weights = copies.name, copies.way, [*texts], original.weights
    if len(texts) < 2:
        raise UserError(f"{name}: {len(texts)} texts; at least 2 are needed")
    for code, what in ((two_paths.CODE, "reads two texts"), (onnx_int8.CODE, "is in integers")):
        if (weights / code).is_file():
            raise UserError(f"{weights}: this encoder {what} and cannot be copied; copy one that it was made from")
    encoder = original.load(seed)
    if not isinstance(encoder[0], Transformer):
        raise UserError("copy: this encoder has no transformer; copy the one that it was made from")
    if type(encoder[0]) is not Transformer:
        raise UserError("copy: this encoder has parallel adapters; copy the one that was aligned")
    known = manifests.of(weights) if (weights / manifests.MANIFEST).is_file() else {}  # of a backbone none
    some, was = texts[:COMPARED], size(encoder)
    # Of a copy as it was saved: weights in bfloat16 are float32 now.
    was |= {key: value for key, value in known.get("training", {}).items() if key in was}
    before = encoder.encode(some)
    small = way.compress(encoder, texts, {**(folders or {}), ORIGINAL: weights})
    agreed = agreement(before, small.encode(some))
    small = way.for_saving(small)
    learnt = manifests.trained_rows(known) or 0
    facts = {"copy": name, **way.model_dump(mode="json"), "texts": len(texts), "examples": learnt}
    facts |= {} if agreed is None else {"agreement": round(agreed, 4)}
    facts |= {f"{key} of the original": value for key, value in was.items()} | size(small)
    save(small, output, {**about, "seed": seed}, facts, weights, tell=tell)
    return facts


def size(encoder: SentenceTransformer) -> dict[str, int]:
    """`parameters`, the number of weights, and `bytes`, their size when saved."""
    weights = list(encoder.state_dict().values())
    graph = encoder[0] if isinstance(encoder[0], onnx_int8.Int8Transformer) else None
    return {
        "parameters": sum(one.numel() for one in weights) + (graph.weights if graph else 0),
        "bytes": sum(one.numel() * one.element_size() for one in weights) + (len(graph.graph) if graph else 0),
    }


def agreement(one: np.ndarray, other: np.ndarray) -> float | None:
    """Pearson's correlation, between two encoders, of the cosines of consecutive texts (1 with 2, 2 with 3, ...), from
    their vectors (n, d) and (n, e) of n texts.

    Returns:
        The correlation, or None with fewer than three texts or if one encoder gives all pairs the same cosine.
    """
    cosines = []
    for vectors in (one, other):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(min=1e-30)
        cosines.append((unit[1:] * unit[:-1]).sum(axis=1))
    if min(map(np.ptp, cosines)) < 1e-6:
        return None
    return float(np.corrcoef(*cosines)[0, 1])
