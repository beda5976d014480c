"""What the jobs of a plan have to do: rows, tokens, floating-point operations, bytes. Arithmetic alone, no measurement.

Training costs 6 operations for each parameter and token, reading 2 (Kaplan et al. 2020, arXiv:2001.08361, section 2.1).
A frozen base needs no gradient of its weights (4), but with activations computed again on the way back it is 6 again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from seedbed.checkpoints import parsed
from seedbed.corpora import subset
from seedbed.corpora.settings import Anchors, Source
from seedbed.encoders.settings import Training
from seedbed.encoders.tuning_settings import FineTuning
from seedbed.evaluation.settings import TextMap
from seedbed.generators.settings import Composition, Generator, Lora
from seedbed.gpu_memory import adapter_parameters, counted
from seedbed.io import UserError
from seedbed.settings import Settings
from seedbed.tables.forecasting.costs import CostSpec, Device, Model, RuleCost

S = TypeVar("S", bound=Settings)

ADAPTERS = ("train_task_adapter", "train_language_adapter", "train_xllora_adapter", "train_classifier")
ELSEWHERE = Model(parameters=1, body=1)
"""Behind an endpoint: it costs nothing here but time on the way, which nobody knows."""
SENTENCES = {"unsupervised": 2, "base": 0}
"""Sentences of a training row that the encoder reads: SimCSE reads a sentence twice; a triplet has three."""


@dataclass(frozen=True)
class Job:
    """One job of a plan, as the workflow would run it."""

    rule: str
    wildcards: dict[str, str]
    command: str
    """Its shell command: `python -m scripts.<rule> --option value ...`."""
    outputs: tuple[str, ...]
    benchmark: str = ""
    log: str = ""
    threads: int = 1
    gpus: float = 0
    gpu_mb: float = 0
    todo: bool = True

    @property
    def language(self) -> str:
        """Of the result: a score's test language goes before its encoder's."""
        return self.wildcards.get("test_lang") or self.wildcards.get("lang") or "-"

    @property
    def model(self) -> str:
        """Name of the generator or backbone; empty where there is none."""
        if "classifier" in self.wildcards:  # {room}/{name of the model}/weights
            return self.weights
        return next((self.wildcards[key] for key in ("generator", "backbone", "model") if key in self.wildcards), "")

    @property
    def weights(self) -> str:
        """Name of what its weights were fetched for: {room}/{name}/weights; empty where it has none."""
        return Path(self.option("weights") or self.option("base")).parent.name

    @cached_property
    def options(self) -> Mapping[str, list[str]]:
        """The program's options with their values.

        Raises:
            UserError: the command runs no program of the project with its options.
        """
        return parsed(self.words)

    @cached_property
    def words(self) -> list[str]:
        """What the program is given.

        Raises:
            UserError: as `options`.
        """
        words = shlex.split(re.sub(r" > \S+ 2>&1.*", "", self.command))
        if "-m" not in words:
            raise UserError(f"the command of {self.rule} is no `python -m scripts.{self.rule}`: {self.command[:80]}")
        return words[words.index("-m") + 2 :]

    def option(self, name: str, default: str = "") -> str:
        """An option's first value."""
        return (self.options.get(name) or [default])[0]

    def settings(self, kind: type[S], name: str) -> S:
        """An option's JSON, with the defaults of its model."""
        return kind.load(self.option(name, "{}"))


@dataclass(frozen=True)
class Work:
    """What a job does."""

    seconds: float = 0
    """Of work on the reference device, at the default speed."""
    tokens: float = 0
    """Read, trained on and drawn."""
    disk: float = 0
    """Bytes it leaves."""
    memory: float = 0
    """Bytes it needs."""


