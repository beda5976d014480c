"""What each job of a study needs of a GPU's memory, in MiB, and on which of the cluster's GPUs it finds it.

No program imports this: what a job asks for changes no result.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from seedbed import gpu_memory
from seedbed.config import Study
from seedbed.generators.settings import Lora
from seedbed.gpu_memory import Need, Shape
from seedbed.languages import ANY
from seedbed.tables.forecasting.costs import CostSpec

READ = 512
"""Tokens of a text that a model reads at most, as a rule."""
TEXTS = 3
"""Of a training row."""
LABELLED = 32
"""Texts of a batch that a fine-tuned model labels."""


class Needs:
    """The jobs of a study, by what they do."""

    def __init__(self, study: Study, costs: CostSpec) -> None:
        self.study, self.costs = study, costs
        self.shape = cache(self._shape)

    def adapting(self, generator: str) -> int:
        """Training an adapter of a generator."""
        spec = self.study.generators[generator]
        return self._asked(_adapting(self._written_by(generator), spec.lora, spec.dtype))

    def classifying(self, classifier: str) -> int:
        """Training an adapter of a classifier."""
        spec = self.study.classifiers[classifier]
        if spec.generator:
            return self.adapting(spec.generator)
        return self._asked(_adapting(self.shape("encoders", spec.backbone), spec.lora, spec.dtype))

    def encoding(self, backbone: str, recipe: str) -> int:
        """Training an encoder."""
        training = self.study.training_of(recipe)
        tokens = TEXTS * training.batch_size * training.max_length
        options = {"dtype": training.precision, "frozen": training.freeze_word_embeddings}
        return self._asked(gpu_memory.training(self.shape("encoders", backbone), tokens=tokens, **options))

    def fine_tuning(self, classifier: str) -> int:
        """Training all of a backbone with a head on labelled texts."""
        spec = self.study.classifiers[classifier]
        tokens = spec.fine_tuning.batch_size * spec.fine_tuning.max_length
        return self._asked(gpu_memory.training(self.shape("encoders", spec.backbone), tokens=tokens, dtype=spec.dtype))

    def writing(self, generator: str) -> int:
        """Writing with a generator, on each of its GPUs; 0: a server does."""
        spec = self.study.generators[generator]
        if spec.backend in ("openai", "openai-chat", "published"):
            return 0
        sampling, shape = spec.sampling, self._written_by(generator)
        if spec.backend == "vllm":
            length = sampling.max_prompt_tokens + sampling.max_new_tokens
            options = {"dtype": spec.dtype, "gpus": spec.tensor_parallel, "share": spec.gpu_memory}
            return self._asked(gpu_memory.serving(shape, length=length, **options))
        limits = {"rows": spec.batch_size, "prompt": sampling.max_prompt_tokens, "new": sampling.max_new_tokens}
        return self._asked(gpu_memory.writing(shape, **limits, dtype=spec.dtype))

    def reading(self, backbone: str, tasks: Sequence[str]) -> int:
        """Encoding the texts of tasks; 0: a server does."""
        return self._reading(backbone, min(self.study.tasks[task].batch_size for task in tasks))

    def fusing(self, backbone: str) -> int:
        """Choosing the weights of fused encoders; 0: they are given."""
        dev = self.study.fused[backbone].dev
        return self.reading(backbone, [dev]) if dev else 0

    def labelling(self, classifier: str) -> int:
        """Labelling pairs or texts with a classifier."""
        spec = self.study.classifiers[classifier]
        return self.writing(spec.generator) if spec.generator else self._reading(spec.backbone, LABELLED)

    def measuring(self) -> int:
        """The largest of what is measured one after the other; 0: nothing is."""
        if not (spec := self.study.compute):
            return 0
        shape = self.shape("encoders", spec.learner)
        tuned = gpu_memory.training(shape, tokens=spec.batch_size * READ, dtype="float32")
        asked = [self.writing(self.study.classifiers[name].generator) for name in spec.classifiers]
        return max([self._asked(tuned), self._reading(spec.encoder.backbone, spec.sample), *asked])

    def kinds(self, needed: int) -> dict[str, str]:
        """How Slurm is told which GPUs have so many MiB: the resource and its value; nothing if none is known to."""
        gpus = self.study.gpus
        fit = sorted((has, kind) for kind, has in gpus.memory.items() if has >= needed > 0)
        if not fit:
            return {}
        return {gpus.told_by: "|".join(kind for _, kind in fit) if gpus.told_by == "constraint" else fit[0][1]}

    def refusal(self, job: str, needed: int) -> str:
        """One line on a job that fits none of the GPUs that the study names; nothing: one is large enough."""
        gpus = self.study.gpus.memory
        if not gpus or needed <= max(gpus.values()):
            return ""
        largest = max(gpus, key=gpus.__getitem__)
        return (
            f"{job} needs {needed:,} MiB of a GPU, and the largest of gpus.memory, {largest}, has {gpus[largest]:,}; "
            "take a smaller model, quantization nf4 to train, tensor_parallel under vllm, or say otherwise by gpu_mb "
            "under set-resources"
        )

    def _asked(self, need: Need) -> int:
        """MiB to ask for. Where no GPU has what a batch takes as a rule, the largest may do, if the weights fit it."""
        largest = max(self.study.gpus.memory.values(), default=need.whole)
        return max(need.least, min(need.whole, largest))

    def _reading(self, backbone: str, rows: int) -> int:
        """Encoding batches of texts, in float32. Fused encoders are open at the same time."""
        spec = self.study.backbones[backbone]
        names = list(spec.fusion.of) if spec.fusion else [backbone]
        shapes = [self.shape("encoders", name) for name in names if not self.study.backbones[name].endpoint]
        needs = [gpu_memory.reading(shape, tokens=rows * READ, dtype="float32") for shape in shapes]
        return self._asked(gpu_memory.together(needs)) if needs else 0

    def _written_by(self, generator: str) -> Shape:
        return self.shape("generators", self.study.maker(generator, "weights"))

    def _shape(self, room: str, name: str) -> Shape:
        """Of weights that are there, else by the size that resources/forecast.yaml or the model's name tells."""
        model = (self.study.generators if room == "generators" else self.study.backbones)[name]
        name = name if room == "generators" else self.study.weights_of(name)
        source = model.source.resolved(self.study.facts(ANY))
        for folder in (Path(self.study.results, room, name, "weights"), source.file and Path(source.file)):
            if folder and (found := gpu_memory.shape_of(folder)):
                return found
        size = self.costs.size(name, source.dump())
        return gpu_memory.guessed(size.parameters, size.body)


def _adapting(shape: Shape, lora: Lora, dtype: str) -> Need:
    tokens = min(lora.micro_batch_size, lora.batch_size) * lora.max_length
    options = {"dtype": dtype, "quantization": lora.quantization, "rank": lora.rank}
    return gpu_memory.adapting(shape, tokens=tokens, **options)
