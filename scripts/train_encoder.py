"""Train one encoder, of one recipe, language and seed; save it with its card."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, get_args

from scripts.cli import add_checkpoints, run
from seedbed.checkpoints import own_state
from seedbed.corpora.subset import subset
from seedbed.encoders.backbone import remote
from seedbed.encoders.settings import Endpoint, Method, Training
from seedbed.encoders.training import save, train
from seedbed.io import read_table
from seedbed.manifests import MANIFEST


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--weights", type=Path, help="the backbone, as save_pretrained writes it")
    start.add_argument("--endpoint", help="JSON: seedbed.encoders.settings.Endpoint; not trained")
    parser.add_argument("--method", required=True, choices=get_args(Method))
    parser.add_argument("--texts", type=Path, help="TSV: id, text or id, anchor, positive, negative; none for base")
    parser.add_argument("--rows", type=int, help="train on so many of the texts; see corpora.subset")
    parser.add_argument("--training", default="{}", help="JSON: seedbed.encoders.settings.Training")
    parser.add_argument("--prefix", default="", help="put before every text, in training and in use")
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--about", default={}, type=json_object, help="JSON for the card: seedbed.encoders.card.write")
    parser.add_argument("--output", required=True, type=Path)
    add_checkpoints(parser)
    args = parser.parse_args(argv)

    if args.endpoint:
        endpoint = Endpoint.load(args.endpoint)
        about = {"endpoint": endpoint.url, "model": endpoint.model, "method": args.method, "seed": args.seed}
        save(remote(endpoint, prefix=args.prefix), args.output, args.about | about, {})
        return
    columns = ["text"] if args.method == "unsupervised" else ["anchor", "positive", "negative"]
    texts = subset(read_table(args.texts, ["id", *columns]), args.rows) if args.texts else None
    with own_state(args.state, args.output / MANIFEST, argv) as state:
        train(
            args.weights,
            texts,
            Training.load(args.training),
            method=args.method,
            prefix=args.prefix,
            seed=args.seed,
            output=args.output,
            state=state,
            minutes=args.checkpoint_minutes,
            about=args.about,
        )


def json_object(text: str) -> dict[str, Any]:
    """A JSON object, as an argparse type."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"{text!r} is not a JSON object")
    return value


if __name__ == "__main__":
    run(main)
