"""Contrastive losses as functions of sentence vectors, and SimCSE's as a sentence-transformers loss."""

from collections.abc import Iterable
from typing import Any

import torch
from sentence_transformers.base.losses.merged_forward import embed_columns
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, cross_entropy, normalize

from seedbed.encoders.losses.rows import drop_absent_negatives
from seedbed.encoders.losses.token_cutoff import cut_texts
from seedbed.io import UserError


def simcse(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor | None = None,
    *,
    temperature: float,
    keep: Tensor | None = None,
) -> Tensor:
    """Contrastive loss of SimCSE: each anchor against all positives and, if given, all negatives of the batch.

    The mean over i of -log(e^{cos(a_i, p_i)/t} / sum_j (e^{cos(a_i, p_j)/t} + e^{cos(a_i, n_j)/t})), from anchor to
    candidate only. It is sentence-transformers' MultipleNegativesRankingLoss with scale 1/t. Source: paper 000,
    equation 1, with n_j where the paper prints n_i: SimCSE's code (`simcse/models.py`, `cl_forward`,
    hard_negative_weight 0) contrasts with all negatives.

    Args:
        anchor: vectors (batch, width).
        positive: vectors (batch, width); row i belongs to anchor i.
        negative: vectors (batch, width) of hard negatives; None: there are none.
        temperature: t, what cosines are divided by.
        keep: booleans (batch,), which rows have a negative; None: all. The vectors of other rows of `negative` are
            ignored.

    Returns:
        A scalar, computed in float32 or more precise.

    Raises:
        UserError: the shapes differ, or are not (batch, width).

    Example:
        >>> anchor = torch.eye(2)
        >>> simcse(anchor, anchor, temperature=1.0)  # log(1 + 1/e)
        tensor(0.3133)
    """
    columns = [anchor, positive] if negative is None else [anchor, positive, negative]
    require_rows("simcse", *columns)
    candidates = columns[1:] if keep is None else [positive, *(column[keep] for column in columns[2:])]
    return _first_of(cosines(anchor, torch.cat(candidates)) / temperature)


def additive_margin(
    x: Tensor,
    y: Tensor,
    *,
    temperature: float,
    margin: float = 0.0,
    keep: Tensor | None = None,
    negatives: Tensor | None = None,
) -> Tensor:
    """Contrastive loss of pairs with an additive margin, in both directions, summed.

    With s_ij = (cos(x_i, y_j) - margin [i = j]) / temperature it is the mean over i of -log(e^{s_ii} / sum_j e^{s_ij})
    plus the mean over j of -log(e^{s_jj} / sum_i e^{s_ij}). Source: paper 001, equations 1 to 3; without a margin, one
    term of equation 5.

    Args:
        x: vectors (batch, width).
        y: vectors (batch, width); row i forms a pair with row i of `x`.
        temperature: what cosines are divided by.
        margin: what is subtracted from the cosine of a pair.
        keep: booleans (batch, batch); where False, x_i and y_j are not used as negatives of each other. The diagonal is
            ignored: it holds the pairs.
        negatives: vectors (n, width) of hard negatives, added to the sum over j for every x_i; None: there are none.

    Returns:
        A scalar, computed in float32 or more precise.

    Raises:
        UserError: the shapes differ, or are not (batch, width) and (batch, batch).
    """
    require_rows("additive_margin", x, y)
    found = cosines(x, y)
    pairs = torch.eye(len(x), dtype=found.dtype, device=x.device)
    scores = (found - margin * pairs) / temperature
    if keep is not None:
        scores = _masked(scores, keep, "additive_margin", always=pairs.bool())
    forward = scores if negatives is None else torch.cat([scores, cosines(x, negatives) / temperature], dim=1)
    return _first_of(forward) + _first_of(scores.T)


def neighbour_contrast(
    anchor: Tensor, neighbours: Tensor, *, temperature: float, ids: Tensor | None = None, keep: Tensor | None = None
) -> Tensor:
    """Contrastive loss of anchors and the retrieved neighbours of their positives, weighted by 1/rank.

    The sum over ranks r = 1, ..., k of (L(a, n^r) + L(n^r, a)) / r, where L is the in-batch contrast without a margin.
    Source: paper 001, equation 5.

    Args:
        anchor: vectors (batch, width).
        neighbours: vectors (batch, k, width) of each positive's neighbours, nearest first.
        temperature: what cosines are divided by.
        ids: integers (batch, k), equal for equal sentences; equal sentences of one rank are not negatives of each
            other. None: all sentences differ.
        keep: booleans (batch, batch); where False, pairs i and j are not negatives of each other, at any rank.

    Returns:
        A scalar, computed in float32 or more precise; 0 for k = 0.

    Raises:
        UserError: shapes that do not fit.
    """
    if neighbours.ndim != 3 or (ids is not None and ids.shape != neighbours.shape[:2]):
        given = "" if ids is None else f" and ids {tuple(ids.shape)}"
        raise UserError(
            f"neighbour_contrast: neighbours {tuple(neighbours.shape)}{given}; expected (batch, k, width), (batch, k)"
        )
    total = anchor.new_zeros((), dtype=torch.promote_types(anchor.dtype, torch.float32))
    for place in range(neighbours.shape[1]):
        apart = None if ids is None else ids[:, None, place] != ids[None, :, place]
        both = keep if apart is None else apart if keep is None else keep & apart
        total = total + additive_margin(anchor, neighbours[:, place], temperature=temperature, keep=both) / (place + 1)
    return total


