"""Mining of nearest neighbours of sentences in a pool of any size, block by block."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from seedbed.corpora.select.pairs import without
from seedbed.encoders.models import loading
from seedbed.encoders.models.inference import batched
from seedbed.encoders.models.layers import first_layers
from seedbed.encoders.settings import NEIGHBOUR, Mining
from seedbed.io import UserError, atomic, fingerprint, read_blocks, read_json, sha256
from seedbed.manifests import versions
from seedbed.vectors.neighbours import Nearest
from seedbed.vectors.types import Encode

ROWS = 2**15
"""Sentences of the pool that are encoded and searched together; a killed job loses at most one such block."""
BATCH = 64
"""The maximum number of sentences in a forward pass."""
ALIKE = 0.99
"""The cosine from which two sentences count as near duplicates."""
COMMONEST = 10
"""How many of the most frequent neighbours the audit lists."""

Pool = Callable[[], Iterable[pd.DataFrame]]
"""A function that iterates over a table of `id` and `text` in blocks of rows."""


class MinedNeighbours(NamedTuple):
    """The neighbours of each query, nearest first; each array is (queries, k)."""

    cosines: np.ndarray
    ids: np.ndarray
    texts: np.ndarray
    pool: int
    """The number of sentences in the pool."""


def neighbours(
    pairs: pd.DataFrame,
    pool: Path,
    weights: Path,
    mining: Mining,
    *,
    prefix: str = "",
    state: Path | None = None,
    rows: int = ROWS,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Mine the neighbours of a parallel corpus's sentences in a pool, by the cosine of token means of one layer.

    Source: paper 001, section 3.2.

    Args:
        pairs: rows with `id`, `text` and `pivot`.
        pool: a table of `id` and `text`, in the language of `text`; sentences equal to a `text` up to case and
            punctuation are left out and counted.
        weights: the backbone's published weights.
        mining: layer, number of neighbours, what they are near to, and a seed.
        prefix: the prompt before every text, of `text`, `pivot` and the pool alike; in training, too, these sentences
            are neither queries nor documents.
        state: a folder in which a killed run resumes; None: it starts again.
        rows: sentences of a block.

    Returns:
        `pairs` with `neighbour_R`, `pool_id_R` and `cosine_R` for each rank R from 1; and an audit, as JSON.

    Raises:
        UserError: a layer that the backbone lacks, a pool with fewer sentences than neighbours, or weights that cannot
            be loaded.
    """
    encoder = first_layers(loading.load(weights, pooling="mean", prefix=prefix), mining.layer)
    made = {"mining": mining.model_dump(mode="json"), "weights": sha256(weights), "prefix": prefix}
    own, encode, dropped = pairs["text"].tolist(), batched(encoder, BATCH), Counter[str]()

    def read() -> Iterable[pd.DataFrame]:
        dropped.clear()
        return without(read_blocks(pool, ["id", "text"]), own, dropped)

    if mining.near == "chance":
        mined = sample_neighbours(own, read, mining.count, encode=encode, seed=mining.seed)
    else:
        key = fingerprint([made, own, pairs[mining.near].tolist(), sha256(pool), rows, versions()])
        place = state / f"{key[:32]}.npz" if state else None
        mined = mine(pairs[mining.near].tolist(), read, mining.count, encode=encode, state=place, rows=rows)
    table = pairs.copy()
    for rank in range(1, mining.count + 1):
        table[f"{NEIGHBOUR}{rank}"] = mined.texts[:, rank - 1]
        table[f"pool_id_{rank}"] = mined.ids[:, rank - 1]
        table[f"cosine_{rank}"] = [f"{cosine:.6f}" for cosine in mined.cosines[:, rank - 1]]
    return table, made | _audit(mined) | {"dropped": dict(dropped)}


def mine(
    queries: Sequence[str],
    pool: Pool,
    k: int,
    *,
    encode: Encode,
    state: Path | None = None,
    rows: int = ROWS,
) -> MinedNeighbours:
    """Find the `k` sentences of a pool with the highest cosine to each query, ties in the pool's order.

    Only one block's vectors are in memory, and the nearest neighbours in earlier blocks.

    Args:
        queries: sentences.
        pool: iterated twice: the texts of the neighbours are read at the end.
        k: the number of neighbours.
        encode: encodes texts; a vector may depend on its batch by rounding errors only.
        state: a file for resuming, named by everything that the result depends on; a killed run resumes after its last
            complete block, with the same result. The file is not removed.
        rows: sentences of a block.

    Raises:
        UserError: fewer than `k` sentences in the pool.
    """
    nearest = Nearest(encode(queries), k, metric="cosine")
    if state and state.is_file():
        with np.load(state) as file:
            nearest.scores, nearest.indices, nearest.seen = file["scores"], file["indices"], int(file["seen"])
    left = islice(_sentences(pool), nearest.seen, None)
    while block := [text for _, text in islice(left, rows)]:
        nearest.add(encode(block))
        if state:
            with atomic(state) as temporary, temporary.open("wb") as stream:
                np.savez(stream, scores=nearest.scores, indices=nearest.indices, seen=nearest.seen)
    _require(nearest.seen, k)
    return _read(pool, nearest.indices, nearest.scores, nearest.seen)


