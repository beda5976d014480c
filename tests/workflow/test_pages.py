"""Every command of the pages is run, or a comment before its block says what a test lacks for it, or which test runs it.

`<!-- needs: network -->` and `<!-- run by: tests/workflow/test_contributing.py -->` are not shown on a page. Plans in a block
that needs something are run all the same, unless they take minutes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from tests import tiny, warm
from tests.pages import BLOCKS, PLANS, Block
from tests.workflow.conftest import ENVIRONMENT, STUDY, Project, copy_project

LACKING = {"network", "data", "slurm", "gpu", "docker", "account", "minutes", "results"}
"""What a comment can say that is needed: `data` and `results` are the reader's own."""
PLANNED: set[str] = set()
"""Plans that were made, which another page may show too."""
AS_MODULES = {"snakemake": "python -m snakemake", "seedbed": "python -m seedbed.init.command", "make": "make -n"}
"""Programs as forks of a process with their libraries; of `make` what it would run."""
KIN = "abana abagore abagabo abanyeshuri abarimu bagiye bagarutse basomye isoko umurima inzu ishuri ejo mugitondo nijoro amazi ibiryo kandi ariko cyane igihugu abantu benshi bavuga"


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
        for c in ["wo", "li", "sa", "du", "ne", "bi", "fu", "ro"]
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
