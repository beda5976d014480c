"""What a study must be beyond the types of its settings: whole, and consistent with itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from seedbed.corpora.settings import Source
from seedbed.encoders.classifier_settings import Classifier, Retriever
from seedbed.encoders.settings import SYNTHETIC, UNTRAINED, Recipe, Training
from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.settings import CHOOSING, LEARNING, SEARCHING
from seedbed.generators.settings import Choice, Generator
from seedbed.languages import registry
from seedbed.names import RESERVED
from seedbed.resources import specs
from seedbed.settings import explain, suggest

if TYPE_CHECKING:
    from seedbed.config import Study


def consistent(study: Study) -> None:
    """Every name that a setting gives is that of something, and what belongs together fits.

    Raises:
        ValueError: the first that does not.
    """
    for kind, reserved in RESERVED.items():
        for name in sorted({*getattr(study, kind)} & {*reserved}):
            raise ValueError(f"{kind}.{name}: this name stands for {reserved[name]}; take another")
    for name in sorted({*study.corpora.others} & {*RESERVED["tasks"], *study.tasks}):
        stands = RESERVED["tasks"].get(name, "a task")
        raise ValueError(f"corpora.others.{name}: this name stands for {stands}; take another")
    for code in [*study.languages, study.pivot, *study.borrowed(), *study.lent()]:
        _language(study, code)
    for name, choice in study.choosing.items():
        _choice(study, name, choice)
    for name, recipe in study.recipes.items():
        _recipe(study, name, recipe)
    for name, classifier in study.classifiers.items():
        _classifier(study, name, classifier)
    _require("statistics.baseline", "recipe", study.statistics.baseline or study.baseline, study.recipes)
    for name, task in study.tasks.items():
        _require(f"tasks.{name}.set_of", "task", task.set_of or name, study.tasks)
        if task.protocol in LEARNING and study.tasks[study.test_set(name)].train is None:
            raise ValueError(
                f"tasks.{name}: no training set; protocol {task.protocol} needs `train`, or `set_of` a task with one"
            )
        for code in task.languages or []:
            _require(f"tasks.{name}.languages", "language", code, {*study.languages, *registry()})
    for name in study.fused:
        _fusion(study, name)
    if study.compute:
        _compute(study, study.compute)
    for code, language in study.languages.items():
        for name in language.tests:
            _require(f"languages.{code}.tests", "task", name, study.tasks)
    for kind, names in (("tables", study.tables), ("figures", study.figures)):
        for name in names:
            _require(kind, f"resources/{kind}/*.yaml", name, specs(kind))


def _language(study: Study, code: str) -> None:
    facts = study.facts(code)
    if not facts["name"] or not facts["script"]:
        raise ValueError(
            f"languages.{code}: not in the language registry; {suggest(code, sorted(registry()))}; "
            "or give `name`, `script` and `corpus`"
        )
    codes = study.languages[code].codes if code in study.languages else {}
    if own := sorted({"code", "lang", "name", "script"} & {*codes}):
        raise ValueError(f"languages.{code}.codes.{own[0]}: no name in a resource; give name and script beside `codes`")


def _recipe(study: Study, name: str, recipe: Recipe) -> None:
    where = f"recipes.{name}"
    if recipe.method in SYNTHETIC and not study.generators:
        raise ValueError(f"{where}: method {recipe.method} needs a generator; add one under `generators:`")
    if recipe.text and recipe.method != "unsupervised":
        raise ValueError(f"{where}.text: method {recipe.method} learns from no sentences alone; leave it out")
    if recipe.text:
        _require(f"{where}.text", "corpus under `corpora.others`", recipe.text, study.corpora.others)
    if recipe.generator:
        _require(f"{where}.generator", "generator", recipe.generator, study.generators)
    if recipe.method in ("composition", "xllora") and not study.generators[writer := study.generator_of(name)].source:
        raise ValueError(f"{where}: method {recipe.method} trains adapters, and {writer} has no weights; take another")
    for kind in ("languages", "backbones"):
        for entry in getattr(recipe, kind) or []:
            _require(f"{where}.{kind}", kind.removesuffix("s"), entry, getattr(study, kind))
    if wrong := sorted({*(recipe.seeds or [])} - {*study.seeds}):
        raise ValueError(f"{where}.seeds: {wrong[0]} is none of the study's; known: {', '.join(map(str, study.seeds))}")
    for entry in recipe.backbones or []:
        if study.backbones[entry].endpoint and recipe.method not in UNTRAINED:
            raise ValueError(f"{where}.backbones: {entry} is an endpoint and cannot be trained; name others")
    for entry in {*(recipe.backbones or [])} & {*study.fused}:
        if lacking := sorted({*study.fused[entry].of} - {*(recipe.backbones or [])}):
            raise ValueError(f"{where}.backbones: {entry} fuses {lacking[0]}; name that too, or leave {entry} out")
    for entry in recipe.encoders:
        _require(f"{where}.encoders", "backbone", entry, study.backbones)
    if wrong := sorted({*recipe.encoders} & {*study.fused}):
        raise ValueError(f"{where}.encoders: {wrong[0]} is a fusion; give those of its backbones")
    try:
        study.training_of(name)
    except ValidationError as error:
        raise ValueError(explain(error, Training, where=f"{where}.training")) from None


def _classifier(study: Study, name: str, classifier: Classifier) -> None:
    where = f"classifiers.{name}"
    if name in {*study.backbones, *study.generators}:
        raise ValueError(f"{where}: a backbone or generator has this name; give it another")
    for kind in ("backbone", "generator"):
        if given := getattr(classifier, kind):
            _require(f"{where}.{kind}", kind, given, getattr(study, f"{kind}s"))
    for kind in ("languages", "tasks"):
        for entry in getattr(classifier, kind) or []:
            _require(f"{where}.{kind}", kind.removesuffix("s"), entry, getattr(study, kind))
    for task in classifier.tasks or []:
        if study.tasks[task].protocol != classifier.protocol:
            raise ValueError(
                f"{where}.tasks: {task} has protocol {study.tasks[task].protocol}; this classifier answers "
                f"{classifier.protocol}"
            )
    if classifier.generator and not _can_label(study.generators[classifier.generator], classifier):
        raise ValueError(f"{where}.generator: {classifier.generator} has no weights; take another")
    if isinstance(classifier.composition.scale, Choice):
        raise ValueError(f"{where}.composition.scale: of a generator alone is it chosen; give a number")
    if classifier.generator in study.choosing and not classifier.in_context:
        raise ValueError(
            f"{where}.generator: encoders choose the scale of {classifier.generator}, which labels nothing; take a "
            f"generator with `like: {classifier.generator}` and a scale that is a number"
        )
    if classifier.backbone and not study.backbones[classifier.backbone].source:
        raise ValueError(f"{where}.backbone: {classifier.backbone} has no weights; take another")
    if spec := classifier.in_context:
        _retriever(study, f"{where}.in_context", spec.retriever)
        for variant, shown in spec.variants.items():
            _retriever(study, f"{where}.in_context.variants.{variant}", shown.retriever or spec.retriever)
        backend = study.generators[classifier.generator].backend
        if backend == "vllm":
            raise ValueError(
                f"{where}.generator: {classifier.generator} runs on vllm, whose environment has no retriever; take a "
                f"generator with `like: {classifier.generator}` and `backend: transformers`"
            )
        if spec.answer == "likelihood" and backend != "transformers":
            raise ValueError(
                f"{where}.in_context.answer: backend {backend} of {classifier.generator} has no likelihoods of "
                "labels; take generation, or backend transformers"
            )


def _retriever(study: Study, where: str, retriever: Retriever) -> None:
    _require(f"{where}.retriever.backbone", "backbone", retriever.backbone, study.backbones)
    _require(f"{where}.retriever.recipe", "recipe", retriever.recipe, study.recipes)


def _can_label(generator: Generator, classifier: Classifier) -> bool:
    """Whether there is a model: here, or for one that learns in context on a server."""
    return generator.backend != "published" and bool(generator.source or classifier.in_context)


def _fusion(study: Study, name: str) -> None:
    where, fusion = f"backbones.{name}.fusion", study.fused[name]
    for member in fusion.of:
        _require(f"{where}.of", "backbone", member, {*study.backbones} - {*study.fused})
    if fusion.dev:
        _dev(study, f"{where}.dev", fusion.dev, SEARCHING, "weights are")


def _choice(study: Study, name: str, choice: Choice) -> None:
    where = f"generators.{name}.composition.scale"
    _dev(study, f"{where}.dev", choice.dev, CHOOSING, "a scale is")
    trained = [backbone for backbone, spec in study.backbones.items() if spec.source]
    if choice.backbone:
        _require(f"{where}.backbone", "backbone that can be trained", choice.backbone, trained)
    if choice.seed is not None and choice.seed not in study.seeds:
        known = ", ".join(map(str, study.seeds))
        raise ValueError(f"{where}.seed: {choice.seed} is none of the study's; known: {known}")


def _dev(study: Study, where: str, dev: str, protocols: Sequence[str], chosen: str) -> None:
    """A task that chooses is one of development: its rows are no test's."""
    _require(where, "task", dev, study.tasks)
    if study.tasks[dev].protocol not in protocols or not study.tasks[dev].on_request:
        raise ValueError(f"{where}: {dev} must be a {' or '.join(protocols)} task with `on_request: true`")
    if not study.tested_by(dev):
        raise ValueError(f"{where}: {dev} has no set in any language of the study")
    choosers = {choice.dev for choice in (*study.fused.values(), *study.choosing.values())}
    for code in study.tested_by(dev):
        source = study.test(dev, code)
        if source.hub and "test" in source.split and not (source.where or source.buckets != (0, 100)):
            raise ValueError(f"{where}: {dev} is the {source.split} split of {source.hub}; {chosen} chosen on another")
        for other in sorted({*study.tasks} - choosers):
            if (test := study.test(other, code)) and _share_rows(test, source):
                raise ValueError(f"{where}: {dev} has the test set of {other}; {chosen} chosen on another")


