"""Write a positive and a negative for each anchor of one shard, or translate its rows."""

from pathlib import Path
from typing import get_args

from scripts.cli import arguments, run
from seedbed.checkpoints import own_state
from seedbed.corpora.settings import COLUMNS
from seedbed.corpora.subset import subset
from seedbed.generators.backends import open_backend
from seedbed.generators.prompts import prompter
from seedbed.generators.settings import TRANSLATION, Generator, Method
from seedbed.io import read_table
from seedbed.manifests import digest_of
from seedbed.triplets.synthesis import shard, synthesise, translated


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "anchors", "output")
    parser.add_argument("--base", type=Path, help="directory of the language model; left out, a server alone has it")
    parser.add_argument("--name", required=True, help="the generator's name")
    parser.add_argument("--generator", default="{}", help="JSON: seedbed.generators.settings.Generator")
    parser.add_argument("--rows", type=int, help="for so many of the anchors, see corpora.subset; 0: all")
    parser.add_argument("--shard", type=int, default=0, help="number of the shard, from 0")
    parser.add_argument("--shards", type=int, default=1, help="number of shards")
    parser.add_argument("--method", required=True, choices=get_args(Method))
    parser.add_argument("--language", required=True, help="name of the language of positives and negatives")
    parser.add_argument("--translated", nargs=2, help="a translator's codes of the anchors' language and of the other")
    parser.add_argument("--positive-adapter", type=Path)
    parser.add_argument("--negative-adapter", type=Path)
    parser.add_argument("--state", required=True, type=Path, help="directory for what a killed job needs to go on")
    args = parser.parse_args(argv)

    generator = Generator.load(args.generator)
    adapters = {"positive": args.positive_adapter, "negative": args.negative_adapter}
    with own_state(args.state, args.output, argv, generator=Generator) as state:
        backend = open_backend(generator, args.base, [adapter for adapter in adapters.values() if adapter])
        texts = COLUMNS["paraphrases" if args.method == TRANSLATION else "text"]
        anchors = subset(read_table(args.anchors, ["id", *texts]), args.rows or None)
        rows = shard(anchors, args.shard, args.shards)
        how = {"generator": generator, "weights": digest_of(args.base), "state": state}
        how |= {"name": args.name, "method": args.method, "output": args.output}
        if args.method == TRANSLATION:
            translated(backend, rows, args.translated, **how)
        else:
            ask = prompter(args.method, args.language, generator.prompts, generator.sampling.seed, generator.shots)
            synthesise(backend, rows, ask, adapters, **how)


if __name__ == "__main__":
    run(main)
