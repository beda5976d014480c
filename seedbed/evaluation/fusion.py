"""DistFuse: neighbours by the distances of several encoders at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seedbed.io import UserError


def fuse(distances: Sequence[ArrayLike], weights: Sequence[float]) -> NDArray[np.float64]:
    """Weighted sum of distance matrices (Winata et al. 2023; MINERS, section 2.5).

    Distances enter as they are, as in MINERS: an encoder with longer embeddings weighs more than its weight says.
    Every weight counts; the distfuse 0.1.4 package leaves out the first.

    Args:
        distances: one matrix (n, m) for each encoder; rows are queries, columns the corpus.
        weights: one for each matrix. MINERS has (1, 3) for LaBSE and E5-large, (1, 2, 3) with Cohere third.

    Returns:
        Fused distances (n, m); lower is nearer.

    Raises:
        UserError: no matrix, matrices of unequal shape or without two axes, or not one weight for each.
    """
    distances = [np.asarray(matrix) for matrix in distances]
    if not distances or len(distances) != len(weights):
        raise UserError(
            f"fuse: {len(distances)} distance matrices and {len(weights)} weights; give one weight for each"
        )
    shapes = [matrix.shape for matrix in distances]
    if len(shapes[0]) != 2 or len(set(shapes)) > 1:
        raise UserError(f"fuse: distances of shapes {', '.join(map(str, shapes))}; all must be the same (n, m)")
    fused = np.zeros(shapes[0])
    for weight, matrix in zip(weights, distances, strict=True):
        fused += weight * matrix
    return fused
