"""Draw a table, or a map of texts, as a figure."""

from pathlib import Path

from scripts.cli import arguments, run
from seedbed.evaluation import maps
from seedbed.languages import REGISTRY, registry
from seedbed.tables import tabulate
from seedbed.tables.figure_specs import FigureSpec
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.style import save


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "png")
    parser.add_argument("--spec", required=True, type=Path, help="YAML: seedbed.tables.figure_specs.FigureSpec")
    parser.add_argument(
        "--data", required=True, nargs="+", type=Path, help="CSV made by tabulate; of a map, TSVs made by map_texts"
    )
    parser.add_argument("--languages", type=Path, default=REGISTRY, help="what is known of languages: code, name, ...")
    parser.add_argument("--output", required=True, type=Path, help="SVG")
    args = parser.parse_args(argv)

    spec = FigureSpec.load(args.spec)
    data = maps.read(args.data) if spec.kind == "map" else tabulate.read(args.data[0])
    save(plot(data, spec, registry(args.languages)), args.output, args.png, spec.dpi)


if __name__ == "__main__":
    run(main)
