"""The loss of the objective `neighbours`: projection head, momentum encoder and queue (NeighXLM, paper 001)."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import embed_columns
from torch import Tensor, nn

from seedbed.encoders.losses.contrastive import additive_margin, neighbour_contrast, queue_contrast
from seedbed.encoders.losses.momentum import MomentumEncoder, Queue, momentum_update
from seedbed.encoders.losses.rows import of_rows


class NeighbourLoss(nn.Module):
    """L_basic + L_queue + L_neighbour of paper 001, equation 6, with its momentum encoder and queue.

    The keywords are the settings of `objectives.neighbours.Neighbours`, and `half`: the momentum encoder's matrix
    products are in bfloat16, its weights in float32.

    Args:
        encoder: the encoder in training.
        sides: the anchors and the positives of all pairs of the table.
        neighbours: for each rank, the texts of all rows' neighbours of that rank.
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
        self.pairs = torch.from_numpy(same_texts(sides))
        self.ranks = torch.from_numpy(same_texts(neighbours))
        if queue != "none":
            self.slow = MomentumEncoder(nn.ModuleList([encoder, self.head]))
            self.queue = Queue(queue_size, outer)

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """Compute the loss of one batch, a scalar, from tokenised texts of anchors, positives, hard negatives if
        `negatives`, and neighbours of each rank.
        """
        columns = list(features)
        # Copies, since a pass may leave its states in the features.
        self.batch = [dict(column) for column in columns[:2]], rows
        embedded = self.head(torch.stack(embed_columns(self.model, columns, separate_first=False)))
        keep = self._apart(rows, rows)
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
            same = of_rows(self.ranks, rows)
            near = torch.stack(neighbours, dim=1)
            total = total + self.share * neighbour_contrast(
                anchor, near, temperature=self.temperature, ids=same, keep=keep
            )
        return total if self.pushed == "none" else total + self._away(anchor, positive, neighbours, rows)

    def _apart(self, rows: Tensor, others: Tensor) -> Tensor | None:
        """Which pairs (n,) have no text in common with which others (m,): booleans (n, m); None if none are masked."""
        if not self.mask_own:
            return None
        ours, theirs = (self.pairs[pairs.cpu()].to(rows.device) for pairs in (rows, others))
        return (ours[:, None, :, None] != theirs[None, :, None]).all(dim=(2, 3))

    def _away(self, anchor: Tensor, positive: Tensor, neighbours: Sequence[Tensor], rows: Tensor) -> Tensor:
        """L_queue: anchors, and with the queue for all positives and neighbours too, away from what is in the queue."""
        keep = self._apart(rows, self.queue.ids)

        def away(one: Tensor, other: Tensor) -> Tensor:
            return queue_contrast(one, other, self.queue.vectors, temperature=self.queue_temperature, keep=keep)

        total = away(anchor, positive)
        if self.pushed == "all":
            ranked = (away(near, anchor) / rank for rank, near in enumerate(neighbours, start=1))
            total = total + away(positive, anchor) + self.share * sum(ranked)
        return total

    @torch.no_grad()
    def after_step(self) -> None:
        """Update the momentum encoder, and add its vectors of the batch's anchors and positives to the queue."""
        if self.pushed == "none":
            return
        encoder, head = self.slow.copy
        momentum_update(self.slow.copy, nn.ModuleList([self.model, self.head]), momentum=self.momentum)
        columns, rows = self.batch
        with torch.autocast(rows.device.type, torch.bfloat16, enabled=self.half):
            vectors = head(torch.cat(embed_columns(encoder, columns, separate_first=False)))
        self.queue.add(vectors, rows.repeat(2))


def same_texts(columns: Sequence[Sequence[str]]) -> np.ndarray:
    """Number the texts of k columns of n, so that equal texts get equal numbers: integers (n, k)."""
    texts = np.asarray(columns, dtype=object)
    return pd.factorize(texts.ravel())[0].reshape(texts.shape).T.astype(np.int64)
