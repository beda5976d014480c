"""What a plan costs, in CPU seconds: of the tests' tiny study, of the papers' table 1, and of that in many languages.

python -m benchmarks.planning

A plan is one `snakemake --dry-run --quiet rules` of a study of which nothing is there yet. The first is planned twice,
before and after the files of code were read: see `seedbed.study.reachable`.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import string
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from tests.workflow.conftest import STUDY, copy_project

TABLE = "results/tables/table1.csv"


def study(count: int) -> dict:
    """config.yaml with so many languages; those beyond its own borrow Swahili's place in every resource."""
    config = yaml.safe_load(Path("config.yaml").read_text(encoding="utf-8"))
    borrowed = {"leipzig": "swa_newscrawl_2011_300K", "aya": "swh", "aya_collection": "swahili", "flores": "swh_Latn"}
    new = {"name": "Invented", "script": "Latn", "codes": borrowed}
    invented = map("".join, itertools.product("q", string.ascii_lowercase, string.ascii_lowercase))
    while len(config["languages"]) < count:
        config["languages"].setdefault(next(invented), new)
    return config


def planned(folder: Path, config: dict, *targets: str) -> tuple[int, float]:
    """Jobs of a plan, and its CPU seconds."""
    (folder / "planned.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "-n", "-q", "rules", "--cores", "1", *targets]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(
        [*command, "--configfile", "planned.yaml"], capture_output=True, text=True, cwd=folder, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    jobs = next(line.split()[1] for line in (done.stdout + done.stderr).splitlines() if line.startswith("total "))
    return int(jobs), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", type=int, default=200)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = copy_project(Path(place), STUDY).root
        plans = {
            "tiny study, no code read yet": (STUDY,),
            "tiny study": (STUDY,),
            "table 1": (study(0), TABLE),
            f"table 1 in {args.languages} languages": (study(args.languages), TABLE),
        }
        for name, plan in plans.items():
            jobs, seconds = planned(folder, *plan)
            print(f"{name}: {jobs} jobs, {seconds:.1f} s of CPU", flush=True)


if __name__ == "__main__":
    main()
