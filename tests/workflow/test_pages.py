"""Every command of the pages is run, or a comment before its block says what a test lacks for it, or which test runs it.

`<!-- needs: network -->` and `<!-- run by: tests/workflow/test_contributing.py -->` are not shown on a page. Plans in a block
that needs something are run all the same, unless they take minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from tests import tiny, warm
from tests.unit.test_docs import PAGES
from tests.workflow.conftest import ENVIRONMENT, STUDY, Project, copy_project

LACKING = {"network", "data", "slurm", "gpu", "docker", "account", "minutes", "results"}
"""What a comment can say that is needed: `data` and `results` are the reader's own."""
MARK = re.compile(r"<!-- (needs|run by): (.+) -->")
COMMAND = re.compile(r"(?:make|snakemake|snakedeploy|seedbed|python|pip|git|source|docker|sbatch|hf|sed|bash|\.) ")
PLANS = re.compile(r"snakemake .*(?:-n\b|--dry-run|\bforecast\b)")
PLANNED: set[str] = set()
"""Plans that were made, which another page may show too."""
AS_MODULES = {"snakemake": "python -m snakemake", "seedbed": "python -m seedbed.init.command", "make": "make -n"}
"""Programs as forks of a process with their libraries; of `make` what it would run."""
KIN = "abana abagore abagabo abanyeshuri abarimu bagiye bagarutse basomye isoko umurima inzu ishuri ejo mugitondo nijoro amazi ibiryo kandi ariko cyane igihugu abantu benshi bavuga"


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
IDS = [f"{block.page}-{block.line}" for block in BLOCKS]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A clone with the files that the pages ask of their reader."""
    project = copy_project(tmp_path_factory.mktemp("reader"), STUDY)
    tiny.WORDS["kin"], tiny.WORDS["abc"] = KIN, "tuma lapi soru keti miba " * 4
    lines = tiny.sentences("kin", 400)
    for name, part in (("kin.txt", lines[:300]), ("more.txt", lines[300:])):
        (project.root / name).write_text("\n".join(part) + "\n")
    (project.root / "raw.txt").write_text(". ".join(lines[:300]))
    words = [
        f"{a}{b} {c}{a} {b}{c}"
        for a in ["tuma", "lapi", "soru"]
        for b in ["keti", "miba", "roso"]
        for c in ["wo", "li", "sa", "du", "ne", "bi", "fu"]
    ]
    (project.root / "abc.txt").write_text("\n".join(words) + "\n")
    english = tiny.sentences("eng", 60)
    tables = {
        "kin-eng": {"text": lines[:60], "pivot": english},
        "pairs": {"anchor": lines[:60], "positive": lines[60:120]},
        "graded": {"sentence1": lines[120:180], "sentence2": lines[180:240], "score": range(60)},
        "triplets": {"anchor": lines[:60], "positive": lines[60:120], "negative": lines[120:180]},
    }
    for name, columns in tables.items():
        pd.DataFrame(columns).to_csv(project.root / f"{name}.tsv", sep="\t", index=False)
    return project


def run(reader: Project, command: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a page in the reader's clone."""
    program, _, rest = command.partition(" ")
    path = os.pathsep.join([str(Path(warm.python()).parent), ENVIRONMENT["PATH"]])
    line = f"{AS_MODULES.get(program, program)} {rest}"
    return subprocess.run(
        ["bash", "-c", line], cwd=reader.root, capture_output=True, text=True, env=ENVIRONMENT | {"PATH": path}
    )


@pytest.mark.parametrize("block", BLOCKS, ids=IDS)
def test_a_block_says_what_it_needs_or_is_run(reader: Project, block: Block) -> None:
    if block.mark == "needs":
        assert {*block.said.split(", ")} <= LACKING
    if block.mark == "run by":
        assert block.page.name in Path(block.said).read_text(encoding="utf-8")
    code = ""
    for command in block.to_run():
        if command in PLANNED:
            continue
        if command.startswith("seedbed init"):
            code = _begin_anew(reader.root, command, code)
        done = run(reader, command)
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        if PLANS.match(command):
            PLANNED.add(command)
    if block.python and not block.mark:
        _run_python(reader, "\n".join(block.lines))


def _begin_anew(root: Path, command: str, before: str) -> str:
    """Remove the studies of other blocks, since each is another way to begin; returns the language of this one.

    Args:
        before: the language of the block's study so far; empty: it has none.
    """
    code = Path(command.split()[2]).stem
    for other in {code, *(() if before else ("kin", "abc"))}:
        (root / f"{other}.yaml").unlink(missing_ok=True)
        shutil.rmtree(root / "results" / other, ignore_errors=True)
    return code


def _run_python(reader: Project, code: str) -> None:
    """Run lines that open an encoder, with a tiny one in its place."""
    (folder,) = {*re.findall(r'SentenceTransformer\("([^"]+)"\)', code)}
    if not (reader.root / folder).is_dir():
        make = (
            "import sys; from sentence_transformers import SentenceTransformer as S; S(sys.argv[1]).save(sys.argv[2])"
        )
        reader.snippet(make, "own/backbone", folder)
    reader.snippet(code)
