"""Fuse encoders: name them and their weights, which a development task may choose."""

import argparse
import json
from pathlib import Path

from scripts.cli import add_endpoints, arguments, pair, run
from seedbed.encoders.fusion import save, write_card
from seedbed.encoders.opening import opened
from seedbed.encoders.settings import Endpoint
from seedbed.evaluation.fusion import choose
from seedbed.evaluation.scores import read_set
from seedbed.evaluation.settings import Task
from seedbed.io import sha256
from seedbed.manifests import Tell
from seedbed.servers import named


def main(argv: list[str] | None = None) -> None:
    args = parser().parse_args(argv)
    if not args.weights or any(not isinstance(each, list) or len(each) != len(args.members) for each in args.weights):
        parser().error(f"--weights: {args.weights}; expected lists of {len(args.members)}, one for each of --members")
    with named(map(Endpoint.load, args.endpoints)):
        make(args, write_card)


def parser() -> argparse.ArgumentParser:
    """How the arguments are read."""
    parser = arguments(__doc__, "output")
    parser.add_argument("--members", required=True, nargs="+", type=pair, help="BACKBONE=DIR, its encoder")
    parser.add_argument("--weights", required=True, type=json.loads, help="JSON: weights to choose from, a list each")
    parser.add_argument("--dev", default="", help="name of the task that chooses; left out, there is one choice")
    parser.add_argument("--task", default="{}", help="JSON: seedbed.evaluation.settings.Task")
    parser.add_argument("--tests", nargs="*", default=[], type=pair, help="LANGUAGE=FILE, its set of that task")
    parser.add_argument(
        "--trains", nargs="*", default=[], type=pair, help="LANGUAGE=FILE, what that set is labelled by"
    )
    parser.add_argument("--about", default={}, type=json.loads, help="JSON for the manifest")
    add_endpoints(parser)
    parser.add_argument("--state", type=Path, help="directory in which jobs share embeddings")
    return parser


def make(args: argparse.Namespace, tell: Tell) -> None:
    """Fuse the encoders; `tell` writes the card."""
    members = {name: Path(folder) for name, folder in args.members}
    if not args.dev:
        save(args.output, members, args.weights[0], args.about, tell=tell)
        return
    task, trains = Task.load(args.task), dict(args.trains)
    each = [opened(folder, task.batch_size, args.state) for folder in members.values()]
    sets = {lang: (read_set(task, file), read_set(task, trains.get(lang))) for lang, file in args.tests}
    encodes, widths = [one.encode for one in each], [one.width for one in each]
    weights, candidates = choose(task, sets, encodes, widths, args.weights)
    facts = {lang: {"n": len(sets[lang][0]), "sha256": sha256(file)} for lang, file in args.tests}
    chosen = {"dev": args.dev, "protocol": task.protocol, "sets": facts, "candidates": candidates}
    save(args.output, members, weights, args.about, chosen, tell)


if __name__ == "__main__":
    run(main)
