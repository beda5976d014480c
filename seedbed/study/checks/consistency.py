"""What a study must be beyond the types of its settings: whole, and consistent with itself."""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError

from seedbed.classifiers.settings import Classifier
from seedbed.corpora.settings import Source
from seedbed.encoders.recipes import Recipe
from seedbed.encoders.settings import Reference, Training
from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.protocols import Protocol, declared, which
from seedbed.generators.settings import WITH_LIKELIHOODS, WRITING, Generator, ScaleChoice
from seedbed.languages import registry
from seedbed.names import DRAWN, RESERVED, SEED_PAIRS
from seedbed.resources import specs
from seedbed.settings import Settings, explain, require_known, suggest
from seedbed.study.checks.languages import of_languages
from seedbed.study.checks.leakage import share_rows, trained_on_whole, untested
from seedbed.study.checks.prefixes import of_prefixes
from seedbed.study.checks.translated import of_pairs, referred
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe


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
    for name, recipe in study.recipes.items():
        _recipe(study, name, recipe)
    of_prefixes(study)
    of_pairs(study)
    for name, classifier in study.classifiers.items():
        _classifier(study, name, classifier)
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


def _recipe(study: Study, name: str, recipe: Recipe) -> None:
    where = f"recipes.{name}"
    if recipe.written and not study.generators:
        raise ValueError(f"{where}: method {recipe.written} needs a generator; add one under `generators:`")
    if recipe.data.candidates:
        require_known(f"{where}.data.candidates", "corpus", recipe.data.candidates, {*study.roles, *DRAWN})
    if recipe.data.by and recipe.data.corpus and recipe.data.kind != "paraphrases":
        kind = recipe.data.kind
        raise ValueError(f"{where}.data.by: a generator translates paraphrases, and {recipe.data.corpus} is of {kind}")
    whole = recipe.data.corpus if trained_on_whole(study, recipe.data.corpus) else ""
    trained = recipe.data.candidates or whole
    if trained and trained not in DRAWN:  # `select_pairs` leaves out texts of tests by itself
        untested(study, where, trained)
    require_known(
        f"{where}.data.from_languages",
        "language",
        recipe.data.from_languages,
        {*study.languages, "own", "pivot", "all"},
    )
    if recipe.data.neighbours:
        _mined(study, where, recipe)
    _starts(study, name, (name,))
    require_known(f"{where}.data.by", "generator", recipe.data.by, study.generators)
    adapted = recipe.written and WRITING[recipe.written].adapters != "none"
    if adapted and not study.generators[writer := StudyRecipe.get(study, name).writer].source:
        raise ValueError(f"{where}: method {recipe.written} trains adapters, and {writer} has no weights; take another")
    for kind in ("languages", "backbones"):
        require_known(f"{where}.only.{kind}", kind.removesuffix("s"), getattr(recipe.only, kind), getattr(study, kind))
    if wrong := sorted({*(recipe.only.seeds or [])} - {*study.seeds}):
        raise ValueError(
            f"{where}.only.seeds: {wrong[0]} is none of the study's; known: {', '.join(map(str, study.seeds))}"
        )
    for entry in recipe.only.backbones or []:
        if study.backbones[entry].endpoint and recipe.made:
            raise ValueError(f"{where}.only.backbones: {entry} is an endpoint and cannot be trained; name others")
    for entry in {*(recipe.only.backbones or [])} & {*study.fused}:
        if lacking := sorted({*study.fused[entry].of} - {*(recipe.only.backbones or [])}):
            raise ValueError(f"{where}.only.backbones: {entry} fuses {lacking[0]}; name that too, or leave {entry} out")
    require_known(f"{where}.published", "backbone", recipe.published, study.backbones)
    if wrong := sorted({*recipe.published} & {*study.fused}):
        raise ValueError(f"{where}.published: {wrong[0]} is a fusion; give those of its backbones")
    try:
        training = StudyRecipe.get(study, name).training
    except ValidationError as error:
        raise ValueError(explain(error, Training, where=f"{where}.training")) from None
    if recipe.trained and training.batch_size < (least := recipe.learns().least):
        key = f"{where}.training" if "batch_size" in recipe.training else "training"
        raise ValueError(f"{key}.batch_size: {training.batch_size} rows are too few for {name}; give {least} or more")
    of_languages(study, name)


