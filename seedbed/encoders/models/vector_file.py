"""Alignment with an encoder of the pivot language: its vectors, made once, and the loss."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import merge_feature_batches
from torch import Tensor, nn

from seedbed import manifests
from seedbed.encoders.export.card import versions
from seedbed.encoders.losses.contrastive import of_batch, simcse
from seedbed.encoders.models import parallel_adapters
from seedbed.encoders.models.inference import batched, vectors_of
from seedbed.encoders.models.loading import open_encoder
from seedbed.encoders.prompts import speak
from seedbed.encoders.training.crosslingual import draw, gather
from seedbed.io import UserError, atomic, atomic_directory, fingerprint
from seedbed.vectors.types import Encode

VECTORS, KEYS, DONE = "vectors.npy", "keys.npy", "done"
BLOCK = 2**13
"""Texts whose vectors are in memory at once."""
ROWS = 64
"""Texts of a batch at most."""
PIVOT = "pivot_"
"""What the columns of the pivot's texts begin with, where a row has several."""


def write_vectors(folder: Path, texts: Iterable[str], output: Path, state: Path | None = None) -> dict[str, Any]:
    """Write the vectors of distinct texts: the same texts in any order and number, the same bytes.

    Args:
        folder: an encoder, which reads whole texts, without dropout.
        output: replaced as a whole, at the end: VECTORS (texts, width) in float32, KEYS, by which they are found, and a
            manifest.
        state: a folder in which a killed run goes on from its last whole block; None: it begins again.

    Returns:
        The manifest: `encoder`, its digest; the number of `texts`, and the `width` of a vector.

    Raises:
        UserError: as `open_encoder`; or it has a prompt for each language, and none for texts of none.
    """
    encoder, distinct = open_encoder(folder), sorted({*texts}, key=_key)
    speak(encoder, "", folder)
    keys, width = _keys(distinct), int(encoder.get_embedding_dimension())
    facts = {"encoder": vectors_of(manifests.read(folder / manifests.MANIFEST)), "texts": len(distinct), "width": width}
    with atomic_directory(output) as made:
        place = made
        if state:
            place = state / fingerprint([facts, hashlib.sha256(keys).hexdigest(), versions()])
            place.mkdir(parents=True, exist_ok=True)
        _encode(batched(encoder, ROWS), distinct, width, place)
        if state:
            shutil.move(place / VECTORS, made / VECTORS)
        (made / DONE).unlink(missing_ok=True)
        np.save(made / KEYS, keys)
        return manifests.write(made, facts)


def _encode(encode: Encode, texts: Sequence[str], width: int, place: Path) -> None:
    """Write VECTORS of texts in a folder, block by block; DONE says how many texts are there."""
    begun = all((place / name).is_file() for name in (VECTORS, DONE))
    vectors = np.lib.format.open_memmap(place / VECTORS, "r+" if begun else "w+", np.float32, (len(texts), width))
    done = int((place / DONE).read_text()) if begun else 0
    for start in range(done, len(texts), BLOCK):
        vectors[start : start + BLOCK] = encode(texts[start : start + BLOCK])
        vectors.flush()
        with atomic(place / DONE) as temporary:
            temporary.write_text(str(start + BLOCK))


class Vectors:
    """Vectors that `write_vectors` wrote; they stay on the disk.

    Raises:
        UserError: there are none.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self.vectors = np.load(folder / VECTORS, mmap_mode="r")
            self.keys = np.load(folder / KEYS)
        except (OSError, ValueError) as error:
            raise UserError(f"{folder}: no vectors of texts ({error}); have them made again") from None
        self.folder = folder

    @property
    def width(self) -> int:
        """Numbers of a vector."""
        return self.vectors.shape[1]

    def places(self, texts: Sequence[str]) -> np.ndarray:
        """Rows of `vectors` (n,) that are the texts'; UserError: one of them has no vector."""
        wanted, known = _keys(texts), _numbers(self.keys)
        found = np.searchsorted(known, _numbers(wanted)).clip(max=len(known) - 1)
        for text in np.flatnonzero((self.keys[found] != wanted).any(axis=1)):
            raise UserError(f"{self.folder}: no vector of {texts[text][:80]!r}; have them made again")
        return found


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _keys(texts: Sequence[str]) -> np.ndarray:
    """Digests (n, 32)."""
    return np.frombuffer(b"".join(map(_key, texts)), np.uint8).reshape(len(texts), 32)


def _numbers(keys: np.ndarray) -> np.ndarray:
    """What digests begin with, as numbers (n,) in the order of the digests."""
    return np.ascontiguousarray(keys[:, :8]).view(">u8").ravel()


def with_pivot(table: pd.DataFrame, pivot: pd.DataFrame) -> pd.DataFrame:
    """Rows of a language with the texts of the pivot's rows of the same ids, in columns that begin with PIVOT.

    Raises:
        UserError: they have no id in common, or the pivot lacks a column.
    """
    names = [name for name in ("anchor", "positive", "negative") if name in table.columns]
    if lacking := [name for name in names if name not in pivot.columns]:
        raise UserError(f"the pivot's rows have no column {lacking[0]!r}; give rows as the language's are")
    joined = table.merge(pivot[["id", *names]].rename(columns={name: PIVOT + name for name in names}), on="id")
    if joined.empty:
        raise UserError(
            f"no row has a row of the pivot language with its id (like {table['id'].iloc[0]!r}, and there "
            f"{pivot['id'].iloc[0]!r}); give translations the ids of what they translate"
        )
    return joined


