"""Losses of the objectives `correlation` and `listwise`, with queues of earlier batches: LaSR (paper 002)."""

from collections.abc import Iterable
from typing import Any, Literal

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import embed_columns
from torch import Tensor, nn
from torch.nn.functional import normalize

from seedbed.encoders.losses.momentum import Queue
from seedbed.encoders.losses.rows import of_rows
from seedbed.encoders.losses.soft_rank import correlation_loss, safe_weights, soft_ndcg


class CorrelationLoss(nn.Module):
    """`soft_rank.correlation_loss` between cosines of pairs and their gold scores, over the batch and a queue of
    earlier pairs.

    Source: paper 002, appendix A.4, equations 27 to 32 (CorrQueue).

    The keywords are the settings of `objectives.correlation.Correlation`.

    Args:
        encoder: the encoder in training.
        scores: gold scores of all pairs of the table, (rows,). No checkpoint contains them.
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
        self.queue = Queue(queue_size, 2)
        self.warm_up = warm_up
        self.pearson_weight = pearson_weight
        self.temperature = temperature

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """Compute the loss of one batch of tokenised pairs, a scalar; 0 with a zero gradient during the warm-up."""
        one, two = _directions(self.model, features)
        predicted, gold = (one * two).sum(dim=1), of_rows(self.scores, rows)
        self.batch = torch.stack([predicted.detach(), gold], dim=1), rows
        held = self.queue.vectors
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
        """Add the batch's cosines and scores to the queue; the trainer calls it after each optimiser step."""
        self.queue.add(*self.batch)


class ListwiseLoss(nn.Module):
    """1 - `soft_rank.soft_ndcg` of each query's document among its nearest other documents, plus a hinge and a moments
    term.

    The other documents come from the batch and from a queue of earlier ones; they are in the language of the query's
    document and not relevant to the query. Of several copies of a document only the newest vector counts. Source: paper
    002, section 4.2 and appendix A.4, equations 33 to 42 (DocQueue).

    The keywords are the settings of `objectives.listwise.Listwise`.

    Args:
        encoder: the encoder in training.
        queries: integers (rows,), the number of each row's query; equal texts have equal numbers.
        documents: integers (rows,), the number of each row's document; equal texts of one language have equal numbers,
            those of two languages have not.
        relevant: booleans (rows,), whether the row's document is relevant to its query. If not, the row only
            contributes a document.
        languages: integers (rows,), the language of each row's document; None: all are in one language.
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
        self.queue = Queue(queue_size, encoder.get_embedding_dimension())

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """Compute the mean loss over the batch's queries that have a relevant document and a negative; 0 if there are
        none. `features` are tokenised queries and documents.
        """
        queries, documents = _directions(self.model, features)
        numbers = of_rows(self.documents, rows)
        self.batch = documents.detach(), numbers
        own, language = (queries * documents).sum(dim=1), self.language[numbers]
        others = torch.cat([self.queue.vectors.to(documents), documents])  # the oldest first
        numbers = torch.cat([self.queue.ids, numbers])
        newest = _last_of_each(numbers)
        others, numbers = others[newest], numbers[newest]
        pairs = of_rows(self.queries, rows)[:, None] * self.count + numbers
        with torch.autocast(rows.device.type, enabled=False):  # else cosines keep two digits
            scores = queries @ others.T
        spared = torch.isin(pairs, self.pairs.to(rows.device)) | (language[:, None] != self.language[numbers])
        scores = scores.masked_fill(spared, -torch.inf)
        hardest = scores.topk(min(self.negatives, scores.shape[1])).values
        asked = of_rows(self.relevant, rows) & (hardest > -torch.inf).any(dim=1)
        if not asked.any():
            return 0 * own.sum()
        return self._of_lists(torch.cat([own[:, None], hardest], dim=1)[asked]).mean()

    def _of_lists(self, scores: Tensor) -> Tensor:
        """Equation 42 (n,) of lists (n, c) whose column 0 is relevant; minus infinity is no document."""
        relevance = torch.zeros_like(scores)
        relevance[:, 0] = 1
        weights = None
        if self.gate != "none":
            # A constant: else training would pull a negative nearer, so that it counts less.
            weights = safe_weights(scores.detach(), relevance, margin=self.margin, temperature=self.gate_temperature)
        gate = "discounts" if self.gate == "discounts" else "ranks"
        gain = soft_ndcg(scores, relevance, weights=weights, gate=gate, **self.ranking)
        negatives = scores[:, 1:]
        if self.gate == "ranks":
            negatives = negatives.masked_fill(weights[:, 1:] < 0.5, -torch.inf)
        hinge = (self.hinge_margin + negatives.max(dim=1).values - scores[:, 0]).clamp(min=0)
        mean, variance = _moments(scores)
        moments = mean.square() + (variance - self.variance).abs()
        return 1 - gain + self.hinge_weight * hinge + self.moments_weight * moments

    def after_step(self) -> None:
        """Add the batch's documents to the queue; the trainer calls it after each optimiser step."""
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
