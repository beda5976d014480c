"""Embeddings of an encoder: made in batches of little padding, and kept, so that a text is encoded once."""

from __future__ import annotations

import hashlib
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from sentence_transformers import SentenceTransformer
from tqdm.auto import tqdm

from seedbed.encoders.card import versions
from seedbed.encoders.endpoint import TRANSPORT, Endpoint
from seedbed.evaluation.scores import Encode
from seedbed.io import UserError, atomic, fingerprint

TOKENS = 2**10
"""Tokens of a batch on a CPU, which is busy with so few; more of them only hold more padding (docs/speed.md)."""
CHUNK = 2**11
"""Texts of one file: what a killed job loses at most, and what two jobs may both encode at a time."""
BOUGHT = 2**9
"""The same where each text is sent to a server, which may cost money; no two jobs send one."""
LOCKS = 8
"""Shares of the texts for a server, each asked for by one job at a time: so many jobs ask it at once."""


def batched(encoder: SentenceTransformer, rows: int) -> Encode:
    """`encoder.encode`, longest texts first, in batches of at most `rows` texts and, on this CPU, about TOKENS tokens.

    Its embeddings depend on a text's batch by rounding errors only (1e-6).
    """

    def encode(texts: Sequence[str]) -> np.ndarray:
        lengths = _token_counts(encoder, texts)
        order = np.argsort(-lengths, kind="stable")
        embeddings = np.empty((len(texts), encoder.get_embedding_dimension()), np.float32)
        on_cpu, start = encoder.device.type == "cpu" and not is_remote(encoder), 0
        with tqdm(total=len(texts), desc="Texts") as bar:
            while start < len(texts):
                size = min(rows, max(1, TOKENS // lengths[order[start]])) if on_cpu else rows
                batch = order[start : start + size]
                embeddings[batch] = encoder.encode([texts[place] for place in batch], batch_size=size)
                start += size
                bar.update(len(batch))
        return embeddings

    return encode


def _token_counts(encoder: SentenceTransformer, texts: Sequence[str]) -> np.ndarray:
    """Tokens (n,) of each text, as cut to what the encoder reads; its prompt, the same for all, is left out.

    Characters, where there is no tokenizer.
    """
    if encoder.tokenizer is None:
        return np.array([len(text) for text in texts])
    found = encoder.tokenizer(list(texts), truncation=True, max_length=encoder.max_seq_length, verbose=False)
    return np.array([len(tokens) for tokens in found["input_ids"]])


def is_remote(encoder: SentenceTransformer) -> bool:
    """Whether texts are sent to a server, by any part of the encoder."""
    return any(isinstance(module, Endpoint) for module in encoder.modules())


def at_once(encode: Encode, texts: Sequence[str]) -> Encode:
    """`encode`, asked for all of `texts` now, in one call, and later for what is not among them."""
    distinct = list(dict.fromkeys(texts))
    known = dict(zip(distinct, encode(distinct), strict=True))

    def remembered(texts: Sequence[str]) -> np.ndarray:
        if strangers := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(strangers, encode(strangers), strict=True))
        return np.stack([known[text] for text in texts])

    return remembered


def shared(encode: Encode, folder: Path, *, remote: bool = False) -> Encode:
    """`encode`, which reads what is in the store and adds what is not.

    Several jobs may run at once: each writes files of its own, whole or not at all, and looks for everyone's before
    each chunk. They begin at different chunks, since jobs that start together would encode the same side by side.

    Args:
        folder: of one encoder, as `folder_of` names it; made when first written to.
        remote: texts are sent to a server, and none twice: a job waits while another asks for texts of the same share.
            Others would rather encode a text again than wait for each other.

    Returns:
        A function of texts; it raises a UserError if a file of the store is broken.
    """

    def remembered(texts: Sequence[str]) -> np.ndarray:
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
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


def folder_of(state: Path, manifest: dict[str, Any]) -> Path:
    """Where the embeddings of an encoder lie: by its files, but for those that change no embedding, and the libraries.

    Args:
        manifest: of the encoder's directory, whose "files" are the digests.
    """
    files = {name: digest for name, digest in manifest["files"].items() if name not in ("README.md", TRANSPORT)}
    remote = TRANSPORT in manifest["files"]  # a server makes the vectors; what was paid for outlives an upgrade here
    return state / "embeddings" / fingerprint([files, {} if remote else versions()])[:32]


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
