"""Truncation of a transformer to its first layers."""

import re
from pathlib import Path

from seedbed import model_files
from seedbed.io import UserError, read_json, write_json

BLOCK = re.compile(r"(?:^|\.)(?:layers?|h|blocks?)\.(\d+)\.")
"""In the name of a weight: the number of its block."""
COUNTS = (
    "num_hidden_layers",
    "num_layers",
    "num_decoder_layers",
    "encoder_layers",
    "decoder_layers",
    "n_layers",
    "n_layer",
)
"""In a model's configuration: how many blocks it has; architectures have different names."""


def keep_first_layers(directory: Path, layers: int) -> None:
    """Keep the first `layers` blocks of a saved model, of transformers or of sentence-transformers, in place, with its
    embeddings, its last norm and its heads.

    Raises:
        UserError: it has fewer blocks, or its configuration does not say how many.
    """
    from safetensors.torch import load_file, save_file  # brings torch, which a plan has no need of

    folder = model_files.transformer_in(directory)
    config = read_json(folder / "config.json")
    if not (names := [name for name in COUNTS if name in config]):
        raise UserError(f"layers: {folder / 'config.json'} has none of {', '.join(COUNTS)}; leave it out")
    if layers > (has := max(config[name] for name in names)):
        raise UserError(f"layers: {layers}, but the model has {has}; give {has} or fewer, or leave it out")
    # Some configurations also say of each block what it is.
    config |= {key: value[:layers] for key, value in config.items() if isinstance(value, list) and len(value) == has}
    write_json(config | {name: min(layers, config[name]) for name in names}, folder / "config.json")
    for file in sorted(folder.glob("*.safetensors")):
        kept = {name: tensor for name, tensor in load_file(file).items() if _keeps(name, layers)}
        save_file(kept, file, metadata={"format": "pt"})
    for file in sorted(folder.glob("*.safetensors.index.json")):
        index = read_json(file)
        index["weight_map"] = {name: part for name, part in index["weight_map"].items() if _keeps(name, layers)}
        write_json(index, file)


def _keeps(name: str, layers: int) -> bool:
    """Whether a weight is of one of the first blocks, or of none."""
    found = BLOCK.search(name)
    return not found or int(found[1]) < layers