def _mined(study: Study, where: str, recipe: Recipe) -> None:
    """Check that a recipe with mined neighbours takes some, and no more than are mined."""
    require_known(f"{where}.data.neighbours", "way of mining", mining := recipe.data.neighbours, study.mining)
    taken, count = sum("neighbour_" in name for name in recipe.learns().shapes[0]), study.mining[mining].count
    if not taken:
        raise ValueError(
            f"{where}.objective: it takes no neighbours; give `data: {{corpus: {SEED_PAIRS}}}`, or take some"
        )
    if taken > count:
        raise ValueError(
            f"{where}.objective: {taken} neighbours, but mining.{mining}.count is {count}; take {count} or fewer"
        )


def _starts(study: Study, name: str, line: tuple[str, ...]) -> None:
    """The encoders that a recipe's need are of the study, and need none of the line that needs them."""
    recipe = study.recipes[name]
    needed = {f"objective.{key}": one.recipe or recipe.start for key, one in recipe.references().items()}
    before = {"from": recipe.start} if recipe.start else {}
    for key, other in (before | needed).items():
        where = f"recipes.{name}.{key}"
        require_known(where, "recipe", other, study.recipes)
        if other in line:
            raise ValueError(f"{where}: {' needs '.join([*line, other])}; take a recipe that does not need this one")
        _starts(study, other, (*line, other))
    for key, one in recipe.references().items():
        require_known(f"recipes.{name}.objective.{key}", "backbone", one.backbone, study.backbones)
        named = Reference(backbone=one.backbone, recipe=one.recipe or recipe.start)
        referred(study, f"recipes.{name}.objective.{key}", named, given=False)


def _classifier(study: Study, name: str, classifier: Classifier) -> None:
    where = f"classifiers.{name}"
    if name in {*study.backbones, *study.generators}:
        raise ValueError(f"{where}: a backbone or generator has this name; give it another")
    for kind in ("backbone", "generator"):
        require_known(f"{where}.{kind}", kind, getattr(classifier, kind), getattr(study, f"{kind}s"))
    for kind in ("languages", "tasks"):
        require_known(f"{where}.{kind}", kind.removesuffix("s"), getattr(classifier, kind), getattr(study, kind))
    for task in classifier.tasks or []:
        if study.tasks[task].protocol not in classifier.protocols:
            raise ValueError(
                f"{where}.tasks: {task} has protocol {study.tasks[task].protocol}; this classifier answers "
                f"{' and '.join(classifier.protocols)}"
            )
    if classifier.generator and not _can_label(study.generators[classifier.generator], classifier):
        raise ValueError(f"{where}.generator: {classifier.generator} has no weights; take another")
    if isinstance(classifier.composition.scale, ScaleChoice):
        raise ValueError(f"{where}.composition.scale: of a generator alone is it chosen; give a number")
    if classifier.generator in study.choosing and not classifier.prompted:
        raise ValueError(
            f"{where}.generator: encoders choose the scale of {classifier.generator}, which labels nothing; take a "
            f"generator with `like: {classifier.generator}` and a scale that is a number"
        )
    if classifier.backbone and not study.backbones[classifier.backbone].source:
        raise ValueError(f"{where}.backbone: {classifier.backbone} has no weights; take another")
    if classifier.recipe:
        require_known(f"{where}.recipe", "recipe", classifier.recipe, study.recipes)
        what, of = f"backbone of recipe {classifier.recipe}", study.recipes[classifier.recipe].only.backbones
        require_known(f"{where}.backbone", what, classifier.backbone, of or study.backbones)
    if spec := classifier.in_context:
        _retriever(study, f"{where}.in_context", spec.retriever)
        for variant, shown in spec.variants.items():
            _retriever(study, f"{where}.in_context.variants.{variant}", shown.retriever or spec.retriever)
    if classifier.reasoning:
        _english(study, f"{where}.reasoning.english", classifier.reasoning.english)
        for variant, of in classifier.reasoning.prefixes.items():
            _prefix(study, f"{where}.reasoning.prefixes.{variant}", of, study.generators[classifier.generator])
    if spec := classifier.prompted:
        form = "in_context" if classifier.in_context else "reasoning"
        backend = study.generators[classifier.generator].backend
        likely = classifier.in_context or any(
            study.tasks[task].protocol == "multiple_choice" for task in classifier.tasks or []
        )
        if likely and spec.answer == "likelihood" and backend not in WITH_LIKELIHOODS:
            raise ValueError(
                f"{where}.{form}.answer: backend {backend} of {classifier.generator} has no likelihoods of labels; "
                f"take generation, or backend {' or '.join(WITH_LIKELIHOODS)}"
            )


