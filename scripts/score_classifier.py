"""Score one classifier on the tasks of one language; keep every item's label."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from scripts.cli import run
from scripts.scoring import Set, at_most, scoring_parser, sets, write_scores
from seedbed import manifests
from seedbed.checkpoints import own_state
from seedbed.corpora.labels import LABELS
from seedbed.encoders import classifier
from seedbed.evaluation import classification, icl
from seedbed.evaluation.embeddings import at_once
from seedbed.evaluation.opening import opened
from seedbed.evaluation.protocols import asked
from seedbed.evaluation.scores import Scores
from seedbed.generators import labels
from seedbed.generators.icl import ask, open_greedy
from seedbed.generators.icl_settings import Answering
from seedbed.generators.journal import ANSWERS
from seedbed.generators.settings import Generator
from seedbed.io import fingerprint
from seedbed.precision import precision

LIBRARIES = ("torch", "transformers", "peft", "sentence-transformers")
Scorer = Callable[[Set], Scores]


def main(argv: list[str] | None = None) -> None:
    parser = arguments()
    args = parser.parse_args(argv)
    if not (args.base or args.generator):
        parser.error("--base: give the model's directory, or a --generator whose server has it")
    if args.shots and not args.retriever:
        parser.error("--shots: give --retriever, the encoder that finds them")
    given, written = sets(args), []
    with own_state(args.state, args.output, argv) if args.state else nullcontext() as state:
        score, made = in_context(args, given, state) if args.generator else trained(args)
        for each in given:
            about = {"classifier": args.about | made}
            written += write_scores(score(each), each, args.language, about, LIBRARIES, args.scores)
        manifests.write_list(written, args.output)


def arguments() -> argparse.ArgumentParser:
    """Of every classifier, of those with adapters, and of those that learn in context."""
    parser = scoring_parser(__doc__)
    parser.add_argument("--base", type=Path, help="directory of the model; left out, a server alone has it")
    parser.add_argument("--about", default={}, type=json.loads, help="JSON: what the score is of")
    adapted = parser.add_argument_group("with adapters, on labelled pairs")
    adapted.add_argument("--style", default="head", choices=("head", "chat", "plain"), help="head: of an encoder")
    adapted.add_argument("--head", type=Path, help="the adapter whose head an encoder takes; left out, a fresh one")
    adapted.add_argument("--adapter", type=Path, help="left out, the base as it is")
    adapted.add_argument("--seed", type=int, default=0, help="of a fresh head")
    adapted.add_argument("--language-name", default="", help="as prompts use it")
    shown = parser.add_argument_group("in context, on labelled texts; training sets give labels and shots")
    shown.add_argument("--generator", help="JSON: seedbed.generators.settings.Generator")
    shown.add_argument("--answering", default="{}", help="JSON: seedbed.generators.icl_settings.Answering")
    shown.add_argument("--retriever", type=Path, help="directory of the encoder that finds shots")
    shown.add_argument("--shots", type=int, default=0)
    shown.add_argument("--percentile", type=int, default=0, help="of the training texts by distance, where shots begin")
    shown.add_argument("--balance", action="store_true", help="so many shots of each label")
    return parser


def trained(args: argparse.Namespace) -> tuple[Scorer, dict[str, Any]]:
    """How a classifier with adapters is scored, and what score files say of it."""

    def score(given: Set) -> Scores:
        rows = given.test.to_dict("records")
        if args.style == "head":
            found = classifier.label_scores(args.base, rows, head=args.head, adapter=args.adapter, seed=args.seed)
        else:
            language = args.language_name
            found = labels.label_scores(args.base, rows, adapter=args.adapter, language=language, style=args.style)
        return classification.score(given.test, found, LABELS)

    return score, {"adapter": manifests.read(args.adapter / manifests.MANIFEST) if args.adapter else None}


def in_context(args: argparse.Namespace, given: list[Set], state: Path | None) -> tuple[Scorer, dict[str, Any]]:
    """The same of one that learns in context; `state` keeps what it has written."""
    generator, answering = Generator.load(args.generator), Answering.load(args.answering)
    for each in given:  # before a model is loaded or a text is encoded
        icl.labels_of(each.task, each.test, each.train)
    model = open_greedy(generator, args.base, answering)
    if args.state and not generator.source:
        state = args.state / ANSWERS / fingerprint(args.about)
    kept = {"state": state, "weights": manifests.digest_of(args.base)}
    shots = icl.Shots(args.shots, args.percentile, args.balance)
    # Without shots nothing is looked up, and nothing is encoded.
    retriever = opened(args.retriever, at_most(given), args.state) if args.retriever else None
    encode = at_once(retriever.encode, [text for each in given for text in each.texts()]) if retriever else None

    def score(given: Set) -> Scores:
        answer = partial(ask, generator, model, instruction=given.task.instruction, how=answering, **kept)
        search = retriever and retriever.search
        return icl.score(asked(given.task, given.test, encode, train=given.train, search=search), shots, answer)

    made = {
        "generator": generator.origin | {"backend": generator.backend, "prompts": generator.prompts},
        "dtype": precision(generator.dtype) if generator.source else None,
        "max_prompt_tokens": generator.sampling.max_prompt_tokens,
        "answering": answering.model_dump(),
        "shots": args.shots,
        "percentile": args.percentile,
        "balance": args.balance,
        "retriever": retriever and retriever.about,
    }
    return score, made


if __name__ == "__main__":
    run(main)
