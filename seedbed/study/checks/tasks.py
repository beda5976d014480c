"""Checks of tasks: of their sets and languages, and of what they choose, measure and count."""

from collections.abc import Callable
from itertools import product

from seedbed.evaluation.protocols import Protocol, which
from seedbed.languages import placeholders, registry
from seedbed.names import languages_of
from seedbed.settings import require_known
from seedbed.study.checks.translated import referred
from seedbed.study.leakage import SEPARATE, share_rows
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe


def of_tasks(study: Study) -> None:
    """Check that what tasks name exists, and that those that need a training set have one."""
    for name, task in study.tasks.items():
        require_known(f"tasks.{name}.set_of", "task", task.set_of, study.tasks)
        if study.declared[name].learns and study.tasks[study.test_set(name)].train is None:
            raise ValueError(
                f"tasks.{name}: no training set; protocol {task.protocol} needs `train`, or `set_of` a task with one"
            )
        if task.set_of and study.tasks[task.set_of].set_of:
            other = study.tasks[task.set_of].set_of
            raise ValueError(f"tasks.{name}.set_of: {task.set_of} has no sets of its own; name {other}, whose it has")
        require_known(f"tasks.{name}.apart_from", "corpus", task.apart_from, study.roles)
        paired = [] if task.pairs == "all" else [code for pair in task.pairs for code in languages_of(pair)]
        for key, named in (("languages", task.languages), ("pairs", paired)):
            require_known(f"tasks.{name}.{key}", "language", named, {*study.languages, *registry()})


def of_training_sets(study: Study) -> None:
    """Check that no training set of a task is read from the place of the test set that it is for."""
    for name, code in product(study.tasks, study.languages):
        test, trained = study.test(name, code), study.train_of(name, code)
        train = study.training_set(name, trained) if test and trained else None
        if train and share_rows(train, test):
            raise ValueError(
                f"tasks.{study.test_set(name)}.train: in {trained} it has rows of the test set in {code}; train on "
                f"another split, or {SEPARATE}"
            )


def of_fusions(study: Study) -> None:
    """Check that the tasks that choose the weights of fusions are for development."""
    for name, fusion in study.fused.items():
        where = f"backbones.{name}.fusion"
        if fusion.dev:
            _dev(study, f"{where}.dev", fusion.dev, lambda protocol: protocol.of_distances, "weights are")
            made = [of for of in StudyRecipe.every(study) if name in of.every_backbone]
            if dependent := [member for of in made for member in fusion.of if placeholders(of.prefix(member))]:
                raise ValueError(
                    f"{where}.dev: the prefix of {dependent[0]} depends on the language, and weights are chosen by the "
                    "texts of several; give weights in `of`"
                )


def of_scales(study: Study) -> None:
    """Check that a development task can choose the scale of adapters: the task, the backbone and the seed exist, and
    the task shares no rows with a test set.
    """
    for name, choice in study.choosing.items():
        where = f"generators.{name}.composition.scale"
        _dev(study, f"{where}.dev", choice.dev, lambda protocol: protocol.chooses, "a scale is")
        require_known(f"{where}.backbone", "backbone with weights", choice.backbone, study.weighted)
        seeds = () if choice.seed is None else (str(choice.seed),)
        require_known(f"{where}.seed", "seed", seeds, map(str, study.seeds))


def of_compute(study: Study) -> None:
    """Check the settings of `compute`: the task, the language and the models exist and can be counted and timed."""
    if not (spec := study.compute):
        return
    require_known("compute.task", "task", [spec.task], study.tasks)
    task = study.tasks[spec.task]
    if not study.declared[spec.task].learns:
        learning = " or ".join(which(lambda one: one.learns))
        raise ValueError(f"compute.task: {spec.task} is {task.protocol}; labels are of a task of {learning}")
    if task.distance != "euclidean":
        raise ValueError(f"compute.task: {spec.task} searches by {task.distance}; the formulae are of euclidean")
    require_known("compute.language", "language", [spec.language], study.tested_by(spec.task))
    referred(study, "compute.encoder", spec.encoder)
    for key, name in (("encoder.backbone", spec.encoder.backbone), ("fine_tuned", spec.learner)):
        require_known(f"compute.{key}", "backbone with weights", [name], study.weighted)
    if not (recipe := StudyRecipe.get(study, spec.encoder.recipe)).transformer:
        raise ValueError(f"compute.encoder.recipe: {spec.encoder.recipe} has no transformer to count; take another")
    trained = study.train_of(spec.task, spec.language)
    if recipe.prefix_by_language(spec.encoder.backbone) and trained != spec.language:
        raise ValueError(
            f"compute.task: {spec.task} has texts in {spec.language} and {trained}, and the prefix of "
            f"{spec.encoder.backbone} depends on the language; take a task with one language, or another encoder"
        )
    learners = [name for name, classifier in study.classifiers.items() if classifier.in_context]
    for name in spec.classifiers:
        require_known("compute.classifiers", "classifier in context", name, learners)
        generator = study.classifiers[name].generator
        if (backend := study.generators[generator].backend) != "transformers":
            raise ValueError(f"compute.classifiers: {name} runs on {backend}, which cannot be counted; take another")


def _dev(study: Study, where: str, dev: str, fits: Callable[[Protocol], bool], chosen: str) -> None:
    """A task that chooses is one of development: its rows are no test's."""
    require_known(where, "task", dev, study.tasks)
    if not fits(study.declared[dev]) or not study.tasks[dev].on_request:
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
