"""From token states to a sentence vector."""

from __future__ import annotations

from typing import Any, ClassVar

from sentence_transformers.sentence_transformer.modules import Pooling
from torch import Tensor

from seedbed.io import UserError


class FirstLastAverage(Pooling):
    """Mean over tokens of the average of the first and the last block's states (SimCSE's `avg_first_last`).

    "First" is `hidden_states[1]`, the output of the first block, not the embeddings; "last" is the state after the
    final norm. Source: princeton-nlp/SimCSE, `simcse/models.py`, class `Pooler`; used in paper 000, appendix A.2.1.

    A saved encoder names this class by its import path, so it loads wherever seedbed is installed:
    `SentenceTransformer(path, trust_remote_code=True)`.
    """

    config_keys: ClassVar[list[str]] = ["embedding_dimension", "include_prompt"]

    def __init__(self, embedding_dimension: int, include_prompt: bool = True) -> None:
        super().__init__(embedding_dimension, "mean", include_prompt)

    def forward(self, features: dict[str, Tensor | Any], **kwargs: Any) -> dict[str, Tensor | Any]:
        """Add `sentence_embedding` (batch, width); padding does not enter it.

        Args:
            features: `token_embeddings` (batch, tokens, width), `attention_mask` (batch, tokens) and
                `all_layer_embeddings`, a tuple of states of which the second is the first block's.

        Raises:
            UserError: the backbone gave no hidden states.
        """
        if "all_layer_embeddings" not in features:
            raise UserError("first_last_average: no hidden states; load the backbone with output_hidden_states=True")
        # `all_layer_embeddings[-1]` is before ModernBERT's final norm in some transformers versions;
        # `token_embeddings` never is. Single precision, since autocast may hand over bfloat16.
        first, last = features["all_layer_embeddings"][1], features["token_embeddings"]
        average = (_single(first) + _single(last)) / 2
        pooled = super().forward(features | {"token_embeddings": average}, **kwargs)
        features["sentence_embedding"] = pooled["sentence_embedding"]
        return features


def _single(states: Tensor) -> Tensor:
    """Half precisions as float32; float32 and float64 as they are."""
    return states.float() if states.dtype.itemsize < 4 else states
