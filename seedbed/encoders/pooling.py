"""Poolings: sentence-transformers modules that turn token states into a sentence vector."""

from collections.abc import Iterable
from typing import Any, ClassVar

import torch
from sentence_transformers.sentence_transformer.modules import Dense, Module, Pooling, WeightedLayerPooling
from torch import Tensor, nn

from seedbed.io import UserError


class LayersPooling(Pooling):
    """Mean over tokens of a combination of several blocks' states. Base class.

    The last state is after the final norm. This module is used in training: it needs memory for few layers at a time
    and combines them in float32. A saved encoder has the modules of `stock` instead, which plain sentence-transformers
    loads.
    """

    config_keys: ClassVar[list[str]] = ["embedding_dimension", "include_prompt"]
    name: ClassVar[str]

    def __init__(self, embedding_dimension: int, include_prompt: bool = True) -> None:
        super().__init__(embedding_dimension, "mean", include_prompt)

    def _combined(self, features: dict[str, Tensor | Any]) -> Tensor:
        """The combined states (batch, tokens, width); UserError: the backbone gave no hidden states, or too few."""
        raise NotImplementedError

    def _stock_weights(self, layers: int) -> Tensor:
        """Weights (n,) of the last n of `layers` blocks in a saved encoder, in the blocks' order, times something."""
        raise NotImplementedError

    def forward(self, features: dict[str, Tensor | Any], **kwargs: Any) -> dict[str, Tensor | Any]:
        """Add `sentence_embedding` (batch, width), the mean over all tokens but padding.

        Args:
            features: `token_embeddings` (batch, tokens, width), `attention_mask` (batch, tokens) and
                `all_layer_embeddings`, a tuple of the word embeddings and of every block's states.

        Raises:
            UserError: the backbone gave no hidden states, or too few.
        """
        pooled = super().forward(features | {"token_embeddings": self._combined(features)}, **kwargs)
        features["sentence_embedding"] = pooled["sentence_embedding"]
        return features

    def stock(self, layers: int) -> list[Module]:
        """The same pooling over a backbone of `layers` blocks in sentence-transformers' own modules, with identical
        vectors in float32.

        The last of all hidden states must be after the final norm, as in transformers 5; it was not in 4, for
        ModernBERT.
        """
        weights = self._stock_weights(layers)
        average = WeightedLayerPooling(
            self.embedding_dimension,
            layers,
            layer_start=layers + 1 - len(weights),
            layer_weights=nn.Parameter(weights, requires_grad=False),
        )
        return [average, Pooling(self.embedding_dimension, "mean", self.include_prompt)]


class LayerAverage(LayersPooling):
    """Mean over tokens of the average of the last block's states and another block's. Base class."""

    other: ClassVar[int]
    """Index of the other block in `hidden_states`, where 0 is the word embeddings."""

    def _combined(self, features: dict[str, Tensor | Any]) -> Tensor:
        if "all_layer_embeddings" not in features:
            raise UserError(f"{self.name}: no hidden states; load the backbone with output_hidden_states=True")
        # `all_layer_embeddings[-1]` is before ModernBERT's final norm in some transformers versions;
        # `token_embeddings` never is. Single precision, since autocast may hand over bfloat16.
        other, last = features["all_layer_embeddings"][self.other], features["token_embeddings"]
        return (_single(other) + _single(last)) / 2

    def _stock_weights(self, layers: int) -> Tensor:
        weights = torch.zeros(layers + 1 - range(layers + 1)[self.other])
        weights[0] += 1
        weights[-1] += 1
        return weights


class FirstLastAverage(LayerAverage):
    """Average of the first and the last block (SimCSE's `avg_first_last`); "first" is the first block, not the word
    embeddings.

    Source: princeton-nlp/SimCSE, `simcse/models.py`, class `Pooler`; used in paper 000, appendix A.2.1.
    """

    name = "first_last_average"
    other = 1


class LastTwoAverage(LayerAverage):
    """Average of the last two blocks (SimCSE's `avg_top2`; `at2` in paper 000, table 5)."""

    name = "last_two_average"
    other = -2


AVERAGES: dict[str, type[LayerAverage]] = {kind.name: kind for kind in (FirstLastAverage, LastTwoAverage)}
"""Poolings of two blocks by name; they need hidden states."""


