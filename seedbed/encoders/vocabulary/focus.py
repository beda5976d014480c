"""FOCUS: initialisation of word embeddings of a new vocabulary from those of an old one.

Source: Dobler and de Melo (2023, "FOCUS: Effective Embedding Initialization for Monolingual Specialization of
Multilingual Models"), section 3; paper 004, section 3, uses it.
"""

import logging
from collections.abc import Mapping, Sequence
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
    """Project each row of scores (n, m), m >= 1, onto the probability simplex (the nearest point in Euclidean
    distance).

    p_j = max(z_j - t, 0), with t such that they sum to 1: of the sorted z_(1) >= z_(2) >= ..., let k be the greatest
    for which 1 + k z_(k) > z_(1) + ... + z_(k); then t = (z_(1) + ... + z_(k) - 1) / k. Source: Martins and Astudillo
    (2016, "From softmax to sparsemax"), algorithm 1.

    Returns:
        Weights (n, m) in float64; each row sums to 1.
    """
    # Relative to the greatest, which changes no weight: so sums keep their digits however large scores are.
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


def focus(source: np.ndarray, anchors: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Word embeddings of new tokens: the anchors' rows, weighted by the sparsemax of the new token's cosines with the
    anchors.

    Source: Dobler and de Melo (2023), equations 2 and 3.

    Args:
        source: rows (m, d) of the anchors in the old word embeddings.
        anchors: the anchors' vectors (m, a) in an auxiliary space; none is zero.
        new: the new tokens' vectors (n, a) in that space; none is zero.

    Returns:
        Rows (n, d) in the type of `source`, and how many anchors have a weight in each, (n,).
    """
    exact, known, unknown = source.astype(np.float64), _unit(anchors), _unit(new)
    rows, behind = np.empty((len(new), source.shape[1]), source.dtype), np.empty(len(new), np.int64)
    for start in range(0, len(new), BLOCK):
        block = slice(start, start + BLOCK)
        weights = sparsemax(unknown[block] @ known.T)
        few = np.count_nonzero(weights) < FEW * weights.size  # as they are with much text
        rows[block] = csr_array(weights) @ exact if few else weights @ exact
        behind[block] = (weights > 0).sum(axis=1)
    return rows, behind


def _unit(vectors: np.ndarray) -> np.ndarray:
    """The vectors with length 1, in float64."""
    vectors = vectors.astype(np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


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
    drawn = [token for token in left if token not in vectors and not pieces.get(token)]
    rows[[new[token] for token in copied]] = source[[old[token] for token in copied]]
    counts: dict[str, Any] = {"copied": len(copied), "focus": len(made), "pieces": len(composed), "random": len(drawn)}
    counts |= {"anchors": len(anchors), "median_anchors": None}
    if made:
        rows[[new[token] for token in made]], counts["median_anchors"] = _focused(source, old, anchors, made, vectors)
    for token in composed:
        rows[new[token]] = source[list(pieces[token])].mean(axis=0, dtype=np.float64)
    if drawn:
        mean, deviation = source.mean(axis=0, dtype=np.float64), source.std(axis=0, dtype=np.float64)
        rows[[new[token] for token in drawn]] = np.random.default_rng(seed).normal(
            mean, deviation, (len(drawn), len(mean))
        )
    return rows, counts


def _focused(
    source: np.ndarray,
    old: Mapping[str, int],
    anchors: Sequence[str],
    made: Sequence[str],
    vectors: Mapping[str, np.ndarray],
) -> tuple[np.ndarray, float]:
    """The rows that FOCUS makes, and the median number of anchors behind one."""
    if not anchors:
        raise UserError(
            f"focus: no anchor for {len(made)} new tokens: no token of both vocabularies has a vector; give more text, "
            "or take `initialisation: pieces`"
        )
    known = source[[old[token] for token in anchors]]
    rows, behind = focus(known, *(np.stack([vectors[token] for token in group]) for group in (anchors, made)))
    median = float(np.median(behind))
    if median > DEGENERATE * len(anchors):
        log.warning(
            "focus: a new token is a mean of %d of %d anchors (median), little more than their mean; give more "
            "text, or take `initialisation: pieces`",
            median,
            len(anchors),
        )
    return rows, median


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
