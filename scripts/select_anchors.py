"""Draw one language's anchors from its corpus; no anchor is an evaluation sentence."""

from pathlib import Path

from scripts.cli import arguments, run
from seedbed.corpora.anchors import select
from seedbed.corpora.contamination import texts_of
from seedbed.corpora.language_id import LanguageId
from seedbed.corpora.settings import Anchors
from seedbed.io import read_blocks, write_json, write_table


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "corpus", "audit", "output")
    parser.add_argument("--pivot", type=Path, help="some sentences of the pivot language; left out, this is the pivot")
    parser.add_argument("--tests", nargs="*", type=Path, default=[], help="the language's evaluation sets")
    parser.add_argument("--script", required=True, help="ISO 15924")
    parser.add_argument("--anchors", default="{}", help="JSON: seedbed.corpora.settings.Anchors")
    args = parser.parse_args(argv)

    anchors, audit = select(
        lambda: read_blocks(args.corpus, ["id", "text"]),
        LanguageId.read(args.corpus, args.pivot) if args.pivot else None,
        texts_of(args.tests),
        args.script,
        Anchors.load(args.anchors),
    )
    write_table(anchors, args.output)
    write_json(audit, args.audit)


if __name__ == "__main__":
    run(main)
