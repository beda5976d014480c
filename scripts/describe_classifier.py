"""Write the manifest by which a classifier is opened: its kind, its settings, and the folders that it is made of."""

import json
from pathlib import Path

from scripts.cli import arguments, pair, run
from seedbed.classifiers.manifest import describe


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    parser.add_argument("--system", required=True, type=json.loads, help="JSON: its kind, with the settings of that")
    parser.add_argument("--about", required=True, type=json.loads, help="JSON: what score files say of it")
    parser.add_argument("--parts", nargs="*", default=[], type=pair, help="NAME=DIR: base, adapter, head, retriever")
    args = parser.parse_args(argv)
    describe(args.output, args.about, args.system, {name: Path(folder) for name, folder in args.parts})


if __name__ == "__main__":
    run(main)