class Plan:
    """All jobs of the targets, done or to do, with what is known of their sizes."""

    def __init__(self, jobs: list[Job], costs: CostSpec, device: Device = "gpu") -> None:
        self.jobs, self.costs, self.device = jobs, costs, device
        self._maker = {output: job for job in jobs for output in job.outputs}
        self._rows: dict[str, float] = {}
        self._models = {job.model: self._size(job) for job in jobs if job.rule == "fetch_model"}
        for job in jobs:  # what has another's weights has its size
            if job.rule in ("train_encoder", "synthesise") and (size := self._models.get(job.weights)):
                self._models.setdefault(job.model, size)
        self._models |= {job.model: ELSEWHERE for job in jobs if "--endpoint=" in job.command}
        self._models |= {job.model: self._together(job) for job in jobs if job.rule == "fuse_encoders"}
        self._downloads = self._fetched()

    def start(self, job: Job) -> float:
        """Seconds before any work: the program's start, and weights read from disk."""
        cost = self._cost(job)
        reads = job.model and cost.utilisation
        return cost.start + (self.model(job).parameters * self._width(job) / self.costs.disk if reads else 0)

    def work(self, job: Job) -> Work:
        """What a job does beyond its start."""
        cost = self._cost(job)
        flops, tokens, rows = self._effort(job)
        seconds = flops / self._speed(job) if flops else rows / cost.rows_per_s if cost.rows_per_s else 0
        if job.rule == "fetch_model":
            seconds = self.model(job).parameters * self._width(job) / self.costs.network
        fetched = self._downloads.get(job.outputs, 0)
        seconds += fetched / self.costs.network
        parameters = self.model(job).parameters if job.model and cost.weights else 0
        disk = self._weights_written(job) + rows * cost.row_bytes + fetched
        return Work(seconds, tokens, disk, cost.memory_mb * 2**20 + parameters * cost.weights)

    def _fetched(self) -> dict[tuple[str, ...], float]:
        """Bytes that jobs download, by their outputs: what several read is fetched by the first, and stays."""
        found: dict[tuple[str, ...], float] = {}
        known: set[str] = set()
        for job in self.jobs:
            if job.rule == "fetch_corpus":
                sizes = dict(map(self.costs.download, job.settings(Source, "source").first_choices()))
                found[job.outputs] = sum(size for name, size in sizes.items() if name not in known)
                known |= sizes.keys()
        return found

    def model(self, job: Job) -> Model:
        """The size of a job's model."""
        return self._models.get(job.model) or self.costs.size(job.model, "")

    def rows(self, path: str) -> float:
        """Rows of a table: counted where it is there, expected from the job that makes it where not."""
        if path not in self._rows:
            self._rows[path] = _lines(path) if Path(path).is_file() else self._expected(path)
        return self._rows[path]

    def _expected(self, path: str) -> float:
        job = self._maker.get(path)
        default = self.costs.rows["default"]
        if job is None:
            return default
        if job.rule == "fetch_corpus":
            source = job.settings(Source, "source")
            if source.file and Path(source.file).is_file():
                return _lines(source.file)
            kind = "package" if source.package else job.wildcards["corpus"]
            return source.rows or self.costs.rows.get(kind, default)
        if job.rule == "sample_text":
            return min(subset.SENTENCES, self.rows(job.option("corpus")))
        if job.rule == "select_anchors":
            return min(job.settings(Anchors, "anchors").count, self.rows(job.option("corpus")))
        if job.rule == "build_xllora_examples":
            return float(job.option("count"))
        source = job.option({"join_triplets": "anchors", "audit_triplets": "triplets"}.get(job.rule, "anchors"))
        return self.rows(source) * (self.costs.kept if job.rule == "audit_triplets" else 1)

    def _effort(self, job: Job) -> tuple[float, float, float]:
        """Floating-point operations, tokens, rows."""
        if job.rule in ADAPTERS:
            return self._adapter(job)
        if job.rule in ("synthesise", "build_xllora_examples"):
            return self._generation(job)
        if job.rule == "train_encoder":
            return self._encoder(job)
        if job.rule == "fine_tune":
            return self._tuning(job)
        if job.rule == "fuse_encoders":
            rows = sum(self.rows(test.partition("=")[2]) for test in job.options.get("tests", []))
            tokens = 2 * rows * self.costs.tokens.sentence
            return 2 * self.model(job).body * tokens, tokens, rows
        if job.rule == "score_encoder":
            rows = len(job.options["encoders"]) * sum(self.rows(test) for test in job.options["tests"])
            tokens = 2 * rows * self.costs.tokens.sentence
            return 2 * self.model(job).body * tokens, tokens, rows
        if job.rule == "map_texts":
            rows = job.settings(TextMap, "map").texts
            tokens = rows * self.costs.tokens.sentence
            return 2 * self.model(job).body * tokens, tokens, rows
        if job.rule == "score_classifier":
            return self._labelling(job, sum(self.rows(test) for test in job.options["tests"]))
        rows = max((self.rows(output) for output in job.outputs if output.endswith(".tsv")), default=0)
        if job.rule in ("sample_text", "select_anchors"):  # every sentence is looked at
            rows = self.rows(job.option("corpus"))
        return 0, 0, rows

    def _adapter(self, job: Job) -> tuple[float, float, float]:
        lora, lengths = job.settings(Lora, "lora"), self.costs.tokens
        table = next(job.option(name) for name in ("triplets", "texts", "examples") if name in job.options)
        rows = min(lora.examples, self.rows(table))
        prompt = getattr(lengths, job.option("style", "chat"), 0)
        length = lengths.instruction if job.option("kind") == "instructions" else prompt + 2 * lengths.sentence
        tokens = rows * lora.epochs * min(length, lora.max_length)
        return 6 * self.model(job).parameters * tokens, tokens, rows

    def _labelling(self, job: Job, rows: float) -> tuple[float, float, float]:
        """Both sentences of a pair, or a text and its shots, in the prompt of a language model; labels are short."""
        style, sentences = job.option("style"), 2
        if "generator" in job.options:
            style, sentences = job.settings(Generator, "generator").prompts, 1 + int(job.option("shots"))
        tokens = rows * (getattr(self.costs.tokens, style, 0) + sentences * self.costs.tokens.sentence)
        return 2 * self.model(job).body * tokens, tokens, rows

    def _tuning(self, job: Job) -> tuple[float, float, float]:
        """All epochs, though most trainings stop before."""
        tests = sum(self.rows(test.partition("=")[2]) for test in job.options["tests"])
        tuning, length = job.settings(FineTuning, "fine-tuning"), self.costs.tokens.sentence
        learnt = self.rows(job.option("train")) * tuning.epochs * length
        return (6 * learnt + 2 * tests * length) * self.model(job).body, learnt + tests * length, tests

    def _generation(self, job: Job) -> tuple[float, float, float]:
        generator, lengths = job.settings(Generator, "generator"), self.costs.tokens
        if job.rule == "synthesise":
            rows = self.rows(job.option("anchors")) / int(job.option("shards", "1"))
        else:
            rows = 0 if "published-positive" in job.options else float(job.option("count"))
        shots = generator.shots if job.option("method") == "prompting" else 0
        prompt = getattr(lengths, generator.prompts) + (1 + 2 * shots) * lengths.sentence
        drawn = min(generator.sampling.max_new_tokens, lengths.sentence)
        backend = "cpu" if self.device == "cpu" else generator.backend
        # A positive and a negative for each anchor.
        effort = 2 * rows * (prompt + drawn * self.costs.drawing[backend])
        return 2 * self.model(job).parameters * effort, 2 * rows * (prompt + drawn), rows

    def _encoder(self, job: Job) -> tuple[float, float, float]:
        method = job.option("method")
        sentences = SENTENCES.get(method, 3)
        if not sentences:
            return 0, 0, 0
        training, rows = job.settings(Training, "training"), self.rows(job.option("texts"))
        length = min(training.max_length, self.costs.tokens.sentence)
        tokens = rows * sentences * training.epochs * length
        return 6 * self.model(job).body * tokens, tokens, 0

    def _weights_written(self, job: Job) -> float:
        """Bytes of weights, with 20 MB of tokenizer."""
        if job.rule in ("fetch_model", "train_encoder"):
            return self.model(job).parameters * self._width(job) + 20e6
        if job.rule in (*ADAPTERS, "compose_adapters"):
            rank = job.settings(Lora, "lora").rank
            if job.rule == "compose_adapters" and job.settings(Composition, "composition").space == "product":
                rank *= 3
            return 4 * adapter_parameters(self.model(job).parameters, rank)
        return 0

    def _width(self, job: Job) -> int:
        """Bytes of a stored parameter: generators are bfloat16, encoders float32."""
        return 4 if "backbone" in job.wildcards or job.wildcards.get("room") == "encoders" else 2

    def _speed(self, job: Job) -> float:
        """Operations in a second of the devices that the job holds."""
        held = max(job.gpus, 1) if self.device == "gpu" else job.threads
        return self.costs.devices[self.device].flops * self._cost(job).utilisation[self.device] * held

    def _cost(self, job: Job) -> RuleCost:
        try:
            return self.costs.rules[job.rule]
        except KeyError:
            raise UserError(f"seedbed/resources/forecast.yaml: rules.{job.rule}: missing; give its cost") from None

    def _size(self, job: Job) -> Model:
        """Counted in weights that are there, else by name."""
        for folder in (job.option("output"), job.settings(Source, "source").file):
            if folder and (found := counted(Path(folder))):
                parameters, body = found
                return Model(parameters=parameters, body=body)
        return self.costs.size(job.model, job.option("source"))

    def _together(self, job: Job) -> Model:
        """The encoders that a job fuses."""
        names = [member.partition("=")[0] for member in job.options["members"]]
        sizes = [self._models.get(name) or self.costs.size(name, "") for name in names]
        return Model(parameters=sum(size.parameters for size in sizes), body=sum(size.body for size in sizes))


def _lines(path: str) -> float:
    """Rows below the header."""
    with Path(path).open("rb") as stream:
        return max(sum(1 for line in stream if line.strip()) - 1, 0)
