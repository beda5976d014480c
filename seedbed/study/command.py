"""The command `seedbed`: `seedbed init kin.txt` writes a study of a file of text."""

import argparse
import shlex
import sys
from pathlib import Path

import yaml

from seedbed.io import UserError, atomic
from seedbed.resources import ROOT
from seedbed.study.beginning import study
from seedbed.study.loading import load
from seedbed.study.own_tables import COLUMNS
from seedbed.study.own_text import language_of, sentences

HEAD = """# Written by `seedbed init`; every key is explained in docs/config.md. What was guessed:
{guesses}
#
# The plan, then the run:
#     snakemake {options}--cores 2 --dry-run
#     snakemake {options}--cores 2 --show-failed-logs
"""


def main(argv: list[str] | None = None) -> None:
    """Run the command; bad input ends it with one line and exit code 1."""
    parser = argparse.ArgumentParser(prog="seedbed", description=__doc__)
    init = parser.add_subparsers(required=True).add_parser("init", help="write a study of a file of text")
    init.add_argument("text", type=Path, help="one sentence a line, or a table (.tsv, .csv, .jsonl) with a column text")
    init.add_argument("--language", default="", help="ISO 639-3; left out, the file's name says it")
    init.add_argument("--name", default="", help="English name of a language that is not in the registry")
    init.add_argument("--script", default="", help="ISO 15924; left out, the registry or the text says it")
    init.add_argument("--sure", action="store_true", help="it is in that language, whatever it reads like")
    for kind, columns in COLUMNS.items():
        init.add_argument(f"--{kind}", type=Path, help=f"table (.tsv, .csv, .jsonl) of {', '.join(columns)}")
    init.add_argument("--output", type=Path, default=Path("config.yaml"), help="the study; it must not be there")
    args = parser.parse_args(argv)
    try:
        begin(args)
    except UserError as error:
        sys.exit(f"error: {error}")


def begin(args: argparse.Namespace) -> None:
    """Write the study, checked as Snakemake checks it; UserError: a file or language is wrong, or it is there."""
    if args.output.exists():
        raise UserError(f"{args.output}: is there already; give another by --output")
    if braced := [path for path in (args.text, *_given(args).values()) if {*"{}"} & {*str(path)}]:
        raise UserError(f"{braced[0]}: a study takes names in braces for the language's; rename the file")
    language = language_of(args.text, sentences(args.text), args.language, args.name, args.script, sure=args.sure)
    found, said = study(args.text, language, _given(args))
    load(found)
    options = "" if ROOT.samefile(".") else f"--snakefile {shlex.quote(str(ROOT / 'Snakefile'))} "
    options += "" if args.output == Path("config.yaml") else f"--configfile {shlex.quote(str(args.output))} "
    head = HEAD.format(guesses="\n".join(f"# * {one}" for one in said), options=options)
    with atomic(args.output) as temporary:
        temporary.write_text(head + yaml.safe_dump(found, sort_keys=False, allow_unicode=True), encoding="utf-8")
    print(head, end="")


def _given(args: argparse.Namespace) -> dict[str, Path]:
    """The tables that are named, by what they are."""
    return {kind: path for kind in COLUMNS if (path := getattr(args, kind))}


if __name__ == "__main__":
    main()
