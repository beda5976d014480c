"""What the jobs of a plan have to do: rows, tokens, floating-point operations, bytes. Arithmetic alone, no measurement.

Training costs 6 operations for each parameter and token, reading 2 (Kaplan et al. 2020, arXiv:2001.08361, section 2.1).
A frozen base needs no gradient of its weights (4), but with activations computed again on the way back it is 6 again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from seedbed.encoders.compression.settings import COMPARED
from seedbed.generators.settings import WRITING, Lora
from seedbed.generators.writing.prompts import FEW_SHOT
from seedbed.gpu_memory import adapter_parameters, parallel_parameters
from seedbed.io import UserError
from seedbed.names import ANCHORS
from seedbed.operations.forecasting import scored, translations
from seedbed.operations.forecasting.costs import CostSpec, Device, RuleCost
from seedbed.operations.forecasting.sizes import ENCODERS, Effort, SizedJobs
from seedbed.operations.jobs import Job

ADAPTERS = ("train_task_adapter", "train_language_adapter", "train_xllora_adapter", "train_classifier")


@dataclass(frozen=True)
class Work:
    """The estimated work of a job."""

    seconds: float = 0
    """Seconds of work on the reference device, at the default speed."""
    tokens: float = 0
    """Tokens that are encoded, trained on and generated."""
    disk: float = 0
    """Bytes of its outputs."""


class Plan(SizedJobs):
    """All jobs of the targets, done or to do: what each does, and how long by the defaults."""

    def __init__(self, jobs: list[Job], costs: CostSpec, device: Device = "gpu") -> None:
        super().__init__(jobs, costs, device)
        self._downloads = self._fetched()

    def start(self, job: Job) -> float:
        """Seconds before any work: the program's start, and weights read from disk."""
        cost = self._cost(job)
        reads = job.model and cost.utilisation
        return cost.start + (self.model(job).parameters * self._width(job) / self.costs.disk if reads else 0)

    def seconds(self, job: Job) -> float:
        """Seconds of a job by the defaults."""
        return self.start(job) + self.work(job).seconds

    def work(self, job: Job) -> Work:
        """The estimated work of a job, without its start."""
        cost = self._cost(job)
        flops, tokens, rows = self._effort(job)
        seconds = flops / self._speed(job) if flops else rows / cost.rows_per_s if cost.rows_per_s else 0
        if job.rule == "fetch_model":
            seconds = self.model(job).parameters * self._width(job) / self.costs.network
        fetched = self._downloads.get(job.outputs, 0)
        seconds += fetched / self.costs.network
        disk = self._weights_written(job) + rows * cost.row_bytes + fetched
        return Work(seconds, tokens, disk)

    def _fetched(self) -> dict[tuple[str, ...], float]:
        """Bytes that jobs download, by their outputs: what several read is fetched by the first, and stays."""
        found: dict[tuple[str, ...], float] = {}
        known: set[str] = set()
        for job in self.jobs:
            if job.rule == "fetch_corpus":
                sizes = dict(map(self.costs.download, job.arguments.source.first_choices()))
                found[job.outputs] = sum(size for name, size in sizes.items() if name not in known)
                known |= sizes.keys()
        return found

    def _effort(self, job: Job) -> Effort:
        """The work on a job's rows; of a rule that only reads or writes tables, the rows that it writes."""
        if find := EFFORTS.get(job.rule):
            return find(self, job)
        return Effort(rows=max((self.rows(output) for output in job.outputs if output.endswith(".tsv")), default=0))

    def _weights_written(self, job: Job) -> float:
        """Bytes of weights, with 20 MB of tokenizer."""
        if job.rule in ("fetch_model", *ENCODERS):
            fusion = job.of("fusion")
            sides = self.model(job).parameters if fusion != "english" else 0
            sides += self.english(job).parameters if fusion else 0  # both are in the folder
            return sides * self._width(job) + 20e6
        if job.rule == "align_encoders":
            adapters = len(job.arguments.each) - len(job.arguments.fixed)
            return 4 * adapters * parallel_parameters(self.model(job).body, job.arguments.training.reduction)
        if job.rule in (*ADAPTERS, "compose_adapters"):
            rank = job.of("lora", Lora()).rank
            if job.rule == "compose_adapters" and job.arguments.composition.space == "product":
                rank *= 3
            return 4 * adapter_parameters(self.model(job).parameters, rank)
        return 0

    def _width(self, job: Job) -> int:
        """Bytes of a stored parameter: generators are bfloat16, encoders float32."""
        return 4 if "backbone" in job.wildcards or job.wildcards.get("room") == "encoders" else 2

    def _speed(self, job: Job) -> float:
        """Operations per second of the devices that the job uses."""
        held = max(job.asks("gpu"), 1) if self.device == "gpu" else job.threads
        return self.costs.devices[self.device].flops * self._cost(job).utilisation[self.device] * held

    def _cost(self, job: Job) -> RuleCost:
        try:
            return self.costs.rules[job.rule]
        except KeyError:
            raise UserError(f"seedbed/resources/forecast.yaml: rules.{job.rule}: missing; give its cost") from None


def _encoding(sizes: SizedJobs, job: Job, rows: float, texts: int = 1) -> Effort:
    """Encoding rows with a number of sentences each."""
    tokens = texts * rows * sizes.costs.tokens.sentence
    return Effort(2 * sizes.model(job).body * tokens, tokens, rows)


