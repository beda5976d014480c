"""Choose the best encoder of a language on one task, compare it with others on another, give it a folder of its own.

Where no task can choose, it is the one that is recommended.
"""

import json
from pathlib import Path

from scripts.cli import arguments, run
from seedbed.tables.best import choose, report, take
from seedbed.tables.plan import Block, Cell
from seedbed.tables.settings import Statistics


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    parser.add_argument("--language", required=True)
    parser.add_argument("--name", required=True, help="of the language")
    parser.add_argument(
        "--blocks", required=True, help="JSON: list of seedbed.tables.plan.Block, on the task that reports; maybe none"
    )
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--dev", nargs="+", help="the tasks that choose, by the mean of their main scores")
    how.add_argument("--encoder", help="BACKBONE/RECIPE/LANGUAGE/SEED, which is recommended: no task chooses")
    parser.add_argument("--also", nargs="*", default=[], help="JSON: as --blocks, on further tasks")
    parser.add_argument("--why", default="", help="it is recommended: a sentence")
    parser.add_argument("--limits", default="", help="of the scores: what they do not say")
    parser.add_argument("--test", type=Path, help="TSV: what the task that reports tests, to score its words alone")
    parser.add_argument("--statistics", default="{}", help="JSON: seedbed.tables.settings.Statistics")
    parser.add_argument("--root", required=True, type=Path, help="the study's results, with scores/ and encoders/")
    args = parser.parse_args(argv)

    reported, *also = [
        [Block.model_validate(block) for block in json.loads(blocks)] for blocks in (args.blocks, *args.also)
    ]
    scores, statistics = args.root / "scores", Statistics.load(args.statistics)
    if args.dev:
        cell, dev = choose(reported, scores, args.dev)
    else:
        cell, dev = Cell.named(args.encoder, args.language), None
    facts = {"language": args.language, "name": args.name, "backbone": cell.backbone, "recipe": cell.recipe}
    facts |= {"seed": cell.seed, "dev": dev, "why": args.why, "limits": args.limits}
    facts["base"] = next((block.baseline for block in reported if block.backbone == cell.backbone), "")
    facts["test"] = report(reported, cell, scores, statistics, args.test) if reported else None
    compared = (blocks for blocks in also if (cell.backbone, cell.recipe) in {one[:2] for one in cells_of(blocks)})
    facts["also"] = [report(blocks, cell, scores, statistics, None) for blocks in compared]
    encoder = args.root / "encoders" / cell.backbone / cell.recipe / cell.lang / str(cell.seed)
    take(encoder, args.output, facts)


def cells_of(blocks: list[Block]) -> list[Cell]:
    """The scores that blocks show."""
    return [cell for block in blocks for cell in block.cells()]


if __name__ == "__main__":
    run(main)
