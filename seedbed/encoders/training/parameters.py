"""Which part of an encoder is trained: all of it, adapters of its backbone, or what stands after that."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer

from seedbed import manifests
from seedbed.encoders.models import parallel_adapters
from seedbed.encoders.models.digests import vectors_of
from seedbed.encoders.models.parallel_adapters import AdaptedTransformer, align
from seedbed.encoders.models.two_paths import FeaturePath
from seedbed.encoders.settings import Training
from seedbed.io import UserError


@contextlib.contextmanager
def trained(encoder: SentenceTransformer, training: Training, seed: int) -> Iterator[None]:
    """Leave gradients to the trained part alone; at the end low-rank adapters are merged into the backbone.

    Args:
        seed: of the adapters' first matrices; the second are zero, so that the encoder is what it was until the first
            step. Parallel adapters that it has already are trained on.

    Raises:
        UserError: the part is the head, and nothing with weights stands after the backbone; or as
            `parallel_adapters.align`.
    """
    if training.part == "adapter" and training.adapter == "parallel":
        if not isinstance(encoder[0], AdaptedTransformer):
            align(encoder, reduction=training.reduction, scaling=training.scaling, seed=seed)
        encoder.requires_grad_(False)
        encoder[0].adapters.requires_grad_(True)
        yield
        return
    body = encoder[0].auto_model
    if training.freeze_word_embeddings:
        body.get_input_embeddings().requires_grad_(False)
    if training.part != "all":
        encoder[0].requires_grad_(False)
        for module in encoder.modules():
            if isinstance(module, FeaturePath):  # stands after a backbone, be it within two paths
                module.requires_grad_(True)
    if training.part == "adapter":
        from peft import LoraConfig, get_peft_model

        torch.manual_seed(seed)
        options = {"lora_alpha": 2 * training.rank, "target_modules": "all-linear"}
        adapted = get_peft_model(body, LoraConfig(r=training.rank, **options))
        yield
        adapted.merge_and_unload()
        return
    if not any(weight.requires_grad for weight in encoder.parameters()):
        raise UserError(
            f"training.part: head, and pooling {training.pooling} has no weights to train; take cls_mlp, or part all"
        )
    yield


def take_adapters(encoder: SentenceTransformer, start: Path, folder: Path) -> dict[str, Any]:
    """Give an encoder the adapters that were trained beside those of other languages; one that was fixed has none.

    Args:
        encoder: is changed in place.
        start: the folder that it was opened from.
        folder: of the adapters, as `joint_adapters.align_together` writes them.

    Returns:
        What a manifest says of the space that they share: of all that were trained together the same.

    Raises:
        UserError: they were trained beside other encoders; or as `parallel_adapters.put`.
    """
    known = manifests.read(folder / manifests.MANIFEST)
    own = vectors_of(manifests.read(start / manifests.MANIFEST))
    code = next((code for code, digest in known["encoders"].items() if digest == own), "")
    if not code:
        raise UserError(f"{folder}: adapters of other encoders than {start}; have them trained again")
    if (file := folder / f"{code}.safetensors").is_file():
        parallel_adapters.put(encoder, parallel_adapters.read(file))
    return {"pivot": manifests.digest_of(folder)}
