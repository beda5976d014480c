"""What a user's file is that is no text in UTF-8, and how it becomes one."""

import codecs
import contextlib
import re
import shlex
from pathlib import Path

from seedbed.io import UserError

NO_TEXT = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"PK\x03\x04": "zip, like .docx",
    b"%PDF": "PDF",
    b"PAR1": "Parquet",
    b"\xd0\xcf\x11\xe0": "OLE, like .doc",
}
"""First bytes -> format of a file that contains no plain text."""
MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",  # before UTF-16, whose mark its own begins with
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Byte order marks -> the encoding of a text that is not UTF-8."""
UNMARKED = ("UTF-32LE", "UTF-32BE", "UTF-16LE", "UTF-16BE")
"""Encodings of a text that has NUL bytes and no byte order mark."""
CONTROL = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f]")
"""What no text has."""


def require_text(path: Path) -> None:
    """Require that a file is neither packed nor a document, nor UTF-16 or UTF-32; a UserError says what it is."""
    require_utf8(path, "save it as text in UTF-8, one sentence a line")
    if b"\0" in _begin(path):
        raise UserError(f"{path}: no text (it has NUL bytes); save it as text in UTF-8, one sentence a line")


def require_utf8(path: Path, instead: str = "give it the ending of what it is") -> None:
    """Require that a text or a table is neither packed, nor a document, nor UTF-16 or UTF-32.

    Args:
        instead: what to do with a document, for the message.

    Raises:
        UserError: it is; the message has the command that converts it from another encoding.
    """
    begin = _begin(path)
    if what := next((what for first, what in NO_TEXT.items() if begin.startswith(first)), ""):
        raise UserError(f"{path}: no text ({what}); unpack it, or {instead}")
    marked = next((name for mark, name in MARKS.items() if begin.startswith(mark)), "")
    if encoding := marked or (_unmarked(begin) if b"\0" in begin else ""):
        raise UserError(f"{path}: {encoding}, not UTF-8; convert it: {conversion(path, encoding)}")


def _begin(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(64)


def _unmarked(begin: bytes) -> str:
    """The encoding in which bytes, NUL among them, are most ASCII; empty: they are no text in any.

    Text of one byte a letter with a few NULs among them is none: as UTF-16 it would be Chinese.
    """
    others = begin.replace(b"\0", b"")
    if len(others) > 3 / 4 * len(begin) and not CONTROL.search(others.decode("latin-1")):
        return ""
    found = {}
    for encoding in UNMARKED:
        with contextlib.suppress(UnicodeDecodeError):
            text = begin.decode(encoding)
            if (plain := sum(map(str.isascii, text))) and not CONTROL.search(text):
                found[encoding] = plain
    return max(found, key=lambda one: found[one], default="")


def conversion(path: Path, encoding: str) -> str:
    """The command that makes UTF-8 of a file, to be pasted into a shell."""
    made = path.with_name(f"{path.stem}.utf8{path.suffix}")
    return f"iconv -f {encoding} -t UTF-8 < {shlex.quote(str(path))} > {shlex.quote(str(made))}"
