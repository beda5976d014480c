"""Manifests: digests of the files that a job wrote, so that manual edits are noticed, and facts about them.

A model's folder has a manifest in it, `seedbed.json`; scores have a list next to their folders. The workflow waits for
manifests and lists, which are written last and have the digests under `files`.
"""

import importlib.metadata
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from seedbed.io import UserError, fingerprint, read_json, sha256, write_json

MANIFEST = "seedbed.json"


Tell = Callable[[Path, Mapping[str, Any]], None]
"""Writes files for people into a folder, such as a model card, from its facts. Programs pass it to the code that makes
the folder, so that the wording of cards is not part of the code that makes results.
"""


def write(directory: Path, facts: Mapping[str, Any], tell: Tell | None = None) -> dict[str, Any]:
    """Write and return the manifest of a folder: facts, and the digest of each file, also of those that `tell` writes
    first.
    """
    if tell:
        tell(directory, facts)
    paths = (path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != MANIFEST)
    manifest = {**facts, "files": {str(path.relative_to(directory)): sha256(path) for path in paths}}
    write_json(manifest, directory / MANIFEST)
    return manifest


def write_list(paths: Iterable[Path], output: Path) -> None:
    """Write a list of files: path relative to the list's folder -> digest."""
    write_json({"files": {os.path.relpath(path, output.parent): sha256(path) for path in paths}}, output)


def read(output: Path, digest: Callable[[Path], str] = sha256) -> dict[str, Any]:
    """Read a manifest or list and check that its files are unchanged.

    A file is read only if its times say that it may have changed.

    Raises:
        UserError: no such manifest, or a file is missing or changed.
    """
    manifest = read_json(output)
    advice = f"put it back, or delete {output} to have it made again"
    files = manifest.get("files", {}) if isinstance(manifest, dict) else None
    if not isinstance(files, dict):
        raise UserError(f"{output}: not what its job wrote (no digests of files); {advice}")
    written = output.stat()
    for name, expected in files.items():
        file = output.parent / name
        if not file.is_file():
            raise UserError(f"{file}: gone since its job ended; {advice}")
        found = file.stat()
        later = found.st_ctime_ns > written.st_ctime_ns or found.st_mtime_ns > written.st_mtime_ns
        if later and digest(file) != expected:
            raise UserError(f"{file}: not what its job wrote; {advice}")
    return manifest


def of(directory: Path) -> dict[str, Any]:
    """The manifest of a folder, read and checked as by `read`.

    Raises:
        UserError: as `read`; or the folder has none, as that of a model that no job wrote.
    """
    if not (directory / MANIFEST).is_file():
        raise UserError(
            f"{directory}: no {MANIFEST}; expected the folder that a job wrote, such as results/encoders/..."
        )
    return read(directory / MANIFEST)


def digest_of(directory: Path | None) -> str:
    """A digest of a folder's files: from its manifest, because reading 54 GB takes minutes, or of the files if it has
    none; empty without a folder, as of a model behind an API.

    Raises:
        UserError: a file is missing or changed.
    """
    if directory is None:
        return ""
    manifest = directory / MANIFEST
    return fingerprint(read(manifest)["files"]) if manifest.is_file() else sha256(directory)


def versions() -> dict[str, str]:
    """Versions of the libraries that trained weights, and vectors, depend on."""
    return versions_of("torch", "transformers", "sentence-transformers", "tokenizers")


def versions_of(*libraries: str) -> dict[str, str]:
    """The installed version of each library, in this order."""
    return {name: importlib.metadata.version(name) for name in libraries}


def trained_rows(manifest: Mapping[str, Any]) -> int | None:
    """How many different rows an encoder was last trained on, by its manifest; None: it does not say, as of a backbone.

    Where the steps end before all rows have been read, these are the rows of its batches. Where batches are laid out by
    sets or languages, some rows are read again before others are read at all, so that the training counts them.
    """
    facts = manifest.get("training") or {}
    rows = facts.get("examples_read", facts.get("examples"))
    steps, batch = facts.get("steps"), facts.get("batch_size")
    return rows if rows is None or steps is None or batch is None else min(rows, steps * batch)
