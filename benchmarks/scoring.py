"""One encoder's score jobs with a shared store of embeddings, beside mteb with one task at a time on the same rows.

Prints by task, for both, the score, CPU seconds, and texts and (padded) tokens encoded. mteb has no geometry:
its part is what it does for STS, both columns encoded as they are. Every round starts with an empty store:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.scoring --encoder DIR --sts TSV --bitext TSV --retrieval TSV
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import mteb
import numpy as np
import pandas as pd
from datasets import Dataset
from sentence_transformers import SentenceTransformer

from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.backbone import open_encoder
from seedbed.evaluation.embeddings import shared
from seedbed.evaluation.protocols import score
from seedbed.evaluation.reference import mteb_scores
from seedbed.evaluation.settings import KIND_OF, Task
from seedbed.io import read_table

TOLERANCE = {"sts": 1e-6, "geometry": 1e-6, "bitext": 1e-6, "retrieval": 6e-6}
"""mteb rounds retrieval metrics to five decimals."""
METRIC = {"sts": "cosine_spearman", "geometry": "alignment", "bitext": "forward_accuracy", "retrieval": "ndcg_at_10"}
SPEC = {
    "sts": Task(protocol="sts", mteb={"name": "SemRel24STS", "subset": "hau"}),
    "retrieval": Task(protocol="retrieval", mteb={"name": "MIRACLRetrievalHardNegatives", "subset": "sw"}),
}
"""Any mteb tasks of these kinds: the rows are ours."""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True, type=Path)
    parser.add_argument("--sts", required=True, type=Path, help="graded pairs; geometry is scored on them too")
    parser.add_argument("--scale", nargs=2, type=float, default=(0.0, 1.0))
    parser.add_argument("--bitext", type=Path)
    parser.add_argument("--retrieval", type=Path)
    parser.add_argument("--rows", type=int, default=400, help="rows of each test set")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args(argv)

    files = {"sts": args.sts, "geometry": args.sts, "bitext": args.bitext, "retrieval": args.retrieval}
    tests = {
        protocol: read_table(file, ["id", *COLUMNS[KIND_OF[protocol]]]).iloc[: args.rows]
        for protocol, file in files.items()
        if file
    }
    meter = Meter(open_encoder(args.encoder))
    least = {"ours": np.inf, "mteb": np.inf}
    for _ in range(args.rounds):
        results = {
            "ours": ours(meter, tests, tuple(args.scale), args.batch_size),
            "mteb": theirs(meter, tests, tuple(args.scale), args.batch_size),
        }
        least = {name: min(least[name], table["seconds"].sum()) for name, table in results.items()}
    for name, table in results.items():
        total = table[["seconds", "texts", "tokens"]].sum().rename("all").to_frame().T
        print(f"\n{name}\n{pd.concat([table, total]).round({'score': 6, 'seconds': 2}).to_string(na_rep='')}")
    for protocol in tests:
        difference = abs(results["ours"].loc[protocol, "score"] - results["mteb"].loc[protocol, "score"])
        assert difference <= TOLERANCE[protocol], f"{protocol}: the scores differ by {difference}"
    print(
        f"\nours / mteb, CPU seconds: {least['ours']:.1f} / {least['mteb']:.1f} = {least['ours'] / least['mteb']:.2f}"
    )


class Meter:
    """An encoder, and what it was made to encode."""

    def __init__(self, encoder: SentenceTransformer) -> None:
        self.encoder = encoder
        self.texts = self.tokens = 0
        encoder[0].register_forward_pre_hook(self._count)

    def _count(self, module: object, inputs: tuple) -> None:
        self.texts += len(inputs[0]["input_ids"])
        self.tokens += inputs[0]["input_ids"].numel()

    def measured(self, run: Callable[[], float]) -> dict[str, float]:
        """A score, and what it took."""
        self.texts = self.tokens = 0
        start = time.process_time()
        value = run()
        return {"score": value, "seconds": time.process_time() - start, "texts": self.texts, "tokens": self.tokens}


def ours(meter: Meter, tests: dict[str, pd.DataFrame], scale: tuple[float, float], batch_size: int) -> pd.DataFrame:
    """A job for each task, as scripts.score_encoder runs them."""

    def encode(texts: Sequence[str]) -> np.ndarray:
        return meter.encoder.encode(list(texts), batch_size=batch_size, show_progress_bar=False)

    with tempfile.TemporaryDirectory() as state:

        def run(protocol: str) -> float:
            found = score(protocol, tests[protocol], shared(encode, Path(state)), scale=scale)
            return found.metrics[METRIC[protocol]]

        return pd.DataFrame({name: meter.measured(lambda name=name: run(name)) for name in tests}).T


def theirs(meter: Meter, tests: dict[str, pd.DataFrame], scale: tuple[float, float], batch_size: int) -> pd.DataFrame:
    """mteb's own evaluation of each task."""

    def run(protocol: str) -> float:
        test = tests[protocol]
        if protocol in SPEC:
            task = SPEC[protocol].updated({"batch_size": batch_size})
            return mteb_scores(task, test, "", meter.encoder)[METRIC[protocol]]
        return _bitext(meter, test, batch_size) if protocol == "bitext" else _geometry(meter, test, scale, batch_size)

    return pd.DataFrame({name: meter.measured(lambda name=name: run(name)) for name in tests}).T


def _bitext(meter: Meter, test: pd.DataFrame, batch_size: int) -> float:
    spec = mteb.get_task("Tatoeba", hf_subsets=["swh-eng"])
    rows = Dataset.from_dict({"sentence1": list(test["text"]), "sentence2": list(test["pivot"])})
    spec.dataset, spec.data_loaded = {"swh-eng": {"test": rows}}, True
    options = {"encode_kwargs": {"batch_size": batch_size}, "cache": None, "show_progress_bar": False}
    result = mteb.evaluate(meter.encoder, spec, co2_tracker=False, **options)
    return result.task_results[0].scores["test"][0]["accuracy"]


def _geometry(meter: Meter, test: pd.DataFrame, scale: tuple[float, float], batch_size: int) -> float:
    columns = [list(test["sentence1"]), list(test["sentence2"])]
    vectors = {
        text: vector
        for texts in columns
        for text, vector in zip(texts, meter.encoder.encode(texts, batch_size=batch_size), strict=True)
    }
    return score("geometry", test, lambda texts: np.stack([vectors[text] for text in texts]), scale=scale).main


if __name__ == "__main__":
    main()
