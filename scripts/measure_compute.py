"""Count and time what labels cost: fine-tuning, the nearest texts, in context (MINERS, table 4)."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from scripts.cli import arguments, pair, run
from seedbed.classifiers.settings import InContext
from seedbed.encoders.opening import opened
from seedbed.evaluation.compute import page
from seedbed.evaluation.compute.context import in_context, require_decoder
from seedbed.evaluation.compute.cost import Cost, questions
from seedbed.evaluation.compute.measuring import machine
from seedbed.evaluation.compute.nearest import retrieval
from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.compute.tuning import fine_tuning
from seedbed.evaluation.scores import read_set
from seedbed.evaluation.settings import Task
from seedbed.generators.settings import Generator
from seedbed.io import atomic, write_table


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--compute", required=True, help="JSON: seedbed.evaluation.compute.settings.Compute")
    parser.add_argument("--task", required=True, help="JSON: seedbed.evaluation.settings.Task")
    parser.add_argument("--train", required=True, type=Path, help="TSV: id, text, label")
    parser.add_argument("--test", required=True, type=Path, help="TSV as the training set's")
    parser.add_argument("--encoder", required=True, type=Path, help="directory of the encoder of the nearest texts")
    parser.add_argument("--weights", required=True, type=Path, help="directory of the backbone that is fine-tuned")
    parser.add_argument("--prefix", default="", help="put before every text that it is fine-tuned on")
    parser.add_argument(
        "--classifiers",
        default={},
        type=json.loads,
        help="JSON: {name: {generator: Generator, in_context: InContext}}, each in its room's settings",
    )
    parser.add_argument("--bases", nargs="*", default=[], type=pair, help="CLASSIFIER=DIR, its language model")
    parser.add_argument("--flops", required=True, type=Path, help="TSV of what is counted: the same in every run")
    parser.add_argument("--seconds", required=True, type=Path, help="TSV of what is timed")
    parser.add_argument("--output", required=True, type=Path, help="the page")
    args = parser.parse_args(argv)
    if lacking := sorted({*args.classifiers} - {*dict(args.bases)}):
        parser.error(f"--bases: give {lacking[0]}=DIR too, its language model")

    spec = Compute.load(args.compute)
    costs = list(costs_of(args, spec))
    about = {"task": spec.task, "language": spec.language, "repeats": spec.repeats}
    write_table(page.counts(costs), args.flops)
    write_table(page.times(costs, machine(), spec.repeats), args.seconds)
    with atomic(args.output) as temporary:
        temporary.write_text(page.layout(costs, about, machine()), encoding="utf-8")


def costs_of(args: argparse.Namespace, spec: Compute) -> Iterator[Cost]:
    """What each method costs, one after the other: no two models are in memory, but for the encoder."""
    bases = {name: Path(base) for name, base in args.bases}
    for name, base in bases.items():
        require_decoder(name, base)  # before minutes are spent on the others
    task = Task.load(args.task)
    encoder = opened(args.encoder, task.batch_size)
    test, train = read_set(task, args.test), read_set(task, args.train)
    question, kept = questions(task, test, train, encoder)
    whole, shots = retrieval(encoder, spec.encoder.backbone, question, kept, spec)
    yield fine_tuning(args.weights, spec.learner, kept, spec, args.prefix)
    yield whole
    for name, given in args.classifiers.items():
        generator = Generator.load(json.dumps(given["generator"]))
        how = InContext.load(json.dumps(given["in_context"]))
        yield in_context(name, generator, bases[name], how, kept, shots, spec)


if __name__ == "__main__":
    run(main)
