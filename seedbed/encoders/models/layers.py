"""Token means of an encoder's layers: of all layers at once, or of one layer without computing those above it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Module, Pooling
from torch import Tensor, nn
from transformers import PreTrainedModel

from seedbed.encoders.models.loading import of_modules
from seedbed.io import UserError


def layer_means(
    encoder: SentenceTransformer, texts: Sequence[str], *, batch_size: int = 32, **options: Any
) -> np.ndarray:
    """Token means of every layer, from one forward pass of each text.

    The mean is over all tokens but padding; special tokens and those of the prompt count. The last layer is after the
    final norm.

    Args:
        encoder: an encoder with a transformer; its pooling is not used.
        texts: n texts.
        batch_size: texts of a forward pass; results depend on it by rounding errors only (1e-6).
        **options: of the encoder's `encode`, such as `aligned` of one with parallel adapters.

    Returns:
        Vectors (L + 1, n, width) in float32; index 0 is the word embeddings.

    Raises:
        UserError: the transformer gives no hidden states.
    """
    transformer = encoder[0]
    layers, width = transformer.auto_model.config.num_hidden_layers + 1, transformer.get_embedding_dimension()
    with _hidden_states(transformer.auto_model):
        found = of_modules(encoder, [transformer, _Means()]).encode(
            list(texts), batch_size=batch_size, show_progress_bar=False, **options
        )
    return np.ascontiguousarray(np.reshape(found, (len(texts), layers, width)).swapaxes(0, 1), np.float32)


def first_layers(encoder: SentenceTransformer, layer: int) -> SentenceTransformer:
    """Make an encoder of the token means of one layer (1: the first block), and remove the blocks above it; the given
    encoder has a transformer.

    Its vectors equal `layer_means(encoder, texts)[layer]` but for rounding errors. It shares the weights of the given
    encoder, which must not be used afterwards.

    Raises:
        UserError: no such block.
    """
    transformer = encoder[0]
    width, blocks = transformer.get_embedding_dimension(), _blocks(transformer.auto_model)
    if not 1 <= layer <= len(blocks):
        raise UserError(f"layer {layer}: the backbone has blocks 1 to {len(blocks)}; give one of these")
    pooling = Pooling(width, "mean") if layer == len(blocks) else _OfBlock(width, blocks[layer - 1])
    del blocks[layer:]
    return of_modules(encoder, [transformer, pooling])


class _Means(Module):
    """All layers' token means side by side: (batch, (L + 1) width)."""

    def forward(self, features: dict[str, Tensor | Any], **kwargs: Any) -> dict[str, Tensor | Any]:
        if "all_layer_embeddings" not in features:
            raise UserError("layers: this kind of backbone gives no hidden states; take another")
        mask = features["attention_mask"][..., None].float()
        means = [
            (states.float() * mask).sum(1) / mask.sum(1)
            for states in (*features["all_layer_embeddings"][:-1], features["token_embeddings"])
        ]
        return features | {"sentence_embedding": torch.cat(means, dim=1)}

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: no encoder is saved with it."""


class _OfBlock(Pooling):
    """The mean over tokens of what a block gives, before a final norm."""

    def __init__(self, width: int, block: nn.Module) -> None:
        super().__init__(width, "mean")
        block.register_forward_hook(self._take)

    def _take(self, block: nn.Module, given: Any, states: Any) -> None:
        self.states = states if torch.is_tensor(states) else states[0]

    def forward(self, features: dict[str, Tensor | Any], **kwargs: Any) -> dict[str, Tensor | Any]:
        return super().forward(features | {"token_embeddings": self.states}, **kwargs)


@contextmanager
def _hidden_states(model: PreTrainedModel) -> Iterator[None]:
    """A context in which a model gives the states of all layers."""
    before = model.config.output_hidden_states
    model.config.output_hidden_states = True
    try:
        yield
    finally:
        model.config.output_hidden_states = before


def _blocks(model: PreTrainedModel) -> nn.ModuleList:
    """The blocks of a transformer, whatever its architecture calls them."""
    count = model.config.num_hidden_layers
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return module
    raise UserError(f"layers: {type(model).__name__} has no list of its {count} blocks; take another backbone")
