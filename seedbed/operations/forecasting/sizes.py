"""What is known of the sizes of a plan's jobs: rows of their tables, parameters of their models."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from seedbed.corpora.select import subset
from seedbed.corpora.settings import Source
from seedbed.encoders.settings import Training
from seedbed.generators.settings import Generator
from seedbed.gpu_memory import counted
from seedbed.manifests import MANIFEST
from seedbed.names import TRAINING
from seedbed.operations.forecasting.costs import CostSpec, Device, Model
from seedbed.operations.jobs import Job

ENCODERS = ("train_encoder", "copy_encoder", "train_vocabulary", "adapt_backbone")
"""Rules that make an encoder of weights."""
ELSEWHERE = Model(parameters=1, body=1)
"""A model behind an endpoint: it costs nothing here but waiting, which cannot be forecast."""
NOTHING = Model.model_construct(parameters=0.0, body=0.0)
"""No model."""


class Effort(NamedTuple):
    """The work of a job."""

    flops: float = 0
    """Floating-point operations."""
    tokens: float = 0
    """Tokens that are encoded, trained on and generated."""
    rows: float = 0


class SizedJobs:
    """All jobs of the targets, done or to do, with what is known of their sizes."""

    def __init__(self, jobs: list[Job], costs: CostSpec, device: Device = "gpu") -> None:
        self.jobs, self.costs, self.device = jobs, costs, device
        self._maker = {output: job for job in jobs for output in job.outputs}
        self._rows: dict[str, float] = {}
        self._models = {job.model: self._size(job) for job in jobs if job.rule == "fetch_model"}
        for job in jobs:  # what has another's weights has its size
            if (
                job.rule in (*ENCODERS, "synthesise", "describe_classifier", "translate", "judge")
                and job.weights in self._models
            ):
                self._models.setdefault(job.wildcards.get("classifier") or job.model, self._models[job.weights])
        self._models |= {job.model: ELSEWHERE for job in jobs if job.rule == "train_encoder" and job.arguments.endpoint}
        self._models |= {job.model: self._together(job) for job in jobs if job.rule == "fuse_encoders"}

    def maker(self, folder: str | Path) -> Job | None:
        """The job that makes a folder with a manifest."""
        return self._maker.get(str(Path(folder, MANIFEST)))

    def model(self, job: Job) -> Model:
        """The size of a job's model."""
        return self._models.get(job.model) or self.costs.size(job.model, "")

    def english(self, job: Job) -> Model:
        """Size of the encoder of English translations that a job loads too; NOTHING: it loads none."""
        folder = job.of("refer", {}).get("english")
        return self._models.get(folder.parent.name, NOTHING) if folder else NOTHING

    def length(self, job: Job) -> float:
        """Tokens of a text of the set that a job reads."""
        lengths, corpus = self.costs.lengths, job.wildcards.get("corpus", "")
        return lengths.get(corpus.removesuffix(TRAINING), self.costs.tokens.sentence)

    def rows(self, file: str | Path) -> float:
        """Rows of a table: counted if the file exists, else estimated from the job that makes it."""
        if (path := str(file)) not in self._rows:
            self._rows[path] = _lines(path) if Path(path).is_file() else self._expected(path)
        return self._rows[path]

    def _expected(self, path: str) -> float:
        if (job := self._maker.get(path)) is None:
            return self.costs.rows["default"]
        return ROWS[job.rule](self, job) if job.rule in ROWS else self.rows(job.of("anchors", ""))

    def texts(self, job: Job) -> float:
        """The number of texts of a set that are not in the pivot language, if none occurs twice."""
        return self.rows(job.arguments.texts) * sum(
            code != job.arguments.pivot for code in job.arguments.columns.values()
        )

    @staticmethod
    def used_rows(job: Job, rows: float) -> float:
        """The number of rows that a job uses: at most `rows`; 0: all of them."""
        return min(rows, job.arguments.rows or rows)

    def trained_length(self, training: Training) -> float:
        """Tokens of a sentence that a training reads."""
        return min(training.max_length, self.costs.tokens.sentence)

    @staticmethod
    def trained_rows(training: Training, rows: float) -> float:
        """The number of rows that all steps of a training read together, of a number of rows in an epoch."""
        return training.steps * min(training.batch_size, rows) if training.steps else rows * training.epochs

    def generation(self, job: Job, generator: Generator, rows: float, prompt: float, generated: float) -> Effort:
        """The work of a generator, for numbers of prompt and generated tokens of each row."""
        backend = "cpu" if self.device == "cpu" else generator.backend
        effort = rows * (prompt + generated * self.costs.drawing[backend])
        return Effort(2 * self.model(job).parameters * effort, rows * (prompt + generated), rows)

    def _size(self, job: Job) -> Model:
        """Counted in weights that are there, else by name."""
        for folder in (job.arguments.output, job.arguments.source.file):
            if folder and (found := counted(Path(folder))):
                return Model(parameters=found[0], body=found[1])
        return self.costs.size(job.model, job.arguments.source.dump())

    def _together(self, job: Job) -> Model:
        """The encoders that a job fuses."""
        sizes = [self._models.get(name) or self.costs.size(name, "") for name in job.arguments.members]
        return Model(parameters=sum(size.parameters for size in sizes), body=sum(size.body for size in sizes))


