"""Estimates of the activations that training stores."""

TRAINED = 16.0
"""Bytes of a trained weight: itself, its gradient and AdamW's two moments, in float32."""


def stored_activations(layers: float, width: float, feed_forward: float) -> float:
    """Minimum number of activations that backpropagation stores for one token in all layers.

    In each layer 8 vectors of the model's width (the inputs of query, key and value, these three, the attention's
    output, the inputs of both norms and the first one's output) and 2 of the feed-forward width, before and after the
    nonlinearity. This is the count of Korthikanti et al. (2022, "Reducing activation recomputation in large transformer
    models", section 4.1) without attention scores and dropout masks, which not every kernel stores: 32 of their 34 sbh
    if the feed-forward width is 4 h.

    Args:
        layers: the number of layers.
        width: dimensions of the states.
        feed_forward: dimensions of the feed-forward layer.
    """
    return layers * (8 * width + 2 * feed_forward)
