"""Translate the texts of a corpus or test set into the pivot language, each once."""

from pathlib import Path
from typing import get_args

from scripts.cli import asking_parser, pair, run
from seedbed.generators.candidates import Tongue, translations, writer_of
from seedbed.generators.translation_settings import Translator
from seedbed.generators.translations import texts_of
from seedbed.io import write_json, write_table

READS = get_args(Translator.model_fields["reads"].annotation)


def main(argv: list[str] | None = None) -> None:
    parser = asking_parser(__doc__)
    parser.add_argument("--reads", choices=READS, default=READS[0])
    parser.add_argument("--adapters", nargs="*", default=[], type=pair, help="LANGUAGE=DIR, which translates it")
    parser.add_argument("--given", nargs="*", default=[], type=pair, help="LANGUAGE=FILE: translations that are there")
    args = parser.parse_args(argv)

    own = {name: {code: Path(path) for code, path in getattr(args, name)} for name in ("adapters", "given")}
    tongues = {
        code: Tongue(**facts, adapter=own["adapters"].get(code), given=own["given"].get(code))
        for code, facts in args.languages.items()
    }
    writer = writer_of(args.generator, args.reads, args.base, args.state, [*own["adapters"].values()])
    texts = texts_of(args.texts, dict(args.columns), args.pivot)
    table, counts = translations(texts, tongues, args.pivot, writer)
    write_table(table, args.output)
    write_json({"translator": args.name, "counts": counts, **(writer.about if writer else {})}, args.record)


if __name__ == "__main__":
    run(main)
