"""Embeddings of an encoder: made in batches of little padding, and kept, so that a text is encoded once."""

from __future__ import annotations

import hashlib
import uuid
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer
from tqdm.auto import tqdm

from seedbed.encoders.endpoint import TRANSPORT, Endpoint
from seedbed.evaluation.scores import Encode
from seedbed.io import UserError, atomic, fingerprint

TOKENS = 2**10
"""Tokens of a batch on a CPU, which is busy with so few; more of them only hold more padding (docs/speed.md)."""
CHUNK = 2**14
"""Texts of one file: what a killed job loses at most."""
BOUGHT = 2**9
"""The same where each text is sent to a server, which may cost money."""


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


def chunk_of(encoder: SentenceTransformer) -> int:
    """Texts that are encoded between two writes."""
    return BOUGHT if is_remote(encoder) else CHUNK


def shared(encode: Encode, folder: Path, chunk: int | None = None) -> Encode:
    """`encode`, which reads what is in the store and adds what is not.

    Several jobs may run at once: each writes files of its own, whole or not at all, and reads everyone's. What two of
    them need at the same time both encode. Texts are encoded by length, so that a batch holds little padding.

    Args:
        folder: of one encoder, as `folder_of` names it; made when first written to.
        chunk: texts that are encoded between two writes; CHUNK, if None.

    Returns:
        A function of texts; it raises a UserError if a file of the store is broken.
    """

    def remembered(texts: Sequence[str]) -> np.ndarray:
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        known = _read(folder, set(keys))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        by_length = sorted(missing, key=lambda key: -len(missing[key]))
        size = chunk or CHUNK
        for start in range(0, len(by_length), size):
            some = by_length[start : start + size]
            embeddings = np.asarray(encode([missing[key] for key in some]), np.float32)
            _write(folder, some, embeddings)
            known |= dict(zip(some, embeddings, strict=True))
        return np.stack([known[key] for key in keys])

    return remembered


def folder_of(state: Path, manifest: dict[str, Any]) -> Path:
    """Where the embeddings of an encoder lie: by the digests of its files, but for those that change no embedding.

    Args:
        manifest: of the encoder's directory, whose "files" are the digests.
    """
    files = {name: digest for name, digest in manifest["files"].items() if name not in ("README.md", TRANSPORT)}
    return state / "embeddings" / fingerprint(files)[:32]


def _write(folder: Path, keys: Sequence[bytes], embeddings: np.ndarray) -> None:
    with atomic(folder / f"{uuid.uuid4().hex}.npz") as temporary, temporary.open("wb") as file:
        np.savez(file, keys=np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), -1), embeddings=embeddings)


def _read(folder: Path, wanted: set[bytes]) -> dict[bytes, np.ndarray]:
    """The embeddings of those texts that are in the store."""
    found: dict[bytes, np.ndarray] = {}
    for path in sorted(folder.glob("*.npz")):
        try:
            with np.load(path) as file:
                places = {row.tobytes(): place for place, row in enumerate(file["keys"])}
                # Where there is nothing new, the embeddings stay on the disk.
                if here := [key for key in places if key in wanted and key not in found]:
                    rows = file["embeddings"][[places[key] for key in here]]
                    found |= dict(zip(here, rows, strict=True))
        except (zipfile.BadZipFile, EOFError, KeyError, ValueError) as error:
            raise UserError(f"{path}: no file of embeddings ({error}); delete it, it is made again") from None
    return found
