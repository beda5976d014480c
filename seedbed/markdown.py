"""Tables in Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[Any], rows: Iterable[Iterable[Any]], *, right: int = 0) -> str:
    """A table in Markdown; a `|` in a cell is escaped.

    Args:
        right: the number of right-aligned columns, which are the last.
    """
    lines = [[str(cell).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    rule = ["---"] * (len(head) - right) + ["---:"] * right
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))
