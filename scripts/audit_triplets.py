"""Drop the triplets that must not train an encoder; say how many, which and why."""

import argparse
from functools import partial
from pathlib import Path

from scripts.cli import arguments, run
from seedbed.corpora.contamination import EvaluationTexts, texts_of
from seedbed.corpora.language_id import LanguageId
from seedbed.io import read_blocks, read_table, write_json, write_table
from seedbed.triplets.audit import Expected, audit
from seedbed.triplets.settings import Audit
from seedbed.triplets.switching import WordCheck
from seedbed.triplets.translations import audit_translations


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "triplets", "rejected", "report", "output")
    parser.add_argument("--corpus", required=True, type=Path, help="sentences of the anchors' language")
    parser.add_argument("--pivot", type=Path, help="sentences of the pivot language; left out, this is the pivot")
    parser.add_argument("--in-pivot", action="store_true", help="positives and negatives are in the pivot language")
    parser.add_argument("--script", required=True, help="ISO 15924 of positives and negatives")
    parser.add_argument("--source", type=Path, help="the rows that these are translations of; left out, they are none")
    parser.add_argument("--tests", nargs="*", type=Path, default=[], help="the language's evaluation sets")
    parser.add_argument("--audit", default="{}", help="JSON: seedbed.triplets.settings.Audit")
    args = parser.parse_args(argv)

    rules = Audit.load(args.audit)
    identify = LanguageId.read(args.corpus, args.pivot) if rules.language_id and args.pivot else None
    known = EvaluationTexts(texts_of(args.tests))
    rows = partial(read_blocks, columns=["id", "anchor", "positive", "negative"])
    triplets = partial(rows, args.triplets)
    if args.source:
        found = audit_translations(triplets, rows(args.source), args.script, identify, known, rules)
    else:
        target = Expected(args.in_pivot, args.script)
        found = audit(triplets, target, identify, known, rules, word_check(args, rules))
    kept, rejected, report = found
    write_table(kept, args.output)
    write_table(rejected, args.rejected)
    write_json(report, args.report)


def word_check(args: argparse.Namespace, rules: Audit) -> WordCheck | None:
    """The check of words that the rules ask for: targets' own language against the other one, if it is another."""
    foreign = rules.foreign_words if args.pivot else 0
    if not foreign and not rules.unlikely_words:
        return None
    corpus, pivot = (path and list(read_table(path, ["id", "text"])["text"]) for path in (args.corpus, args.pivot))
    own, other = (pivot or corpus, corpus) if args.in_pivot else (corpus, pivot or corpus)
    return WordCheck(own, other, args.script, others=foreign, unlikely=rules.unlikely_words)


if __name__ == "__main__":
    run(main)
