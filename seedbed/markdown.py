"""Tables in Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[Any], rows: Iterable[Iterable[Any]], *, right: int = 0) -> str:
    """A table in Markdown, of which the last `right` columns are right-aligned; a `|` in a cell is escaped."""
    lines = [[str(cell).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    rule = ["---"] * (len(head) - right) + ["---:"] * right
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))
