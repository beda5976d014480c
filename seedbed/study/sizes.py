"""Sizes of a study's models, and the memory that they need at work.

Sizes are those of weights that exist, else those in seedbed/resources/forecast.yaml, else read from a model's name. No
program imports this, since a job's resources change no result.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from seedbed import gpu_memory
from seedbed.encoders.settings import Training
from seedbed.generators.settings import Lora
from seedbed.gpu_memory import TRAINED, Need, Shape
from seedbed.languages import ANY
from seedbed.operations.forecasting.costs import CostSpec
from seedbed.precision import Precision
from seedbed.study.backbone import StudyBackbone
from seedbed.study.generator import StudyGenerator
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe

READ = 512
"""Tokens of a text that a model reads at most, as a rule."""
LABELLED = 32
"""Texts of a batch that a fine-tuned model labels."""
MINED = 64
"""Sentences of a batch of a pool that is mined."""


class Load(NamedTuple):
    """Memory that the models of a job need."""

    gpus: int = 0
    gpu_mb: int = 0
    """MiB of each GPU."""
    parameters: float = 0
    """Weights that the main memory holds at once."""
    kept: float = 0
    """Bytes of main memory in addition to the weights."""


class Sizes:
    """The sizes of a study's models."""

    def __init__(self, study: Study, costs: CostSpec, *, on_cpu: bool = False) -> None:
        """Args:
        costs: has the sizes of models whose weights do not exist yet.
        on_cpu: models are in the main memory, and `auto` is float32.
        """
        self.study, self.costs, self.on_cpu = study, costs, on_cpu
        self.shape = cache(self._shape)

    def generator(self, name: str) -> float:
        """Parameters of a generator's weights; 0: it has none here."""
        return self._written_by(name).parameters if self.study.generators[name].source else 0

    def loaded(self, generator: str) -> float:
        """Parameters of the weights that a job loads to run a generator; 0: a server runs it."""
        return self.generator(generator) if self._of(generator).gpus else 0

    def encoder(self, backbone: str) -> float:
        """Parameters of a backbone's weights, all of a fusion; 0: a server has them."""
        return sum(shape.parameters for shape in self._shapes(backbone))

    def classifier(self, name: str) -> float:
        """Parameters of the weights that a job loads to train or run a classifier."""
        spec = self.study.classifiers[name]
        if spec.prompted:
            return self.loaded(spec.generator)
        return self.generator(spec.generator) if spec.generator else self.encoder(spec.backbone)

    def adapting(self, generator: str) -> int:
        """MiB of GPU memory to train an adapter of a generator."""
        spec = self.study.generators[generator]
        return self._asked(_adapting(self._written_by(generator), spec.lora, spec.dtype))

    def classifying(self, classifier: str) -> int:
        """MiB of GPU memory to train an adapter of a classifier."""
        spec = self.study.classifiers[classifier]
        if spec.generator:
            return self.adapting(spec.generator)
        return self._asked(_adapting(self.shape("encoders", spec.backbone), spec.lora, spec.dtype))

    def encoding(self, backbone: str, recipe: str) -> int:
        """MiB of GPU memory to train an encoder."""
        return self._asked(self._training(backbone, recipe))

    def _training(self, backbone: str, recipe: str) -> Need:
        made, shape = StudyRecipe.get(self.study, recipe), self.shape("encoders", backbone)
        training, objective = made.training, made.spec.minimises
        if training.part == "head" and made.spec.paired:
            return self._beside(backbone, recipe, training)
        read = [shape for shape in objective.shapes if {*shape} <= {*made.spec.data.columns}] or objective.shapes
        texts = max(2, *map(len, read)) * training.batch_size  # a single text is encoded twice
        tokens = min(texts, training.mini_batch or texts) * training.max_length
        if training.part == "head":  # the transformer only reads
            return gpu_memory.reading(shape, tokens=tokens, dtype="float32")
        options = {"dtype": self._dtype(training.precision), "checkpointed": training.gradient_checkpointing}
        need = gpu_memory.training(shape, tokens=tokens, **_trained(shape, training), **options)
        if not objective.reread:
            return need
        again = objective.reread * training.batch_size * training.max_length
        return gpu_memory.together([need, gpu_memory.reading(shape, tokens=again, dtype="float32")])

    def _beside(self, backbone: str, recipe: str, training: Training) -> Need:
        """Training of the modules around two frozen encoders of a pair: both encode their texts. Features before tokens
        are trained through the English encoder, whose activations are then stored.
        """
        spec, shapes = self.study.recipes[recipe], self._shapes(backbone)
        rows = MINED if spec.data.candidates else 2 * training.batch_size
        tokens = rows * training.max_length
        need = gpu_memory.together([gpu_memory.reading(shape, tokens=tokens, dtype="float32") for shape in shapes])
        through = shapes[-1].activations if spec.english.fusion == "prefix" else 0
        kept = gpu_memory.KEPT_MORE * tokens * through * gpu_memory.BYTES["float32"]
        return Need(need.fixed, need.batch + kept)

    def anchoring(self, backbone: str, recipe: str, translations: int) -> float:
        """Bytes of cached states in main memory for a number of files, if no translation is shared between rows."""
        if not translations:
            return 0
        spec = self.study.recipes[recipe]
        rows = translations * self.costs.rows.get(spec.data.origin, self.costs.rows["default"])
        source, english = (shape.width for shape in self._shapes(backbone))
        return spec.minimises.cached_bytes(rows / len(spec.english.translators), rows, source, english)

    def aligning(self, backbone: str, recipe: str, count: int) -> int:
        """MiB of GPU memory to train adapters of `count` loaded encoders jointly; the activations of a step are those
        of one encoder.
        """
        shape, need = self.shape("encoders", backbone), self._training(backbone, recipe)
        adapter = _trained(shape, StudyRecipe.get(self.study, recipe).training)["added"]
        each = gpu_memory.BYTES["float32"] * shape.body + TRAINED * adapter
        return self._asked(Need(need.fixed + count * each, need.batch))

    def tuning(self, backbone: str, tokens: int, dtype: Precision) -> int:
        """MiB of GPU memory to train all weights of a backbone, with `tokens` tokens in a step."""
        shape = self.shape("encoders", backbone)
        return self._asked(gpu_memory.training(shape, tokens=tokens, dtype=self._dtype(dtype)))

    def writing(self, generator: str, others: Sequence[Need] = ()) -> int:
        """MiB to run a generator, on each of its GPUs, with one of `others` loaded at a time; 0: a server runs it."""
        spec = self.study.generators[generator]
        if not self._of(generator).gpus:
            return 0
        sampling, shape = spec.sampling, self._written_by(generator)
        if spec.backend == "vllm":
            length = sampling.max_prompt_tokens + sampling.max_new_tokens
            options = {"dtype": spec.dtype, "gpus": spec.tensor_parallel, "share": spec.gpu_memory}
            served = self._asked(gpu_memory.serving(shape, length=length, **options))
            left = max(1 - spec.gpu_memory, 0.01)  # of a GPU, for what is loaded in addition to the engine
            return max([served, *(math.ceil(one.least / left) for one in others)])
        limits = {"rows": spec.batch_size, "prompt": sampling.max_prompt_tokens, "new": sampling.max_new_tokens}
        need = gpu_memory.writing(shape, **limits, dtype=spec.dtype, quantization=spec.quantization)
        fixed = need.fixed + max((other.fixed for other in others), default=0)
        return self._asked(Need(fixed, max([need.batch, *(other.batch for other in others)])))

    def written(self, generator: str) -> Load:
        """Memory of a job that runs a generator."""
        return Load(self._of(generator).gpus, self.writing(generator), self.loaded(generator))

    def reading(self, backbone: str, tasks: Sequence[str], copies: int = 1) -> Load:
        """Encoding the texts of tasks, with several encoders of a backbone loaded (`copies`)."""
        return self._encoded(backbone, min(self.study.tasks[task].batch_size for task in tasks), copies)

    def mining(self, backbone: str) -> Load:
        """Encoding a pool, a batch at a time."""
        return self._encoded(backbone, MINED)

    def _encoded(self, backbone: str, rows: int, copies: int = 1) -> Load:
        """Encoding batches of texts; what servers encode needs nothing here."""
        weights = self.encoder(backbone)
        return Load(1 if weights else 0, self._reading(backbone, rows, copies), copies * weights)

    def comparing(self, backbone: str) -> Load:
        """Encoding texts with the multilingual encoder of a pair, while the English input embeddings are loaded."""
        source, english = self._shapes(backbone)
        embeddings = english.parameters - english.body
        need = gpu_memory.reading(source, tokens=MINED * READ, dtype="float32")
        fixed = need.fixed + gpu_memory.BYTES["float32"] * embeddings
        return Load(1, self._asked(Need(fixed, need.batch)), source.parameters + embeddings)

    def labelling(self, classifier: str, helpers: Iterable[str] = ()) -> int:
        """MiB of each GPU to label pairs or texts with a classifier; `helpers` are backbones of encoders, of which one
        at a time is loaded too.
        """
        spec = self.study.classifiers[classifier]
        if not spec.generator:
            return self._reading(spec.backbone, LABELLED)
        return self.writing(spec.generator, [self._read(name, LABELLED) for name in helpers])

    def measuring(self) -> int:
        """MiB of GPU memory of the largest model that rule `measure_compute` loads; it loads one after the other."""
        spec = self.study.compute
        tuned = self.tuning(spec.learner, spec.batch_size * READ, "float32")
        asked = [self.writing(self.study.classifiers[name].generator) for name in spec.classifiers]
        return max([tuned, self._reading(spec.encoder.backbone, spec.sample), *asked])

    def _asked(self, need: Need) -> int:
        """MiB to request. If no GPU has the memory of a usual batch, the largest is requested, provided that the
        weights fit. Of main memory, what is needed.
        """
        if self.on_cpu:
            return math.ceil((need.fixed + need.batch) / gpu_memory.MIB)
        largest = max(self.study.gpus.memory.values(), default=need.whole)
        return max(need.least, min(need.whole, largest))

    def _dtype(self, dtype: Precision) -> Precision:
        return "float32" if self.on_cpu and dtype == "auto" else dtype

    def _reading(self, backbone: str, rows: int, copies: int = 1) -> int:
        """Encoding batches of texts, in float32. Fused encoders are open at the same time."""
        needs = [self._read(backbone, rows)] * copies
        return self._asked(gpu_memory.together(needs)) if self._shapes(backbone) else 0

    def _read(self, backbone: str, rows: int) -> Need:
        needs = [gpu_memory.reading(shape, tokens=rows * READ, dtype="float32") for shape in self._shapes(backbone)]
        return gpu_memory.together(needs)

    def _shapes(self, backbone: str) -> list[Shape]:
        """Those of a backbone's weights, all of a fusion, both of a pair, that are no server's."""
        pair = self.study.paired.get(backbone)
        names = [pair.multilingual, pair.english] if pair else StudyBackbone.get(self.study, backbone).members
        return [self.shape("encoders", name) for name in names if not self.study.backbones[name].endpoint]

    def _of(self, generator: str) -> StudyGenerator:
        """A generator as the study has it."""
        return StudyGenerator.get(self.study, generator)

    def _written_by(self, generator: str) -> Shape:
        return self.shape("generators", self._of(generator).model)

    def _shape(self, room: str, name: str) -> Shape:
        """Shape of weights that exist, else by the size that resources/forecast.yaml or the model's name gives."""
        if room == "generators":
            model = self.study.generators[name]
        else:
            body = StudyBackbone.get(self.study, name).body
            model, name = body.spec, body.fetched_as
        source = model.source.resolved(self.study.facts(ANY))
        for folder in (Path(self.study.results, room, name, "weights"), source.file and Path(source.file)):
            if folder and (found := gpu_memory.shape_of(folder)):
                return found
        size = self.costs.size(name, source.dump())
        return gpu_memory.guessed(size.parameters, size.body)


def _trained(shape: Shape, training: Training) -> dict[str, float]:
    """The number of an encoder's weights that training leaves as they are, and of the new weights that it adds."""
    if training.part == "adapter":
        if training.adapter == "low_rank":
            added = gpu_memory.adapter_parameters(shape.parameters, training.rank)
        else:
            added = gpu_memory.parallel_parameters(shape.body, training.reduction)
        return {"frozen": shape.parameters, "added": added}
    return {"frozen": shape.parameters - shape.body if training.freeze_word_embeddings else 0, "added": 0}


def _adapting(shape: Shape, lora: Lora, dtype: str) -> Need:
    tokens = min(lora.micro_batch_size, lora.batch_size) * lora.max_length
    options = {"dtype": dtype, "quantization": lora.quantization, "rank": lora.rank}
    return gpu_memory.adapting(shape, tokens=tokens, **options)