def queue_contrast(
    anchor: Tensor, positive: Tensor, queue: Tensor, *, temperature: float, keep: Tensor | None = None
) -> Tensor:
    """Contrastive loss of each anchor and its positive against the vectors of a queue, from anchor to candidate only.

    The mean over i of -log(e^{cos(a_i, p_i)/t} / (e^{cos(a_i, p_i)/t} + sum_j e^{cos(a_i, q_j)/t})). Source: paper 001,
    equation 4, which has no temperature: t = 1 gives the printed equation.

    Args:
        anchor: vectors (batch, width).
        positive: vectors (batch, width); row i belongs to anchor i.
        queue: vectors (m, width); no gradient flows into them.
        temperature: t, what cosines are divided by.
        keep: booleans (batch, m); where False, q_j is not a negative of a_i. None: all are.

    Returns:
        A scalar, computed in float32 or more precise; 0 for m = 0.

    Raises:
        UserError: shapes that do not fit.
    """
    require_rows("queue_contrast", anchor, positive)
    if queue.ndim != 2 or queue.shape[1] != anchor.shape[1]:
        raise UserError(
            f"queue_contrast: a queue {tuple(queue.shape)} for vectors {tuple(anchor.shape)}; expected (m, width)"
        )
    negatives = cosines(anchor, queue.detach()) / temperature
    if keep is not None:
        negatives = _masked(negatives, keep, "queue_contrast")
    precision = negatives.dtype
    positives = cosine_similarity(anchor.to(precision), positive.to(precision))[:, None] / temperature
    scores = torch.cat([positives, negatives], dim=1)
    return cross_entropy(scores, torch.zeros(len(scores), dtype=torch.int64, device=scores.device))


def require_rows(name: str, *columns: Tensor) -> None:
    """Check that all tensors have one shape (batch, width) with batch >= 1; messages begin with `name`.

    Raises:
        UserError: they have not.
    """
    shapes = [tuple(column.shape) for column in columns]
    if columns[0].ndim != 2 or len(set(shapes)) > 1 or not len(columns[0]):
        raise UserError(
            f"{name}: shapes {', '.join(map(str, shapes))}; all must be the same (batch, width), batch >= 1"
        )


def cosines(x: Tensor, y: Tensor) -> Tensor:
    """Cosine similarities (n, m) of rows (n, width) and rows (m, width), in float32 or more precise."""
    precision = torch.promote_types(torch.promote_types(x.dtype, y.dtype), torch.float32)
    # A matrix product under autocast is bfloat16: a cosine over 0.05 would keep two digits.
    with torch.autocast(x.device.type, enabled=False):
        return normalize(x.to(precision), dim=-1) @ normalize(y.to(precision), dim=-1).T


def _masked(scores: Tensor, keep: Tensor, name: str, always: Tensor | None = None) -> Tensor:
    """Scores, minus infinity where neither `keep` nor `always` is true."""
    if keep.shape != scores.shape or keep.dtype != torch.bool:
        raise UserError(f"{name}: keep is {keep.dtype} {tuple(keep.shape)}; expected torch.bool {tuple(scores.shape)}")
    return scores.masked_fill(~(keep if always is None else keep | always), -torch.inf)


def _first_of(scores: Tensor) -> Tensor:
    """Cross-entropy of scores (n, m >= n), where row i should choose column i."""
    return cross_entropy(scores, torch.arange(len(scores), device=scores.device))


class SimCSELoss(nn.Module):
    """`simcse` as a sentence-transformers loss for pairs or triplets of texts.

    Args:
        model: the encoder in training.
        temperature: what cosines are divided by.
        negatives: booleans (rows,), which rows of the table have a negative, see `with_negatives`; None: all.
        cutoff: the share of its tokens that each text loses, others in each step, see `cut_texts`; 0: none.
    """

    def __init__(
        self, model: nn.Module, temperature: float, negatives: Tensor | None = None, cutoff: float = 0.0
    ) -> None:
        super().__init__()
        self.model = model
        self.temperature = temperature
        self.negatives = negatives
        self.cutoff = cutoff

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor | None = None) -> Tensor:
        """Compute the loss of one batch, a scalar.

        Args:
            features: tokenised texts of two or three columns: anchors, positives, perhaps negatives.
            rows: positions (batch,) of the rows in the table; needed if only some rows have a negative.
        """
        columns = list(features)
        if self.cutoff:
            columns = [cut_texts(self.model, column, self.cutoff) for column in columns]
        columns, keep = drop_absent_negatives(columns, self.negatives, rows)
        # All columns in one forward pass: a trained word-embedding matrix then gets one dense gradient, not three.
        # Measured on a random BERT (12 x 384, vocabulary 250,002; 32 triplets, one CPU thread, bfloat16 autocast), in
        # CPU seconds a step: 1.76 together, 1.91 with the anchors apart (sentence-transformers' default), 1.97 column
        # by column; with the matrix frozen 1.55, 1.63 and 1.62.
        vectors = embed_columns(self.model, columns, separate_first=False)
        return simcse(*vectors, keep=keep, temperature=self.temperature)
