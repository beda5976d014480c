"""What a job says of the files that it wrote: their digests, so that an edit by hand is noticed.

A folder of a model has a manifest in it, `seedbed.json`; scores have a list next to their folders. Manifest and list
are what the workflow waits for, are written last, and hold the digests under `files`.
"""

import importlib.metadata
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from seedbed.io import UserError, fingerprint, read_json, sha256, write_json

MANIFEST = "seedbed.json"


Tell = Callable[[Path, Mapping[str, Any]], None]
"""Writes into a folder what people read of its facts, such as a model card. A program hands it to what makes the
folder: so the words of a card are no part of the code that makes a result."""


def write(directory: Path, facts: Mapping[str, Any], tell: Tell | None = None) -> dict[str, Any]:
    """Write the manifest of a folder: the facts, and the digest of each of its files.

    Args:
        tell: is called first, so that the manifest has what it writes.

    Returns:
        What was written.
    """
    if tell:
        tell(directory, facts)
    paths = (path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != MANIFEST)
    manifest = {**facts, "files": {str(path.relative_to(directory)): sha256(path) for path in paths}}
    write_json(manifest, directory / MANIFEST)
    return manifest


def write_list(paths: Iterable[Path], output: Path) -> None:
    """Write a list of files: the digest of each, by its path from the list's folder."""
    write_json({"files": {os.path.relpath(path, output.parent): sha256(path) for path in paths}}, output)


def read(output: Path, digest: Callable[[Path], str] = sha256) -> dict[str, Any]:
    """A manifest or list, whose files are those that its job wrote.

    A file is read only where it has changed in any way since.

    Args:
        digest: of a file.

    Raises:
        UserError: no such manifest, or not JSON; or a file is gone, or is another.
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


def digest_of(directory: Path | None) -> str:
    """A digest of a folder's files: by its manifest, since reading 54 GB takes minutes; of the files, if it has none.

    Of no folder, where a server has the model, it is empty. Raises as `read`.
    """
    if directory is None:
        return ""
    manifest = directory / MANIFEST
    return fingerprint(read(manifest)["files"]) if manifest.is_file() else sha256(directory)


def versions() -> dict[str, str]:
    """Versions of the libraries that trained weights depend on."""
    return {name: importlib.metadata.version(name) for name in ("torch", "transformers", "sentence-transformers")}
