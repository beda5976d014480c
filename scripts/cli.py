"""What every program shares: one line for bad input, exit codes, and arguments of a few common forms."""

from __future__ import annotations

import argparse
import errno
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from seedbed.checkpoints import MINUTES
from seedbed.io import UserError
from seedbed.precision import Precision


def run(main: Callable[[], None]) -> None:
    """Run a program; bad input and a full disk end it with one line and exit code 1."""
    gc.freeze()  # what was imported stays: to look through it, at the end above all, takes seconds
    gc.enable()
    try:
        main()
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS):
            raise
        sys.exit(f"error: {error.filename or 'output'}: {error.strerror.lower()}; nothing was written")


def pair(text: str) -> tuple[str, str]:
    """NAME=VALUE, as an argparse type."""
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def adapter_parser(
    description: str | None, examples: str, help: str, styles: tuple[str, ...] = ("chat", "plain")
) -> argparse.ArgumentParser:
    """Arguments of every program that trains an adapter; `examples` names the option of its training file."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--base", required=True, type=Path, help="directory of the model that is adapted")
    parser.add_argument("--name", required=True, help="its name")
    parser.add_argument(f"--{examples}", required=True, type=Path, help=help)
    parser.add_argument("--language", required=True, help="name of the language that is written")
    parser.add_argument("--style", required=True, choices=styles)
    parser.add_argument("--dtype", default="auto", choices=get_args(Precision))
    parser.add_argument("--lora", default="{}", help="JSON: seedbed.generators.settings.Lora")
    parser.add_argument("--output", required=True, type=Path)
    add_checkpoints(parser)
    return parser


def add_checkpoints(parser: argparse.ArgumentParser) -> None:
    """Arguments of every program that trains: where it goes on after a kill."""
    parser.add_argument("--state", required=True, type=Path, help="directory for the checkpoints of a killed job")
    parser.add_argument("--checkpoint-minutes", default=MINUTES, type=float, help="between two of them")
