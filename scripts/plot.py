"""Plot a table, or a map of texts, as a figure."""

from pathlib import Path

from scripts import cli
from seedbed.languages import REGISTRY


class Job(cli.Job):
    spec: Path
    """YAML: seedbed.tables.figures.specs.FigureSpec"""
    data: list[Path]
    """CSV made by tabulate; of a map, TSVs made by map_texts"""
    languages: Path = REGISTRY
    """what is known of languages: code, name, ..."""
    output: Path
    """SVG"""
    png: Path


def main(job: Job) -> None:
    from seedbed.evaluation import maps
    from seedbed.languages import registry
    from seedbed.tables import tabulate
    from seedbed.tables.figures.plot import plot
    from seedbed.tables.figures.specs import FigureSpec
    from seedbed.tables.figures.style import save

    spec = FigureSpec.load(job.spec)
    data = maps.read(job.data) if spec.kind == "map" else tabulate.read(job.data[0])
    save(plot(data, spec, registry(job.languages)), job.output, job.png, spec.dpi)


if __name__ == "__main__":
    cli.run(Job, main)
