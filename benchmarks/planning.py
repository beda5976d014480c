"""How long a dry-run of the papers' study takes with many languages, and how many jobs it plans.

python -m benchmarks.planning --languages 200
"""

from __future__ import annotations

import argparse
import itertools
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml


def study(count: int) -> dict:
    """config.yaml with so many languages; those beyond its own borrow Swahili's place in every resource."""
    config = yaml.safe_load(Path("config.yaml").read_text(encoding="utf-8"))
    borrowed = {"leipzig": "swa_newscrawl_2011_300K", "aya": "swh", "aya_collection": "swahili", "flores": "swh_Latn"}
    new = {"name": "Invented", "script": "Latn", "codes": borrowed}
    invented = map("".join, itertools.product("q", string.ascii_lowercase, string.ascii_lowercase))
    while len(config["languages"]) < count:
        config["languages"].setdefault(next(invented), new)
    return config


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--languages", type=int, default=200)
    args = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(study(args.languages), file)
        file.flush()
        command = [sys.executable, "-m", "snakemake", "-n", "-q", "rules", "--configfile", file.name, "--cores", "1"]
        start = time.monotonic()
        done = subprocess.run([*command, "results/tables/table1.csv"], capture_output=True, text=True)
        seconds = time.monotonic() - start
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    jobs = next(line.split()[1] for line in (done.stdout + done.stderr).splitlines() if line.startswith("total "))
    print(f"{args.languages} languages: {jobs} jobs planned in {seconds:.0f} s")


if __name__ == "__main__":
    main()
