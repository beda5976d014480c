"""Resources of each job of a study: threads, memory, time, GPUs and their memory.

Its product says how much its models need; seedbed/resources/forecast.yaml has numbers for each rule. No program imports
this, since a job's resources change no result.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

from seedbed.gpu_memory import MIB
from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.names import TOGETHER
from seedbed.operations.forecasting.costs import HEADROOM, CostSpec
from seedbed.operations.runs import python_in
from seedbed.study.generator import StudyGenerator
from seedbed.study.graph import PRODUCTS
from seedbed.study.graph.adapter import XlloraExamples
from seedbed.study.graph.available import Available
from seedbed.study.graph.derived import FusedEncoder
from seedbed.study.graph.product import Product
from seedbed.study.graph.score import Scores, tunes
from seedbed.study.jobs import rule_function
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.study.sizes import Load, Sizes

ROUND = 100
"""MB: amounts of memory are multiples of it."""


class Needs:
    """The resources of a study's jobs, as Snakemake asks for them."""

    def __init__(self, study: Study, costs: CostSpec, seconds: Callable[..., float] = lambda *job: 0) -> None:
        """`seconds` forecasts a rule's job by its wildcards, threads and GPUs; 0: no forecast."""
        self.study, self.costs, self.seconds = study, costs, seconds
        self.sizes = Sizes(study, costs)
        self.without_gpu = Sizes(study, costs, on_cpu=True) if study.forecast.device == "cpu" else None
        self._load = cache(lambda product, sizes: product.load(sizes))  # asked for each of a job's resources

    def threads(self, rule: str) -> int:
        """Threads of a rule's jobs."""
        return self.costs.rules[rule].threads

    def at_most(self, threads: int | None) -> dict[str, int]:
        """Rule -> threads, of the rules that have more than a maximum; None: no maximum."""
        wanted = {rule: cost.threads for rule, cost in self.costs.rules.items()}
        return {rule: threads for rule, count in wanted.items() if threads and count > threads}

    def load(self, product: Product) -> Load:
        """Memory of the models of a job, by the usual sizes."""
        return self._load(product, self.sizes)

    def of(self, rule: str) -> dict[str, Any]:
        """The resources of a rule for Snakemake: name -> number, or a function of a job's wildcards.

        `mem_mb` (main memory) and `runtime` (minutes) grow with each attempt. `gpu` is the number of GPUs and `gpu_mb`
        the MiB of each. Where the study has `gpus.memory`, there is also the resource by which GPUs are requested.
        """
        cost, opens = self.costs.rules[rule], rule in MODELS

        def load(wildcards: Any) -> Load:
            return self.load(PRODUCTS[rule].of(self.study, wildcards)) if opens else Load()

        def held(wildcards: Any) -> int:
            """MiB that a step of training takes of the main memory, with the weights."""
            if not (cost.trains and self.without_gpu):
                return 0
            return self._load(PRODUCTS[rule].of(self.study, wildcards), self.without_gpu).gpu_mb

        @rule_function
        def mem_mb(wildcards: Any, attempt: int) -> int:
            own = load(wildcards)
            needed = cost.memory_mb + max(own.parameters * cost.weights / MIB, held(wildcards)) + own.kept / MIB
            return math.ceil(HEADROOM * needed / ROUND) * ROUND * attempt

        @rule_function
        def runtime(wildcards: Any, attempt: int, threads: int) -> int:
            return cost.limit(self.seconds(rule, wildcards, threads, load(wildcards).gpus)) * attempt

        grown = {"mem_mb": mem_mb, "runtime": runtime}
        if not opens:
            return {"gpu": 0, **grown}
        asked = {
            "gpu": rule_function(lambda wildcards: load(wildcards).gpus),
            "gpu_mb": rule_function(lambda wildcards: load(wildcards).gpu_mb),
        }
        if self.study.gpus.memory:
            told_by = self.study.gpus.told_by
            asked[told_by] = rule_function(lambda wildcards: self.kinds(load(wildcards).gpu_mb))
        return asked | grown

    def kinds(self, needed: int) -> str | None:
        """The value of Slurm's option that requests a GPU with at least `needed` MiB: all such kinds for `constraint`,
        else the smallest. None: no GPU is needed, or none is large enough.
        """
        gpus = self.study.gpus
        by_memory = sorted((has, kind) for kind, has in gpus.memory.items())
        fit = [kind for has, kind in by_memory if has >= needed > 0]
        if not fit:
            return None
        return "|".join(fit) if gpus.told_by == "constraint" else fit[0]

    def refusal(self, job: str, needed: int) -> str:
        """One line on a job that fits none of the GPUs that the study names; empty: one is large enough."""
        gpus = self.study.gpus.memory
        if not gpus or needed <= max(gpus.values()):
            return ""
        largest = max(gpus, key=gpus.__getitem__)
        return (
            f"{job} needs {needed:,} MiB of a GPU, and the largest of gpus.memory, {largest}, has {gpus[largest]:,}; "
            "take a smaller model, quantization nf4 to train, tensor_parallel under vllm, or say otherwise by gpu_mb "
            "under set-resources"
        )

    def require(self, jobs: Iterable[tuple[str, str, Any, Any]], *, conda: bool) -> None:
        """Check that the jobs of a run can succeed, before any is submitted.

        Args:
            jobs: description, rule, wildcards and resources of each.
            conda: jobs run in conda's environments.

        Raises:
            UserError: a job fits no GPU that the study names, or needs vLLM, which is not there.
        """
        lacking = not conda and not find_spec("vllm") and python_in("vllm") == "python"
        for job, rule, wildcards, resources in jobs:
            if refusal := self.refusal(job, resources.get("gpu_mb", 0)):
                raise UserError(refusal)
            product = PRODUCTS[rule].of(self.study, wildcards) if rule in PRODUCTS else None
            if lacking and product and product.environment == "vllm":
                raise UserError(
                    f"generators.{product.writer}.backend: vllm, which is not here; run `make env-vllm`, set "
                    "`software-deployment-method: conda` in the profile, or take `backend: transformers`"
                )

    def gpus_by_folder(self) -> dict[str, int]:
        """Folder of benchmarks, or pattern of them -> GPUs of each job: 1, or what it loads; see `provenance.hours`."""
        found = {folder: load.gpus for folder, load in self._loads_by_folder()}
        usual = dict.fromkeys(sorted(MODELS - {"fetch_model"}), 1)
        special = {folder: gpus for folder, gpus in found.items() if folder.partition("/")[0] in usual and gpus != 1}
        return usual | special

    def _loads_by_folder(self) -> Iterator[tuple[str, Load]]:
        """Folder of benchmarks, or pattern of them -> what its jobs load."""
        study = self.study
        for name in (one.name for one in StudyGenerator.every(study) if one.writes):
            yield f"synthesise/{name}", self.sizes.written(name)
            yield f"build_xllora_examples/{name}", self.load(XlloraExamples.get(study, name))
        for rule, models in (("translate", study.translators), ("judge", study.judges)):
            for name, model in models.items():
                yield f"{rule}/{name}", self.sizes.written(model.generator) if model.generator else Load()
        for name in study.fused:
            yield f"fuse_encoders/{name}", self.load(FusedEncoder.get(study, name, "base", ANY, 0))
        for system, backbone, code in itertools.product(Available.get(study).recipes, study.backbones, study.codes):
            if backbone not in study.fused and system.has(backbone, code):
                rule = StudyRecipe.get(study, system.recipe).maker.spec.rule
                encoder = PRODUCTS[rule].resolved(study, backbone, system.recipe, code)
                yield f"{rule}/{backbone}/{encoder.recipe}/{encoder.lang}", self.load(encoder)
        for name in study.classifiers:
            yield f"score/{name}", self.load(Scores.get(study, name, TOGETHER, ANY, ANY, TOGETHER))
        for backbone in study.backbones:
            yield f"score/{backbone}", self.sizes.mining(backbone)  # reads texts, as scoring does
        for task in filter(partial(tunes, study), study.tasks):  # the predictions are there
            yield f"score/*.{task}", Load()


MODELS = {rule for rule, product in PRODUCTS.items() if product.load is not Product.load}
"""The rules whose jobs open models."""
