"""Score one encoder on one task in one language; keep every item's score."""

from __future__ import annotations

import argparse
import importlib.metadata
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scripts.cli import run
from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.backbone import open_encoder
from seedbed.evaluation.embeddings import folder_of, shared
from seedbed.evaluation.protocols import record, score
from seedbed.evaluation.reference import mteb_scores, require_agreement
from seedbed.evaluation.settings import AGREE, KIND_OF, Task
from seedbed.io import read_json, read_table, write_json, write_table

LIBRARIES = ("torch", "transformers", "sentence-transformers", "scipy", "mteb")


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", required=True, type=Path)
    parser.add_argument("--test", required=True, type=Path)
    parser.add_argument("--record", required=True, type=Path, help="origin of the test set, from fetch_corpus")
    parser.add_argument("--name", required=True, help="the task's name in the study")
    parser.add_argument("--task", required=True, help="JSON: seedbed.evaluation.settings.Task")
    parser.add_argument("--language", required=True)
    parser.add_argument("--state", type=Path, help="directory in which an encoder's score jobs share embeddings")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--items", required=True, type=Path)
    args = parser.parse_args(argv)

    task = Task.load(args.task)
    test, origin = read_table(args.test, ["id", *COLUMNS[KIND_OF[task.protocol]]]), read_json(args.record)
    encoder, manifest = open_encoder(args.encoder), read_json(args.encoder / "seedbed.json")

    def encode(texts: Sequence[str]) -> np.ndarray:
        return encoder.encode(texts, batch_size=task.batch_size, show_progress_bar=True)

    if args.state:
        encode = shared(encode, folder_of(args.state, manifest))
    scores = score(task.protocol, test, encode, scale=task.scale)
    if task.mteb:
        revision = origin["origin"].partition(" @ ")[2]
        theirs = mteb_scores(task, test, revision, encoder)
        for metric in AGREE[task.protocol]:
            require_agreement(scores.metrics[metric], theirs[metric], f"{args.name} ({metric})")
        scores.metrics.update(theirs | scores.metrics)
    about = {
        "task": args.name, "protocol": task.protocol, "language": args.language,
        "dataset": origin, "encoder": manifest["about"],
        "versions": {name: importlib.metadata.version(name) for name in LIBRARIES},
    }  # fmt: skip
    write_table(scores.items, args.items)
    write_json(record(scores, about, args.items.name), args.output)


if __name__ == "__main__":
    run(main)