class WeightedLayers(LayersPooling):
    """Mean over tokens of a trained weighted sum of the last `layers` blocks' states.

    The weights are the softmax of scores that start at 0: they start equal and sum to 1. Source: paper 001, section
    3.3, which states neither the softmax nor the start; a plain sum of four states would be four times as long.
    """

    config_keys: ClassVar[list[str]] = ["embedding_dimension", "layers", "include_prompt"]
    name: ClassVar[str] = "last_weighted"

    def __init__(self, embedding_dimension: int, layers: int = 4, include_prompt: bool = True) -> None:
        super().__init__(embedding_dimension, include_prompt)
        self.layers = layers
        self.scores = nn.Parameter(torch.zeros(layers))

    @property
    def weights(self) -> Tensor:
        """The weight of each block (layers,); the last block's is last."""
        return self.scores.softmax(0)

    def _combined(self, features: dict[str, Tensor | Any]) -> Tensor:
        states = (*features.get("all_layer_embeddings", ())[:-1], features["token_embeddings"])
        if len(states) < self.layers:
            raise UserError(
                f"{self.name}: {len(states)} hidden states for {self.layers} layers; take fewer layers, and load the "
                "backbone with output_hidden_states=True"
            )
        weights = (self.scores - self.scores.detach().max()).exp()  # times something; where they are equal, ones
        # One by one: a stack of them would be as large as all of them together.
        last = zip(weights, states[len(states) - self.layers :], strict=True)
        return sum(weight * _single(state) for weight, state in last) / weights.sum()

    def _stock_weights(self, layers: int) -> Tensor:
        return self.weights.detach()  # of one scale: encoders are averaged by the weights that they are saved with

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Save settings and scores."""
        super().save(output_path, *args, safe_serialization=safe_serialization, **kwargs)
        self.save_torch_weights(output_path, safe_serialization=safe_serialization)

    load = classmethod(WeightedLayerPooling.load.__func__)


class WeightedInTraining(WeightedLayers):
    """Weights are trained, but the saved encoder has equal ones: how paper 001 trains and evaluates."""

    name = "last_weighted_train"

    def _stock_weights(self, layers: int) -> Tensor:
        return torch.ones(self.layers)


class LastAverage(WeightedInTraining):
    """Average of the last blocks, with equal weights in training too."""

    name = "last_average"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.scores.requires_grad_(False)


LAST: dict[str, type[WeightedLayers]] = {kind.name: kind for kind in (WeightedLayers, WeightedInTraining, LastAverage)}
"""Poolings of a number of last blocks by name; they need hidden states."""


def learnt_weights(modules: Iterable[nn.Module]) -> dict[str, list[float]]:
    """The trained layer weights of an encoder's modules, for a manifest: {"layer_weights": [...]}, or {} if there are
    none.
    """
    for module in modules:
        if isinstance(module, WeightedLayers) and module.scores.requires_grad:
            return {"layer_weights": module.weights.tolist()}
    return {}


class TrainingHead(Dense):
    """A dense layer that is used in training only; a saved encoder has none."""

    def stock(self, layers: int) -> list[Module]:
        """An empty list: the layer is not saved."""
        return []


OURS = (LayersPooling, TrainingHead)
"""Modules that are saved as others, which their `stock` gives."""


def dense(width: int, *, deviation: float, seed: int, kind: type[Dense] = Dense) -> Dense:
    """SimCSE's dense layer with tanh over the first token, (batch, width) to (batch, width), with new weights.

    Weights are sampled from N(0, `deviation`) by `seed` and biases are 0, as transformers initialises a layer of BERT.
    Source: princeton-nlp/SimCSE, `simcse/models.py`, classes `MLPLayer` and `cl_init`.
    """
    module = kind(width, width)  # tanh is its default
    nn.init.normal_(module.linear.weight, std=deviation, generator=torch.Generator().manual_seed(seed))
    nn.init.zeros_(module.linear.bias)
    return module


def _single(states: Tensor) -> Tensor:
    """Half precisions as float32; float32 and float64 as they are."""
    return states.float() if states.dtype.itemsize < 4 else states
