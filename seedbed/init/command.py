"""The command `seedbed`: `init` writes a study for a text file, `add` adds a file to a study, `check` checks one."""

import argparse
import os
import shlex
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import regex
import yaml

from seedbed import yamls
from seedbed.init.adding import KINDS, entries
from seedbed.init.beginning import study
from seedbed.init.own_text import language_of, sentences
from seedbed.init.table_files import COLUMNS, require_file
from seedbed.init.yaml_text import commented, edited
from seedbed.io import UserError, atomic
from seedbed.resources import ROOT
from seedbed.settings import suggest
from seedbed.study.loading import load
from seedbed.study.remarks import remarks

TABLES = ".tsv, .csv, .jsonl, .parquet"
"""Endings of the files that `table_files.read` takes, for help."""
WRITTEN = "# Written by `seedbed init`"
HEAD = (
    WRITTEN
    + """; every key is explained in docs/config.md. What was guessed:
{guesses}
#
# The plan, then the run:
#     snakemake {options}--dry-run
#     snakemake {options}--show-failed-logs
# The answer is then in {results}/answer.md. More data: seedbed add FILE --{kinds}.
"""
)
COMMENTS = {
    ("results",): "Where results go; another study needs another folder.",
    ("corpora", "others"): "What encoders train on besides single sentences.",
    ("corpora", "parallel"): "Translations: those that train.",
    (
        "anchors",
    ): "How many sentences `unsupervised` trains on at most; language_id drops English ones by `corpora.text` of eng.",
    (
        "backbones",
    ): "The encoder that training starts from, and what its makers put before a text; hub: NAME takes one of a hub.",
    (
        "training",
    ): "Of recipes that have no settings of their own. Presets have: `adjacent: {training: {steps: 100}}` changes it.",
    ("recipes",): "How encoders are made; leave out those that you do not want. bare is base without its prefix.",
    ("tasks",): "What encoders are scored on.",
    ("best",): "Which encoder the answer names first, and why.",
    ("tables",): "What is scored besides tests of `best`: table1 has graded pairs, labels knn, translations bitext.",
    ("forecast",): "What `snakemake forecast` reckons with; gpu where there is one.",
}
"""What is said above keys that a person may want to change."""


def main(argv: list[str] | None = None) -> None:
    """Run the command; bad input ends it with one line and exit code 1."""
    parser = argparse.ArgumentParser(prog="seedbed", description=__doc__)
    commands = parser.add_subparsers(required=True)
    init = commands.add_parser("init", help="write a study of a file of text")
    init.add_argument("text", type=Path, help=f"one sentence a line, or a table ({TABLES}) with a column text")
    init.add_argument("--language", default="", help="ISO 639-3; left out, the file's name says it")
    init.add_argument("--name", default="", help="English name of a language that is not in the registry")
    init.add_argument("--script", default="", help="ISO 15924; left out, the registry or the text says it")
    for kind, columns in COLUMNS.items():
        init.add_argument(f"--{kind}", type=Path, help=f"table ({TABLES}) of {', '.join(columns)}")
    init.add_argument("--output", type=Path, help="the study, which must not be there; left out, named as the text")
    init.add_argument("--results", default="", help="its folder of results; left out, results/ and the study's name")
    init.set_defaults(run=begin)
    add = commands.add_parser("add", help="add a file to a study that `seedbed init` wrote")
    add.add_argument("file", type=Path, help="a table, or a text with one sentence a line")
    kinds = add.add_mutually_exclusive_group(required=True)
    for kind in KINDS:
        columns = COLUMNS.get(kind, ["sentences that follow one another"])
        kinds.add_argument(
            f"--{kind}", dest="kind", action="store_const", const=kind, help=f"it has {', '.join(columns)}"
        )
    add.add_argument("--study", type=Path, help="left out, the one that `seedbed init` wrote in this folder")
    add.add_argument("--language", default="", help="of a study of several")
    add.set_defaults(run=extend)
    for command in (init, add):
        command.add_argument("--sure", action="store_true", help="it is in that language, whatever it reads like")
    check = commands.add_parser("check", help="say what is wrong with a study, or that nothing is")
    check.add_argument("study", type=Path, nargs="+", help="its YAML files, as after --configfile")
    check.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE", help="as after Snakemake's --config")
    check.set_defaults(run=look)
    args, more = parser.parse_known_args(argv)
    try:
        _require_known(more)
        args.run(args)
    except UserError as error:
        sys.exit(f"error: {_printable(str(error))}")
    except OSError as error:
        sys.exit(f"error: {_printable(str(error.filename or 'output'))}: {(error.strerror or str(error)).lower()}")


def _require_known(more: list[str]) -> None:
    """Require that nothing is left of the command line."""
    if options := [one for one in more if one.startswith("-")]:
        raise UserError(
            f"{options[0]}: no such option; `seedbed init --help`, `add --help` and `check --help` list them"
        )
    if more:
        raise UserError(
            f"{more[0]}: one file too many; `init` takes tables after --{', --'.join(COLUMNS)}, and `add` one file"
        )


