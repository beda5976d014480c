"""Checks of recipes: their data, their objective, and the encoders that they start from or read."""

from pydantic import ValidationError

from seedbed.encoders import objectives
from seedbed.encoders.recipes import TRAINED, Recipe, presets
from seedbed.encoders.settings import NEIGHBOUR, Pivot, Training
from seedbed.names import DRAWN, SEED_PAIRS
from seedbed.settings import explain, require_known
from seedbed.study.backbone import StudyBackbone
from seedbed.study.checks.languages import of_recipe_languages
from seedbed.study.checks.translated import referred
from seedbed.study.leakage import require_untested
from seedbed.study.model import Study
from seedbed.study.recipe import MODULES, StudyRecipe


def of_recipes(study: Study) -> None:
    """Check that what recipes name exists, and that their data fit their objective."""
    for of in StudyRecipe.every(study):
        _recipe(study, of)
    for of in StudyRecipe.every(study):
        data = of.spec.data
        sampled = data.sentences or data.corpus in DRAWN  # without what is in test sets
        if trained := data.candidates or ("" if sampled else data.corpus):
            for code in of.every_language:
                require_untested(study, f"recipes.{of.name}.data", trained, code)


def _recipe(study: Study, of: StudyRecipe) -> None:
    recipe, where = of.spec, f"recipes.{of.name}"
    if recipe.written and not study.generators:
        raise ValueError(f"{where}: method {recipe.written} needs a generator; add one under `generators:`")
    require_known(f"{where}.data.candidates", "corpus", recipe.data.candidates, {*study.roles, *DRAWN})
    if recipe.data.by and recipe.data.corpus and recipe.data.kind != "paraphrases":
        kind = recipe.data.kind
        raise ValueError(f"{where}.data.by: a generator translates paraphrases, and {recipe.data.corpus} is of {kind}")
    known = {*study.languages, "own", "pivot", "all"}
    require_known(f"{where}.data.from_languages", "language", recipe.data.from_languages, known)
    if recipe.data.neighbours:
        _mined(study, where, recipe)
    _starts(study, of.name, (of.name,))
    require_known(f"{where}.data.by", "generator", recipe.data.by, study.generators)
    if of.needs_adapters and not study.generators[writer := of.writer].source:
        raise ValueError(f"{where}: method {recipe.written} trains adapters, and {writer} has no weights; take another")
    for kind in ("languages", "backbones"):
        require_known(f"{where}.only.{kind}", kind.removesuffix("s"), getattr(recipe.only, kind), getattr(study, kind))
    require_known(f"{where}.only.seeds", "seed", map(str, recipe.only.seeds or ()), map(str, study.seeds))
    _without_effect(study, where, recipe)
    _backbones(study, of)
    _training(of)
    of_recipe_languages(study, of)


def _backbones(study: Study, of: StudyRecipe) -> None:
    """Check the backbones that a recipe names: each has what its encoders need, and a fusion comes with its parts."""
    recipe, where = of.spec, f"recipes.{of.name}"
    needed = f"pooling {of.pools}" if of.pools else "training" if recipe.made else ""
    for entry in recipe.only.backbones or []:
        if needed and StudyBackbone.get(study, entry).remote:
            raise ValueError(
                f"{where}.only.backbones: {entry} gives vectors of texts, of which there is no {needed}; name others"
            )
    for entry in {*(recipe.only.backbones or [])} & {*study.fused}:
        if lacking := sorted({*study.fused[entry].of} - {*(recipe.only.backbones or [])}):
            raise ValueError(f"{where}.only.backbones: {entry} fuses {lacking[0]}; name that too, or leave {entry} out")
    require_known(f"{where}.published", "backbone", recipe.published, study.backbones)
    if wrong := sorted({*recipe.published} & {*study.fused}):
        raise ValueError(f"{where}.published: {wrong[0]} is a fusion; give those of its backbones")


def _training(of: StudyRecipe) -> None:
    """Check that the training settings of a recipe are valid, fit its encoders and objective, and have an effect."""
    recipe, where = of.spec, f"recipes.{of.name}.training"
    try:
        training = of.training
    except ValidationError as error:
        raise ValueError(explain(error, Training, where=where)) from None
    if not of.taken:
        _pooling(of)
    _training_without_effect(of)
    if not of.taken and recipe.reads_training:
        _misfit(of)
    if of.start and training.pooling == "own" and training.dropout is not None:
        raise ValueError(
            f"{where}.dropout: its encoder has the dropout of {recipe.start}, which it starts from; give that one the "
            "dropout, or leave it out"
        )
    if recipe.minimises and training.batch_size < (least := recipe.minimises.least):
        raise ValueError(
            f"{_place(of, 'batch_size')}: {training.batch_size} rows are too few for {of.name}; give {least} or more"
        )


def _place(of: StudyRecipe, setting: str) -> str:
    """Where a setting of training is written: in the recipe, or else in the study."""
    return f"recipes.{of.name}.training.{setting}" if setting in of.spec.training else f"training.{setting}"