def _fetched(sizes: SizedJobs, job: Job) -> float:
    """Rows of a corpus: those that its source is known to have, else those that its kind has."""
    source = job.arguments.source
    kind = "package" if source.package else job.wildcards["corpus"]
    return _read_rows(source, sizes.costs.rows.get(kind, sizes.costs.rows["default"]))


def _read_rows(source: Source, usual: float) -> float:
    """Rows that are read of a source: counted in text files of this machine, else by settings, else the usual ones."""
    place = Path(source.file or "")
    files = sorted(place.glob(source.member)) if source.member and place.is_dir() else [place]
    if source.sets:
        rows = sum(_read_rows(one, usual / len(source.sets)) for one in source.sets.values())
    elif files and all(file.suffix in HEADERS and file.is_file() for file in files):
        rows = max(sum(_lines(str(file), HEADERS[file.suffix]) for file in files) - source.skip, 0)
    else:
        return source.rows or min(usual, source.first or usual)
    first, last = source.buckets
    kept = min(rows, source.first or rows) * (last - first) / 100
    return min(kept, source.rows or kept)


HEADERS = {".csv": 1, ".jsonl": 0, ".tsv": 1, ".txt": 0}
"""Ending of a file with a row on each line -> lines of its header."""
ROWS: Mapping[str, Callable[[SizedJobs, Job], float]] = {
    "fetch_corpus": _fetched,
    "sample_text": lambda sizes, job: min(subset.SENTENCES, sizes.rows(job.arguments.corpus)),
    "select_anchors": lambda sizes, job: min(job.arguments.anchors.count, sizes.rows(job.arguments.corpus)),
    "select_pairs": lambda sizes, job: job.arguments.seed_pairs.count,
    "build_xllora_examples": lambda sizes, job: float(job.arguments.count),
    "translate": SizedJobs.texts,
    "choose_translations": lambda sizes, job: sizes.rows(next(iter(job.arguments.translations.values()))),
    "join_triplets": lambda sizes, job: sizes.used_rows(job, sizes.rows(job.arguments.anchors)),
    "audit_triplets": lambda sizes, job: sizes.rows(job.of("triplets", "")) * sizes.costs.kept,
    "mine_neighbours": lambda sizes, job: sizes.rows(job.of("pairs", "")),
}
"""Rule -> rows of the tables that its jobs will write; other rules write as many as there are anchors."""


def _lines(path: str, header: int = 1) -> float:
    """Rows below the header."""
    with Path(path).open("rb") as stream:
        return max(sum(1 for line in stream if line.strip()) - header, 0)
