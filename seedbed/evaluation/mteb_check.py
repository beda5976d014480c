"""Scoring through mteb itself, for tasks that mteb defines, and comparing the two results."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sentence_transformers import SentenceTransformer

from seedbed import origins
from seedbed.evaluation import protocols
from seedbed.evaluation.files import Set
from seedbed.evaluation.scores import Scores
from seedbed.evaluation.settings import Task
from seedbed.io import UserError
from seedbed.vectors.types import Encode

if TYPE_CHECKING:
    from mteb.results import TaskResult

TOLERANCE = 1e-4
"""The maximum difference between a score and mteb's."""
NARROW = 1e-2
"""Spread of cosines below which float32 rounding changes mteb's scores (measured: 4e-6 at 2.5e-3, 1e-3 at 1e-4)."""


def check_by_mteb(encoder: SentenceTransformer, encode: Encode, given: Set, scores: Scores) -> None:
    """Score a task with mteb too, if its setting `mteb` names a task of mteb, and compare the two results.

    mteb's metrics and notes on differences are added to `scores`, and mteb's result if the test set is from the hub.

    Args:
        encode: the vectors that were scored, see `mteb_result`.

    Raises:
        UserError: a metric differs from mteb's by more than it may, mteb has no such task, or it pins another revision
            of the data.
    """
    if not given.task.mteb:
        return
    place = origins.hub(given.origin["origin"])
    revision = place.revision if place else ""
    result = mteb_result(given.task, given.test, revision, encoder, encode)
    theirs = metrics_of(result)
    narrow = allowance(spread(encode(given.texts())))
    for metric in protocols.declared(given.task.protocol).mteb:
        name, allowed = f"{given.name} ({metric})", narrow + scores.unsettled.get(metric, 0)
        if note := require_agreement(scores.metrics[metric], theirs[metric], name, allowed):
            scores.notes.append(note)
            print(note, file=sys.stderr)
    scores.metrics.update(theirs | scores.metrics)
    if revision:  # of a file of one's own nobody knows whether it is what mteb pins
        scores.mteb.update(without_run_facts(result))


def mteb_result(
    task: Task, test: pd.DataFrame, revision: str, encoder: SentenceTransformer, encode: Encode | None = None
) -> TaskResult:
    """Score a task with mteb on rows that this study fetched.

    The rows are passed to mteb's task object, so that scoring is offline. mteb's cache is off: it is keyed by name, and
    every local model has the same one.

    Args:
        task: the task; `task.mteb` names mteb's.
        test: the columns of the protocol's kind.
        revision: commit of the fetched data set, compared with mteb's; empty: not compared.
        encode: gives mteb its vectors instead of `encoder`. It is ignored if the encoder has different prompts for
            queries and documents, because only mteb knows which a task uses.

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
    rows = protocols.load(task.protocol).mteb_rows(test)
    # Of tasks without subsets, those of several tables (retrieval) are keyed by one all the same.
    nested = isinstance(rows, dict) or task.mteb.subset != "default"
    spec.dataset = {task.mteb.subset: {split: rows}} if nested else {split: rows}
    spec.data_loaded = True
    model = _Remembering(encoder, encode) if encode and _one_prompt(encoder) else encoder
    quiet = {"cache": None, "co2_tracker": False, "show_progress_bar": False}
    return mteb.evaluate(model, spec, encode_kwargs={"batch_size": task.batch_size}, **quiet).task_results[0]


def without_run_facts(result: TaskResult) -> dict[str, Any]:
    """A result as mteb saves it, without what differs between runs: no time and no date; scores have six decimals, and
    those that are not finite are left out.
    """
    filed = result.model_dump(mode="json") | {"evaluation_time": None, "date": None, "evaluation_phases": None}
    result._round_scores(filed["scores"], 6)
    filed["scores"] = {
        split: [
            {name: value for name, value in one.items() if not isinstance(value, float) or math.isfinite(value)}
            for one in subsets
        ]
        for split, subsets in filed["scores"].items()
    }
    return filed


def metrics_of(result: TaskResult) -> dict[str, float]:
    """The finite metrics of a result with one split and subset, without mteb's nAUC."""
    ((scores,),) = result.scores.values()
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


def spread(embeddings: np.ndarray) -> float:
    """One minus the mean cosine over all pairs of n embeddings (n, d), each with itself too: near 0 if an encoder's
    vectors are nearly parallel.
    """
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True).clip(min=1e-30)
    return float(1 - np.square((embeddings / lengths).mean(axis=0, dtype=np.float64)).sum())


def allowance(spread: float) -> float:
    """The maximum difference between a score and mteb's, which compares in float32.

    It is TOLERANCE, multiplied by NARROW / spread if `spread`, that of the embeddings, is below NARROW.
    """
    return TOLERANCE * max(1.0, NARROW / max(spread, 1e-9))


def require_agreement(ours: float, theirs: float, task: str, allowed: float = TOLERANCE) -> str:
    """Compare a score with mteb's, and describe a difference above TOLERANCE.

    Args:
        task: name of task and metric for messages.
        allowed: the maximum difference: `allowance` plus `Scores.unsettled` of the metric.

    Returns:
        A note; empty if they agree within TOLERANCE.

    Raises:
        UserError: they differ by more than allowed.
    """
    if abs(ours - theirs) <= TOLERANCE:
        return ""
    found = f"{task} is {ours:.6f} from our item scores, {theirs:.6f} from mteb"
    if abs(ours - theirs) > allowed:
        raise UserError(f"score: {found}; they must agree within {allowed:.2g}")
    return f"{found}: cosines are nearly equal, and mteb rounds them to float32"