def _share_rows(one: Source, other: Source) -> bool:
    """Whether rows of one source may be the other's: read in one place, kept apart by neither `where` nor `buckets`.

    How they are read (columns, number, revision, digest) is no matter.
    """
    (first, last), (start, end) = one.buckets, other.buckets
    return (
        _meet(_places(one), _places(other))
        and all(_meet(one.where[column], other.where[column]) for column in {*one.where} & {*other.where})
        and max(first, start) < min(last, end)
    )


def _places(source: Source) -> list[str]:
    """What a source reads: a split of a hub data set, or files, each of which may be a pattern."""
    if source.file:
        return [str(Path(source.file, source.member or "").resolve())]
    if source.hub and not source.member:
        return [f"{source.hub}/{source.config or 'default'}/{source.split}"]
    return [f"{origin}/{source.member or ''}" for origin in source.package or [source.hub or source.archive]]


def _meet(some: Iterable[str], others: Iterable[str]) -> bool:
    """Whether one of some names, or of their patterns, stands for one of the others too."""
    return any(a == b or fnmatchcase(a, b) or fnmatchcase(b, a) for a in some for b in others)


def _compute(study: Study, spec: Compute) -> None:
    _require("compute.task", "task", spec.task, study.tasks)
    if (protocol := study.tasks[spec.task].protocol) not in LEARNING:
        raise ValueError(f"compute.task: {spec.task} is {protocol}; labels are of a task of {' or '.join(LEARNING)}")
    if (distance := study.tasks[spec.task].distance) != "euclidean":
        raise ValueError(f"compute.task: {spec.task} searches by {distance}; the formulae are of euclidean")
    _require("compute.language", "language", spec.language, study.tested_by(spec.task))
    _require("compute.encoder.recipe", "recipe", spec.encoder.recipe, study.recipes)
    for key, name in (("encoder.backbone", spec.encoder.backbone), ("fine_tuned", spec.learner)):
        _require(f"compute.{key}", "backbone", name, study.backbones)
        if not study.backbones[name].source:
            raise ValueError(f"compute.{key}: {name} has no weights to count; take another")
    learners = [name for name, classifier in study.classifiers.items() if classifier.in_context]
    for name in spec.classifiers:
        _require("compute.classifiers", "classifier in context", name, learners)
        generator = study.classifiers[name].generator
        if (backend := study.generators[generator].backend) != "transformers":
            raise ValueError(f"compute.classifiers: {name} runs on {backend}, which cannot be counted; take another")


def _require(where: str, what: str, name: str, known: Iterable[str]) -> None:
    if name not in (names := sorted(known)):
        raise ValueError(f"{where}: no {what} {name!r}; {suggest(name, names)}")