def sample_neighbours(queries: Sequence[str], pool: Pool, k: int, *, encode: Encode, seed: int) -> MinedNeighbours:
    """Sample `k` distinct random sentences of a pool for each query, as a control for mining; arguments as in `mine`.

    Raises:
        UserError: fewer than `k` sentences in the pool.
    """
    size = sum(1 for _ in _sentences(pool))
    _require(size, k)
    random = np.random.default_rng(seed)
    indices = np.stack([random.choice(size, k, replace=False) for _ in queries])
    found = _read(pool, indices, np.empty(indices.shape, np.float32), size)
    vectors = dict.fromkeys(found.texts.ravel())
    vectors = dict(zip(vectors, encode([*vectors]), strict=True))
    for row, own in enumerate(encode(queries)):
        near = np.stack([vectors[text] for text in found.texts[row]])
        found.cosines[row] = near @ own / np.linalg.norm(near, axis=1) / np.linalg.norm(own)
    return found


def _sentences(pool: Pool) -> Iterator[tuple[str, str]]:
    """Id and text of each sentence of a pool, in its order."""
    for block in pool():
        yield from zip(block["id"], block["text"], strict=True)


def _require(size: int, k: int) -> None:
    if size < k:
        raise UserError(f"mining: {size} sentences in the pool besides the pairs' own, but count is {k}; give more")


def _read(pool: Pool, indices: np.ndarray, cosines: np.ndarray, size: int) -> MinedNeighbours:
    """The sentences at some places (n, k) of a pool."""
    wanted = {*indices.ravel().tolist()}
    found = {place: row for place, row in enumerate(_sentences(pool)) if place in wanted}
    ids, texts = (
        np.array([found[place][column] for place in indices.ravel()], dtype=object).reshape(indices.shape)
        for column in (0, 1)
    )
    return MinedNeighbours(cosines, ids, texts, size)


def _audit(mined: MinedNeighbours) -> dict[str, Any]:
    """Statistics of mined neighbours: mean cosine by rank, counts, the commonest, and near duplicates."""
    counts = Counter(mined.texts.ravel().tolist())
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {
        "queries": len(mined.texts),
        "pool": mined.pool,
        "cosine by rank": [round(float(mean), 6) for mean in mined.cosines.mean(axis=0, dtype=np.float64)],
        "neighbours": mined.texts.size,
        "distinct": len(counts),
        "commonest": [[text, count] for text, count in by_count[:COMMONEST]],
        "near duplicates": int((mined.cosines >= ALIKE).sum()),
    }


def audit_of(texts: Path) -> Path:
    """The path of the audit of a file of mined neighbours."""
    return texts.with_suffix(".audit.json")


def require_mined(texts: Path, weights: Path, *, prefix: str, mining: Mining | None) -> None:
    """Check that the neighbours in a table were mined with given backbone weights, settings and prompt.

    The number of neighbours may differ. With `mining` None all settings are accepted, and so is a file without an
    audit, such as one that a user made.

    Raises:
        UserError: they were mined with something else, or the audit is missing or broken.
    """
    audit = audit_of(texts)
    if mining is None and not audit.is_file():
        return
    made, again = read_json(audit), "mine them again, or give the file of this backbone"
    if not isinstance(made, dict) or not isinstance(made.get("mining"), dict):
        raise UserError(f"{audit}: not an audit of mine_neighbours, which writes it next to {texts.name}; {again}")
    if made.get("weights") != sha256(weights):
        raise UserError(f"{texts}: neighbours by other weights than {weights}; {again}")
    if made.get("prefix") != prefix:
        raise UserError(f"{texts}: neighbours with the prefix {made.get('prefix')!r}, not {prefix!r}; {again}")
    for name, value in (mining.model_dump(mode="json", exclude={"count"}) if mining else {}).items():
        if (found := made["mining"].get(name)) != value:
            raise UserError(f"{texts}: neighbours by mining.{name} {found!r}, not {value!r}; {again}")
