"""The losses of the objectives `correlation` and `listwise`, which look at earlier batches too: LaSR's (paper 002)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import embed_columns
from torch import Tensor, nn
from torch.nn.functional import normalize

from seedbed.encoders.losses.momentum import Queue
from seedbed.encoders.losses.soft_rank import correlation_loss, safe_weights, soft_ndcg


class CorrelationLoss(nn.Module):
    """`soft_rank.correlation_loss` of the cosines of pairs with their scores, in the batch and a queue of earlier ones.

    Source: paper 002, appendix A.4, equations 27 to 32 (CorrQueue).

    Args:
        encoder: in training.
        scores: of all pairs (rows,). They are data and no state.
        queue_size: K: how many earlier pairs count beside the batch; 0: none.
        warm_up: N_min: with fewer pairs in batch and queue, nothing is learnt.
        pearson_weight, temperature: as of `correlation_loss`.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        scores: Tensor,
        *,
        queue_size: int,
        warm_up: int,
        pearson_weight: float,
        temperature: float,
    ) -> None:
        super().__init__()
        self.model = encoder
        self.scores = scores
        self.queue = Queue(queue_size, 2) if queue_size else None
        self.warm_up = warm_up
        self.pearson_weight = pearson_weight
        self.temperature = temperature

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """The loss of one batch; during the warm-up 0, with a gradient of 0.

        Args:
            features: tokenised texts of both sides.
            rows: their positions (batch,) in the table.
        """
        one, two = _directions(self.model, features)
        predicted, gold = (one * two).sum(dim=1), self.scores[rows.cpu()].to(rows.device)
        self.batch = torch.stack([predicted.detach(), gold], dim=1), rows
        held = predicted.new_zeros(0, 2) if self.queue is None else self.queue.vectors
        if len(held) + len(predicted) < self.warm_up:
            return 0 * predicted.sum()
        return correlation_loss(
            predicted,
            gold,
            history=(held[:, 0], held[:, 1]),
            pearson_weight=self.pearson_weight,
            temperature=self.temperature,
        )

    def after_step(self) -> None:
        """The batch's cosines and scores join the queue."""
        if self.queue is not None:
            self.queue.add(*self.batch)


