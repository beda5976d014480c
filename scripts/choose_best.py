"""Choose the best encoder of a language on one task, compare it with others on another, give it a folder of its own."""

import json
from pathlib import Path

from scripts.cli import arguments, run
from seedbed.tables.best import choose, report, take
from seedbed.tables.plan import Block
from seedbed.tables.settings import Statistics


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    parser.add_argument("--language", required=True)
    parser.add_argument("--name", required=True, help="of the language")
    parser.add_argument(
        "--blocks", required=True, help="JSON: list of seedbed.tables.plan.Block, on the task that reports"
    )
    parser.add_argument("--dev", required=True, help="the task that chooses")
    parser.add_argument("--pairs", type=Path, help="TSV: id, sentence1, sentence2, score of the task that reports")
    parser.add_argument("--statistics", default="{}", help="JSON: seedbed.tables.settings.Statistics")
    parser.add_argument("--root", required=True, type=Path, help="the study's results, with scores/ and encoders/")
    args = parser.parse_args(argv)

    blocks = [Block.model_validate(block) for block in json.loads(args.blocks)]
    scores = args.root / "scores"
    cell, dev = choose(blocks, scores, args.dev)
    found = report(blocks, cell, scores, Statistics.load(args.statistics), args.pairs)
    base = next(block.baseline for block in blocks if block.backbone == cell.backbone)
    facts = {"language": args.language, "name": args.name, "backbone": cell.backbone, "recipe": cell.recipe}
    facts |= {"seed": cell.seed, "dev": dev, "base": base}
    encoder = args.root / "encoders" / cell.backbone / cell.recipe / cell.lang / str(cell.seed)
    take(encoder, args.output, facts | {"test": found})


if __name__ == "__main__":
    run(main)
