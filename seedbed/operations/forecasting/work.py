"""What the jobs of a plan have to do: rows, tokens, floating-point operations, bytes. Arithmetic alone, no measurement.

Training costs 6 operations for each parameter and token, reading 2 (Kaplan et al. 2020, arXiv:2001.08361, section 2.1).
A frozen base needs no gradient of its weights (4), but with activations computed again on the way back it is 6 again.
"""

from dataclasses import dataclass
from functools import partial

from seedbed.encoders.compression.settings import COMPARED
from seedbed.generators.settings import WRITING, Lora
from seedbed.generators.writing.prompts import FEW_SHOT
from seedbed.gpu_memory import adapter_parameters
from seedbed.io import UserError
from seedbed.names import ANCHORS
from seedbed.operations.forecasting import scored, translations
from seedbed.operations.forecasting.costs import CostSpec, Device, RuleCost
from seedbed.operations.forecasting.sizes import ENCODERS, Sizes
from seedbed.operations.job import Job

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


class Plan(Sizes):
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
        """What a job does beyond its start."""
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

    def _effort(self, job: Job) -> tuple[float, float, float]:
        """Floating-point operations, tokens, rows."""
        ways = dict.fromkeys(ADAPTERS, self._adapter)
        ways |= dict.fromkeys(("synthesise", "build_xllora_examples"), self._generation)
        ways |= dict.fromkeys(scored.ANSWERED, partial(scored.tuning, self))
        ways |= {"translate": partial(translations.translation, self), "judge": partial(translations.judgement, self)}
        ways |= {"choose_translations": partial(translations.choosing, self), "score": partial(scored.scoring, self)}
        ways |= {"train_encoder": self._encoder, "align_encoders": self._together_trained}
        if find := ways.get(job.rule):
            return find(job)
        if job.rule == "fuse_encoders":
            return self._read(job, sum(map(self.rows, job.arguments.tests.values())), texts=2)
        if job.rule == "mine_neighbours":
            return self._read(job, self.rows(job.arguments.pool))
        if job.rule == "train_vocabulary":
            return 0, 0, self.used_rows(job, self.rows(job.arguments.texts))
        if job.rule == "copy_encoder":  # all tokens are counted, and some texts read
            return self._read(job, min(COMPARED, self.rows(job.arguments.texts)), texts=2)
        if job.rule == "adapt_backbone":
            masked = job.arguments.masked
            tokens = masked.steps * masked.batch_size * masked.length
            return 6 * self.model(job).body * tokens, tokens, 0
        if job.rule == "embed_pivot":
            return self._read(job, self.rows(job.arguments.texts) * len(job.arguments.columns))
        if job.rule == "map_texts":
            shown = job.arguments.map
            return self._read(job, 2 * shown.pairs * len(job.arguments.texts) if shown.pairs else shown.texts)
        rows = max((self.rows(output) for output in job.outputs if output.endswith(".tsv")), default=0)
        if job.rule in ("sample_text", "select_anchors", "select_pairs"):  # every row is looked at
            rows = self.rows(job.arguments.corpus)
        return 0, 0, rows

    def _read(self, job: Job, rows: float, texts: int = 1) -> tuple[float, float, float]:
        """The number of sentences that an encoder encodes, with a given number per row."""
        tokens = texts * rows * self.costs.tokens.sentence
        return 2 * self.model(job).body * tokens, tokens, rows

    def _adapter(self, job: Job) -> tuple[float, float, float]:
        lora, lengths = job.arguments.lora, self.costs.tokens
        table = next(file for name in ("triplets", "texts", "examples") if (file := job.of(name)))
        rows = min(lora.examples, self.rows(table))
        prompt = getattr(lengths, job.arguments.style, 0)
        length = lengths.instruction if job.of("kind") == "instructions" else prompt + 2 * lengths.sentence
        tokens = rows * lora.epochs * min(length, lora.max_length)
        return 6 * self.model(job).parameters * tokens, tokens, rows

    def _generation(self, job: Job) -> tuple[float, float, float]:
        generator, lengths, shots = job.arguments.generator, self.costs.tokens, 0
        if job.rule == "synthesise":
            rows = self.used_rows(job, self.rows(job.arguments.anchors)) / job.arguments.shards
            shots = generator.shots if WRITING[job.arguments.method].prompt in FEW_SHOT else 0
        else:
            rows = 0 if job.arguments.published else float(job.arguments.count)
        prompt = getattr(lengths, generator.prompts) + (1 + 2 * shots) * lengths.sentence
        drawn = min(generator.sampling.max_new_tokens, lengths.sentence)
        flops, tokens, _ = self.generation(job, generator, 2 * rows, prompt, drawn)  # a positive and a negative of each
        return flops, tokens, rows

    def _encoder(self, job: Job) -> tuple[float, float, float]:
        if not (learns := job.arguments.objective):
            return 0, 0, 0
        if job.arguments.translations:
            return translations.anchoring(self, job)
        if job.arguments.fusion:
            return translations.fused(self, job)
        # SimCSE reads a sentence without partners twice.
        files = [*job.arguments.each.values()] or [job.arguments.texts]
        alone = files[0].name.endswith(f"{ANCHORS}.tsv")
        sentences = 2 if alone else max(map(len, learns.shapes))
        training, rows = job.arguments.training, max(map(self.rows, files))  # of all ids are one epoch
        length = min(training.max_length, self.costs.tokens.sentence)
        tokens = self.trained_rows(training, self.used_rows(job, rows)) * length  # of one text in each row
        return (6 * sentences + 2 * learns.reread) * self.model(job).body * tokens, sentences * tokens, 0

    def _together_trained(self, job: Job) -> tuple[float, float, float]:
        """All sentences of the ids' rows, in an epoch once for each language that gets adapters; no other weight has a
        gradient.
        """
        training, rows = job.arguments.training, max(map(self.rows, job.arguments.each.values()))
        learning = len(job.arguments.each) - len(job.arguments.fixed)
        sentences = max(map(len, job.arguments.objective.shapes))
        length = min(training.max_length, self.costs.tokens.sentence)
        tokens = sentences * self.trained_rows(training, self.used_rows(job, rows) * learning) * length
        return 4 * self.model(job).body * tokens, tokens, 0

    def _weights_written(self, job: Job) -> float:
        """Bytes of weights, with 20 MB of tokenizer."""
        if job.rule in ("fetch_model", *ENCODERS):
            fusion = job.of("fusion")
            sides = self.model(job).parameters if fusion != "english" else 0
            sides += self.english(job).parameters if fusion else 0  # both are in the folder
            return sides * self._width(job) + 20e6
        if job.rule == "align_encoders":  # two matrices of d x d / reduction, compared with 12 d^2 of a block
            adapters = len(job.arguments.each) - len(job.arguments.fixed)
            return 4 * adapters * self.model(job).body / (6 * job.arguments.training.reduction)
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
