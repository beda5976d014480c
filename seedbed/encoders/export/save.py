"""Saving an encoder as a sentence-transformers folder with a manifest."""

import contextlib
import filecmp
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sentence_transformers import SentenceTransformer

from seedbed import manifests
from seedbed.encoders.models import loading
from seedbed.encoders.models.digests import saved_from
from seedbed.encoders.models.two_paths import SIDES, sides_of
from seedbed.io import atomic, atomic_directory


def save(
    encoder: SentenceTransformer,
    output: Path,
    about: dict[str, Any],
    training: dict[str, Any],
    start: Path | None = None,
    *,
    starts: Mapping[str, Path] | None = None,
    write_files: Callable[[Path], None] | None = None,
    used: Mapping[str, str] | None = None,
    tell: manifests.Tell | None = None,
) -> None:
    """Save an encoder with its manifest.

    The manifest has `about`, `training` and `versions`. Weight files that equal those of the start point byte for byte
    are hard links to them.

    Args:
        output: the folder that is written; it is replaced as a whole.
        about: facts for the manifest, see `card.text`.
        training: settings and results for the manifest.
        start: the folder of the start point; None: there is none.
        starts: folders of the start points of a two-path encoder's sides.
        write_files: writes further files into the folder.
        used: further libraries and their versions.
        tell: `card.write`; None: no card.
    """
    with atomic_directory(output) as directory:
        # Else tokenizer.json would keep the last call's truncation, for whoever reads it without transformers.
        for tokenizer in filter(None, (side.tokenizer for side in sides_of(encoder))):
            backend = getattr(tokenizer, "backend_tokenizer", tokenizer)  # a static encoder's is that backend itself
            backend.no_truncation()
            backend.no_padding()
        loading.as_saved(encoder).save_pretrained(str(directory), create_model_card=False)
        if write_files:
            write_files(directory)
        if start:
            _share_weights(directory, start)
            for side in {*SIDES} & {*(starts or {})}:
                _share_weights(directory / side, starts[side])
            training = training | saved_from(directory, start)
        manifests.write(
            directory, {"about": about, "training": training, "versions": manifests.versions() | dict(used or {})}, tell
        )


def _share_weights(directory: Path, start: Path) -> None:
    """Have one file on the disk for weights that are as they were; copies stay where there can be no links."""
    for path in directory.glob("*.safetensors"):
        if (other := start / path.name).is_file() and filecmp.cmp(path, other, shallow=False):
            with contextlib.suppress(OSError), atomic(path) as link:
                link.unlink(missing_ok=True)
                os.link(other.resolve(), link)
