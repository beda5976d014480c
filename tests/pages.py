"""The pages of the documentation, and the blocks of commands and of Python in them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PAGES = [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").rglob("*.md"))]
MARK = re.compile(r"<!-- (needs|run by): (.+) -->")
COMMAND = re.compile(r"(?:make|snakemake|snakedeploy|seedbed|python|pip|git|source|docker|sbatch|hf|sed|bash|\.) ")
PLANS = re.compile(r"snakemake .*(?:-n\b|--dry-run|\bforecast\b)")


class Block(NamedTuple):
    """Commands, or lines of Python, of a page."""

    page: Path
    line: int
    lines: list[str]
    mark: str
    """`needs` or `run by`; empty: nothing is said of it."""
    said: str

    @property
    def python(self) -> bool:
        return bool(re.match(r"(?:from|import) |configfile:|# \S+\.(?:py|smk)$", self.lines[0]))

    def commands(self) -> list[str]:
        """Its commands, without comments and output that is shown with them."""
        whole = re.sub(r"\\\n\s*", "", "\n".join(self.lines))
        lines = [re.sub(r"\s+#.*$", "", line) for line in whole.splitlines()]
        return [line for line in lines if COMMAND.match(f"{line} ")]

    def to_run(self) -> list[str]:
        """The commands that a test has to run."""
        plans = [line for line in self.commands() if PLANS.match(line) and "minutes" not in self.said]
        return self.commands() if not self.mark else plans if self.mark == "needs" else []


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page that have commands or are Python."""
    mark, lines = ("", ""), page.read_text(encoding="utf-8").splitlines()
    place = 0
    while place < len(lines):
        start, line = place, lines[place]
        place += 1
        if found := MARK.fullmatch(line.strip()):
            mark = (found[1], found[2])
        elif line.startswith("```") or (line.startswith("    ") and not lines[start - 1].strip()):
            fenced = line.startswith("```")
            while place < len(lines) and (
                not lines[place].startswith("```") if fenced else re.match(r" {4}|$", lines[place])
            ):
                place += 1
            inside = textwrap.dedent("\n".join(lines[start + fenced : place])).strip("\n").splitlines()
            place += fenced
            block = Block(page, start + 1, inside, *mark)
            if line == "```python" or (not fenced and (block.commands() or block.python)):
                yield block
            mark = ("", "")
        elif line.strip():
            mark = ("", "")


BLOCKS = [block for page in [*PAGES, Path("config/README.md")] for block in blocks(page)]
