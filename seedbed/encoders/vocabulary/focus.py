"""FOCUS: initialisation of word embeddings of a new vocabulary from those of an old one.

Source: Dobler and de Melo (2023, "FOCUS: Effective Embedding Initialization for Monolingual Specialization of
Multilingual Models"), section 3; paper 004, section 3, uses it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from seedbed.io import UserError

log = logging.getLogger(__name__)

BLOCK = 1024
"""New tokens whose weights over all anchors are in memory together."""
SORTED = 512
"""Highest scores of a row that are sorted first; more of them rarely get a weight."""
FEW = 0.05
"""A sparse matrix product is faster below this share of nonzero weights."""
DEGENERATE = 0.5
"""A new row that averages more than this share of the anchors says little about its token; a warning is logged."""


def sparsemax(scores: np.ndarray) -> np.ndarray:
    """Project each row of scores onto the probability simplex (the nearest point in Euclidean distance).

    p_j = max(z_j - t, 0), with t such that they sum to 1: of the sorted z_(1) >= z_(2) >= ..., let k be the greatest
    for which 1 + k z_(k) > z_(1) + ... + z_(k); then t = (z_(1) + ... + z_(k) - 1) / k. Source: Martins and Astudillo
    (2016, "From softmax to sparsemax"), algorithm 1.

    Args:
        scores: (n, m), m >= 1.

    Returns:
        Weights (n, m) in float64; each row sums to 1.

    Raises:
        UserError: not two axes, no columns, or a score that is not finite.
    """
    scores = np.asarray(scores, np.float64)
    if scores.ndim != 2 or not scores.shape[1]:
        raise UserError(f"sparsemax: scores of shape {scores.shape}; expected (rows, columns), one column at least")
    if not np.isfinite(scores).all():
        raise UserError("sparsemax: a score is not finite; expected numbers")
    # What is far below the greatest has no weight: taken from it, sums keep their digits however large scores are.
    scores = scores - scores.max(axis=1, keepdims=True)
    scores -= _thresholds(scores, min(SORTED, scores.shape[1]))
    return np.maximum(scores, 0, out=scores)


def _thresholds(scores: np.ndarray, most: int) -> np.ndarray:
    """Sparsemax's threshold of each row (n, 1), computed from its `most` greatest scores, or from all if needed."""
    ordered = -np.sort(-np.partition(scores, -most, axis=1)[:, -most:], axis=1)
    sums = np.cumsum(ordered, axis=1)
    kept = (1 + np.arange(1, most + 1) * ordered > sums).sum(axis=1)
    found = (np.take_along_axis(sums, kept[:, None] - 1, axis=1) - 1) / kept[:, None]
    if most < scores.shape[1] and (more := kept == most).any():
        found[more] = _thresholds(scores[more], scores.shape[1])
    return found