def _adapter(sizes: SizedJobs, job: Job) -> Effort:
    lora, lengths = job.arguments.lora, sizes.costs.tokens
    table = next(file for name in ("triplets", "texts", "examples") if (file := job.of(name)))
    rows = min(lora.examples, sizes.rows(table))
    prompt = getattr(lengths, job.arguments.style, 0)
    length = lengths.instruction if job.of("kind") == "instructions" else prompt + 2 * lengths.sentence
    tokens = rows * lora.epochs * min(length, lora.max_length)
    return Effort(6 * sizes.model(job).parameters * tokens, tokens, rows)


def _generation(sizes: SizedJobs, job: Job) -> Effort:
    generator, lengths, shots = job.arguments.generator, sizes.costs.tokens, 0
    if job.rule == "synthesise":
        rows = sizes.used_rows(job, sizes.rows(job.arguments.anchors)) / job.arguments.shards
        shots = generator.shots if WRITING[job.arguments.method].prompt in FEW_SHOT else 0
    else:
        rows = 0 if job.arguments.published else float(job.arguments.count)
    prompt = getattr(lengths, generator.prompts) + (1 + 2 * shots) * lengths.sentence
    drawn = min(generator.sampling.max_new_tokens, lengths.sentence)
    flops, tokens, _ = sizes.generation(job, generator, 2 * rows, prompt, drawn)  # a positive and a negative of each
    return Effort(flops, tokens, rows)


def _encoder(sizes: SizedJobs, job: Job) -> Effort:
    if not (learns := job.arguments.objective):
        return Effort()
    if job.arguments.translations:
        return translations.anchoring(sizes, job)
    if job.arguments.fusion:
        return translations.fused(sizes, job)
    # SimCSE reads a sentence without partners twice.
    files = [*job.arguments.each.values()] or [job.arguments.texts]
    alone = files[0].name.endswith(f"{ANCHORS}.tsv")
    sentences = 2 if alone else max(map(len, learns.shapes))
    training, rows = job.arguments.training, max(map(sizes.rows, files))  # of all ids are one epoch
    length = sizes.trained_length(training)
    tokens = sizes.trained_rows(training, sizes.used_rows(job, rows)) * length  # of one text in each row
    return Effort((6 * sentences + 2 * learns.reread) * sizes.model(job).body * tokens, sentences * tokens, 0)


def _together_trained(sizes: SizedJobs, job: Job) -> Effort:
    """All sentences of the rows, in an epoch once for each language with adapters; these alone have gradients."""
    training, rows = job.arguments.training, max(map(sizes.rows, job.arguments.each.values()))
    learning = len(job.arguments.each) - len(job.arguments.fixed)
    sentences = max(map(len, job.arguments.objective.shapes))
    length = sizes.trained_length(training)
    tokens = sentences * sizes.trained_rows(training, sizes.used_rows(job, rows) * learning) * length
    return Effort(4 * sizes.model(job).body * tokens, tokens, 0)


def _masked(sizes: SizedJobs, job: Job) -> Effort:
    """Masked language modelling: all steps of full length."""
    masked = job.arguments.masked
    tokens = masked.steps * masked.batch_size * masked.length
    return Effort(6 * sizes.model(job).body * tokens, tokens)


def _mapped(sizes: SizedJobs, job: Job) -> Effort:
    """The texts of a map, or both sides of its pairs in each language."""
    languages = len(job.arguments.texts)
    return _encoding(sizes, job, languages * job.arguments.map.of_each(languages))


EFFORTS: Mapping[str, Callable[[SizedJobs, Job], Effort]] = {
    **dict.fromkeys(ADAPTERS, _adapter),
    **dict.fromkeys(("synthesise", "build_xllora_examples"), _generation),
    **dict.fromkeys(
        ("sample_text", "select_anchors", "select_pairs"),
        lambda sizes, job: Effort(rows=sizes.rows(job.arguments.corpus)),
    ),
    **dict.fromkeys(scored.ANSWERED, scored.tuning),
    "score": scored.scoring,
    "translate": translations.translation,
    "judge": translations.judgement,
    "choose_translations": translations.choosing,
    "train_encoder": _encoder,
    "align_encoders": _together_trained,
    "adapt_backbone": _masked,
    "train_vocabulary": lambda sizes, job: Effort(rows=sizes.used_rows(job, sizes.rows(job.arguments.texts))),
    # Of texts on which a copy is not compared with its original, only tokens are counted.
    "copy_encoder": lambda sizes, job: _encoding(sizes, job, min(COMPARED, sizes.rows(job.arguments.texts)), 2),
    "fuse_encoders": lambda sizes, job: _encoding(sizes, job, sum(map(sizes.rows, job.arguments.tests.values())), 2),
    "mine_neighbours": lambda sizes, job: _encoding(sizes, job, sizes.rows(job.arguments.pool)),
    "embed_pivot": lambda sizes, job: _encoding(
        sizes, job, sizes.rows(job.arguments.texts) * len(job.arguments.columns)
    ),
    "map_texts": _mapped,
}
"""Rule -> the work of its jobs; other rules only read and write tables."""
