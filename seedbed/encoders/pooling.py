"""From token states to a sentence vector."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from sentence_transformers.sentence_transformer.modules import Dense, Module, Pooling, WeightedLayerPooling
from torch import Tensor, nn

from seedbed.io import UserError


class LayerAverage(Pooling):
    """Mean over tokens of the average of the last block's states and another's.

    The last state is the one after the final norm. Sub-classes say which the other is.

    It is what trains: it holds two layers in memory and averages in single precision. An encoder is saved with `stock`
    in its place, which any sentence-transformers loads.
    """

    config_keys: ClassVar[list[str]] = ["embedding_dimension", "include_prompt"]
    name: ClassVar[str]
    other: ClassVar[int]
    """Index into `hidden_states`, where 0 is the embeddings."""

    def __init__(self, embedding_dimension: int, include_prompt: bool = True) -> None:
        super().__init__(embedding_dimension, "mean", include_prompt)

    def forward(self, features: dict[str, Tensor | Any], **kwargs: Any) -> dict[str, Tensor | Any]:
        """Add `sentence_embedding` (batch, width); padding does not enter it.

        Args:
            features: `token_embeddings` (batch, tokens, width), `attention_mask` (batch, tokens) and
                `all_layer_embeddings`, a tuple of the embeddings and of every block's states.

        Raises:
            UserError: the backbone gave no hidden states.
        """
        if "all_layer_embeddings" not in features:
            raise UserError(f"{self.name}: no hidden states; load the backbone with output_hidden_states=True")
        # `all_layer_embeddings[-1]` is before ModernBERT's final norm in some transformers versions;
        # `token_embeddings` never is. Single precision, since autocast may hand over bfloat16.
        other, last = features["all_layer_embeddings"][self.other], features["token_embeddings"]
        average = (_single(other) + _single(last)) / 2
        pooled = super().forward(features | {"token_embeddings": average}, **kwargs)
        features["sentence_embedding"] = pooled["sentence_embedding"]
        return features

    def stock(self, layers: int) -> list[Module]:
        """The same pooling in sentence-transformers' own modules, equal to the last bit in float32.

        The last of all hidden states must be the one after the final norm, as in transformers 5; it was not in 4, for
        ModernBERT.

        Args:
            layers: blocks of the backbone.
        """
        first = range(layers + 1)[self.other]
        weights = torch.zeros(layers + 1 - first)
        weights[0] += 1
        weights[-1] += 1
        average = WeightedLayerPooling(
            self.embedding_dimension,
            layers,
            layer_start=first,
            layer_weights=nn.Parameter(weights, requires_grad=False),
        )
        return [average, Pooling(self.embedding_dimension, "mean", self.include_prompt)]


class FirstLastAverage(LayerAverage):
    """The first and the last block (SimCSE's `avg_first_last`); "first" is the first block, not the embeddings.

    Source: princeton-nlp/SimCSE, `simcse/models.py`, class `Pooler`; used in paper 000, appendix A.2.1.
    """

    name = "first_last_average"
    other = 1


class LastTwoAverage(LayerAverage):
    """The last two blocks (SimCSE's `avg_top2`; `at2` in paper 000, table 5)."""

    name = "last_two_average"
    other = -2


AVERAGES: dict[str, type[LayerAverage]] = {kind.name: kind for kind in (FirstLastAverage, LastTwoAverage)}
"""The poolings that need hidden states."""


def dense(width: int, *, deviation: float, seed: int) -> Dense:
    """SimCSE's layer over the first token: (batch, width) to (batch, width), with tanh, of fresh weights.

    Weights are drawn from N(0, `deviation`) and biases are 0, as transformers initialises a layer of BERT, not as torch
    does. Source: princeton-nlp/SimCSE, `simcse/models.py`, classes `MLPLayer` and `cl_init`.
    """
    module = Dense(width, width)  # tanh is its default
    nn.init.normal_(module.linear.weight, std=deviation, generator=torch.Generator().manual_seed(seed))
    nn.init.zeros_(module.linear.bias)
    return module


def _single(states: Tensor) -> Tensor:
    """Half precisions as float32; float32 and float64 as they are."""
    return states.float() if states.dtype.itemsize < 4 else states
