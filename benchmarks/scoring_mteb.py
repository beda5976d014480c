"""mteb's own evaluation of one task, on rows of ours, in a process of its own: benchmarks.scoring starts it."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import mteb
import numpy as np
import pandas as pd
from datasets import Dataset
from sentence_transformers import SentenceTransformer

from seedbed.evaluation.mteb_check import metrics_of, mteb_result
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task

BITEXT = ("hau_Latn", "eng_Latn")
"""Any two languages that the mteb task has: the rows are ours."""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", required=True, type=Path)
    parser.add_argument("--task", required=True, type=Task.load)
    parser.add_argument("--test", required=True, type=Path)
    args = parser.parse_args(argv)

    test = pd.read_csv(args.test, sep="\t", dtype=str, quoting=3, keep_default_na=False)
    meter = Meter(SentenceTransformer(str(args.encoder), local_files_only=True))
    print(json.dumps(meter.measured(lambda: evaluate(meter.encoder, args.task, test))))


class Meter:
    """An encoder, and what it was made to encode."""

    def __init__(self, encoder: SentenceTransformer) -> None:
        self.encoder = encoder
        self.texts = self.tokens = 0
        encoder[0].register_forward_pre_hook(self._count)

    def _count(self, module: object, inputs: tuple) -> None:
        self.texts += len(inputs[0]["input_ids"])
        self.tokens += inputs[0]["input_ids"].numel()

    def measured(self, run: Callable[[], dict[str, float]]) -> dict[str, float]:
        """Scores, and what they took."""
        self.texts = self.tokens = 0
        start = time.process_time()
        scores = run()
        return scores | {"seconds": time.process_time() - start, "texts": self.texts, "tokens": self.tokens}


def evaluate(encoder: SentenceTransformer, task: Task, test: pd.DataFrame) -> dict[str, float]:
    """Metrics by our names. mteb has no geometry: both columns are encoded, as for STS."""
    if task.mteb:
        return metrics_of(mteb_result(task, test, "", encoder))
    return _bitext(encoder, task, test) if task.protocol == "bitext" else _geometry(encoder, task, test)


def _bitext(encoder: SentenceTransformer, task: Task, test: pd.DataFrame) -> dict[str, float]:
    """FLORES, of which mteb encodes each side once for both directions."""
    directions = {"forward": "-".join(BITEXT), "backward": "-".join(BITEXT[::-1])}
    spec = mteb.get_task("FloresBitextMining", hf_subsets=list(directions.values()))
    (split,) = spec.metadata.eval_splits
    rows = Dataset.from_dict({name: list(test[side]) for name, side in zip(BITEXT, ("text", "pivot"), strict=True)})
    spec.dataset, spec.data_loaded = {split: rows}, True
    options = {"encode_kwargs": {"batch_size": task.batch_size}, "cache": None, "show_progress_bar": False}
    result = mteb.evaluate(encoder, spec, co2_tracker=False, **options)
    scores = {row["hf_subset"]: row for row in result.task_results[0].scores[split]}
    return {
        f"{direction}_{name}_at_1": scores[subset][name]
        for direction, subset in directions.items()
        for name in ("accuracy", "f1")
    }


def _geometry(encoder: SentenceTransformer, task: Task, test: pd.DataFrame) -> dict[str, float]:
    columns = [list(test["sentence1"]), list(test["sentence2"])]
    vectors = {
        text: vector
        for texts in columns
        for text, vector in zip(texts, encoder.encode(texts, batch_size=task.batch_size), strict=True)
    }
    encode = lambda texts: np.stack([vectors[text] for text in texts])  # noqa: E731
    return score(task, test, System(encode)).metrics


if __name__ == "__main__":
    main()
