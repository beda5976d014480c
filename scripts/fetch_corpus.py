"""Fetch one corpus or test set of one language as a TSV, with a record of its origin."""

from collections import Counter
from pathlib import Path

from scripts.cli import add_fetching, arguments, run
from seedbed import origins
from seedbed.corpora.assets import Store
from seedbed.corpora.contamination import IN_TESTS, IN_TRAINING, EvaluationTexts, texts_of, without_tests
from seedbed.corpora.fetch import fetch
from seedbed.corpora.labels import with_scores
from seedbed.corpora.settings import COLUMNS, NO_TEXT, Cleaning, Source
from seedbed.io import write_json, write_table


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "record", "output")
    add_fetching(parser)
    parser.add_argument("--kind", required=True, choices=list(COLUMNS))
    parser.add_argument("--cleaning", default="{}", help="JSON: seedbed.corpora.settings.Cleaning")
    parser.add_argument("--test", action="store_true", help="an evaluation set: keep every row")
    parser.add_argument("--tests", nargs="*", default=[], type=Path, help="sets whose texts no row may repeat")
    parser.add_argument("--trained", nargs="*", default=[], type=Path, help="corpora whose texts no row may repeat")
    parser.add_argument("--scale", nargs=2, type=float, default=(0.0, 1.0), help="least and greatest gold score")
    args = parser.parse_args(argv)

    source = Source.load(args.source)
    store = Store(args.downloads, args.lock)
    corpus, record = fetch(source, args.kind, store, Cleaning.load(args.cleaning), test=args.test)
    if args.kind == "pairs":
        corpus = with_scores(corpus, tuple(args.scale), origins.told(record["origin"]))
    texts, left_out = [name for name in COLUMNS[args.kind] if name not in NO_TEXT], Counter()
    for files, reason in ((args.tests, IN_TESTS), (args.trained, IN_TRAINING)):
        if files:
            corpus = without_tests(corpus, texts, EvaluationTexts(texts_of(files)), left_out, reason)
    write_table(corpus, args.output)
    if args.tests or args.trained:
        record["counts"] |= left_out | {"kept": record["counts"]["kept"] - left_out.total()}
    write_json(record, args.record)


if __name__ == "__main__":
    run(main)
