"""Training losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import pandas as pd
import torch
from sentence_transformers.base.losses.merged_forward import embed_columns, merge_feature_batches
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, cross_entropy, kl_div, normalize
from transformers import DataCollatorForLanguageModeling, PreTrainedModel

from seedbed.io import UserError

T = TypeVar("T")


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
    candidate only. Source: paper 000, equation 1, with n_j where the paper prints n_i: SimCSE's code
    (`simcse/models.py`, `cl_forward`, hard_negative_weight 0) contrasts with all negatives.

    Args:
        anchor, positive, negative: sentence vectors, all (batch, width); row i of each belongs to triplet i.
        temperature: tau.
        keep: booleans (batch,): the rows that have a negative; None: all. What stands in the others is no candidate.

    Returns:
        A scalar, computed in float32 at least.

    Raises:
        UserError: the shapes differ, or are not (batch, width).
    """
    columns = [anchor, positive] if negative is None else [anchor, positive, negative]
    _require_rows("simcse", *columns)
    candidates = columns[1:] if keep is None else [positive, *(column[keep] for column in columns[2:])]
    return _first_of(_cosines(anchor, torch.cat(candidates)) / temperature)


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
        x, y: vectors (batch, width); row i of each belongs to pair i.
        keep: booleans (batch, batch); where False, x_i and y_j are no negatives of each other. The diagonal, which
            holds the pairs themselves, is not looked at.
        negatives: vectors (n, width), hard negatives of every x: the sum over j is over them too.

    Returns:
        A scalar, computed in float32 at least.

    Raises:
        UserError: the shapes differ, or are not (batch, width) and (batch, batch).
    """
    _require_rows("additive_margin", x, y)
    cosines = _cosines(x, y)
    pairs = torch.eye(len(x), dtype=cosines.dtype, device=x.device)
    scores = (cosines - margin * pairs) / temperature
    if keep is not None:
        scores = _masked(scores, keep, "additive_margin", always=pairs.bool())
    forward = scores if negatives is None else torch.cat([scores, _cosines(x, negatives) / temperature], dim=1)
    return _first_of(forward) + _first_of(scores.T)


def neighbour_contrast(
    anchor: Tensor, neighbours: Tensor, *, temperature: float, ids: Tensor | None = None, keep: Tensor | None = None
) -> Tensor:
    """Each anchor against the neighbours of its positive, rank by rank, in both directions.

    The sum over ranks r = 1, ..., k of (L(a, n^r) + L(n^r, a)) / r, where L is the contrast in the batch without a
    margin. Source: paper 001, equation 5.

    Args:
        anchor: vectors (batch, width).
        neighbours: vectors (batch, k, width), nearest first.
        ids: integers (batch, k), equal for equal sentences: of one rank, these are no negatives of each other.
        keep: booleans (batch, batch); where False, pairs i and j have no negative in each other, at any rank.

    Returns:
        A scalar, computed in float32 at least; 0 for k = 0.

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
    """Each anchor's positive against the vectors of a queue, from anchor to candidate only.

    The mean over i of -log(e^{cos(a_i, p_i)/t} / (e^{cos(a_i, p_i)/t} + sum_j e^{cos(a_i, q_j)/t})). Source: paper 001,
    equation 4, which prints no temperature t: t = 1 is the equation as it stands.

    Args:
        anchor, positive: vectors (batch, width); row i of each belongs to pair i.
        queue: vectors (m, width), which get no gradient.
        keep: booleans (batch, m); where False, q_j is no negative of a_i.

    Returns:
        A scalar, computed in float32 at least; 0 for m = 0.

    Raises:
        UserError: shapes that do not fit.
    """
    _require_rows("queue_contrast", anchor, positive)
    if queue.ndim != 2 or queue.shape[1] != anchor.shape[1]:
        raise UserError(
            f"queue_contrast: a queue {tuple(queue.shape)} for vectors {tuple(anchor.shape)}; expected (m, width)"
        )
    negatives = _cosines(anchor, queue.detach()) / temperature
    if keep is not None:
        negatives = _masked(negatives, keep, "queue_contrast")
    precision = negatives.dtype
    positives = cosine_similarity(anchor.to(precision), positive.to(precision))[:, None] / temperature
    scores = torch.cat([positives, negatives], dim=1)
    return cross_entropy(scores, torch.zeros(len(scores), dtype=torch.int64, device=scores.device))