class AlignmentLoss(nn.Module):
    """The contrast of rows whose sentences are partly the pivot's, with fixed vectors, and partly the encoder's.

    Args:
        encoder: of the language that is aligned, in training.
        texts: the pivot's: of rows that are there in both languages, all columns of a batch; of a sentence and its
            translation one column; of an anchor in the language whose partners are in the pivot's, the partners.
        negatives: which rows have one, see `contrastive.with_negatives`.

    Raises:
        UserError: a text without a vector, or vectors of another width than the encoder's.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        vectors: Vectors,
        texts: Sequence[Sequence[str]],
        temperature: float,
        negatives: Tensor | None = None,
    ) -> None:
        super().__init__()
        if (width := encoder.get_embedding_dimension()) != vectors.width:
            raise UserError(
                f"alignment: vectors of width {width}, and the pivot's have {vectors.width}; take encoders of one width"
            )
        self.model, self.temperature, self.negatives = encoder, temperature, negatives
        self.vectors = vectors.vectors
        self.places = np.stack([vectors.places(column) for column in texts], axis=1)

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """The loss of one batch.

        Args:
            features: tokenised texts: anchors, positives and maybe negatives; of a sentence and its translation the
                sentence's, which is an anchor or a positive at random; or anchors alone.
            rows: their positions (batch,) in the table.
        """
        (columns, keep), size = of_batch(list(features), self.negatives, rows), len(rows)
        known_columns = self.places.shape[1]
        if fixed := len(columns) == 1 < known_columns:  # an anchor, whose partners are the pivot's
            languages = np.tile([1, *[0] * known_columns], (size, 1))
        else:  # torch's generator is in the checkpoints
            rng = np.random.default_rng(int(torch.randint(2**62, ())))
            languages = draw(size, max(2, len(columns)), 2, rng)
        pivots, targets = (np.argwhere(languages == language) for language in (0, 1))
        given = targets[:, 1] * (len(columns) > 1) * size + targets[:, 0]  # columns stand one after the other
        target = self._embedded(columns, torch.from_numpy(given).to(rows.device))
        positions = rows.cpu().numpy()[pivots[:, 0]]
        known = self.vectors[self.places[positions, (pivots[:, 1] - fixed) % known_columns]]
        pivot = torch.from_numpy(known).to(target.device, target.dtype)
        vectors = gather([pivot, target], [pivots, targets], languages.shape)
        return simcse(*vectors, temperature=self.temperature, keep=keep)

    def _embedded(self, columns: list[dict[str, Any]], chosen: Tensor) -> Tensor:
        """Vectors of the chosen texts (n, width), by their numbers through all columns."""
        texts = columns[0] if len(columns) == 1 else merge_feature_batches(columns)
        if texts is None:  # columns that cannot be read together
            return torch.cat([self.model(column)["sentence_embedding"] for column in columns])[chosen]
        rows = len(texts["input_ids"])
        some = {name: value[chosen] if _by_row(value, rows) else value for name, value in texts.items()}
        longest = int(some["attention_mask"].sum(dim=1).max())
        trimmed = {
            name: value[:, :longest] if _by_row(value, rows=len(chosen)) and value.ndim == 2 else value
            for name, value in some.items()
        }
        return self.model(trimmed)["sentence_embedding"]


def _by_row(value: Any, rows: int) -> bool:
    return isinstance(value, Tensor) and value.ndim > 0 and len(value) == rows


def take_adapters(encoder: SentenceTransformer, start: Path, folder: Path) -> dict[str, Any]:
    """Give an encoder the adapters that were trained beside those of other languages; one that was fixed has none.

    Args:
        encoder: is changed in place.
        start: the folder that it was opened from.
        folder: of the adapters, as `joint_adapters.align_together` writes them.

    Returns:
        What a manifest says of the space that they share: of all that were trained together the same.

    Raises:
        UserError: they were trained beside other encoders; or as `parallel_adapters.put`.
    """
    known = manifests.read(folder / manifests.MANIFEST)
    own = vectors_of(manifests.read(start / manifests.MANIFEST))
    code = next((code for code, digest in known["encoders"].items() if digest == own), "")
    if not code:
        raise UserError(f"{folder}: adapters of other encoders than {start}; have them trained again")
    if (file := folder / f"{code}.safetensors").is_file():
        parallel_adapters.put(encoder, parallel_adapters.read(file))
    return {"pivot": manifests.digest_of(folder)}


def described(folders: Mapping[str, Path]) -> dict[str, Any]:
    """What a manifest says of the pivot that an encoder was aligned to."""
    folder = folders["pivot"]
    return {"pivot": manifests.read(folder / manifests.MANIFEST)["encoder"]} if folder else {}
