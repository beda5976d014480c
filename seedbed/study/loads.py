"""What the models of each rule's jobs take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from seedbed.study.graph import (
    alignment,
    choices,
    classifiers,
    compute,
    encoders,
    evaluation,
    generators,
    tables,
    translations,
    tuned,
)

if TYPE_CHECKING:
    from seedbed.study.needs import Needs


class Load(NamedTuple):
    """What the models of a job take."""

    gpus: int = 0
    gpu_mb: int = 0
    """MiB of each GPU."""
    parameters: float = 0
    """Weights that its own memory holds at once."""
    kept: float = 0
    """Bytes of its own memory that it keeps beside them."""


def _trained(needs: Needs, job: Any) -> Load:
    if encoders.untrained(needs.study, job):
        return Load(parameters=needs.encoder(job.backbone))
    weights = needs.encoder(job.backbone)
    return Load(1, needs.encoding(job.backbone, job.recipe), weights, needs.anchoring(job))


def _aligned(needs: Needs, job: Any) -> Load:
    """All encoders are open, and a step reads one after the other."""
    count = len(alignment.together(needs.study, job))
    return Load(1, needs.aligning(job.backbone, job.recipe, count), count * needs.encoder(job.backbone))


def _fetched(needs: Needs, job: Any) -> Load:
    owner = job.model.partition("+")[0]
    return Load(parameters=needs.generator(owner) if job.room == "generators" else needs.encoder(owner))


def _adapted(needs: Needs, job: Any) -> Load:
    return Load(1, needs.adapting(job.generator), needs.generator(job.generator))


def _written(needs: Needs, job: Any) -> Load:
    name = generators.writer(needs.study, job)
    return Load(needs.gpus(name), needs.writing(name), needs.generator(name))


def _put_into_pivot(needs: Needs, job: Any) -> Load:
    """What is given, or in the pivot language, takes no model."""
    return _written(needs, job) if translations.writes(needs.study, job) else Load()


def _fused(needs: Needs, job: Any) -> Load:
    """Weights that are given need no encoder."""
    dev = needs.study.fused[job.backbone].dev
    return Load(1, needs.reading(job.backbone, [dev]), needs.encoder(job.backbone)) if dev else Load()


def _read(needs: Needs, backbone: str, tasks: Sequence[str]) -> Load:
    gpus = 0 if needs.study.backbones[backbone].endpoint else 1
    return Load(gpus, needs.reading(backbone, tasks), needs.encoder(backbone))


def _chosen(needs: Needs, job: Any) -> Load:
    """Features, or a critic's vectors; other choices take no model."""
    asked = choices.policy(needs.study, job) or choices.critic(needs.study, job)
    return Load(1, needs.mining(job.backbone), needs.encoder(job.backbone)) if asked else Load()


def _scored(needs: Needs, job: Any) -> Load:
    if tuned.tunes(needs.study, job.tasks):  # its answers are there
        return Load()
    if not (spec := needs.study.classifiers.get(job.backbone)):
        load = _read(needs, job.backbone, evaluation.tasks_of(needs.study, job))
        second = evaluation.seconds(needs.study, job)
        sides = 1 if second in ([], evaluation.systems(needs.study, job)) else 2  # of a pair both encoders are open
        return Load(load.gpus, sides * load.gpu_mb, sides * load.parameters)
    if spec.as_baseline:  # its labels are there, or hang on no model
        return Load()
    gpus = needs.gpus(spec.generator) if spec.prompted else 1
    beside = max(map(needs.encoder, classifiers.beside(needs.study, job.backbone)), default=0)
    return Load(gpus, needs.labelling(job.backbone), needs.classifier(job.backbone) + beside)


def _measured(needs: Needs, job: Any) -> Load:
    spec = compute.settings(needs.study)
    models = [needs.encoder(spec.learner), *(needs.classifier(name) for name in spec.classifiers)]
    return Load(1, needs.measuring(), max(models))


LOADS: dict[str, Callable[[Needs, Any], Load]] = {
    "fetch_model": _fetched,
    "train_task_adapter": _adapted,
    "train_language_adapter": _adapted,
    "train_xllora_adapter": _adapted,
    # Nothing is written where all examples are there.
    "build_xllora_examples": lambda needs, job: (
        _written(needs, job) if generators.xllora_writers(needs.study, job) else Load()
    ),
    "translate": _put_into_pivot,
    "judge": _put_into_pivot,
    "synthesise": _written,
    "train_encoder": _trained,
    "train_classifier": lambda needs, job: Load(1, needs.classifying(job.classifier), needs.classifier(job.classifier)),
    "fine_tune": lambda needs, job: Load(1, needs.fine_tuning(job.classifier), needs.classifier(job.classifier)),
    "tune_encoder": lambda needs, job: Load(
        1, needs.tuning(job.backbone, job.recipe, job.task), needs.encoder(job.backbone)
    ),
    "fuse_encoders": _fused,
    "adapt_backbone": lambda needs, job: Load(1, needs.masking(job.backbone), needs.encoder(job.backbone)),
    "mine_neighbours": lambda needs, job: Load(1, needs.mining(job.backbone), needs.encoder(job.backbone)),
    "choose_translations": _chosen,
    "embed_pivot": lambda needs, job: Load(1, needs.mining(job.backbone), needs.encoder(job.backbone)),
    "align_encoders": _aligned,
    "score": _scored,
    "map_texts": lambda needs, job: _read(needs, job.backbone, [tables.map_settings(needs.study, job).task]),
    "measure_compute": _measured,
}
"""Rule -> the load of one of its jobs, for the rules that open models."""


def gpus_by_folder(needs: Needs) -> dict[str, int]:
    """Folder of benchmarks -> GPUs of each job below it: 1, what a generator writes or answers on, or none."""
    study = needs.study
    writing = {
        "synthesise": {name: name for name in study.generators},
        "translate": {name: one.generator for name, one in study.translators.items()},
        "judge": {name: one.generator for name, one in study.judges.items()},
    }
    asked = {name: one.generator for name, one in study.classifiers.items() if one.prompted or one.as_baseline}
    found = {
        f"{rule}/{name}": needs.gpus(generator) if generator else 0
        for rule, generators in (writing | {"score": asked}).items()
        for name, generator in generators.items()
    }
    remote = [name for name, one in study.backbones.items() if one.endpoint]
    found |= {f"{rule}/{name}": 0 for rule in ("train_encoder", "score") for name in remote}
    return dict.fromkeys(sorted({*LOADS} - {"fetch_model"}), 1) | found
