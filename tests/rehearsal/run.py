"""Run the shipped studies whole against the replica: `python -m tests.rehearsal.run`, which goes on where a killed one ended.

Nothing of a study is changed but what overlay.yaml says. The programs run as they would anywhere, each in a process of
its own, with the replica's address for the hub's and for every https URL.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.rehearsal import cutting
from tests.rehearsal.hub import Replica

FOLDER = Path("results/rehearsal")


def copy(root: Path) -> None:
    """Bring the project's files up to date in a folder, with what is cut; those that are the same keep their times."""
    instead = cutting.instead()
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    for name in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        if not Path(name).is_file():
            continue
        place, text = root / name, instead[name].encode() if name in instead else Path(name).read_bytes()
        if not (place.is_file() and place.read_bytes() == text):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text)


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


def rehearse(root: Path, targets: list[str], *, paper: cutting.Paper = cutting.PAPERS["000"], cores: int = 2) -> int:
    """Make targets of a study in a folder, as far as they can be made; Snakemake's exit code."""
    copy(root)
    command = [
        sys.executable, "-m", "snakemake", "--profile", "profiles/demo", "--max-jobs-per-timespan", "1000/1s",
        "--cores", str(cores), "--keep-going", "--logger", "rich", "--configfile", paper.config, *paper.overlays, "--", *targets,
    ]  # fmt: skip
    with Replica() as server:
        return subprocess.run(command, cwd=root, env=environment(root, server.url)).returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--paper", default="000", choices=cutting.PAPERS)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("targets", nargs="*", default=["results/tables/table1.csv"])
    args = parser.parse_args()
    sys.exit(rehearse(args.folder, args.targets, paper=cutting.PAPERS[args.paper], cores=args.cores))


if __name__ == "__main__":
    main()
