"""Neighbours of sentences, mined once from a pool of any size: block by block, and no vector of the pool is kept."""

from __future__ import annotations

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
from seedbed.encoders.settings import Mining
from seedbed.io import UserError, atomic, fingerprint, read_blocks, read_json, sha256
from seedbed.manifests import versions
from seedbed.vectors.neighbours import Nearest
from seedbed.vectors.types import Encode

ROWS = 2**15
"""Sentences of the pool that are encoded and searched together; a killed job loses no more."""
BATCH = 64
"""Sentences of a pass through the transformer, at most."""
ALIKE = 0.99
"""A cosine from which on two sentences count as near duplicates."""
COMMONEST = 10
"""So many of the sentences that are most often a neighbour are named."""

Pool = Callable[[], Iterable[pd.DataFrame]]
"""Begins to read a table of `id` and `text`, in blocks of any size."""


class Mined(NamedTuple):
    """The neighbours of each query, nearest first: all (queries, k)."""

    cosines: np.ndarray
    ids: np.ndarray
    texts: np.ndarray
    pool: int
    """Sentences that they were taken from."""


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
    """The neighbours of a parallel corpus in a pool, by token means of one layer of a backbone. Source: paper 001, 3.2.

    Args:
        pairs: `id`, `text`, `pivot`.
        pool: a table of `id`, `text`, in the language of `text`; its sentences that are a `text`, up to case and
            punctuation, are left out and counted.
        weights: the backbone as it was published.
        prefix: put before every text.
        state: a folder in which a killed run goes on, see `mine`.
        rows: as of `mine`.

    Returns:
        `pairs` with `neighbour_R`, `pool_id_R` and `cosine_R` for each rank R from 1, and what there is to say of them.

    Raises:
        UserError: a layer that the backbone lacks, a pool with fewer sentences than neighbours, or bad weights.
    """
    encoder = first_layers(loading.load(weights, pooling="mean", prefix=prefix), mining.layer)
    made = {"mining": mining.model_dump(mode="json"), "weights": sha256(weights), "prefix": prefix}
    own, encode, dropped = pairs["text"].tolist(), batched(encoder, BATCH), Counter[str]()

    def read() -> Iterable[pd.DataFrame]:
        dropped.clear()
        return without(read_blocks(pool, ["id", "text"]), own, dropped)

    if mining.near == "chance":
        mined = drawn(own, read, mining.count, encode=encode, seed=mining.seed)
    else:
        key = fingerprint([made, own, pairs[mining.near].tolist(), sha256(pool), rows, versions()])
        place = state / f"{key[:32]}.npz" if state else None
        mined = mine(pairs[mining.near].tolist(), read, mining.count, encode=encode, state=place, rows=rows)
    table = pairs.copy()
    for rank in range(mining.count):
        table[f"neighbour_{rank + 1}"] = mined.texts[:, rank]
        table[f"pool_id_{rank + 1}"] = mined.ids[:, rank]
        table[f"cosine_{rank + 1}"] = [f"{cosine:.6f}" for cosine in mined.cosines[:, rank]]
    return table, made | _audit(mined) | {"dropped": dict(dropped)}


def mine(
    queries: Sequence[str],
    pool: Pool,
    k: int,
    *,
    encode: Encode,
    state: Path | None = None,
    rows: int = ROWS,
) -> Mined:
    """The `k` sentences of a pool with the greatest cosines to each query, ties by the pool's order.

    Vectors are there for one block at a time; what is kept of a block is who is among the nearest so far.

    Args:
        pool: called twice, since the texts of the nearest are read at the end.
        encode: depends on a text's batch by rounding errors at most.
        state: a file, named by all that the result depends on. A killed run goes on from its last whole block, and ends
            with the same bytes; it is left there.
        rows: sentences of a block.

    Raises:
        UserError: fewer sentences than `k`.
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


def drawn(queries: Sequence[str], pool: Pool, k: int, *, encode: Encode, seed: int) -> Mined:
    """`k` sentences of a pool for each query by chance, none twice for one: the control of mining.

    Args:
    Raises:
        UserError: fewer sentences than `k`.
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


def _read(pool: Pool, indices: np.ndarray, cosines: np.ndarray, size: int) -> Mined:
    """The sentences at some places (n, k) of a pool."""
    wanted = {*indices.ravel().tolist()}
    found = {place: row for place, row in enumerate(_sentences(pool)) if place in wanted}
    ids, texts = (
        np.array([found[place][column] for place in indices.ravel()], dtype=object).reshape(indices.shape)
        for column in (0, 1)
    )
    return Mined(cosines, ids, texts, size)


def _audit(mined: Mined) -> dict[str, Any]:
    """What a reader wants to know of neighbours: how near by rank, how many of them there are, who stands out."""
    counts = Counter(mined.texts.ravel().tolist())
    return {
        "queries": len(mined.texts),
        "pool": mined.pool,
        "cosine by rank": [round(float(mean), 6) for mean in mined.cosines.mean(axis=0, dtype=np.float64)],
        "neighbours": mined.texts.size,
        "distinct": len(counts),
        "commonest": [[text, count] for text, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))][
            :COMMONEST
        ],
        "near duplicates": int((mined.cosines >= ALIKE).sum()),
    }


def audit_of(texts: Path) -> Path:
    """The audit that mining writes beside its neighbours."""
    return texts.with_suffix(".audit.json")


def require_mined(texts: Path, weights: Path, *, prefix: str, mining: Mining | None = None) -> None:
    """Refuse neighbours that another backbone, layer or prefix has found.

    A file of neighbours without an audit is somebody's own, and may have come about in any way.

    Args:
        texts: a table with mined neighbours.
        weights: the backbone as it was published.
        prefix: put before every text.
        mining: how the neighbours should have been mined, but for their number; None: in any way, and the file may be
            somebody's own.

    Raises:
        UserError: they were mined by something else; or an audit that is missing or broken.
    """
    audit = audit_of(texts)
    if mining is None and not audit.is_file():
        return
    made, again = read_json(audit), "mine them again, or give the file of this backbone"
    if not isinstance(made, dict) or not isinstance(made.get("mining"), dict):
        raise UserError(f"{audit}: not an audit of mine_neighbours, which writes it beside {texts.name}; {again}")
    if made.get("weights") != sha256(weights):
        raise UserError(f"{texts}: neighbours by other weights than {weights}; {again}")
    if made.get("prefix") != prefix:
        raise UserError(f"{texts}: neighbours with the prefix {made.get('prefix')!r}, not {prefix!r}; {again}")
    for name, value in (mining.model_dump(mode="json", exclude={"count"}) if mining else {}).items():
        if (found := made["mining"].get(name)) != value:
            raise UserError(f"{texts}: neighbours by mining.{name} {found!r}, not {value!r}; {again}")
