"""What every program shares: one line for bad input, exit codes, and arguments of a few common forms."""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Callable

from seedbed.io import UserError


def run(main: Callable[[], None]) -> None:
    """Run a program; bad input and a full disk end it with one line and exit code 1."""
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
