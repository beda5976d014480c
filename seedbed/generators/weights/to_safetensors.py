"""Conversion of pickled weights to safetensors: `python -I to_safetensors.py FOLDER FILE...`, see `pickles.convert`.

The files may be malicious: the conversion is a separate process, which imports nothing of the project and executes no
pickle (torch's restricted reader). Any error ends it with one line on its error stream.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import zipfile
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import split_state_dict_into_shards_factory
from safetensors.torch import save_file

SHARD = 2**31
"""Maximum bytes of a shard of weights, and about the bytes in memory at a time; one tensor may be larger."""
SPARE = 2**33
"""Bytes of memory for the libraries and a shard, on top of the files'."""
SHARED = 3
"""How many times the size of the files all tensors may be together: several names may share one tensor."""


def main(arguments: list[str]) -> None:
    folder, *files = map(Path, arguments)
    size = sum(file.stat().st_size for file in files)
    resource.setrlimit(resource.RLIMIT_DATA, (size + SPARE, size + SPARE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        write(tensors(files, size), folder)
    except Exception as error:  # the reader raises whatever a broken file leads to
        sys.exit(reason(error))


def tensors(files: list[Path], size: int) -> dict[str, torch.Tensor]:
    """The dense tensors in the files, by name.

    Args:
        size: bytes of the files: no tensor may be larger, and all together at most SHARED times as large.

    Raises:
        ValueError: they contain anything else; or as `torch.load`.
    """
    found: dict[str, Any] = {}
    for file in files:
        # Files of before torch 1.6 are no zip archives and cannot be mapped.
        state = torch.load(file, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(file))
        if not isinstance(state, dict):
            raise ValueError(f"a {type(state).__name__} instead of tensors by name")
        found |= state
    for name, tensor in found.items():
        if not isinstance(name, str) or not is_plain(tensor):
            raise ValueError(f"{str(name)[:80]!r} is no plain tensor but {type(tensor).__name__}")
        if tensor.nbytes > size:
            raise ValueError(f"{name[:80]!r} has {tensor.nbytes} bytes, the files {size}")
    if (total := sum(tensor.nbytes for tensor in found.values())) > SHARED * size:
        raise ValueError(f"{total} bytes of tensors in files of {size}")
    return found


def is_plain(value: Any) -> bool:
    """Whether it is a dense tensor on the CPU: not quantised, no conjugate or negative view."""
    return (
        type(value) in (torch.Tensor, torch.nn.Parameter)
        and value.layout is torch.strided
        and value.device.type == "cpu"
        and not (value.is_quantized or value.is_conj() or value.is_neg())
    )


def write(state: dict[str, torch.Tensor], folder: Path) -> None:
    """Write model.safetensors, or shards and their index. Names that share a tensor get a copy each."""
    split = split_state_dict_into_shards_factory(
        state,
        get_storage_size=lambda tensor: tensor.nbytes,
        filename_pattern="model{suffix}.safetensors",
        max_shard_size=SHARD,
    )
    for file, names in split.filename_to_tensors.items():
        shard = {name: state[name].detach().clone(memory_format=torch.contiguous_format) for name in names}
        save_file(shard, folder / file, metadata={"format": "pt"})
    if split.is_sharded:
        index = {"metadata": split.metadata, "weight_map": split.tensor_to_filename}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))


def reason(error: Exception) -> str:
    """One line on what is wrong with the files, without torch's advice to load them with `weights_only=False`."""
    text = str(error)
    if more := re.search(r"Unsupported .*?(?= was not | is not |\n|$)", text):
        return f"it holds more than tensors: {more[0]}"
    if isinstance(error, MemoryError):
        return "it takes too much memory"
    first = re.split(r"\s*\n|\. ", text)[0]
    return first if type(error) is ValueError else f"damaged, or not as torch.save writes it: {first or 'it is empty'}"


if __name__ == "__main__":
    main(sys.argv[1:])