def _printable(text: str) -> str:
    """A text with line breaks and control characters escaped: names of files and columns may have any."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def begin(args: argparse.Namespace) -> None:
    """Write a study, which is checked as Snakemake checks it.

    Raises:
        UserError: a file or the language is wrong, or the study exists already.
    """
    given = {kind: path for kind in COLUMNS if (path := getattr(args, kind))}
    output = args.output or Path(f"{args.text.stem}.yaml")
    _plain(args.text, *given.values(), output, args.name, args.results)
    if output.exists():
        raise UserError(f"{output}: is there already; give another by --output, or add a file to it by `seedbed add`")
    texts = sentences(args.text)
    language = language_of(args.text, texts, args.language, args.name, args.script, sure=args.sure)
    results = args.results or f"results/{regex.sub(r'[^A-Za-z0-9._-]+', '-', output.stem).strip('-.') or language.code}"
    _require_free(results)
    found, said = study(args.text, texts, language, given, results)
    guesses = "\n".join(f"# * {one}" for one in said)
    head = HEAD.format(guesses=guesses, options=_options(output), results=results, kinds="|--".join(KINDS))
    comments = COMMENTS | {("languages", language.code, "corpus"): "The text; of skipped lines a test is made."}
    _write(output, head + commented(found, comments), found)
    print(head, end="")


def extend(args: argparse.Namespace) -> None:
    """Add a file to a study, which is checked as Snakemake checks it; UserError: no such study, or a wrong file."""
    path = args.study or _only_study()
    _plain(args.file, path)
    require_file(path, "YAML")
    config = yamls.settings(path)
    before = load(config, where=str(path))
    code = args.language or next(iter(before.languages))
    if code not in before.languages or (not args.language and len(before.languages) > 1):
        given = f"--language {args.language}".strip()
        raise UserError(
            f"{given}: {path} has {', '.join(before.languages)}; name one, or first write another under its `languages`"
        )
    new, said = entries(before, config, args.file, args.kind, code, sure=args.sure)
    # As bytes, since `read_text` would make line feeds of all line ends.
    text = edited(path.read_bytes().decode("utf-8"), new, where=str(path))
    _write(path, text, yaml.safe_load(text))
    print("\n".join([*said, f"{path}: added {', '.join('.'.join(keys) for keys, _ in new)}. What is new runs by:"]))
    print(f"    snakemake {_options(path)}--show-failed-logs")


def _plain(*names: Path | str) -> None:
    """Names that go into a study, and into its comments: nothing in them means anything there."""
    for name in map(str, names):
        if not name.isprintable():
            raise UserError(f"{name!r}: has characters that cannot be printed, as line breaks, or no UTF-8; rename it")
        if {*"{}"} & {*name}:
            raise UserError(f"{name}: a study takes names in braces for the language's; rename the file")


def _options(path: Path) -> str:
    """The options by which Snakemake runs a study from this folder."""
    clone = Path("Snakefile").is_file() and Path("seedbed/init/command.py").is_file()
    options = "" if clone else f"--snakefile {shlex.quote(str(ROOT / 'Snakefile'))} "
    return options + ("" if path == Path("config.yaml") else f"--configfile {shlex.quote(str(path))} ") + "--cores 2 "


def _require_free(results: str) -> None:
    """Require that no study has these results: neither one that has run, nor one in this folder."""
    if Path(results).is_dir():
        raise UserError(f"{results}: holds the results of a study; give another folder by --results")
    for file, found in _studies():
        if os.path.realpath(str(found.get("results", "results"))) == os.path.realpath(results):
            raise UserError(f"{results}: is the folder of {file}; give another by --results")


def _studies() -> Iterable[tuple[Path, dict[str, Any]]]:
    """The studies in this folder and in those below it; what cannot be read is none."""
    for file in sorted(filter(Path.is_file, (*Path().glob("*.y*ml"), *Path().glob("*/*.y*ml")))):
        try:
            found = yamls.read(file)
        except (UserError, OSError):
            continue
        if isinstance(found, dict) and "languages" in found:
            yield file, found


def _only_study() -> Path:
    """The one study in this folder that `seedbed init` wrote."""
    found = [str(file) for file, _ in _studies() if file.read_text(encoding="utf-8").startswith(WRITTEN)]
    if len(found) != 1:
        raise UserError(f"--study: name the study to add to; {suggest('', found) if found else 'none is here'}")
    return Path(found[0])


def _write(output: Path, text: str, expected: dict[str, Any]) -> None:
    """Write a study that reads as expected and that Snakemake would take."""
    if yaml.safe_load(text) != expected:
        raise UserError(f"{output}: a name in it means something in YAML; rename the files")
    load(expected, where=str(output))
    file = Path(os.path.realpath(output))  # a link stays one
    before = file.stat() if file.exists() else None
    if before and not os.access(file, os.W_OK):
        raise UserError(f"{output}: is write-protected; allow that it is written (chmod u+w), or copy it and add there")
    try:
        with atomic(file) as temporary:
            temporary.write_bytes(text.encode())
            if before:
                temporary.chmod(stat.S_IMODE(before.st_mode))
    except OSError as error:  # it has the name of the temporary file
        raise UserError(f"{output}: cannot be written ({(error.strerror or str(error)).lower()})") from None


def look(args: argparse.Namespace) -> None:
    """Check a study as Snakemake checks it; UserError: the first fault, of a file that is no YAML with its line."""
    merged: dict[str, Any] = {}
    for file in args.study:
        require_file(file, "YAML")
        yamls.check_configuration(file)
        merged = yamls.laid_over(merged, yamls.settings(file))
    for given in args.config:
        key, _, value = given.partition("=")
        try:
            merged = yamls.laid_over(merged, {key: yaml.safe_load(value)})
        except yaml.YAMLError:
            raise UserError(f"--config {given}: expected KEY=VALUE, the value as in YAML") from None
    if "languages" not in merged:
        files = shlex.join(map(str, args.study))
        raise UserError(
            "config.languages: Field required; what is laid over another study is checked with that one first, as in "
            f"`seedbed check config.yaml {files}`"
        )
    for remark in remarks(load(merged)):
        print(_printable(f"warning: {remark}"), file=sys.stderr)
    print(_printable(f"{', '.join(map(str, args.study))}: nothing is wrong"))


if __name__ == "__main__":
    main()
