"""A file of precomputed vectors of texts: those of pivot sentences, for alignment."""

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seedbed import manifests
from seedbed.encoders.models.digests import vectors_digest
from seedbed.encoders.models.inference import batched
from seedbed.encoders.models.loading import open_encoder
from seedbed.encoders.prompts import prompts_of, set_language
from seedbed.io import UserError, atomic, atomic_directory, fingerprint
from seedbed.vectors.types import Encode

VECTORS, KEYS, DONE = "vectors.npy", "keys.npy", "done"
BLOCK = 2**13
"""Texts whose vectors are in memory at once."""
ROWS = 64
"""The maximum number of texts in a batch."""


def write_vectors(
    folder: Path,
    texts: Mapping[str, Iterable[str]],
    output: Path,
    state: Path | None = None,
    language: str = "",
) -> dict[str, Any]:
    """Encode texts, each once with each of its prompts, and write their vectors; equal sets of texts give equal bytes.

    Args:
        folder: the encoder's folder; texts are truncated at its maximum length, and dropout is off.
        texts: column -> texts in any order, with repetitions. The column says what they are read as (`READ_AS`).
        output: the folder that is written, replaced as a whole at the end: VECTORS (texts, width) in float32, KEYS for
            looking up a text after a prompt, and a manifest.
        state: a folder in which a killed run resumes after its last complete block; None: it starts again.
        language: the texts' language, where the prompt depends on it.

    Returns:
        The manifest: `encoder` (its digest), `prompts` (column -> the prompt before its texts), `texts` (the number of
        vectors) and `width`.

    Raises:
        UserError: the encoder cannot be opened, or has no prompt for the language.
    """
    encoder = open_encoder(folder)
    set_language(encoder, language, folder)
    prompts = prompts_of(encoder, [*texts])
    distinct = sorted({(prompts[name], text) for name, column in texts.items() for text in column}, key=_key)
    keys, width = _keys(distinct), int(encoder.get_embedding_dimension())
    facts = {
        "encoder": vectors_digest(manifests.of(folder)),
        "prompts": prompts,
        "texts": len(distinct),
        "width": width,
    }
    with atomic_directory(output) as made:
        place = made
        if state:
            place = state / fingerprint([facts, hashlib.sha256(keys).hexdigest(), manifests.versions()])
            place.mkdir(parents=True, exist_ok=True)
        encoders = {prompt: batched(encoder, ROWS, prompt=prompt) for prompt in prompts.values()}
        _encode(encoders, distinct, width, place)
        if state:
            shutil.move(place / VECTORS, made / VECTORS)
        (made / DONE).unlink(missing_ok=True)
        np.save(made / KEYS, keys)
        return manifests.write(made, facts)


def _encode(encoders: Mapping[str, Encode], texts: Sequence[tuple[str, str]], width: int, place: Path) -> None:
    """Write VECTORS of texts, each with its prompt, in a folder, block by block; DONE says how many are there."""
    begun = all((place / name).is_file() for name in (VECTORS, DONE))
    vectors = np.lib.format.open_memmap(place / VECTORS, "r+" if begun else "w+", np.float32, (len(texts), width))
    done = int((place / DONE).read_text()) if begun else 0
    for start in range(done, len(texts), BLOCK):
        block = texts[start : start + BLOCK]
        for prompt, encode in encoders.items():
            rows = [row for row, (before, _) in enumerate(block) if before == prompt]
            if rows:
                vectors[[start + row for row in rows]] = encode([block[row][1] for row in rows])
        vectors.flush()
        with atomic(place / DONE) as temporary:
            temporary.write_text(str(start + BLOCK))


class Vectors:
    """Reads a folder of `write_vectors`; the vectors are memory-mapped.

    Raises:
        UserError: there are no vectors.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.vectors = np.load(folder / VECTORS, mmap_mode="r")
            self.keys = np.load(folder / KEYS)
            self.prompts = manifests.of(folder)["prompts"]
        except (OSError, ValueError, KeyError) as error:
            raise UserError(f"{folder}: no vectors of texts ({error}); have them made again") from None
        self.folder = folder

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return self.vectors.shape[1]

    def places(self, texts: Sequence[str], column: str) -> np.ndarray:
        """Look up texts of a column.

        Returns:
            Their rows in `vectors`, (n,).

        Raises:
            UserError: a text has no vector, or none as it is read in this column.
        """
        if column not in self.prompts:
            found = ", ".join(self.prompts)
            raise UserError(f"{self.folder}: vectors of texts in {found}, none in {column}; have them made again")
        wanted, known = _keys([(self.prompts[column], text) for text in texts]), _numbers(self.keys)
        found = np.searchsorted(known, _numbers(wanted)).clip(max=len(known) - 1)
        for text in np.flatnonzero((self.keys[found] != wanted).any(axis=1)):
            raise UserError(f"{self.folder}: no vector of {texts[text][:80]!r}; have them made again")
        return found


def _key(text: tuple[str, str]) -> bytes:
    """The digest of a prompt and the text after it."""
    return hashlib.sha256("\0".join(text).encode()).digest()


def _keys(texts: Sequence[tuple[str, str]]) -> np.ndarray:
    """Digests (n, 32)."""
    return np.frombuffer(b"".join(map(_key, texts)), np.uint8).reshape(len(texts), 32)


def _numbers(keys: np.ndarray) -> np.ndarray:
    """What digests begin with, as numbers (n,) in the order of the digests."""
    return np.ascontiguousarray(keys[:, :8]).view(">u8").ravel()