def _english(study: Study, where: str, english: str | Reference) -> None:
    if isinstance(english, str):
        require_known(where, "translator", english, study.translators)
        return
    require_known(f"{where}.backbone", "pair", english.backbone, study.paired)
    require_known(f"{where}.recipe", "recipe", english.recipe, study.recipes)
    if "choices" not in StudyRecipe.get(study, english.recipe).gives:
        raise ValueError(f"{where}.recipe: {english.recipe} chooses no translations; take one that does")


def _prefix(study: Study, where: str, of: Reference, generator: Generator) -> None:
    require_known(f"{where}.backbone", "pair", of.backbone, study.paired)
    require_known(f"{where}.recipe", "recipe", of.recipe, study.recipes)
    if not (study.recipes[of.recipe].english.actor or StudyRecipe.get(study, of.recipe).anchored):
        raise ValueError(f"{where}.recipe: {of.recipe} has no anchored encoder; take one that is, or starts from such")
    if generator.backend != "transformers":
        raise ValueError(f"{where}: vectors are read by backend transformers alone, and this is {generator.backend}")


def _retriever(study: Study, where: str, retriever: Reference) -> None:
    require_known(f"{where}.retriever.backbone", "backbone", retriever.backbone, study.backbones)
    require_known(f"{where}.retriever.recipe", "recipe", retriever.recipe, study.recipes)
    referred(study, f"{where}.retriever", retriever)


def _can_label(generator: Generator, classifier: Classifier) -> bool:
    """Whether the classifier's model is available: on this machine, or on a server for in-context learning."""
    return generator.backend != "published" and bool(generator.source or classifier.prompted)


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
    if choice.seed is not None and choice.seed not in study.seeds:
        known = ", ".join(map(str, study.seeds))
        raise ValueError(f"{where}.seed: {choice.seed} is none of the study's; known: {known}")


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
    require_known("compute.task", "task", spec.task, study.tasks)
    if not declared(protocol := study.tasks[spec.task].protocol).learns:
        learning = " or ".join(which(lambda one: one.learns))
        raise ValueError(f"compute.task: {spec.task} is {protocol}; labels are of a task of {learning}")
    if (distance := study.tasks[spec.task].distance) != "euclidean":
        raise ValueError(f"compute.task: {spec.task} searches by {distance}; the formulae are of euclidean")
    require_known("compute.language", "language", spec.language, study.tested_by(spec.task))
    require_known("compute.encoder.recipe", "recipe", spec.encoder.recipe, study.recipes)
    for key, name in (("encoder.backbone", spec.encoder.backbone), ("fine_tuned", spec.learner)):
        require_known(f"compute.{key}", "backbone", name, study.backbones)
        if not study.backbones[name].source:
            raise ValueError(f"compute.{key}: {name} has no weights to count; take another")
    referred(study, "compute.encoder", spec.encoder)
    learners = [name for name, classifier in study.classifiers.items() if classifier.in_context]
    for name in spec.classifiers:
        require_known("compute.classifiers", "classifier in context", name, learners)
        generator = study.classifiers[name].generator
        if (backend := study.generators[generator].backend) != "transformers":
            raise ValueError(f"compute.classifiers: {name} runs on {backend}, which cannot be counted; take another")
