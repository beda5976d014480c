"""The type of a language model in a folder, from its configuration."""

from pathlib import Path

from seedbed import model_files
from seedbed.io import UserError, read_json


def is_encoder_decoder(base: Path) -> bool:
    """Whether a model has an encoder for prompts and a decoder for outputs (mT0, Aya-101)."""
    config = base / "config.json"
    return config.is_file() and bool(read_json(config).get("is_encoder_decoder"))


def refuse_encoder_decoder(base: Path) -> None:
    """Stop before an adapter is trained or used where none fits: a UserError if the base is an encoder-decoder."""
    if is_encoder_decoder(base):
        raise UserError(f"{base}: an encoder-decoder has no adapters here; take a base that is a decoder")


def require_model(base: Path) -> None:
    """Stop, by a UserError, at a folder that `model_files.check` refuses, that has no config.json, or whose model
    generates nothing.
    """
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES  # a plan needs none of it

    model_files.check(base)
    if not (base / "config.json").is_file():  # given an adapter, transformers would load the base that it names
        raise UserError(f"{base}: no config.json; expected the directory of a language model")
    config = read_json(base / "config.json")
    decodes = config.get("is_encoder_decoder") or config.get("is_decoder")
    if config.get("model_type") in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not decodes:
        # transformers would load many as generators, whose every token depends on those after it.
        raise UserError(f"{base}: {config['model_type']} is an encoder, and generates nothing; take a language model")