def _pooling(of: StudyRecipe) -> None:
    """Check that the encoders that the study itself makes of a recipe can have its pooling."""
    recipe, backbones = of.spec, [of.study.backbones[name] for name in of.every_backbone]
    opened = any(one.source or one.pair for one in backbones)
    training = of.training if recipe.rule == TRAINED else of.modules
    reason = training.misfit(trained=recipe.reads_training)
    if recipe.made and not recipe.reads_training and training.pooling == "static":
        reason = "static leaves no transformer; take mean"
    if opened and reason:
        raise ValueError(f"{_place(of, 'pooling')}: of {of.name}, {reason}")


def _misfit(of: StudyRecipe) -> None:
    """Check that a training that the study does can have its settings, the study's own included."""
    recipe, fused = of.spec, bool(of.spec.english.fusion)
    if fault := recipe.minimises.misfit(of.training, several=recipe.of_several, two_texts=fused):
        setting, _, reason = fault.partition(": ")
        raise ValueError(f"{_place(of, setting)}: of {of.name}, {reason}")


def _training_without_effect(of: StudyRecipe) -> None:
    """Check that what a recipe says itself of training has an effect; what it inherits need not have one."""
    recipe, training, where = of.spec, of.training, f"recipes.{of.name}.training"
    inherited = of.varied.spec.training if of.varied else presets().get(recipe.like or of.name, {}).get("training", {})
    own = {key for key, value in recipe.training.items() if inherited.get(key) != value}
    if not recipe.reads_training and (unread := sorted(own - {*MODULES})):
        by = f"copies {recipe.copies.name}" if recipe.copies else f"objective {next(iter(recipe.objective), '')}"
        what = f"{by} has settings of its own; give those" if recipe.made else "nothing is trained; give an `objective`"
        raise ValueError(f"{where}.{unread[0]}: {what}, or leave it out")
    off = training.switched_off()
    if unread := [key for key in own & off.keys() if key != "adapter" or not recipe.together]:
        raise ValueError(f"{where}.{unread[0]}: of {off[unread[0]]} alone; give these, or leave it out")
    if "temperature" in own and recipe.trained and not (recipe.together or recipe.minimises.uses_temperature):
        name = objectives.name_of(recipe.minimises)
        raise ValueError(f"{where}.temperature: objective {name} does not read it; leave it out, or take contrast")
    if "batches" in own and isinstance(training.batches, dict) and (sets := _sets(of.study, recipe)):
        unknown = [one for one in training.batches if one.partition(":")[0] not in sets]
        require_known(f"{where}.batches", f"set of {recipe.data.corpus}", unknown, sets)


def _sets(study: Study, recipe: Recipe) -> set[str]:
    """The sets that a recipe's corpus has in some language; empty if its rows may have ids that name others."""
    if recipe.data.corpus not in study.roles or recipe.data.kind == "text":
        return set()
    found = [source for code in study.codes if (source := study.corpus(recipe.data.corpus, code))]
    plain = any(source.top_up or source.join or not source.sets for source in found)
    return set() if plain else {name for source in found for name in source.sets}


def _without_effect(study: Study, where: str, recipe: Recipe) -> None:
    """Check that a recipe gives no language for data that it has not, and no seeds where nothing depends on them."""
    if not recipe.made and recipe.data.from_languages != "own":
        raise ValueError(
            f"{where}.data.from_languages: nothing is trained, on data of whatever language; leave it out, or give a "
            "corpus and an `objective`"
        )
    if recipe.only.seeds is None or any(protocol.tunes for protocol in study.declared.values()):
        return  # of what is fine-tuned on its encoders, the heads have these seeds
    if not recipe.made:
        raise ValueError(f"{where}.only.seeds: nothing is trained, so that its encoders have no seed; leave it out")
    if recipe.minimises and recipe.minimises.own_seed:
        name = objectives.name_of(recipe.minimises)
        raise ValueError(f"{where}.only.seeds: objective {name} has a seed of its own; set that, or leave it out")


def _mined(study: Study, where: str, recipe: Recipe) -> None:
    """Check that a recipe with mined neighbours takes some, and no more than are mined."""
    require_known(f"{where}.data.neighbours", "way of mining", mining := recipe.data.neighbours, study.mining)
    taken, count = sum(NEIGHBOUR in name for name in recipe.minimises.shapes[0]), study.mining[mining].count
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
    if not recipe.start and (recipe.together or any(isinstance(one, Pivot) for one in recipe.references().values())):
        raise ValueError(f"recipes.{name}.from: nothing is aligned; name the recipe whose encoders are")
    needed = {
        f"objective.{key}": one.recipe or (recipe.start if isinstance(one, Pivot) else "")
        for key, one in recipe.references().items()
    }
    before = {"from": recipe.start} if recipe.start else {}
    for key, other in (before | needed).items():
        where = f"recipes.{name}.{key}"
        require_known(where, "recipe", [other], study.recipes)
        if other in line:
            raise ValueError(f"{where}: {' needs '.join([*line, other])}; take a recipe that does not need this one")
        _starts(study, other, (*line, other))
    for key, one in recipe.references().items():
        named = one.updated({"recipe": one.recipe or recipe.start})
        referred(study, f"recipes.{name}.objective.{key}", named, given=False)
