"""The loss of the objective `neighbours`: encoder, head, the copy that follows them, and its queue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import embed_columns
from torch import Tensor, nn

from seedbed.encoders.losses.contrastive import additive_margin, neighbour_contrast, queue_contrast
from seedbed.encoders.losses.momentum import Follower, Queue, follow


class NeighbourLoss(nn.Module):
    """L_basic + L_queue + L_neighbour (paper 001, equation 6), and what changes after each step of the optimiser.

    Args:
        encoder: in training.
        sides: the texts of all pairs: anchors and positives.
        neighbours: the texts of each rank.
        margin, temperature: of `additive_margin`; the temperature is that of neighbours too.
        queue: who is pushed away from the queue: anchors, positives and neighbours too (all), or none; then there is no
            queue.
        queue_size, queue_temperature: vectors in it at most, and its loss's temperature; None: `temperature`.
        mask_own: no pair has its own earlier vectors in the queue as negatives, nor another with an equal side, there
            or in the batch, nor that one's neighbours.
        momentum: how much of itself the copy keeps at each step.
        projection: widths of the head's two layers.
        normalise: weights of the ranks sum to 1.
        negatives: a batch has a column of hard negatives, which join the sum of equation 2.
        half: the copy computes in bfloat16 where its weights, which stay float32, are multiplied.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        sides: Sequence[Sequence[str]],
        neighbours: Sequence[Sequence[str]],
        *,
        margin: float,
        temperature: float,
        queue: Literal["anchors", "all", "none"],
        queue_size: int,
        queue_temperature: float | None,
        mask_own: bool,
        momentum: float,
        projection: tuple[int, int],
        normalise: bool,
        negatives: bool,
        half: bool = False,
    ) -> None:
        super().__init__()
        self.margin, self.temperature = margin, temperature
        self.pushed, self.queue_temperature = queue, queue_temperature or temperature
        self.mask_own, self.momentum = mask_own, momentum
        self.negatives, self.half = negatives, half
        total = sum(1 / rank for rank in range(1, len(neighbours) + 1))
        self.share = 1 / total if normalise and total else 1.0
        inner, outer = projection
        self.model = encoder
        self.head = nn.Sequential(
            nn.Linear(encoder.get_embedding_dimension(), inner), nn.ReLU(), nn.Linear(inner, outer)
        )
        self.pairs = torch.from_numpy(same_pairs(*sides))
        self.ranks = torch.from_numpy(same_texts(neighbours))
        if queue != "none":
            self.slow = Follower(nn.ModuleList([encoder, self.head]))
            self.queue = Queue(queue_size, outer)

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """The loss of one batch.

        Args:
            features: tokenised texts of anchors, positives, hard negatives if they are learnt, and each rank of
                neighbours.
            rows: their positions (batch,) in the table.
        """
        columns = list(features)
        # Copies: where columns cannot be read together, each pass leaves its states in them.
        self.batch = [dict(column) for column in columns[:2]], self.pairs[rows.cpu()].to(rows.device)
        embedded = self.head(torch.stack(embed_columns(self.model, columns, separate_first=False)))
        ids = self.batch[1]
        keep = ids[:, None] != ids[None] if self.mask_own else None
        anchor, positive, *others = embedded.unbind(0)
        hard, neighbours = others[: int(self.negatives)], others[int(self.negatives) :]
        total = additive_margin(
            anchor,
            positive,
            temperature=self.temperature,
            margin=self.margin,
            keep=keep,
            negatives=hard[0] if hard else None,
        )
        if neighbours:
            same = self.ranks[rows.cpu()].to(rows.device)
            near = torch.stack(neighbours, dim=1)
            total = total + self.share * neighbour_contrast(
                anchor, near, temperature=self.temperature, ids=same, keep=keep
            )
        return total if self.pushed == "none" else total + self._away(anchor, positive, neighbours, ids)

    def _away(self, anchor: Tensor, positive: Tensor, neighbours: Sequence[Tensor], ids: Tensor) -> Tensor:
        """L_queue: anchors, and with the queue for all positives and neighbours too, away from what is in the queue."""
        keep = ids[:, None] != self.queue.ids[None] if self.mask_own else None

        def away(one: Tensor, other: Tensor) -> Tensor:
            return queue_contrast(one, other, self.queue.vectors, temperature=self.queue_temperature, keep=keep)

        total = away(anchor, positive)
        if self.pushed == "all":
            ranked = (away(near, anchor) / rank for rank, near in enumerate(neighbours, start=1))
            total = total + away(positive, anchor) + self.share * sum(ranked)
        return total

    @torch.no_grad()
    def after_step(self) -> None:
        """The copy follows; then it reads the batch's anchors and positives, which join the queue."""
        if self.pushed == "none":
            return
        encoder, head = self.slow.copy
        follow(self.slow.copy, nn.ModuleList([self.model, self.head]), momentum=self.momentum)
        columns, ids = self.batch
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.half):
            vectors = head(torch.cat(embed_columns(encoder, columns, separate_first=False)))
        self.queue.add(vectors, ids.repeat(2))


def same_pairs(anchors: Sequence[str], positives: Sequence[str]) -> np.ndarray:
    """A number for each pair (n,), the same for pairs that share a side, directly or through others."""
    sides = [pd.factorize(np.asarray(column, dtype=object))[0] for column in (anchors, positives)]
    first = len(anchors)
    links = coo_array((np.ones(first), (sides[0], first + sides[1])), shape=(2 * first, 2 * first))
    return connected_components(links, directed=False)[1][sides[0]].astype(np.int64)


def same_texts(columns: Sequence[Sequence[str]]) -> np.ndarray:
    """A number for each text, (n, k) for k columns of n texts, the same for equal texts."""
    texts = np.asarray(columns, dtype=object)
    return pd.factorize(texts.ravel())[0].reshape(texts.shape).T.astype(np.int64)
