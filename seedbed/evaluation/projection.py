"""From many dimensions to two."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from seedbed.evaluation.geometry import as_vectors
from seedbed.io import UserError


def to_plane(embeddings: ArrayLike, *, perplexity: float, seed: int) -> NDArray[np.float64]:
    """t-SNE (Van der Maaten and Hinton 2008) of Euclidean distances, from the first two principal components.

    The same embeddings give the same places: one thread sums in one order.

    Args:
        embeddings: (n, d).
        perplexity: about how many neighbours stay together.

    Returns:
        Places (n, 2); only who is near to whom means anything.

    Raises:
        UserError: n is not above the perplexity, or as `geometry.as_vectors`.
    """
    vectors = as_vectors(embeddings, "embeddings", np.float64)
    if len(vectors) <= perplexity:
        raise UserError(
            f"map: perplexity {perplexity:g} needs more than {perplexity:g} texts, there are {len(vectors)}; "
            "raise `texts` or lower `perplexity`"
        )
    with threadpool_limits(1):
        return TSNE(perplexity=perplexity, init="pca", random_state=seed).fit_transform(vectors).astype(np.float64)
