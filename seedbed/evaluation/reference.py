"""Scores through mteb itself, for the tasks that mteb defines."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from sentence_transformers import SentenceTransformer

from seedbed.evaluation.retrieval import collection
from seedbed.evaluation.scores import Encode
from seedbed.evaluation.settings import Task
from seedbed.io import UserError

TOLERANCE = 1e-4
"""What a score may differ by."""
NARROW = 1e-2
"""The spread of cosines above which rounding changes no score by as much (measured: 4e-6 at 2.5e-3, 1e-3 at 1e-4)."""


def mteb_scores(
    task: Task, test: pd.DataFrame, revision: str, encoder: SentenceTransformer, encode: Encode | None = None
) -> dict[str, float]:
    """The metrics of an STS or retrieval task, computed by mteb on the rows that this study fetched.

    The rows are handed to mteb's task object: they were fetched from the data set and revision that mteb pins, by a job
    of their own, and scoring stays offline. mteb's cache is off: it is keyed by model name, and every local model has
    the same one.

    Args:
        test: `id`, `sentence1`, `sentence2`, `score`; or as `retrieval.collection`.
        revision: commit of the fetched data set, compared with mteb's.
        encode: what mteb gets its embeddings from instead of `encoder`, unless the encoder puts one prompt before a
            query and another before a document: which of them a task takes, only mteb knows, and it then encodes.

    Raises:
        UserError: mteb has no such task, or pins another revision.
    """
    import mteb

    try:
        spec = mteb.get_task(task.mteb.name, hf_subsets=None if task.mteb.subset == "default" else [task.mteb.subset])
    except KeyError:
        raise UserError(f"tasks: mteb has no task {task.mteb.name!r}") from None
    pinned = spec.metadata.dataset["revision"]
    if revision and pinned != revision:
        raise UserError(f"tasks: {task.mteb.name} was fetched at {revision}, mteb {mteb.__version__} pins {pinned}")
    split = spec.metadata.eval_splits[0]
    rows = {"sts": _graded_pairs, "retrieval": _retrieval}[task.protocol](test)
    # Of tasks without subsets, retrieval alone is keyed by one all the same.
    nested = task.protocol == "retrieval" or task.mteb.subset != "default"
    spec.dataset = {task.mteb.subset: {split: rows}} if nested else {split: rows}
    spec.data_loaded = True
    result = mteb.evaluate(
        _Remembering(encoder, encode) if encode and _one_prompt(encoder) else encoder,
        spec,
        cache=None,
        co2_tracker=False,
        encode_kwargs={"batch_size": task.batch_size},
        show_progress_bar=False,
    )
    (scores,) = result.task_results[0].scores[split]
    # nAUC says how well confidence tells the easy queries: a hundred numbers, some NaN, that no table has.
    return {
        name: value
        for name, value in scores.items()
        if isinstance(value, float) and math.isfinite(value) and not name.startswith("nauc_")
    }


class _Remembering:
    """What mteb needs of a model: embeddings of the texts that it took from the columns of its task."""

    def __init__(self, encoder: SentenceTransformer, encode: Encode) -> None:
        from mteb.models import ModelMeta

        self.mteb_model_meta = ModelMeta.from_sentence_transformer_model(encoder)
        self.similarity, self.similarity_pairwise = encoder.similarity, encoder.similarity_pairwise
        self._encode = encode

    def encode(self, inputs: Iterable[dict[str, Any]], **about: Any) -> np.ndarray:
        """Embeddings (n, d) of the texts of mteb's batches."""
        return self._encode([text for batch in inputs for text in batch["text"]])


def _one_prompt(encoder: SentenceTransformer) -> bool:
    """Whether a text is encoded alike as a query, as a document and as neither."""
    prompts = {name: prompt or "" for name, prompt in encoder.prompts.items()}
    return set(prompts.values()) <= {prompts.get(encoder.default_prompt_name, "")}


def _graded_pairs(test: pd.DataFrame) -> Any:
    from datasets import Dataset

    scores = [float(value) for value in test["score"]]
    return Dataset.from_dict({name: list(test[name]) for name in ("sentence1", "sentence2")} | {"score": scores})


def _retrieval(test: pd.DataFrame) -> dict[str, Any]:
    """What mteb's loader makes of the hub's three tables."""
    from datasets import Dataset

    held = collection(test)
    queries, corpus = (
        Dataset.from_dict({"id": list(texts.index), "text": list(texts)}) for texts in (held.queries, held.documents)
    )
    return {"queries": queries, "corpus": corpus, "relevant_docs": held.relevance, "top_ranked": None}


def spread(embeddings: np.ndarray) -> float:
    """One minus the mean cosine of two embeddings (n, d): near 0 for those of an encoder that tells few texts apart."""
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True).clip(min=1e-30)
    return float(1 - np.square((embeddings / lengths).mean(axis=0, dtype=np.float64)).sum())


def require_agreement(ours: float, theirs: float, task: str, *, spread: float = 1.0) -> str:
    """Our item scores must explain mteb's number.

    mteb compares in float32, whose rounding orders texts anew that stand closer than it resolves. What it may differ by
    is TOLERANCE, and more in proportion as `spread` is below NARROW.

    Returns:
        A note if they differ by more than TOLERANCE, and may; else nothing.

    Raises:
        UserError: they differ by more than they may.
    """
    if abs(ours - theirs) <= TOLERANCE:
        return ""
    found = f"{task} is {ours:.6f} from our item scores, {theirs:.6f} from mteb"
    if abs(ours - theirs) > TOLERANCE * max(1.0, NARROW / max(spread, 1e-9)):
        raise UserError(f"score: {found}; they must agree")
    return f"{found}: cosines are nearly equal ({spread:.1g} below 1 on average), and mteb rounds them to float32"
