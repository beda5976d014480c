"""Pack tables, figures, audits, cards and configuration into one zip with a page to read."""

from pathlib import Path

from scripts import cli
from seedbed.settings import NoResult
from seedbed.tables.settings import Forecast


class Job(cli.Job):
    title: str
    tables: list[Path] = []
    compared: list[Path] = []
    """differences of pairs of rows, a file for each table"""
    layouts: list[Path] = []
    figures: list[Path] = []
    audits: list[Path] = []
    triplets: list[Path] = []
    rejected: list[Path] = []
    neighbours: list[Path] = []
    cards: list[Path] = []
    config: list[Path] = []
    sample: int = 5
    """number of mined pairs that are shown of each language, and of rejected triplets of each file"""
    anchors: int = 60
    """number of anchors that are shown of each language, with the triplets of every method"""
    max_megabytes: float = 20
    """larger files stay out of the zip"""
    best: list[Path] = []
    """folder of the best encoder of each language"""
    encoders: dict[str, list[Path]] = {}
    """name of a language -> folders of the encoders that the answer lists"""
    benchmarks: Path | None = None
    """what jobs took; left out, the page does not say"""
    prices: NoResult[Forecast] = Forecast()
    gpus: dict[str, int] = {}
    """folder of benchmarks, or pattern of them -> GPUs of a job, if the device is one"""
    answer: Path | None = None
    """Markdown: the best encoders, as the page begins with them"""
    output: Path
    """the zip"""


def main(job: Job) -> None:
    from seedbed.io import atomic
    from seedbed.languages import registry
    from seedbed.tables import tabulate
    from seedbed.tables.best import read_best
    from seedbed.tables.claims import FILE, Claims, of_study
    from seedbed.tables.report import answer, provenance
    from seedbed.tables.report.comparison import comparisons
    from seedbed.tables.report.report import GROUPS, Content, report

    files = {group: getattr(job, group) for group in GROUPS}
    best = {str(folder): read_best(folder) for folder in job.best}
    encoders = {name: [answer.Listed.of(folder) for folder in folders] for name, folders in job.encoders.items()}
    text = answer.text(best, encoders)
    families = {code: facts.get("family", "") for code, facts in registry().items()}
    made = provenance.run_facts(job.benchmarks, job.prices, job.gpus) if job.benchmarks else {}
    claims = Claims.load(FILE)
    tables = {file.stem: tabulate.read(file) for file in job.tables if file.stem in claims.tables}
    pairs = {name: file for file in job.compared if (name := file.name.partition(".")[0]) in tables}
    compared = {name: tabulate.read(file, tabulate.COMPARED) for name, file in pairs.items()}
    content = Content(
        title=job.title,
        answer=text,
        claims=of_study(claims, tables, compared),
        made=made,
        languages=comparisons(best.values(), families),
        sample=job.sample,
        anchors=job.anchors,
        max_megabytes=job.max_megabytes,
    )
    report(files, content, job.output)
    if job.answer:
        with atomic(job.answer) as temporary:
            temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    cli.run(Job, main)
