"""Run the shipped studies whole against the replica: `python -m tests.rehearsal.run`, which goes on where a killed one ended.

Nothing of a study is changed but what is laid over it and what is cut of it, see cutting.py. The programs run as they
would anywhere, but in forks of a process that has their libraries, and with the replica's address for every URL.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import yaml

from tests import warm
from tests.rehearsal import checking, cutting
from tests.rehearsal.hub import Replica

FOLDER = Path("results/rehearsal")


def copy(root: Path) -> None:
    """Bring the project's files up to date in a folder, with what is cut; those that are the same keep their times."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    files = {name: Path(name).read_bytes() for name in listed if Path(name).is_file()}
    files |= {name: text.encode() for name, text in (cutting.instead() | lines()).items()}
    for name, content in files.items():
        place = root / name
        if not (place.is_file() and place.read_bytes() == content):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def lines() -> dict[str, str]:
    """The demo's profile without bars, which say nothing where they are no terminal's."""
    demo = cutting.read("profiles/demo/profile.yaml")
    return {"profiles/lines/profile.yaml": yaml.safe_dump({key: demo[key] for key in demo if key != "logger"})}


def environment(root: Path, address: str) -> dict[str, str]:
    """What jobs find: the replica, and a cache of the hub of their own."""
    known = {key: value for key, value in os.environ.items() if key not in ("HF_HUB_OFFLINE", "HF_TOKEN")}
    return known | {
        "HF_ENDPOINT": address,
        "HF_HOME": str((root / "hub").resolve()),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(Path("tests/rehearsal/site").resolve()),
        **dict.fromkeys(("OPENAI_API_KEY", "CO_API_KEY"), "rehearsal"),
    }


def profile() -> list[str]:
    """Bars on a terminal; elsewhere a line for each job that is done, and how many are."""
    return [
        "--profile",
        *(["profiles/demo"] if sys.stdout.isatty() else ["profiles/lines", "--quiet", "rules", "reason"]),
    ]


def rehearse(root: Path, paper: cutting.Paper, targets: list[str], *, cores: int = 2) -> int:
    """Make targets of a study in a folder, as far as they can be made; Snakemake's exit code."""
    copy(root)
    command = [
        str(warm.python()), "-m", "snakemake", *profile(), "--max-jobs-per-timespan", "1000/1s",
        "--cores", str(cores), "--keep-going", "--configfile", paper.config, *paper.overlays, "--", *targets,
    ]  # fmt: skip
    with Replica() as server:
        return subprocess.run(command, cwd=root, env=environment(root, server.url)).returncode


def targets(paper: cutting.Paper) -> list[str]:
    """Every table and figure of a paper, and what stands beside it."""
    return [
        f"all_{paper.group}",
        *(f"{cutting.read(paper.config)['results']}/tables/{table}.csv" for table in paper.beside),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--papers", nargs="+", default=[*cutting.PAPERS], choices=cutting.PAPERS)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument(
        "targets", nargs="*", help="left out: all of the papers' tables and figures, which are then looked at"
    )
    args = parser.parse_args()
    failed, missing = 0, []
    for paper in map(cutting.PAPERS.get, args.papers):
        failed |= rehearse(args.folder, paper, args.targets or targets(paper), cores=args.cores)
        missing += [] if args.targets else checking.faults(args.folder, paper)
    sys.exit("\n".join(missing) or failed)


if __name__ == "__main__":
    main()
