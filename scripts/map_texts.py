"""Sample parallel or labelled texts of several languages and project one encoder's embeddings of them to the plane."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scripts import cli
from seedbed.evaluation.settings import TextMap
from seedbed.settings import NoResult

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


class Job(cli.Job):
    encoder: Path
    texts: dict[str, Path]
    """language -> TSV of labelled texts, or pairs"""
    english: list[Path] = []
    """TSVs of texts and their English, for an encoder that reads both"""
    map: TextMap
    pivot: str
    """the language of the other side of pairs"""
    backbone: str
    """name of the encoder's backbone in the map"""
    recipe: str
    """name of the encoder's recipe in the map"""
    batch_size: NoResult[int]
    """texts that are encoded together at most"""
    endpoints: cli.Endpoints = []
    state: cli.Embeddings = None
    output: Path
    """TSV: evaluation.maps.POINTS"""


def main(job: Job) -> None:
    from seedbed.corpora.settings import COLUMNS
    from seedbed.evaluation.maps import sample, sample_pairs, to_plane, write
    from seedbed.io import read_table
    from seedbed.servers import named

    spec = job.map
    columns = ["id", *COLUMNS["parallel" if spec.pairs else "labelled_texts"]]
    sets = {language: read_table(file, columns) for language, file in job.texts.items()}
    if spec.pairs:
        drawn = sample_pairs(sets, spec.pairs, spec.seed, job.pivot)
    else:
        drawn = sample(sets, spec.of_each(len(sets)), spec.seed)
    with named(job.endpoints):
        embeddings = embed(job, drawn)
    write(drawn, to_plane(embeddings, spec), job.backbone, job.recipe, job.output)


def embed(job: Job, drawn: "pd.DataFrame") -> "np.ndarray":
    """Embeddings (n, d) of the sampled texts, each with the prompt of its language if prompts depend on it.

    Raises:
        UserError: the encoder is a fusion.
    """
    import numpy as np

    from seedbed.encoders.models.inference import opened
    from seedbed.encoders.translations.files import read_english
    from seedbed.io import UserError

    reading = partial(opened, job.encoder, job.batch_size, job.state, english=read_english(job.english))
    first, *others = drawn["language"].unique()
    encoder = reading(language=first)
    if encoder.search:
        raise UserError(f"{job.encoder}: a fusion, which has distances alone; a map needs embeddings")
    if not encoder.per_language:
        return encoder.encode(list(drawn["text"]))
    embeddings = np.empty((len(drawn), encoder.width), np.float32)
    for language in (first, *others):  # one encoder is open at a time
        encoder = encoder if language == first else reading(language=language)
        rows = np.flatnonzero(drawn["language"] == language)
        embeddings[rows] = encoder.encode(list(drawn["text"].iloc[rows]))
    return embeddings


if __name__ == "__main__":
    cli.run(Job, main)
