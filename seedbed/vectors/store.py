"""The cache of embeddings, so that a text is encoded once."""

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
"""Texts of one file. A killed job loses at most one file, and two jobs encode at most one twice."""
BOUGHT = 2**9
"""Texts of one file if a server makes the embeddings, which may cost money; no two jobs send the same text."""
LOCKS = 8
"""Parts of the texts for a server; each is sent by one job at a time, so that at most this many jobs use the server at
once.
"""


def encode_ahead(encode: Encode, texts: Sequence[str]) -> Encode:
    """Encode `texts` in one call, and return a function that encodes only texts that it has not encoded before; it
    looks up the vectors of all others. `texts` may be empty.
    """
    known: dict[str, np.ndarray] = {}

    def learn(texts: Sequence[str]) -> None:
        if strangers := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(strangers, encode(strangers), strict=True))

    def remembered(texts: Sequence[str]) -> np.ndarray:
        learn(texts)
        return np.stack([known[text] for text in texts]) if len(texts) else encode(texts)

    learn(texts)
    return remembered


def with_disk_cache(
    encode: Encode, folder: Path, *, remote: bool = False, named: Callable[[str], str] = lambda text: text
) -> Encode:
    """Wrap an encode function with a cache on disk that several jobs share.

    Each job writes its own files, whole or not at all, and reads those of others before each chunk. Jobs begin with
    different chunks, because jobs that start together would otherwise encode the same texts.

    Args:
        encode: texts -> vectors (n, d).
        folder: the cache of one encoder, see `embeddings_folder`; it is created at the first write.
        remote: True: `encode` sends texts to a server. Then no text is sent twice: a job waits while another job sends
            texts of the same part, see LOCKS. False: two jobs may encode the same text; none waits.
        named: maps a text to everything that its vector depends on.

    Returns:
        A function from texts to vectors; it raises a UserError if a file of the cache is broken.
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
        return np.stack([known[key] for key in keys]) if keys else encode(texts)

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
                # The embeddings are read only if some are wanted.
                if here := [key for key in places if key in wanted and key not in found]:
                    rows = file["embeddings"][[places[key] for key in here]]
                    found |= dict(zip(here, rows, strict=True))
        except (zipfile.BadZipFile, EOFError, KeyError, ValueError) as error:
            raise UserError(f"{path}: no file of embeddings ({error}); delete it, it is made again") from None
        read.add(path)
    return found
