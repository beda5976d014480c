"""What a study must be beyond the types of its settings: whole, and consistent with itself."""

from collections.abc import Callable, Iterator
from typing import Any

from seedbed.corpora.settings import Source
from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.protocols import Protocol, declared, which
from seedbed.generators.settings import ScaleChoice
from seedbed.languages import registry
from seedbed.names import RESERVED
from seedbed.resources import specs
from seedbed.settings import Settings, require_known, suggest
from seedbed.study.checks.classifiers import of_classifiers
from seedbed.study.checks.leakage import share_rows
from seedbed.study.checks.prefixes import of_prefixes
from seedbed.study.checks.recipes import of_recipes, require_seeds
from seedbed.study.checks.translated import of_pairs, of_readers, referred
from seedbed.study.model import Study


def consistent(study: Study) -> None:
    """Every name that a setting gives is that of something, and what belongs together fits.

    Raises:
        ValueError: the first that does not.
    """
    for kind, reserved in RESERVED.items():
        for name in sorted({*getattr(study, kind)} & {*reserved}):
            raise ValueError(f"{kind}.{name}: this name is reserved for {reserved[name]}; take another")
    for name in sorted({*study.corpora.others} & {*RESERVED["tasks"], *study.tasks}):
        stands = RESERVED["tasks"].get(name, "a task")
        raise ValueError(f"corpora.others.{name}: this name is reserved for {stands}; take another")
    _placeholders(study)
    for code in study.codes:
        _language(study, code)
    for name, task in study.tasks.items():
        require_known(f"tasks.{name}.set_of", "task", task.set_of or name, study.tasks)
        if declared(task.protocol).learns and study.tasks[study.test_set(name)].train is None:
            raise ValueError(
                f"tasks.{name}: no training set; protocol {task.protocol} needs `train`, or `set_of` a task with one"
            )
        require_known(f"tasks.{name}.apart_from", "corpus", task.apart_from, study.roles)
        require_known(f"tasks.{name}.languages", "language", task.languages, {*study.languages, *registry()})
    for name, choice in study.choosing.items():
        _choice(study, name, choice)
    of_pairs(study)
    of_recipes(study)
    of_prefixes(study)
    of_readers(study)
    of_classifiers(study)
    require_known("statistics.baseline", "recipe", study.statistics.baseline or study.baseline, study.recipes)
    known = [*study.backbones, *study.classifiers]
    require_known("statistics.baseline_backbone", "backbone or classifier", study.statistics.baseline_backbone, known)
    for name in study.fused:
        _fusion(study, name)
    for name, backbone in study.backbones.items():
        require_known(f"backbones.{name}.by_language", "language", backbone.by_language, study.codes)
    if study.compute:
        _compute(study, study.compute)
    for code, language in study.languages.items():
        require_known(f"languages.{code}.tests", "task", language.tests, study.tasks)
        require_known(
            f"languages.{code}.corpora", "corpus under `corpora.others`", language.corpora, study.corpora.others
        )
    for kind, names in (("tables", study.tables), ("figures", study.figures)):
        require_known(kind, f"resources/{kind}/*.yaml", names, specs(kind))


def _placeholders(study: Study) -> None:
    """Check that each placeholder of a source is a column of the registry, a path, or a code of some language."""
    known = {*study.facts(study.pivot)}.union(*(language.codes for language in study.languages.values()))
    for place, source in _sources(study, ""):
        for name in sorted(source.placeholders - known):
            raise ValueError(
                f"{place}: no registry column {name!r}, nor such a path or code; {suggest(name, sorted(known))}"
            )


def _sources(value: Any, place: str) -> Iterator[tuple[str, Source]]:
    """The sources in settings, each with the keys that lead to it."""
    if isinstance(value, Source):
        yield place, value
    elif isinstance(value, dict | Settings):
        for key, inner in value.items() if isinstance(value, dict) else value:
            yield from _sources(inner, f"{place}.{key}".removeprefix("."))


