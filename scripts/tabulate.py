"""Gather the scores of a study into one table: a tidy CSV, and Markdown in the paper's layout."""

from pathlib import Path

from scripts.cli import arguments, run
from seedbed.io import atomic, read_json
from seedbed.resources import resource
from seedbed.tables.layout import layout
from seedbed.tables.plan import Block
from seedbed.tables.published import Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import tabulate, write


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "scores", "layout", "output")
    parser.add_argument("--spec", required=True, type=Path, help="YAML: seedbed.tables.specs.TableSpec")
    parser.add_argument("--paper", type=Path, default=resource("paper"), help="the papers' own numbers")
    parser.add_argument("--plan", required=True, type=Path, help="what plan_table writes")
    parser.add_argument("--statistics", default="{}", help="JSON: seedbed.tables.settings.Statistics")
    args = parser.parse_args(argv)

    spec, blocks = TableSpec.load(args.spec), [Block.model_validate(block) for block in read_json(args.plan)]
    published = Published(spec.paper, args.paper)
    table = tabulate(blocks, args.scores, Statistics.load(args.statistics), spec, published)
    write(table, args.output)
    with atomic(args.layout) as temporary:
        quoted = {(block.backbone, block.column.label): block.quoted for block in blocks}
        temporary.write_text(layout(table, spec, published, quoted), encoding="utf-8")


if __name__ == "__main__":
    run(main)
