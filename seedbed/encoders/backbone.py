"""A directory of pretrained weights becomes a sentence encoder."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Module, Pooling, Transformer
from sentence_transformers.util import fullname
from torch import nn
from transformers import MODEL_MAPPING, AutoConfig, PreTrainedModel

from seedbed.encoders import settings
from seedbed.encoders.pooling import FirstLastAverage
from seedbed.io import UserError, read_json

TOKENIZER_FILES = ("tokenizer.json", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model", "vocab.txt")
NO_CODE = {"trust_remote_code": False}
LOCAL = NO_CODE | {"local_files_only": True}


def load(
    weights: Path, *, pooling: settings.Pooling, prefix: str = "", max_length: int | None = None
) -> SentenceTransformer:
    """Build an encoder: the transformer, then pooling, in float32.

    Args:
        weights: a directory as `save_pretrained` writes it, of transformers or of sentence-transformers; of the
            latter only the transformer is used. Safetensors only, and no code from the directory is run.
        prefix: put before every text by `encode`, `encode_query` and `encode_document`, and saved with the encoder.
        max_length: tokens of a text; None for as many as the backbone can read.

    Raises:
        UserError: no such directory, or no config.json, no tokenizer or no safetensors in it.
    """
    transformer = _transformer(_directory(Path(weights)), hidden_states=pooling == "first_last_average")
    limit = _limit(transformer)
    transformer.max_seq_length = min(limit, max_length or limit)
    return SentenceTransformer(
        modules=[transformer, _pooling(pooling, transformer.get_embedding_dimension())],
        # The two names that sentence-transformers and mteb look for.
        prompts={"query": prefix, "document": prefix},
        default_prompt_name="document" if prefix else None,
        local_files_only=True,
    )


def open_encoder(directory: Path) -> SentenceTransformer:
    """Open an encoder that a recipe saved; no file of the directory is run.

    Raises:
        UserError: no encoder there, or one with a module of somebody else's.
    """
    if not (modules := Path(directory) / "modules.json").is_file():
        raise UserError(f"{directory}: no modules.json; expected an encoder as train_encoder writes it")
    for name in (module["type"] for module in read_json(modules)):
        if name != fullname(FirstLastAverage) and not name.startswith("sentence_transformers."):
            raise UserError(f"{directory}: {name} is foreign code; only this package and sentence-transformers are run")
    # sentence-transformers asks for trust as soon as a module is not its own; the weights get none.
    return SentenceTransformer(
        str(directory),
        trust_remote_code=True,
        local_files_only=True,
        model_kwargs=dict(NO_CODE),
        processor_kwargs=dict(NO_CODE),
        config_kwargs=dict(NO_CODE),
    )


def _directory(weights: Path) -> Path:
    """The directory that holds the transformer, checked."""
    if not weights.is_dir():
        raise UserError(f"{weights}: no such directory; expected weights as save_pretrained writes them")
    if (modules := weights / "modules.json").is_file():
        weights = weights / read_json(modules)[0]["path"]
    if not (weights / "config.json").is_file():
        raise UserError(f"{weights}: no config.json; expected weights as save_pretrained writes them")
    if not any((weights / name).is_file() for name in TOKENIZER_FILES):
        raise UserError(f"{weights}: no tokenizer; expected one of {', '.join(TOKENIZER_FILES)}")
    if not any(weights.glob("*.safetensors")):
        raise UserError(f"{weights}: no *.safetensors; save the model again with save_pretrained")
    return weights


def _transformer(weights: Path, *, hidden_states: bool) -> Transformer:
    """The sentence-transformers module around the weights."""
    options = _without_pooler(weights)
    transformer = Transformer(
        str(weights),
        model_kwargs=LOCAL | options | {"dtype": torch.float32, "use_safetensors": True},
        processor_kwargs=dict(NO_CODE),  # a tokenizer would save `local_files_only` too
        config_kwargs=LOCAL | {"output_hidden_states": hidden_states},
    )
    # Saved with the module and read back by it. Without this, loading a saved encoder (or a checkpoint, strictly)
    # would add a pooler of random weights again.
    transformer.model_kwargs = options
    transformer.config_keys = [*transformer.config_keys, "model_kwargs"]
    return transformer


def _without_pooler(weights: Path) -> dict[str, Any]:
    """Options that leave out BERT's pooler, which no pooling here uses and which LoRA would wrap."""
    config = AutoConfig.from_pretrained(weights, **LOCAL)
    architecture = MODEL_MAPPING.get(type(config), PreTrainedModel)
    has_pooler = "add_pooling_layer" in inspect.signature(architecture).parameters
    return {"add_pooling_layer": False} if has_pooler else {}


def _limit(transformer: Transformer) -> int:
    """Tokens that the backbone can read: its tokenizer's limit, or fewer if it has fewer positions.

    RoBERTa counts positions from its padding index + 1, so that XLM-R's 514 positions hold 512 tokens.
    """
    tables = (getattr(module, "position_embeddings", None) for module in transformer.auto_model.modules())
    lengths = [
        table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)
        for table in tables
        if isinstance(table, nn.Embedding)
    ]
    return min([transformer.max_seq_length, *lengths])


def _pooling(name: settings.Pooling, width: int) -> Module:
    return FirstLastAverage(width) if name == "first_last_average" else Pooling(width, name)