class ListwiseLoss(nn.Module):
    """1 - `soft_rank.soft_ndcg` of each query's own document among the nearest others, with a hinge and moments.

    The others are the documents of the batch and of a queue of earlier ones that are in the own document's language and
    not relevant to the query; of equal documents the newest stands for all. Source: paper 002, section 4.2 and appendix
    A.4, equations 33 to 42 (DocQueue).

    Args:
        encoder: in training.
        queries, documents: numbers (rows,) of each row's query and document, the same for equal texts.
        relevant: whether the row's document is relevant to its query (rows,); where not, it is a document alone.
        languages: numbers (rows,) of the languages of the documents, one for each document; None: all have one.
        queue_size: how many earlier documents are candidates beside the batch's; 0: none.
        negatives: M: so many candidates, the nearest to the query, are ranked with its own document.
        k, temperature, cut_temperature: as of `soft_rank.soft_ndcg`.
        gate: how negatives that may be relevant too are spared. ranks: they count little in the ranks of others, and
            not in the hinge. discounts: in the discounts, as the paper prints it. none: not at all.
        margin, gate_temperature: of `soft_rank.safe_weights`: who is no farther below the own document's cosine than
            the margin may be relevant too, and how soft that border is.
        hinge_weight, hinge_margin: of the hinge, which draws the own document above the nearest other by the margin.
        moments_weight, variance: of the term that draws the mean of a list's cosines to 0, and their variance to this.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        queries: Tensor,
        documents: Tensor,
        relevant: Tensor,
        languages: Tensor | None = None,
        *,
        queue_size: int,
        negatives: int,
        k: int,
        temperature: float,
        cut_temperature: float,
        gate: Literal["ranks", "discounts", "none"],
        margin: float,
        gate_temperature: float,
        hinge_weight: float,
        hinge_margin: float,
        moments_weight: float,
        variance: float,
    ) -> None:
        super().__init__()
        self.model = encoder
        self.queries, self.documents, self.relevant = queries, documents, relevant
        self.negatives = negatives
        self.ranking = {"k": k, "temperature": temperature, "cut_temperature": cut_temperature}
        self.gate, self.margin, self.gate_temperature = gate, margin, gate_temperature
        self.hinge_weight, self.hinge_margin = hinge_weight, hinge_margin
        self.moments_weight, self.variance = moments_weight, variance
        self.count = int(documents.max()) + 1
        self.pairs = (queries * self.count + documents)[relevant].unique()
        self.register_buffer("language", torch.zeros(self.count, dtype=torch.int64), persistent=False)
        if languages is not None:
            self.language[documents] = languages
        width = encoder.get_embedding_dimension()
        self.queue = Queue(queue_size, width) if queue_size else None

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """The mean over the queries of a batch that have a document to tell their own from; 0 if none has.

        Args:
            features: tokenised texts of queries and of documents.
            rows: their positions (batch,) in the table.
        """
        queries, documents = _directions(self.model, features)
        numbers = self.documents[rows.cpu()].to(rows.device)
        self.batch = documents.detach(), numbers
        own, language = (queries * documents).sum(dim=1), self.language[numbers]
        others = documents
        if self.queue is not None:  # the oldest first
            others = torch.cat([self.queue.vectors.to(documents), documents])
            numbers = torch.cat([self.queue.ids, numbers])
        newest = _last_of_each(numbers)
        others, numbers = others[newest], numbers[newest]
        pairs = self.queries[rows.cpu()].to(rows.device)[:, None] * self.count + numbers
        with torch.autocast(rows.device.type, enabled=False):  # else cosines keep two digits
            scores = queries @ others.T
        spared = torch.isin(pairs, self.pairs.to(rows.device)) | (language[:, None] != self.language[numbers])
        scores = scores.masked_fill(spared, -torch.inf)
        hardest = scores.topk(min(self.negatives, scores.shape[1])).values
        asked = self.relevant[rows.cpu()].to(rows.device) & (hardest > -torch.inf).any(dim=1)
        if not asked.any():
            return 0 * own.sum()
        return self._of_lists(torch.cat([own[:, None], hardest], dim=1)[asked]).mean()

    def _of_lists(self, scores: Tensor) -> Tensor:
        """Equation 42 (n,) of lists (n, c) whose column 0 is relevant; minus infinity is no document."""
        relevance = torch.zeros_like(scores)
        relevance[:, 0] = 1
        weights = None
        if self.gate != "none":
            # A constant: else a negative would be drawn nearer, to count less.
            weights = safe_weights(scores.detach(), relevance, margin=self.margin, temperature=self.gate_temperature)
        printed = self.gate == "discounts"
        gain = soft_ndcg(scores, relevance, weights=weights, gate="discounts" if printed else "ranks", **self.ranking)
        negatives = scores[:, 1:]
        if weights is not None and not printed:
            negatives = negatives.masked_fill(weights[:, 1:] < 0.5, -torch.inf)
        hinge = (self.hinge_margin + negatives.max(dim=1).values - scores[:, 0]).clamp(min=0)
        mean, variance = _moments(scores)
        moments = mean.square() + (variance - self.variance).abs()
        return 1 - gain + self.hinge_weight * hinge + self.moments_weight * moments

    def after_step(self) -> None:
        """The batch's documents join the queue."""
        if self.queue is not None:
            self.queue.add(*self.batch)


def _directions(model: nn.Module, features: Iterable[dict[str, Any]]) -> list[Tensor]:
    """The vectors (batch, width) of each column at length one, in float32 at least."""
    embedded = embed_columns(model, list(features), separate_first=False)
    return [normalize(x.to(torch.promote_types(x.dtype, torch.float32)), dim=1) for x in embedded]


def _last_of_each(numbers: Tensor) -> Tensor:
    """The places of the last of each number in (n,), in their order."""
    each, which = numbers.unique(return_inverse=True)
    places = torch.arange(len(numbers), device=numbers.device)
    return torch.zeros_like(each).scatter_reduce(0, which, places, "amax").sort().values


def _moments(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance (n,) of the numbers of each row of (n, c) that are not minus infinity."""
    there = scores > -torch.inf
    scores, count = scores.masked_fill(~there, 0), there.sum(dim=1)
    mean = scores.sum(dim=1) / count
    return mean, ((scores - mean[:, None]).square() * there).sum(dim=1) / count
