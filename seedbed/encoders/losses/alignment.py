"""The loss of the objective `alignment`: an encoder's vectors against fixed vectors of pivot-language sentences."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.losses.merged_forward import merge_feature_batches
from torch import Tensor, nn

from seedbed.encoders.losses.contrastive import simcse
from seedbed.encoders.losses.crosslingual import gather, sample_languages
from seedbed.encoders.losses.rows import drop_absent_negatives, is_per_text, select_texts
from seedbed.encoders.models.vector_file import Vectors
from seedbed.io import UserError


class AlignmentLoss(nn.Module):
    """`simcse` of rows whose sentences are partly in the pivot language, with precomputed, frozen vectors.

    Which sentences of a row are taken in which language is sampled anew for each batch, see `sample_languages`. Source:
    paper 004, section 4.

    Args:
        encoder: the encoder in training, of the language that is aligned.
        vectors: the pivot sentences' vectors, of the encoder's width.
        texts: column of pivot sentences -> one text for each row of the table; the vectors are those of that column.
            If every sentence exists in both languages: anchors, positives and perhaps negatives. If a row is a sentence
            and its translation: the translations, one column. If only anchors are in the encoder's language: positives
            and perhaps negatives.
        temperature: what cosines are divided by.
        negatives: booleans (rows,), which rows have a hard negative; None: all, or there is no such column.

    Raises:
        UserError: a pivot sentence has no vector, or the vectors' width differs from the encoder's.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        vectors: Vectors,
        texts: Mapping[str, Sequence[str]],
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
        self.places = np.stack([vectors.places(column, name) for name, column in texts.items()], axis=1)

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """Compute the loss of one batch, a scalar.

        Args:
            features: tokenised texts of the encoder's language, by column: anchors, positives and perhaps negatives;
                one column of sentences, each of which becomes an anchor or a positive at random; or one column of
                anchors.
            rows: positions (batch,) of the rows in the table.
        """
        (columns, keep), size = drop_absent_negatives(list(features), self.negatives, rows), len(rows)
        known_columns = self.places.shape[1]
        if fixed := len(columns) == 1 < known_columns:  # an anchor, whose partners are the pivot's
            if self.negatives is not None and keep is None:  # no row has a negative
                known_columns -= 1
            languages = np.tile([1, *[0] * known_columns], (size, 1))
        else:  # torch's generator is in the checkpoints
            rng = np.random.default_rng(int(torch.randint(2**62, ())))
            languages = sample_languages(size, max(2, len(columns)), 2, rng)
        pivots, targets = (np.argwhere(languages == language) for language in (0, 1))
        given = targets[:, 1] * (len(columns) > 1) * size + targets[:, 0]  # columns are concatenated
        target = self._embedded(columns, torch.from_numpy(given).to(rows.device))
        positions = rows.cpu().numpy()[pivots[:, 0]]
        known = self.vectors[self.places[positions, (pivots[:, 1] - fixed) % known_columns]]
        pivot = torch.from_numpy(known).to(target.device, target.dtype)
        vectors = gather([pivot, target], [pivots, targets])
        return simcse(*vectors, temperature=self.temperature, keep=keep)

    def _embedded(self, columns: list[dict[str, Any]], chosen: Tensor) -> Tensor:
        """Vectors of the chosen texts (n, width), by their numbers through all columns."""
        texts = columns[0] if len(columns) == 1 else merge_feature_batches(columns)
        if texts is None:  # columns that cannot be read together
            return torch.cat([self.model(column)["sentence_embedding"] for column in columns])[chosen]
        some = select_texts(texts, chosen)
        used = some["attention_mask"].any(dim=0)  # padding is on either side
        trimmed = {
            name: value[:, used] if is_per_text(value, rows=len(chosen)) and value.ndim == 2 else value
            for name, value in some.items()
        }
        return self.model(trimmed)["sentence_embedding"]
