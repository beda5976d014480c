"""Embeddings of an encoder: made in batches of little padding, and kept, so that a text is encoded once."""

import hashlib
import uuid
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from filelock import FileLock

from seedbed.io import UserError, atomic
from seedbed.vectors.types import Encode

CHUNK = 2**11
"""Texts of one file: a killed job loses no more, and two jobs encode no more twice."""
BOUGHT = 2**9
"""Texts of one file where a server makes the embeddings, which may cost money; no two jobs send one text."""
LOCKS = 8
"""Shares of the texts for a server, each sent by one job at a time: so many jobs use the server at once."""


def at_once(encode: Encode, texts: Sequence[str]) -> Encode:
    """An `encode` that embeds all of `texts` now, in one call, and later only what is not among them.

    Without texts, as where layers alone are scored, it is not called.
    """
    known: dict[str, np.ndarray] = {}

    def learn(texts: Sequence[str]) -> None:
        if strangers := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(strangers, encode(strangers), strict=True))

    def remembered(texts: Sequence[str]) -> np.ndarray:
        learn(texts)
        return np.stack([known[text] for text in texts])

    learn(texts)
    return remembered


def shared(
    encode: Encode, folder: Path, *, remote: bool = False, named: Callable[[str], str] = lambda text: text
) -> Encode:
    """An `encode` that reads what is in the store and adds what is not.

    Several jobs may run at once: each writes files of its own, whole or not at all, and looks for everyone's before
    each chunk. They begin at different chunks, since jobs that start together would encode the same side by side.

    Args:
        folder: of one encoder, as `folder_of` names it; made when first written to.
        remote: texts are sent to a server, and none twice: a job waits while another asks for texts of the same share.
            Others would rather encode a text again than wait for each other.
        named: all that the embedding of a text follows from.

    Returns:
        A function of texts; it raises a UserError if a file of the store is broken.
    """

    def remembered(texts: Sequence[str]) -> np.ndarray:
        keys = [hashlib.sha256(named(text).encode()).digest() for text in texts]
        read: set[Path] = set()
        known = _read(folder, set(keys), read)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        for chunk in _chunks(missing, remote):
            with _alone(folder, _share(chunk[0])) if remote else nullcontext():
                known |= _read(folder, missing.keys() - known.keys(), read)
                if new := [key for key in chunk if key not in known]:
                    embeddings = np.asarray(encode([missing[key] for key in new]), np.float32)
                    _write(folder, new, embeddings)
                    known |= dict(zip(new, embeddings, strict=True))
        return np.stack([known[key] for key in keys])

    return remembered


def _chunks(missing: Mapping[bytes, str], remote: bool) -> list[list[bytes]]:
    """What is encoded between two writes; by length, so that a batch holds little padding.

    Each is of one share, where texts are sent to a server. The first depends on all texts, so that jobs begin apart.
    """
    by_length = sorted(missing, key=lambda key: -len(missing[key]))
    shares = [[key for key in by_length if _share(key) == share] for share in range(LOCKS)] if remote else [by_length]
    size = BOUGHT if remote else CHUNK
    chunks = [share[start : start + size] for share in shares for start in range(0, len(share), size)]
    first = int(hashlib.sha256(b"".join(missing)).hexdigest(), 16) % max(1, len(chunks))
    return chunks[first:] + chunks[:first]


def _share(key: bytes) -> int:
    return key[0] % LOCKS


def _alone(folder: Path, share: int) -> FileLock:
    """The lock of a share; it is released when its process ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f".{share}.lock")


def _write(folder: Path, keys: Sequence[bytes], embeddings: np.ndarray) -> None:
    with atomic(folder / f"{uuid.uuid4().hex}.npz") as temporary, temporary.open("wb") as file:
        np.savez(file, keys=np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), -1), embeddings=embeddings)


def _read(folder: Path, wanted: set[bytes], read: set[Path]) -> dict[bytes, np.ndarray]:
    """The embeddings of those texts that are in the store's files, but for the files `read` before, which grow."""
    found: dict[bytes, np.ndarray] = {}
    for path in sorted({*folder.glob("*.npz")} - read):
        try:
            with np.load(path) as file:
                places = {row.tobytes(): place for place, row in enumerate(file["keys"])}
                # Where there is nothing new, the embeddings stay on the disk.
                if here := [key for key in places if key in wanted and key not in found]:
                    rows = file["embeddings"][[places[key] for key in here]]
                    found |= dict(zip(here, rows, strict=True))
        except (zipfile.BadZipFile, EOFError, KeyError, ValueError) as error:
            raise UserError(f"{path}: no file of embeddings ({error}); delete it, it is made again") from None
        read.add(path)
    return found
