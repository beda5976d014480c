"""Draw one language's seed pairs from its parallel text; no side of a pair is an evaluation sentence."""

from pathlib import Path

from scripts.cli import arguments, run
from seedbed.corpora.contamination import texts_of
from seedbed.corpora.language_id import LanguageId
from seedbed.corpora.pairs import select
from seedbed.corpora.settings import COLUMNS, SeedPairs
from seedbed.io import read_blocks, read_json, write_json, write_table


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "corpus", "record", "audit", "output")
    parser.add_argument("--known", nargs="*", type=Path, default=[], help="sentences of the language and of the pivot")
    parser.add_argument("--tests", nargs="*", type=Path, default=[], help="the study's evaluation sets")
    parser.add_argument("--scripts", nargs=2, required=True, help="ISO 15924, of the language and of the pivot")
    parser.add_argument("--seed-pairs", default="{}", help="JSON: seedbed.corpora.settings.SeedPairs")
    args = parser.parse_args(argv)

    counts = read_json(args.record)["counts"]
    pairs, audit = select(
        lambda: read_blocks(args.corpus, ["id", *COLUMNS["parallel"]]),
        LanguageId.read(*args.known) if args.known else None,
        texts_of(args.tests),
        tuple(args.scripts),
        SeedPairs.load(args.seed_pairs),
    )
    write_table(pairs, args.output)
    write_json({"corpus": counts} | audit, args.audit)


if __name__ == "__main__":
    run(main)
