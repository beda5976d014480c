"""Tables in Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[Any], rows: Iterable[Iterable[Any]], *, right: int = 0) -> str:
    """A table in Markdown, of which the last `right` columns are right-aligned; a `|` in a cell is escaped, and the
    lines of a cell are joined.
    """
    lines = [[" ".join(str(cell).splitlines()).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    rule = ["---"] * (len(head) - right) + ["---:"] * right
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))


def aligned(head: Sequence[str], rows: Iterable[Iterable[Any]], *, left: int) -> str:
    """A table in Markdown whose columns are as wide as their cells, readable on a terminal.

    Args:
        left: number of left-aligned columns; the others are right-aligned.
    """
    cells = [head, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(head))]
    rule = ["-" * width if n < left else "-" * (width - 1) + ":" for n, width in enumerate(widths)]
    aligns = ["<" if n < left else ">" for n in range(len(head))]
    lines = [
        [f"{cell:{align}{width}}" for cell, align, width in zip(row, aligns, widths, strict=True)]
        for row in (cells[0], rule, *cells[1:])
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
