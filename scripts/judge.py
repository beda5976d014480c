"""Score the translations of a corpus or test set by a judge, each candidate of a text once."""

from typing import get_args

from scripts.cli import asking_parser, pair, run
from seedbed.generators import translations
from seedbed.generators.candidates import Tongue, writer_of
from seedbed.generators.judging import judgements
from seedbed.generators.translation_settings import Judge
from seedbed.io import read_table, write_json, write_table

ANSWERS = get_args(Judge.model_fields["answer"].annotation)


def main(argv: list[str] | None = None) -> None:
    parser = asking_parser(__doc__)
    parser.add_argument("--translations", required=True, nargs="+", type=pair, help="TRANSLATOR=FILE")
    parser.add_argument("--answer", choices=ANSWERS, default=ANSWERS[0])
    args = parser.parse_args(argv)

    judge = writer_of(args.generator, args.answer, args.base, args.state)
    languages = translations.texts_of(args.texts, dict(args.columns), args.pivot)
    tables = {name: read_table(path, translations.COLUMNS) for name, path in args.translations}
    tongues = {code: Tongue(**facts) for code, facts in args.languages.items()}
    table, counts = judgements(tables, languages, tongues, args.pivot, judge)
    write_table(table, args.output)
    write_json({"judge": args.name, "counts": counts, **(judge.about if judge else {})}, args.record)


if __name__ == "__main__":
    run(main)
