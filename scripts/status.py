"""Say what of the study is done, runs, failed and is to do; a run may be going on."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scripts.cli import run
from scripts.workflow import attempts, planned, results_of, rooms
from seedbed.tables.status import layout


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configfiles", nargs="*", type=Path, default=[], help="as Snakemake is given them")
    parser.add_argument("--config", default={}, type=json.loads, help="JSON: what --config changes")
    parser.add_argument("--targets", nargs="*", default=[], help="files or rules; none: all that the study makes")
    args = parser.parse_args(argv)

    # Before the plan: what ends in between is then done, not forgotten.
    tried = attempts(results_of(args.configfiles, args.config))
    print(layout(planned(args.configfiles, args.config, {}, args.targets), rooms(), tried))


if __name__ == "__main__":
    run(main)
