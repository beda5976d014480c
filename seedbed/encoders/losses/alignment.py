"""The loss of the objective `alignment`: sentences of two languages, of which the pivot's have vectors already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import merge_feature_batches
from torch import Tensor, nn

from seedbed.encoders.losses.contrastive import simcse
from seedbed.encoders.losses.crosslingual import draw, gather
from seedbed.encoders.losses.rows import by_row, of_batch, of_texts
from seedbed.encoders.models.vector_file import Vectors
from seedbed.io import UserError


class AlignmentLoss(nn.Module):
    """The contrast of rows whose sentences are partly the pivot's, with fixed vectors, and partly the encoder's.

    Args:
        encoder: of the language that is aligned, in training.
        texts: the pivot's: of rows that are there in both languages, all columns of a batch; of a sentence and its
            translation one column; of an anchor in the language whose partners are in the pivot's, the partners.
        negatives: which rows have one, see `rows.with_negatives`.

    Raises:
        UserError: a text without a vector, or vectors of another width than the encoder's.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        vectors: Vectors,
        texts: Sequence[Sequence[str]],
        temperature: float,
        negatives: Tensor | None = None,
    ) -> None:
        super().__init__()
        if (width := encoder.get_embedding_dimension()) != vectors.width:
            raise UserError(
                f"alignment: vectors of width {width}, and the pivot's have {vectors.width}; take encoders of one width"
            )
        self.model, self.temperature, self.negatives = encoder, temperature, negatives
        self.vectors = vectors.vectors
        self.places = np.stack([vectors.places(column) for column in texts], axis=1)

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """The loss of one batch.

        Args:
            features: tokenised texts: anchors, positives and maybe negatives; of a sentence and its translation the
                sentence's, which is an anchor or a positive at random; or anchors alone.
            rows: their positions (batch,) in the table.
        """
        (columns, keep), size = of_batch(list(features), self.negatives, rows), len(rows)
        known_columns = self.places.shape[1]
        if fixed := len(columns) == 1 < known_columns:  # an anchor, whose partners are the pivot's
            languages = np.tile([1, *[0] * known_columns], (size, 1))
        else:  # torch's generator is in the checkpoints
            rng = np.random.default_rng(int(torch.randint(2**62, ())))
            languages = draw(size, max(2, len(columns)), 2, rng)
        pivots, targets = (np.argwhere(languages == language) for language in (0, 1))
        given = targets[:, 1] * (len(columns) > 1) * size + targets[:, 0]  # columns stand one after the other
        target = self._embedded(columns, torch.from_numpy(given).to(rows.device))
        positions = rows.cpu().numpy()[pivots[:, 0]]
        known = self.vectors[self.places[positions, (pivots[:, 1] - fixed) % known_columns]]
        pivot = torch.from_numpy(known).to(target.device, target.dtype)
        vectors = gather([pivot, target], [pivots, targets], languages.shape)
        return simcse(*vectors, temperature=self.temperature, keep=keep)

    def _embedded(self, columns: list[dict[str, Any]], chosen: Tensor) -> Tensor:
        """Vectors of the chosen texts (n, width), by their numbers through all columns."""
        texts = columns[0] if len(columns) == 1 else merge_feature_batches(columns)
        if texts is None:  # columns that cannot be read together
            return torch.cat([self.model(column)["sentence_embedding"] for column in columns])[chosen]
        some = of_texts(texts, chosen)
        longest = int(some["attention_mask"].sum(dim=1).max())
        trimmed = {
            name: value[:, :longest] if by_row(value, rows=len(chosen)) and value.ndim == 2 else value
            for name, value in some.items()
        }
        return self.model(trimmed)["sentence_embedding"]
