"""Pack tables, figures, audits, cards and configuration into one zip with a page to read."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.cli import run
from seedbed.tables.report import GROUPS, report


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--title", required=True)
    for group in GROUPS:
        parser.add_argument(f"--{group}", nargs="*", type=Path, default=[])
    parser.add_argument(
        "--sample", type=int, default=5, help="anchors shown of a language, and rejected triplets of a file"
    )
    parser.add_argument("--max-megabytes", type=float, default=20, help="larger files stay out of the zip")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args(argv)

    files = {group: getattr(args, group) for group in GROUPS}
    report(files, args.output, args.title, sample=args.sample, max_megabytes=args.max_megabytes)


if __name__ == "__main__":
    run(main)