def _language(study: Study, code: str) -> None:
    facts = study.facts(code)
    if not facts["name"] or not facts["script"]:
        unknown = f"not in the language registry; {suggest(code, sorted(registry()))}"
        if code not in study.languages:
            raise ValueError(f"{_named_by(study, code)}: {code}: {unknown}")
        raise ValueError(f"languages.{code}: {unknown}; or give `name`, `script` and `corpus`")
    codes = study.languages[code].codes if code in study.languages else {}
    if own := sorted({"code", "lang", "name", "script"} & {*codes}):
        raise ValueError(
            f"languages.{code}.codes.{own[0]}: no name in a resource; give name and script next to `codes`"
        )


def _named_by(study: Study, code: str) -> str:
    """The key that names a language that is none of the study's."""
    taught = [
        f"generators.{name}.xllora.languages" for name, of in study.generators.items() if code in of.xllora.languages
    ]
    trained = [f"tasks.{name}.train_language" for name, task in study.tasks.items() if code == task.train_language]
    return "pivot" if code == study.pivot else [*taught, *trained][0]


def _fusion(study: Study, name: str) -> None:
    where, fusion = f"backbones.{name}.fusion", study.fused[name]
    require_known(f"{where}.of", "backbone", fusion.of, {*study.backbones} - {*study.fused})
    if fusion.dev:
        _dev(study, f"{where}.dev", fusion.dev, lambda protocol: protocol.of_distances, "weights are")


def _choice(study: Study, name: str, choice: ScaleChoice) -> None:
    where = f"generators.{name}.composition.scale"
    _dev(study, f"{where}.dev", choice.dev, lambda protocol: protocol.chooses, "a scale is")
    trained = [backbone for backbone, spec in study.backbones.items() if spec.source]
    require_known(f"{where}.backbone", "backbone that can be trained", choice.backbone, trained)
    require_seeds(study, f"{where}.seed", [] if choice.seed is None else [choice.seed])


def _dev(study: Study, where: str, dev: str, fits: Callable[[Protocol], bool], chosen: str) -> None:
    """A task that chooses is one of development: its rows are no test's."""
    require_known(where, "task", dev, study.tasks)
    if not fits(declared(study.tasks[dev].protocol)) or not study.tasks[dev].on_request:
        raise ValueError(f"{where}: {dev} must be a {' or '.join(which(fits))} task with `on_request: true`")
    if not study.tested_by(dev):
        raise ValueError(f"{where}: {dev} has no set in any language of the study")
    choosers = {choice.dev for choice in (*study.fused.values(), *study.choosing.values())}
    for code in study.tested_by(dev):
        source = study.test(dev, code)
        if source.hub and "test" in source.split and not (source.where or source.buckets != (0, 100)):
            raise ValueError(f"{where}: {dev} is the {source.split} split of {source.hub}; {chosen} chosen on another")
        for other in sorted({*study.tasks} - choosers):
            if (test := study.test(other, code)) and share_rows(test, source):
                raise ValueError(f"{where}: {dev} has the test set of {other}; {chosen} chosen on another")


def _compute(study: Study, spec: Compute) -> None:
    require_known("compute.task", "task", [spec.task], study.tasks)
    if not declared(protocol := study.tasks[spec.task].protocol).learns:
        learning = " or ".join(which(lambda one: one.learns))
        raise ValueError(f"compute.task: {spec.task} is {protocol}; labels are of a task of {learning}")
    if (distance := study.tasks[spec.task].distance) != "euclidean":
        raise ValueError(f"compute.task: {spec.task} searches by {distance}; the formulae are of euclidean")
    require_known("compute.language", "language", [spec.language], study.tested_by(spec.task))
    require_known("compute.encoder.recipe", "recipe", [spec.encoder.recipe], study.recipes)
    for key, name in (("encoder.backbone", spec.encoder.backbone), ("fine_tuned", spec.learner)):
        require_known(f"compute.{key}", "backbone", [name], study.backbones)
        if not study.backbones[name].source:
            raise ValueError(f"compute.{key}: {name} has no weights to count; take another")
    referred(study, "compute.encoder", spec.encoder)
    learners = [name for name, classifier in study.classifiers.items() if classifier.in_context]
    for name in spec.classifiers:
        require_known("compute.classifiers", "classifier in context", name, learners)
        generator = study.classifiers[name].generator
        if (backend := study.generators[generator].backend) != "transformers":
            raise ValueError(f"compute.classifiers: {name} runs on {backend}, which cannot be counted; take another")
