"""Settings of the evaluation room: tasks and their protocols."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from seedbed.corpora.settings import Kind, Source
from seedbed.settings import Once, Seed, Settings

Protocol = Literal["sts", "bitext", "retrieval", "geometry", "knn", "icl", "classification"]
KIND_OF: dict[Protocol, Kind] = {
    "sts": "pairs",
    "bitext": "parallel",
    "retrieval": "retrieval",
    "geometry": "pairs",
    "knn": "labelled_texts",
    "icl": "labelled_texts",
    "classification": "labelled_pairs",
}
"""The kind of corpus that a protocol reads."""
LABELLING: tuple[Protocol, ...] = ("icl", "classification")
"""The protocols that score `classifiers`, not encoders."""
SEARCHING: tuple[Protocol, ...] = ("bitext", "knn")
"""The protocols that look for nearest neighbours alone: distances of several encoders can be fused for them."""
LEARNING: tuple[Protocol, ...] = ("knn", "icl")
"""The protocols whose tasks have a training set."""
CHOOSING: tuple[Protocol, ...] = ("sts", "bitext", "retrieval", "knn")
"""The protocols whose main score says which of several encoders is the better."""
AGREE: dict[str, tuple[str, ...]] = {"sts": ("cosine_spearman",), "retrieval": ("ndcg_at_10", "recall_at_10")}
"""Metrics that must agree with mteb's, by protocol; a protocol without any has no mteb task."""


Distance = Literal["cosine", "euclidean", "dot"]
"""How far embeddings lie apart."""


class MtebTask(Settings):
    """The mteb task that a score must agree with."""

    name: str
    """Exact name in mteb."""
    subset: str = "default"
    """hf_subset; may hold registry placeholders. `languages=` filters of mteb are not exclusive, this is."""


class Task(Settings):
    """One protocol on one data set."""

    protocol: Protocol
    """sts: Spearman of cosine and gold score. bitext: accuracy and F1 of the nearest translation, both directions.
    retrieval: nDCG@10 and recall@10. geometry: alignment and uniformity of graded pairs; lower is better. knn: labels
    by the vote of the nearest training sentences. classification: accuracy of `classifiers` on labelled pairs. icl:
    accuracy of those that learn in context, on labelled texts."""
    source: Source | None = None
    """The test set as a template over the registry; a language's own `tests` entry goes before it."""
    set_of: str = ""
    """Instead of a source: the test set is that of this task, and so is the training set."""
    train: Source | None = None
    """knn and icl: the training set, as a template over the registry."""
    train_language: str = ""
    """knn and icl: the training set is in this language, which is then no test itself; left out, in the test's own."""
    distance: Distance = "cosine"
    """bitext, knn and icl: how far sentences lie apart. MINERS takes euclidean."""
    instruction: str = "Generate a sentiment label for a given input."
    """icl: how a label is asked for; MINERS says topic in the place of sentiment where they are topics."""
    labels: Once[str] = []
    """icl: what a model may answer beside the labels of the training set; MINERS offers neutral for NollySenti, which
    has no such text."""
    k: Annotated[list[int], Field(min_length=1)] = [1]
    """bitext and knn: how many of the nearest sentences count; a score for each, in this order."""
    mteb: MtebTask | None = None
    """Score through mteb; `source` must then be the data set and revision that mteb pins."""
    languages: Once[str] | None = None
    """Only these languages have it; left out, all for which the source resolves."""
    on_request: bool = False
    """Only in tables that name it: development sets, say."""
    clean: bool = False
    """Apply the study's `cleaning` to the test set: for text that is no published benchmark."""
    scale: tuple[float, float] = (0.0, 1.0)
    """Least and greatest gold score."""
    batch_size: int = Field(128, gt=0)
    """Sentences encoded together at most; on a CPU fewer if they are long. The least of a job's tasks counts."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.scale[0] >= self.scale[1]:
            raise ValueError(f"scale goes from the least to the greatest gold score, found {self.scale}")
        return self

    @field_validator("k")
    @classmethod
    def _nearest(cls, k: list[int]) -> list[int]:
        if min(k) < 1 or k != sorted(set(k)):
            raise ValueError(f"numbers of neighbours, from 1, each once and ascending; found {k}")
        return k

    @model_validator(mode="after")
    def _learns(self) -> Self:
        if self.protocol not in LEARNING and (self.train or self.train_language):
            raise ValueError(f"protocol {self.protocol} learns from nothing; leave out `train` and `train_language`")
        return self

    @model_validator(mode="after")
    def _answers(self) -> Self:
        if self.labels and self.protocol != "icl":
            raise ValueError(f"labels: protocol {self.protocol} knows those of its training set alone; leave it out")
        return self

    @model_validator(mode="after")
    def _mteb_has_it(self) -> Self:
        if self.mteb and self.protocol not in AGREE:
            raise ValueError(f"protocol {self.protocol} is not compared with mteb, {' and '.join(AGREE)} are")
        return self


class TextMap(Settings):
    """Parallel texts in the plane, where an encoder puts them (MINERS, section 4.1)."""

    task: str
    """knn or icl: the texts are of its training sets, in each of its languages."""
    recipe: str = "published"
    """Whose encoders; one encoder must serve all languages."""
    texts: int = Field(200, gt=0)
    """About how many: as many whole sentences, each in every language, as come nearest to it."""
    seed: Seed = 0
    """Of the draw and of t-SNE."""
    perplexity: float = Field(30.0, ge=1)
    """About how many neighbours t-SNE keeps together; less than there are texts. MINERS prints none: scikit-learn's."""