def similarity_distillation(
    teacher: Tensor, pivot: Tensor, text: Tensor, *, temperature: float, others: Tensor | None = None
) -> Tensor:
    """How far the pivot's sentences are from being as similar to each other's translations as a teacher says.

    With P_ij = softmax_j(cos(m_i, m_j)/t) of the teacher's vectors m of the pivot's sentences, and Q(u, v) the same of
    cosines between u_i and v_j, it is (KL(P, Q(e, [x, y])) + KL(P, Q(x, e)))/4 + KL'(P, Q(e, e))/2, each the mean over
    i, of vectors e of the pivot's sentences, x of their translations and y of other sentences, to which none should be
    similar; KL' leaves out j = i on both sides. Translations and others get no gradient: what trains them is another
    loss. Similarities are soft targets as in Fang et al. (2021, "SEED: Self-supervised distillation for visual
    representation"), equation 5, whose candidates are a queue.

    Args:
        teacher, pivot, text: vectors, all (batch, width); row i of each belongs to one sentence.
        temperature: t.
        others: vectors (n, width) of sentences in the language of the translations; None: there are none.

    Returns:
        A scalar, computed in float32 at least.

    Raises:
        UserError: the shapes differ, or are not (batch, width) of two rows or more.
    """
    _require_rows("similarity_distillation", teacher, pivot, text)
    if len(pivot) < 2:
        raise UserError("similarity_distillation: one row has no others to be similar to; give two or more")
    target, still = _cosines(teacher, teacher) / temperature, text.detach()
    candidates = still if others is None else torch.cat([still, others.detach()])
    forward = _divergence(target, _cosines(pivot, candidates) / temperature)
    backward = _divergence(target, _cosines(still, pivot) / temperature)
    within = _divergence(_without_diagonal(target), _without_diagonal(_cosines(pivot, pivot) / temperature))
    return (forward + backward) / 4 + within / 2


def _divergence(target: Tensor, scores: Tensor) -> Tensor:
    """Mean over rows of the Kullback-Leibler divergence of scores' softmax from the target's.

    Args:
        target: (n, m); scores: (n, m or more), where the target of what is more is 0.
    """
    logs = scores.log_softmax(1)[:, : target.shape[1]]
    return kl_div(logs, target.to(logs.dtype).log_softmax(1), log_target=True, reduction="batchmean")


def _without_diagonal(scores: Tensor) -> Tensor:
    """Scores (n, n) without each row's own: (n, n - 1)."""
    n = len(scores)
    return scores[~torch.eye(n, dtype=torch.bool, device=scores.device)].view(n, n - 1)


def _require_rows(name: str, *columns: Tensor) -> None:
    """Vectors of so many rows each, (batch, width)."""
    shapes = [tuple(column.shape) for column in columns]
    if columns[0].ndim != 2 or len(set(shapes)) > 1 or not len(columns[0]):
        raise UserError(
            f"{name}: shapes {', '.join(map(str, shapes))}; all must be the same (batch, width), batch >= 1"
        )


def _cosines(x: Tensor, y: Tensor) -> Tensor:
    """Cosines (n, m) of the rows of (n, width) and (m, width), in float32 at least."""
    precision = torch.promote_types(torch.promote_types(x.dtype, y.dtype), torch.float32)
    # A matrix product under autocast is bfloat16: a cosine over 0.05 would keep two digits.
    with torch.autocast(x.device.type, enabled=False):
        return normalize(x.to(precision), dim=-1) @ normalize(y.to(precision), dim=-1).T


def _masked(scores: Tensor, keep: Tensor, name: str, always: Tensor | None = None) -> Tensor:
    """Scores, minus infinity where they are kept neither by `keep` nor by `always`."""
    if keep.shape != scores.shape or keep.dtype != torch.bool:
        raise UserError(f"{name}: keep is {keep.dtype} {tuple(keep.shape)}; expected torch.bool {tuple(scores.shape)}")
    return scores.masked_fill(~(keep if always is None else keep | always), -torch.inf)


def _first_of(scores: Tensor) -> Tensor:
    """Cross-entropy of scores (n, m >= n), where row i should choose column i."""
    return cross_entropy(scores, torch.arange(len(scores), device=scores.device))


def with_negatives(table: pd.DataFrame | None, *names: str) -> Tensor | None:
    """Booleans (rows,): which rows have a text in each of some columns of negatives that are there; None: all have."""
    if not (columns := [name for name in names or ("negative",) if table is not None and name in table.columns]):
        return None
    there = (table[columns] != "").all(axis=1).to_numpy()
    return None if there.all() else torch.tensor(there)


def of_batch(columns: list[T], known: Tensor | None, rows: Tensor) -> tuple[list[T], Tensor | None]:
    """The columns of a batch of rows, without the negatives if none has one; and which rows have one.

    Args:
        known: see `with_negatives`.
        rows: positions (batch,) in the table.
    """
    if known is None:
        return columns, None
    keep = known[rows.cpu()].to(rows.device)
    return (columns, keep) if keep.any() else (columns[:2], None)


