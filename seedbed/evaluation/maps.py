"""Maps of parallel texts: sampling texts, and projecting their embeddings to the plane by t-SNE or UMAP."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from seedbed.evaluation.settings import TextMap
from seedbed.io import AGAIN, UserError, read_table, write_table
from seedbed.vectors.checked import as_vectors

POINTS = ["backbone", "recipe", "id", "language", "label", "x", "y"]


def sample(sets: Mapping[str, pd.DataFrame], count: int, seed: int) -> pd.DataFrame:
    """Sample `count` ids that all languages share, or all if there are fewer, and take their texts in each language, in
    the order of the first set.

    A greater count adds ids to those of a smaller one.

    Args:
        sets: language -> `id`, `text` and `label`; translations have the same id.
        count: texts of each language.

    Returns:
        `id`, `language`, `text` and `label`.

    Raises:
        UserError: the languages share no id.
    """
    first, *others = sets.values()
    shared = first["id"][first["id"].isin(set(first["id"]).intersection(*(other["id"] for other in others)))]
    if shared.empty:
        raise UserError(
            f"map: the training sets of {', '.join(sets)} have no id in common; "
            "texts that mean the same need one id in all languages"
        )
    drawn = np.sort(np.random.default_rng(seed).permutation(len(shared))[:count])
    texts = pd.concat([table.assign(language=language) for language, table in sets.items()])
    parts = texts.set_index("id").loc[shared.iloc[drawn]].reset_index()
    return parts[["id", "language", "text", "label"]]


def sample_pairs(sets: Mapping[str, pd.DataFrame], count: int, seed: int, pivot: str) -> pd.DataFrame:
    """Sample `count` translation pairs of each language; all if there are fewer.

    A pair gives two rows with one id, its text and its pivot sentence, both labelled with the pair's language. A
    greater count adds pairs to those of a smaller one; languages are sampled independently.

    Args:
        sets: language -> `id`, `text` and `pivot`.
        count: pairs of each language.
        pivot: the language of `pivot`.

    Returns:
        `id`, `language`, `text` and `label`.
    """
    parts = []
    for language, pairs in sets.items():
        places = np.sort(np.random.default_rng(seed).permutation(len(pairs))[:count])
        drawn = pairs.iloc[places].reset_index(drop=True)
        sides = [
            pd.DataFrame({"id": drawn["id"], "language": of, "text": drawn[side], "label": language})
            for side, of in (("text", language), ("pivot", pivot))
        ]
        parts.append(pd.concat(sides).sort_index(kind="stable"))
    return pd.concat(parts, ignore_index=True)


def to_plane(embeddings: ArrayLike, how: TextMap) -> NDArray[np.float64]:
    """Project embeddings (n, d) to the plane by t-SNE or UMAP of Euclidean distances.

    The same embeddings and settings give the same positions: the method has the seed `how.seed` and one thread.

    Returns:
        Positions (n, 2); only which points are near each other is meaningful.

    Raises:
        UserError: n is not above t-SNE's perplexity or UMAP's number of neighbours, d is 1, a vector is not finite, or
            all are equal.
    """
    from threadpoolctl import threadpool_limits

    vectors = as_vectors(embeddings, "embeddings")
    if told := how.shortage(len(vectors)):
        raise UserError(f"map: {told}")
    if vectors.shape[1] == 1:
        raise UserError("map: vectors of one number, which lie on a line; take an encoder whose vectors are longer")
    if (vectors == vectors[0]).all():  # which ends t-SNE without a word
        raise UserError("map: all texts have the same vector; the encoder's training collapsed")
    with threadpool_limits(1):
        return (_tsne if how.method == "tsne" else _umap)(vectors, how).astype(np.float64)


def _tsne(vectors: NDArray[np.float32], how: TextMap) -> NDArray[np.float32]:
    """t-SNE (Van der Maaten and Hinton 2008), from the first two principal components."""
    from sklearn.manifold import TSNE

    return TSNE(perplexity=how.perplexity, init="pca", random_state=how.seed).fit_transform(vectors)


def _umap(vectors: NDArray[np.float32], how: TextMap) -> NDArray[np.float32]:
    """UMAP (McInnes et al. 2018), with umap-learn's settings.

    If vectors repeat, it starts from their first two principal components: where repetition makes parts of the graph
    symmetric, the eigenvectors that it else starts from are those of another basis in each run.
    """
    from umap import UMAP

    init = "pca" if len(np.unique(vectors, axis=0)) < len(vectors) else "spectral"
    return UMAP(n_neighbors=how.neighbours, random_state=how.seed, n_jobs=1, init=init).fit_transform(vectors)


def write(drawn: pd.DataFrame, places: NDArray[np.float64], backbone: str, recipe: str, path: Path) -> None:
    """Write a table of POINTS: n texts as `sample` or `sample_pairs` returns them, and their positions (n, 2)."""
    x, y = ([f"{value:.3f}" for value in axis] for axis in places.T)
    write_table(drawn.assign(backbone=backbone, recipe=recipe, x=x, y=y)[POINTS], path)


def read(paths: Sequence[Path]) -> pd.DataFrame:
    """Read and concatenate several tables of POINTS, with x and y as numbers.

    Raises:
        UserError: a table cannot be read, or a place is no number.
    """
    tables = []
    for path in paths:
        points = read_table(path, POINTS, unique=None)
        try:
            tables.append(points.astype({"x": float, "y": float}))
        except ValueError as error:
            reason = str(error).partition(": Error")[0]
            raise UserError(f"{path}: {reason}; expected a table made by map_texts: {AGAIN}") from None
    return pd.concat(tables, ignore_index=True)
