"""Train one encoder, of one recipe, language and seed; save it with its card."""

import argparse
import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.cli import add_checkpoints, add_endpoints, arguments, pair, resumable, run
from seedbed.choices import chosen
from seedbed.corpora.subset import subset
from seedbed.encoders import card, objectives
from seedbed.encoders.backbone import remote
from seedbed.encoders.batches import Files
from seedbed.encoders.candidates import read_candidates
from seedbed.encoders.coupling import Coupling, read_english
from seedbed.encoders.mined import require_mined
from seedbed.encoders.pivot import with_pivot
from seedbed.encoders.prompts import by_language
from seedbed.encoders.settings import Endpoint, Mining, Training
from seedbed.encoders.training import save, train
from seedbed.io import read_table
from seedbed.manifests import Tell
from seedbed.servers import named


def main(argv: list[str] | None = None) -> None:
    args = parser().parse_args(argv)
    with named(map(Endpoint.load, args.endpoints)):
        make(args, card.write, resumable(args, argv))


def parser() -> argparse.ArgumentParser:
    """How the arguments are read."""
    parser = arguments(__doc__, "output")
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--weights", type=Path, help="the backbone, as save_pretrained writes it")
    start.add_argument("--endpoint", help="JSON: seedbed.encoders.settings.Endpoint; not trained")
    parser.add_argument("--objective", help="JSON: {name: settings}, see encoders.objectives; none: it is not trained")
    parser.add_argument("--texts", type=Path, help="TSV: id and the columns that the objective reads")
    parser.add_argument(
        "--each", nargs="+", default=[], type=pair, metavar="LANGUAGE=TSV", help="instead of --texts: of each language"
    )
    parser.add_argument("--pivot", type=Path, help="TSV: id and these columns in the pivot language")
    parser.add_argument(
        "--mining", help="JSON: seedbed.encoders.settings.Mining, by which neighbours among them are mined"
    )
    parser.add_argument("--miner", type=Path, help="the backbone that mined them, if it is not --weights")
    parser.add_argument("--rows", type=int, help="train on so many of the texts; see corpora.subset")
    parser.add_argument(
        "--refer", nargs="+", default=[], type=pair, metavar="NAME=DIR", help="the encoders that the objective names"
    )
    add_endpoints(parser)
    add_translations(parser)
    parser.add_argument("--training", default="{}", help="JSON: seedbed.encoders.settings.Training")
    parser.add_argument("--prefix", default="", help="put before every text, in training and in use")
    parser.add_argument("--chosen-prefix", type=Path, help="JSON of choose_prefix: instead of --prefix")
    parser.add_argument("--language", default="", help="of the texts, if the prefix has {columns} of the registry")
    parser.add_argument(
        "--languages", nargs="+", default=[], type=pair, metavar="COLUMN=LANGUAGE", help="of columns in another"
    )
    parser.add_argument("--own-prefixes", nargs="+", default=[], type=pair, help="LANGUAGE=PREFIX, not the registry's")
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--about", default={}, type=json_object, help="JSON for the card: seedbed.encoders.card.text")
    add_checkpoints(parser)
    return parser


def make(args: argparse.Namespace, tell: Tell, resumed: AbstractContextManager[dict[str, Any]]) -> None:
    """Make the encoder.

    Args:
        tell: writes its card.
        resumed: as long as it trains, see `resumable`.
    """
    given = chosen(args.chosen_prefix, "prefix", str) if args.chosen_prefix else args.prefix
    prefix = by_language(given, dict(args.own_prefixes))
    if args.endpoint:
        endpoint = Endpoint.load(args.endpoint)
        about = {"endpoint": endpoint.url, "model": endpoint.model, "seed": args.seed}
        save(remote(endpoint, prefix=prefix), args.output, args.about | about, {}, tell=tell)
        return
    table = read_rows(args) if args.texts or args.each or args.translations else None
    objective = objectives.parsed(args.objective) if args.objective else None
    settings, languages = Training.load(args.training), {"": args.language} | dict(args.languages)
    folders = {name: Path(folder) for name, folder in args.refer}
    same = {"prefix": prefix, "languages": languages, "seed": args.seed, "about": args.about, "tell": tell}
    if objective and objective.copies:
        copy = objectives.copier()
        copy(args.weights, table, settings, objective=objective, folders=folders, output=args.output, **same)
        return
    with resumed as options:
        train(
            args.weights,
            table,
            settings,
            objective=objective,
            folders=folders,
            coupling=Coupling(args.fusion, read_english(args.english)) if args.fusion else None,
            **same,
            **options,
        )


def add_translations(parser: argparse.ArgumentParser) -> None:
    """Arguments of encoders that learn from translations, or read them."""
    parser.add_argument(
        "--translations",
        nargs="+",
        default=[],
        type=pair,
        metavar="TRANSLATOR=TSV",
        help="instead: candidates to choose",
    )
    parser.add_argument(
        "--judgements", nargs="+", default=[], type=Path, help="TSVs, one for each round of translators"
    )
    parser.add_argument("--fusion", help="of a text and its English: seedbed.encoders.coupled.Fusion")
    parser.add_argument("--english", nargs="+", default=[], type=Path, help="TSVs: text, and the English of it")


def read_rows(args: argparse.Namespace) -> pd.DataFrame | Files:
    """What is learnt from, with the pivot's rows beside it; neighbours must be those that the backbone finds."""
    if args.translations:
        return subset(read_candidates(args.translations, args.judgements), args.rows)
    if args.each:
        return Files({code: Path(file) for code, file in args.each}, args.rows)
    table = read_table(args.texts, ["id"])
    if args.pivot:
        table = with_pivot(table, read_table(args.pivot, ["id"]))
    if args.mining or "neighbour_1" in table.columns:
        mining = Mining.load(args.mining) if args.mining else None
        require_mined(args.texts, args.miner or args.weights, prefix=args.prefix, mining=mining)
    return subset(table, args.rows)


def json_object(text: str) -> dict[str, Any]:
    """A JSON object, as an argparse type."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"{text!r} is not a JSON object")
    return value


if __name__ == "__main__":
    run(main)
