"""The loss of the objective `neighbours`: encoder, head, the copy that follows them, and its queue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from seedbed.encoders.objectives.neighbours import Neighbours


class NeighbourLoss(nn.Module):
    """L_basic + L_queue + L_neighbour (paper 001, equation 6), and what changes after each step of the optimiser.

    Args:
        encoder: in training.
        settings: of the objective.
        sides: the texts of all pairs: anchors and positives.
        neighbours: the texts of each rank.
        half: the copy computes in bfloat16 where its weights, which stay float32, are multiplied.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        settings: Neighbours,
        sides: Sequence[Sequence[str]],
        neighbours: Sequence[Sequence[str]],
        *,
        half: bool = False,
    ) -> None:
        super().__init__()
        self.settings, self.half = settings, half
        inner, outer = settings.projection
        self.model = encoder
        self.head = nn.Sequential(
            nn.Linear(encoder.get_embedding_dimension(), inner), nn.ReLU(), nn.Linear(inner, outer)
        )
        self.pairs = torch.from_numpy(same_pairs(*sides))
        self.ranks = torch.from_numpy(same_texts(neighbours))
        if settings.queue != "none":
            self.slow = Follower(nn.ModuleList([encoder, self.head]))
            self.queue = Queue(settings.queue_size, outer)

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
        ids, settings = self.batch[1], self.settings
        keep = ids[:, None] != ids[None] if settings.mask_own else None
        anchor, positive, *others = embedded.unbind(0)
        hard, neighbours = others[: int(settings.negatives)], others[int(settings.negatives) :]
        total = additive_margin(
            anchor,
            positive,
            temperature=settings.temperature,
            margin=settings.margin,
            keep=keep,
            negatives=hard[0] if hard else None,
        )
        if neighbours:
            same = self.ranks[rows.cpu()].to(rows.device)
            near = torch.stack(neighbours, dim=1)
            total = total + self._share() * neighbour_contrast(
                anchor, near, temperature=settings.temperature, ids=same, keep=keep
            )
        return total if settings.queue == "none" else total + self._away(anchor, positive, neighbours, ids)

    def _away(self, anchor: Tensor, positive: Tensor, neighbours: Sequence[Tensor], ids: Tensor) -> Tensor:
        """L_queue: anchors, and with the queue for all positives and neighbours too, away from what is in the queue."""
        keep = ids[:, None] != self.queue.ids[None] if self.settings.mask_own else None
        temperature = self.settings.queue_temperature or self.settings.temperature

        def away(one: Tensor, other: Tensor) -> Tensor:
            return queue_contrast(one, other, self.queue.vectors, temperature=temperature, keep=keep)

        total = away(anchor, positive)
        if self.settings.queue == "all":
            ranked = (away(near, anchor) / rank for rank, near in enumerate(neighbours, start=1))
            total = total + away(positive, anchor) + self._share() * sum(ranked)
        return total

    def _share(self) -> float:
        """What the sum over ranks is multiplied by."""
        total = sum(1 / rank for rank in range(1, self.settings.neighbours + 1))
        return 1 / total if self.settings.normalise and total else 1.0

    @torch.no_grad()
    def after_step(self) -> None:
        """The copy follows; then it reads the batch's anchors and positives, which join the queue."""
        if self.settings.queue == "none":
            return
        encoder, head = self.slow.copy
        follow(self.slow.copy, nn.ModuleList([self.model, self.head]), momentum=self.settings.momentum)
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
