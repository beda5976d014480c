"""What training keeps in memory, wherever it runs."""

TRAINED = 16.0
"""Bytes of a trained weight: itself, its gradient and AdamW's two moments, in float32."""


def kept(layers: float, width: float, feed_forward: float) -> float:
    """Numbers that each layer keeps of a token for backpropagation, at least.

    They are 8 vectors of the model's width (what query, key and value are made of, these three, what attention gives,
    what goes into both norms, and what the first of them gives) and 2 of the feed-forward width, before and after the
    nonlinearity: the count of Korthikanti et al. (2022, "Reducing activation recomputation in large transformer
    models", section 4.1) without attention scores and masks of dropout, which not every kernel keeps: 32 of their 34
    sbh where the feed-forward width is 4 h.
    """
    return layers * (8 * width + 2 * feed_forward)