class SimCSELoss(nn.Module):
    """`simcse` as a sentence-transformers loss for pairs or triplets of texts.

    Args:
        negatives: which rows of the table have one, see `with_negatives`.
    """

    def __init__(self, model: nn.Module, temperature: float, negatives: Tensor | None = None) -> None:
        super().__init__()
        self.model = model
        self.temperature = temperature
        self.negatives = negatives

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor | None = None) -> Tensor:
        """The loss of one batch.

        Args:
            features: tokenised texts of two or three columns (anchor, positive, perhaps negative).
            rows: their positions (batch,) in the table; needed where not all have a negative.
        """
        columns, keep = of_batch(list(features), self.negatives, rows)
        # All columns in one forward pass: a trained word-embedding matrix then gets one dense gradient, not three.
        # Measured on a random BERT (12 x 384, vocabulary 250,002; 32 triplets, one CPU thread, bfloat16 autocast), in
        # CPU seconds a step: 1.76 together, 1.91 with the anchors apart (sentence-transformers' default), 1.97 column
        # by column; with the matrix frozen 1.55, 1.63 and 1.62.
        vectors = embed_columns(self.model, columns, separate_first=False)
        return simcse(*vectors, keep=keep, temperature=self.temperature)


class WithMaskedLM(nn.Module):
    """SimCSE's loss plus a multiple of masked language modelling on the same texts.

    A second forward pass reads all columns of the batch with masked tokens; the mean cross-entropy of the masked ones
    is added. Of the tokens that are chosen, 80 % become the mask, 10 % any token, and 10 % stay. Source:
    princeton-nlp/SimCSE, `train.py`, `mask_tokens`, and `simcse/models.py`, `cl_forward`; paper 000, table 6.

    Args:
        contrast: the loss that this one adds to.
        head: see `loading.load_head`.
        weight: of the added loss.
        probability: that a token is chosen; special tokens and padding never are.
        half: let the head's matrix products run in bfloat16.
    """

    def __init__(
        self, contrast: SimCSELoss, head: PreTrainedModel, *, weight: float, probability: float, half: bool = False
    ) -> None:
        super().__init__()
        self.contrast = contrast
        self.model = contrast.model
        self.head = head
        self.weight = weight
        self.half = half
        tokenizer = self.model.tokenizer
        self.mask = DataCollatorForLanguageModeling(tokenizer, mlm_probability=probability).torch_mask_tokens
        self.special = torch.tensor(tokenizer.all_special_ids)

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor | None = None) -> Tensor:
        """The loss of one batch; arguments as in `SimCSELoss`. A batch without masked tokens has the contrast alone."""
        columns = list(features)
        # Copies: where columns cannot be read together, each pass leaves its states in them.
        loss = self.contrast([dict(column) for column in columns], rows)
        merged = merge_feature_batches(columns)
        chosen = [self._masked(column) for column in (columns if merged is None else [merged])]
        states, targets = (torch.cat(parts) for parts in zip(*chosen, strict=True))
        return loss + self.weight * self._cross_entropy(states, targets) if len(targets) else loss

    def _masked(self, features: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Last states (masked tokens, width) of the texts with masks in them, and the tokens that belong there."""
        ids = features["input_ids"].cpu()
        kept = torch.isin(ids, self.special) | (features["attention_mask"].cpu() == 0)
        masked, targets = self.mask(ids.clone(), kept)
        device, chosen = features["input_ids"].device, targets != -100
        states = self.model(features | {"input_ids": masked.to(device)})["token_embeddings"]
        return states[chosen.to(device)], targets[chosen].to(device)

    def _cross_entropy(self, states: Tensor, targets: Tensor) -> Tensor:
        # Scores of the masked tokens alone: a vocabulary of 250,000 for every token would fill a GPU.
        with torch.autocast(states.device.type, torch.bfloat16, enabled=self.half):
            scores = self.head(inputs_embeds=states[None]).logits[0]
        return cross_entropy(scores.to(torch.promote_types(scores.dtype, torch.float32)), targets)


class ByRow(nn.Module):
    """A loss of sentence-transformers that is given a value for each row as its label.

    Args:
        loss: see `loss(features, labels)` there.
        values: one for each row of the table: (rows,) or (rows, width). They are data and no state: no checkpoint has
            them.
    """

    def __init__(self, loss: nn.Module, values: Tensor) -> None:
        super().__init__()
        self.loss = loss
        self.model = loss.model
        self.values = values

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """The loss of one batch, whose rows have these positions (batch,) in the table."""
        return self.loss(features, self.values[rows.cpu()].to(rows.device))
