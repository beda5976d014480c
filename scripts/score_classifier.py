"""Score one classifier on one task of one language; keep every item's label."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
from functools import partial
from pathlib import Path
from typing import Any

from scripts.cli import run
from seedbed.corpora.labels import LABELS, read_pairs
from seedbed.encoders import classifier
from seedbed.evaluation import classification, icl
from seedbed.evaluation.opening import opened
from seedbed.evaluation.protocols import asked
from seedbed.evaluation.scores import Scores, read_set, write
from seedbed.evaluation.settings import Task
from seedbed.generators import labels
from seedbed.generators.icl import ask
from seedbed.generators.icl_settings import Answering
from seedbed.generators.settings import Generator
from seedbed.io import read_json, write_json

LIBRARIES = ("torch", "transformers", "peft")


def main(argv: list[str] | None = None) -> None:
    args = arguments().parse_args(argv)
    scores, protocol, made = in_context(args) if args.generator else trained(args)
    about = {
        "task": args.task, "protocol": protocol, "language": args.language, "dataset": read_json(args.record),
        "classifier": args.about | made,
        "versions": {name: importlib.metadata.version(name) for name in LIBRARIES},
    }  # fmt: skip
    written = write(scores, about, args.scores / args.task / f"{args.language}.json")
    write_json({"scores": written}, args.output)


def arguments() -> argparse.ArgumentParser:
    """Of every classifier, of those with adapters, and of those that learn in context."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", required=True, type=Path, help="directory of the encoder or language model")
    parser.add_argument("--task", required=True)
    parser.add_argument("--test", required=True, type=Path, help="TSV of the task's kind: id, its texts, label")
    parser.add_argument("--record", required=True, type=Path, help="origin of the test set")
    parser.add_argument("--language", required=True)
    parser.add_argument("--about", default={}, type=json.loads, help="JSON: what the score is of")
    parser.add_argument("--scores", required=True, type=Path, help="directory of {task}/{language}.json, .items.tsv")
    parser.add_argument("--output", required=True, type=Path, help="the list of what was written")
    adapted = parser.add_argument_group("with adapters, on labelled pairs")
    adapted.add_argument("--style", default="head", choices=("head", "chat", "plain"), help="head: of an encoder")
    adapted.add_argument("--head", type=Path, help="the adapter whose head an encoder takes; left out, a fresh one")
    adapted.add_argument("--adapter", type=Path, help="left out, the base as it is")
    adapted.add_argument("--seed", type=int, default=0, help="of a fresh head")
    adapted.add_argument("--language-name", default="", help="as prompts use it")
    shown = parser.add_argument_group("in context, on labelled texts")
    shown.add_argument("--generator", help="JSON: seedbed.generators.settings.Generator")
    shown.add_argument("--answering", default="{}", help="JSON: seedbed.generators.icl_settings.Answering")
    shown.add_argument("--settings", help="JSON: the task, seedbed.evaluation.settings.Task")
    shown.add_argument("--train", type=Path, help="TSV as the test set's: labels and shots")
    shown.add_argument("--retriever", type=Path, help="directory of the encoder that finds shots")
    shown.add_argument("--shots", type=int, default=0)
    shown.add_argument("--percentile", type=int, default=0, help="of the training texts by distance, where shots begin")
    shown.add_argument("--balance", action="store_true", help="so many shots of each label")
    shown.add_argument("--state", type=Path, help="directory in which an encoder's jobs share embeddings")
    return parser


def trained(args: argparse.Namespace) -> tuple[Scores, str, dict[str, Any]]:
    """Scores of a classifier with adapters, its protocol, and what the score file says of it."""
    test = read_pairs(args.test)
    rows = test.to_dict("records")
    if args.style == "head":
        found = classifier.label_scores(args.base, rows, head=args.head, adapter=args.adapter, seed=args.seed)
    else:
        language = args.language_name
        found = labels.label_scores(args.base, rows, adapter=args.adapter, language=language, style=args.style)
    adapter = read_json(args.adapter / "seedbed.json") if args.adapter else None
    return classification.score(test, found, LABELS), "classification", {"adapter": adapter}


def in_context(args: argparse.Namespace) -> tuple[Scores, str, dict[str, Any]]:
    """The same of one that learns in context."""
    task, generator = Task.load(args.settings), Generator.load(args.generator)
    test, train = read_set(task, args.test), read_set(task, args.train)
    answering = Answering.load(args.answering)
    answer = partial(ask, generator, args.base, instruction=task.instruction, how=answering)
    shots = icl.Shots(args.shots, args.percentile, args.balance)
    # Without shots nothing is looked up, and nothing is encoded.
    retriever = opened(args.retriever, task.batch_size, args.state) if args.retriever else None
    encode, search = (retriever.encode, retriever.search) if retriever else (None, None)
    made = {
        "generator": generator.source.model_dump(mode="json", exclude_defaults=True),
        "answering": answering.model_dump(),
        "shots": args.shots,
        "percentile": args.percentile,
        "retriever": retriever and retriever.about,
    }
    return icl.score(asked(task, test, encode, train=train, search=search), shots, answer), task.protocol, made


if __name__ == "__main__":
    run(main)
