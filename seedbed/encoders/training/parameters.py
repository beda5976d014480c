"""Selection of the trained weights: the whole encoder, adapters of its backbone, or the modules after the backbone."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer

from seedbed import manifests
from seedbed.encoders.models import parallel_adapters
from seedbed.encoders.models.digests import vectors_digest
from seedbed.encoders.models.two_paths import FeaturePath, sides_of
from seedbed.encoders.settings import Training
from seedbed.io import UserError


@contextlib.contextmanager
def trainable(encoder: SentenceTransformer, training: Training, seed: int) -> Iterator[None]:
    """Context in which only the part of an encoder that `training.part` names gets gradients.

    LoRA adapters are merged into the backbone at the end; a two-path encoder has them in both. Existing parallel
    adapters are trained further.

    Args:
        encoder: the encoder; parallel adapters are added in place if it has none.
        training: part, adapter, rank, reduction, scaling and freeze_word_embeddings are used.
        seed: seed of new adapters. Their second matrices start at zero, so that the encoder is unchanged before the
            first step.

    Raises:
        UserError: part head, and no module after the backbone has weights; or an encoder that cannot take adapters.
    """
    if training.part == "adapter" and training.adapter == "parallel":
        if not isinstance(encoder[0], parallel_adapters.AdaptedTransformer):
            parallel_adapters.add_adapters(encoder, reduction=training.reduction, scaling=training.scaling, seed=seed)
        encoder.requires_grad_(False)
        encoder[0].adapters.requires_grad_(True)
        yield
        return
    bodies = [side[0].auto_model for side in sides_of(encoder)]
    if training.freeze_word_embeddings:
        for body in bodies:
            body.get_input_embeddings().requires_grad_(False)
    if training.part != "all":
        encoder[0].requires_grad_(False)
        for module in encoder.modules():
            if isinstance(module, FeaturePath):  # follows a backbone, also within a two-path encoder
                module.requires_grad_(True)
    if training.part == "adapter":
        from peft import LoraConfig, get_peft_model

        torch.manual_seed(seed)
        lora = {"r": training.rank, "lora_alpha": 2 * training.rank, "target_modules": "all-linear"}
        adapted = [get_peft_model(body, LoraConfig(**lora)) for body in bodies]
        yield
        for body in adapted:
            body.merge_and_unload()
        return
    if not any(weight.requires_grad for weight in encoder.parameters()):
        raise UserError(
            f"training.part: head, and pooling {training.pooling} has no weights to train; take cls_mlp, or part all"
        )
    yield


def attach_joint_adapters(encoder: SentenceTransformer, start: Path, folder: Path) -> dict[str, Any]:
    """Attach to an encoder, in place, its language's adapters from a joint training; a language without adapters gets
    none.

    `start` is the folder that the encoder was loaded from, `folder` the one that `train_joint_adapters` wrote.

    Returns:
        {"pivot": digest of the joint training}, equal for all encoders that share its vector space.

    Raises:
        UserError: the adapters were trained with other encoders, or cannot be attached.
    """
    known = manifests.of(folder)
    own = vectors_digest(manifests.of(start))
    code = next((code for code, digest in known["encoders"].items() if digest == own), "")
    if not code:
        raise UserError(f"{folder}: adapters of other encoders than {start}; have them trained again")
    if (file := folder / f"{code}.safetensors").is_file():
        parallel_adapters.attach_adapters(encoder, parallel_adapters.read(file))
    return {"pivot": manifests.digest_of(folder)}