def focus(source: np.ndarray, anchors: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Word embeddings of new tokens: the anchors' rows, weighted by the sparsemax of the new token's cosines with the
    anchors.

    Source: Dobler and de Melo (2023), equations 2 and 3.

    Args:
        source: rows (m, d) of the anchors in the old word embeddings.
        anchors: the anchors' vectors (m, a) in an auxiliary space.
        new: the new tokens' vectors (n, a) in that space.

    Returns:
        Rows (n, d) in float64.

    Raises:
        UserError: no anchors, shapes that do not fit, or a vector that is zero or not finite.
    """
    rows = np.asarray(source, np.float64)
    return np.concatenate([rows[:0], *(_mixed(weights, rows) for weights in _weights(source, anchors, new))])


def _mixed(weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Weights (n, m) times rows (m, d); of much text most weights are 0."""
    few = np.count_nonzero(weights) < FEW * weights.size
    return csr_array(weights) @ rows if few else weights @ rows


def _weights(source: Any, anchors: Any, new: Any) -> Iterator[np.ndarray]:
    """The weights (BLOCK, m) of the anchors in each new row, block by block; arguments and faults as of `focus`."""
    shapes = [np.shape(one) for one in (source, anchors, new)]
    if any(len(shape) != 2 for shape in shapes):
        shown = ", ".join(map(str, shapes))
        raise UserError(f"focus: source, anchors and new of shapes {shown}; expected (m, d), (m, a) and (n, a)")
    if not shapes[1][0]:
        raise UserError("focus: no anchors; a token that both vocabularies have, with a vector, is needed")
    if shapes[0][0] != shapes[1][0]:
        raise UserError(f"focus: {shapes[0][0]} rows of source for {shapes[1][0]} anchors; expected one for each")
    if shapes[1][1] != shapes[2][1]:
        raise UserError(f"focus: anchors are {shapes[1][1]} wide and new tokens {shapes[2][1]}; expected one width")
    if not np.isfinite(source).all():
        raise UserError("focus: a row of source is not finite; expected numbers")
    known, unknown = _unit(anchors, "an anchor"), _unit(new, "a new token")
    for first in range(0, len(unknown), BLOCK):
        yield sparsemax(unknown[first : first + BLOCK] @ known.T)


def _unit(vectors: Any, whose: str) -> np.ndarray:
    """The vectors with length 1, in float64."""
    vectors = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise UserError(f"focus: the vector of {whose} is zero or not finite; leave such tokens out")
    return vectors / lengths


def initialise(
    source: np.ndarray,
    old: Mapping[str, int],
    new: Mapping[str, int],
    auxiliary: Mapping[str, np.ndarray],
    *,
    seed: int,
    pieces: Mapping[str, Sequence[int]] | None = None,
) -> tuple[np.ndarray, dict[str, Any]]:
    """Word embeddings of a new vocabulary, from those of an old one.

    The row of a token that both have is copied; it is an anchor if its auxiliary vector is not zero. Another token with
    an auxiliary vector gets its row by `focus`. One without is the mean of the old tokens in `pieces`; without these,
    each dimension is sampled from the normal distribution with the mean and standard deviation of all old rows, in the
    order of the new ids.

    Args:
        source: the old word embeddings (m, d), by old id.
        old: token -> old id below m, with tokens spelled as in the new vocabulary: see `tokenizer.match_tokens`.
        new: token -> new id; the ids are 0, 1, ..., n - 1.
        auxiliary: new token -> vector (a,); empty: FOCUS is not used.
        seed: seed of sampled rows.
        pieces: new token -> ids of one or more old tokens.

    Returns:
        The matrix (n, d) by new id, in the type of `source`; and counts of rows that were `copied`, made by `focus` or
        `pieces`, or sampled (`random`), the number of `anchors`, and `median_anchors`, the median number of anchors
        with a weight in a row made by FOCUS (None without such).

    Raises:
        UserError: ids outside these ranges, vectors that are not finite or of several widths, or FOCUS without an
            anchor.
    """
    source, pieces = np.asarray(source), pieces or {}
    _require(source, old, new, pieces)
    vectors = _vectors(auxiliary, new)
    rows, tokens = np.empty((len(new), source.shape[1]), source.dtype), sorted(new, key=new.__getitem__)
    copied = [token for token in tokens if token in old]
    anchors = [token for token in copied if token in vectors]
    left = [token for token in tokens if token not in old]
    made = [token for token in left if token in vectors]
    composed = [token for token in left if token not in vectors and pieces.get(token)]
    drawn = sorted({*left} - {*made} - {*composed}, key=new.__getitem__)
    rows[[new[token] for token in copied]] = source[[old[token] for token in copied]]
    counts: dict[str, Any] = {"copied": len(copied), "focus": len(made), "pieces": len(composed), "random": len(drawn)}
    counts |= {"anchors": len(anchors), "median_anchors": None}
    if made:
        counts["median_anchors"] = _focused(rows, source, old, new, anchors, made, vectors)
    for token in composed:
        rows[new[token]] = source[list(pieces[token])].mean(axis=0, dtype=np.float64)
    if drawn:
        mean, deviation = source.mean(axis=0, dtype=np.float64), source.std(axis=0, dtype=np.float64)
        rows[[new[token] for token in drawn]] = np.random.default_rng(seed).normal(
            mean, deviation, (len(drawn), len(mean))
        )
    return rows, counts


def _focused(
    rows: np.ndarray,
    source: np.ndarray,
    old: Mapping[str, int],
    new: Mapping[str, int],
    anchors: Sequence[str],
    made: Sequence[str],
    vectors: Mapping[str, np.ndarray],
) -> float:
    """Fill in the rows that FOCUS makes; the median number of anchors behind one."""
    if not anchors:
        raise UserError(
            f"focus: no anchor for {len(made)} new tokens: no token of both vocabularies has a vector; give more text, "
            "or take `initialisation: pieces`"
        )
    known, places = source[[old[token] for token in anchors]].astype(np.float64), [new[token] for token in made]
    given = np.stack([vectors[token] for token in anchors]), np.stack([vectors[token] for token in made])
    behind, first = [], 0
    for weights in _weights(known, *given):
        rows[places[first : first + len(weights)]] = _mixed(weights, known)
        behind.append((weights > 0).sum(axis=1))
        first += len(weights)
    median = float(np.median(np.concatenate(behind)))
    if median > DEGENERATE * len(anchors):
        log.warning(
            "focus: a new token is a mean of %d of %d anchors (median), little more than their mean; give more "
            "text, or take `initialisation: pieces`",
            median,
            len(anchors),
        )
    return median


def _require(
    source: np.ndarray, old: Mapping[str, int], new: Mapping[str, int], pieces: Mapping[str, Sequence[int]]
) -> None:
    """Ids are those of rows, and vectors are numbers."""
    if source.ndim != 2 or not np.isfinite(source).all():
        raise UserError(f"initialise: source of shape {source.shape}; expected (m, d), and finite numbers")
    if sorted(new.values()) != [*range(len(new))]:
        raise UserError(f"initialise: the ids of `new` are not 0 to {len(new) - 1}, each once; number them so")
    for name, ids in {"old": old.values(), "pieces": [one for group in pieces.values() for one in group]}.items():
        if wrong := [one for one in ids if not 0 <= one < len(source)]:
            raise UserError(
                f"initialise: {name} has id {wrong[0]}, and source {len(source)} rows; expected ids below that"
            )


def _vectors(auxiliary: Mapping[str, np.ndarray], new: Mapping[str, int]) -> dict[str, np.ndarray]:
    """The vectors of new tokens, but for those that are zero."""
    vectors = {token: np.asarray(auxiliary[token]) for token in new if token in auxiliary}
    if len(shapes := {vector.shape for vector in vectors.values()}) > 1 or any(len(shape) != 1 for shape in shapes):
        shown = ", ".join(map(str, sorted(shapes)))
        raise UserError(f"initialise: auxiliary vectors of shapes {shown}; expected one width, (a,)")
    for token, vector in vectors.items():
        if not np.isfinite(vector).all():
            raise UserError(f"initialise: the auxiliary vector of {token!r} is not finite; expected numbers")
    return {token: vector for token, vector in vectors.items() if vector.any()}
