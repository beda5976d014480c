"""What every program shares: one line for bad input, exit codes, and arguments of a few common forms."""

import argparse
import contextlib
import errno
import gc
import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

from seedbed.checkpoints import MINUTES, own_state
from seedbed.io import UserError
from seedbed.manifests import MANIFEST
from seedbed.precision import Precision

NEEDLESS = {
    # A table of weights that a file has besides, or lacks ("newly initialized"): `weights.require_whole` stops at those
    # that are needed.
    "transformers.modeling_utils": "LOAD REPORT",
    # Training writes the tokenizer's special tokens into a configuration that names none ("differ"): as it should.
    "transformers.trainer_utils": "were aligned accordingly",
}
"""Logger of a library -> words of what it says without need."""


def run(main: Callable[[], None]) -> None:
    """Run a program; bad input, a full disk and whatever the system refuses end it with one line and exit code 1."""
    gc.freeze()  # what was imported stays: to look through it, at the end above all, takes seconds
    gc.enable()
    _spare_the_log()
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS)
        reason = error.strerror.lower() if error.strerror else " ".join(str(error).split()) or type(error).__name__
        sys.exit(f"error: {error.filename or 'output'}: {reason}{'; nothing was written' if full else ''}")


def _spare_the_log() -> None:
    """Drop what libraries log in every sound run, and what sounds like a fault to somebody who reads it."""
    for library, words in NEEDLESS.items():
        logging.getLogger(library).addFilter(lambda record, words=words: words not in str(record.msg))
    # peft asks for it by the name that transformers 5 has replaced.
    warnings.filterwarnings("ignore", message="`is_gradient_checkpointing` is deprecated", category=FutureWarning)


def by_candidate(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, Path]]:
    """Candidate -> language -> file, of arguments CANDIDATE/LANGUAGE=FILE."""
    found: dict[str, dict[str, Path]] = {}
    for key, file in pairs:
        candidate, _, language = key.partition("/")
        found.setdefault(candidate, {})[language] = Path(file)
    return found


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE, as an argparse type."""
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def arguments(description: str | None, *files: str, epilog: str | None = None) -> argparse.ArgumentParser:
    """What reads a program's arguments; each of these files or folders is one, and required."""
    parser = argparse.ArgumentParser(description=description, epilog=epilog)
    for name in files:
        parser.add_argument(f"--{name}", required=True, type=Path)
    return parser


def adapter_parser(
    description: str | None, examples: str, help: str, styles: tuple[str, ...] = ("chat", "plain")
) -> argparse.ArgumentParser:
    """Arguments of every program that trains an adapter; `examples` names the option of its training file."""
    parser = arguments(description, "output")
    parser.add_argument("--base", required=True, type=Path, help="directory of the model that is adapted")
    parser.add_argument("--name", required=True, help="its name")
    parser.add_argument(f"--{examples}", required=True, type=Path, help=help)
    parser.add_argument("--language", required=True, help="name of the language that is written")
    parser.add_argument("--style", required=True, choices=styles)
    parser.add_argument("--dtype", default="auto", choices=get_args(Precision))
    parser.add_argument("--lora", default="{}", help="JSON: seedbed.generators.settings.Lora")
    add_checkpoints(parser)
    return parser


def tuning_parser(description: str | None, base: str, train: str, tests: str) -> argparse.ArgumentParser:
    """Arguments of every program that fine-tunes an encoder and keeps its answers; the texts are helps of options."""
    parser = arguments(description)
    parser.add_argument("--base", required=True, type=Path, help=base)
    parser.add_argument("--train", required=True, type=Path, help=train)
    parser.add_argument("--tests", required=True, nargs="+", type=pair, help=f"LANGUAGE/NAME=FILE, {tests}")
    parser.add_argument("--prefix", default="", help="put before every text, or question")
    parser.add_argument("--dtype", default="auto", choices=get_args(Precision))
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--about", default={}, type=json.loads, help="JSON: what score files say of it")
    parser.add_argument("--output", required=True, type=Path, help="directory of labels.tsv: test, id, label")
    add_checkpoints(parser)
    return parser


@contextlib.contextmanager
def tuning(args: argparse.Namespace, argv: list[str] | None) -> Iterator[dict[str, Any]]:
    """What fine-tuning is told besides its rows and settings; as long as the block. Arguments as of `training`."""
    with resumable(args, argv) as options:
        options.pop("output")  # of its answers, which are written when all are there
        yield options | {"prefix": args.prefix, "seed": args.seed, "dtype": args.dtype}


def asking_parser(description: str | None) -> argparse.ArgumentParser:
    """Arguments of every program by which a language model looks at the texts of a set, each once."""
    parser = arguments(description, "texts", "state", "record", "output")
    parser.add_argument("--columns", required=True, nargs="+", type=pair, help="COLUMN=LANGUAGE of its texts")
    parser.add_argument("--languages", required=True, type=json.loads, help="JSON: code -> name, and a model's code")
    parser.add_argument("--pivot", required=True, help="code of the language that is translated into")
    parser.add_argument("--name", required=True, help="the translator's, or the judge's")
    parser.add_argument("--generator", nargs="*", default=[], help="JSON: seedbed.generators.settings.Generator")
    parser.add_argument("--base", type=Path, help="directory of the language model; left out, a server alone has it")
    return parser


def add_study(parser: argparse.ArgumentParser) -> None:
    """Arguments of every program that plans a study again."""
    parser.add_argument("--configfiles", nargs="*", type=Path, default=[], help="as Snakemake is given them")
    parser.add_argument("--config", default={}, type=json.loads, help="JSON: what --config changes")


def add_endpoints(parser: argparse.ArgumentParser) -> None:
    """Arguments of every program that opens encoders which may be a server's; see `seedbed.servers.named`."""
    said = "JSON: seedbed.encoders.settings.Endpoint, those that may be asked, as they are set today"
    parser.add_argument("--endpoints", nargs="*", default=[], help=said)


def add_fetching(parser: argparse.ArgumentParser) -> None:
    """Arguments of every program that fetches: what, and where downloads and their revisions are kept."""
    parser.add_argument("--source", required=True, help="JSON: seedbed.corpora.settings.Source")
    parser.add_argument("--downloads", type=Path, default=Path("downloads"))
    parser.add_argument("--lock", type=Path, default=Path("assets.lock.json"))


@contextlib.contextmanager
def resumable(args: argparse.Namespace, argv: list[str] | None) -> Iterator[dict[str, Any]]:
    """Where a training writes, and how it goes on after a kill; as long as the block.

    Args:
        args: as `add_checkpoints` reads them, and `output`.
        argv: words of the command, as `checkpoints.own_state` takes them.
    """
    with own_state(args.state, args.output / MANIFEST, argv) as state:
        yield {"output": args.output, "state": state, "minutes": args.checkpoint_minutes}


def named_of(args: argparse.Namespace) -> dict[str, Any]:
    """What the training of an adapter is told of its base, by arguments as `adapter_parser` reads them."""
    return {"name": args.name, "dtype": args.dtype}


def add_checkpoints(parser: argparse.ArgumentParser) -> None:
    """Arguments of every program that trains: where it goes on after a kill."""
    parser.add_argument("--state", required=True, type=Path, help="directory for the checkpoints of a killed job")
    parser.add_argument("--checkpoint-minutes", default=MINUTES, type=float, help="between two of them")
