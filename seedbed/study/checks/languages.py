"""Checks of languages: that they are known; and of a recipe's, what encoders can start from and be trained on."""

from seedbed.encoders.recipes import Recipe
from seedbed.generators.settings import WRITING
from seedbed.languages import registry
from seedbed.names import SEED_PAIRS
from seedbed.settings import require_known, suggest
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe


def of_languages(study: Study) -> None:
    """Check that every language has a name and a script, from the registry or the study."""
    for code in study.codes:
        facts = study.facts(code)
        if not facts["name"] or not facts["script"]:
            bare = code.partition("-")[0]
            near = f"did you mean {bare!r}?" if bare in registry() else suggest(code, sorted(registry()))
            unknown = f"not in the language registry; {near}"
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


def of_language_entries(study: Study) -> None:
    """Check that the entries of languages name corpora of the study, and tasks that have sets of their own."""
    for code, language in study.languages.items():
        require_known(f"languages.{code}.tests", "task", language.tests, study.tasks)
        for task in language.tests:
            if other := study.tasks[task].set_of:
                raise ValueError(
                    f"languages.{code}.tests.{task}: its test set is that of {other}; give it there, or leave out "
                    f"`set_of` of {task}"
                )
        require_known(
            f"languages.{code}.corpora", "corpus under `corpora.others`", language.corpora, study.corpora.others
        )


def of_recipe_languages(study: Study, of: StudyRecipe) -> None:
    """Check that a recipe's start, reference encoders and training data exist in the languages of its encoders."""
    recipe, where = of.spec, f"recipes.{of.name}"
    if of.pivots or recipe.together:
        _aligned(study, of)
    if recipe.together:
        _together(of)
    if recipe.of_several:
        _of_all(study, where, recipe)
    crosslingual = recipe.made and of.training.crosslingual
    if crosslingual and not recipe.of_several:
        raise ValueError(
            f"{where}.training.crosslingual: language {recipe.data.from_languages} is one; set `from_languages: all`"
        )
    if not (recipe.together or crosslingual):
        return
    if len(codes := of.languages()) < 2:
        key = f"{where}.training.crosslingual" if crosslingual else where
        raise ValueError(f"{key}: {codes[0]} is the only language; give two or more")
    if recipe.data.apart:
        raise ValueError(
            f"{where}.data.{recipe.data.key}: its rows are no translations of each other; give a corpus of "
            "paraphrases, triplets or pairs with the same ids in all languages"
        )


def _of_all(study: Study, where: str, recipe: Recipe) -> None:
    """Check that an encoder of all languages is trained on rows, and neither starts from an encoder of one language nor
    refers to one.
    """
    if not recipe.reads_training:
        way = f"copies {recipe.copies.name}" if recipe.copies else f"objective {next(iter(recipe.objective))}"
        raise ValueError(
            f"{where}.data.from_languages: {recipe.data.from_languages}; {way} reads sentences of one language; take "
            "own, or name one language"
        )
    if recipe.data and recipe.data.origin == SEED_PAIRS:
        raise ValueError(
            f"{where}.data.from_languages: all; seed pairs, and what is mined for them, are sampled for one language "
            "and its tests; give a corpus, or take own"
        )
    used = {"from": recipe.start} | {f"objective.{key}": one.recipe for key, one in recipe.references().items()}
    for key, other in used.items():
        if other and study.recipes[other].made and study.recipes[other].data.from_languages == "own":
            raise ValueError(
                f"{where}.{key}: {other} is made for each language; name a recipe with `from_languages: all`"
            )


def _aligned(study: Study, of: StudyRecipe) -> None:
    """What is aligned, and what it is aligned with, is an encoder of each language's own."""
    recipe, where = of.spec, f"recipes.{of.name}"
    if of.pivots and recipe.data.written and not of.writes_pivot:
        crossing = " or ".join(name for name, writing in WRITING.items() if writing.output == "pivot")
        raise ValueError(
            f"{where}.data.written: {recipe.data.written} writes in the language of its anchors, and alignment needs "
            f"sentences of {study.pivot} too; take {crossing}, or train on these triplets by another objective"
        )
    others = [recipe.start] if recipe.together else [pivot.recipe or recipe.start for pivot in of.pivots.values()]
    for name in (of.name, *others):
        own = study.recipes[name]
        if own.data.from_languages != "own" or (recipe.together and not own.made):
            trained = "a trained encoder" if recipe.together else "an encoder"
            raise ValueError(f"recipes.{name}.data.from_languages: alignment needs {trained} of each language's own")


def _together(of: StudyRecipe) -> None:
    """Only adapters are trained of encoders of several languages; what else these have is given."""
    recipe, training, where = of.spec, of.training, f"recipes.{of.name}"
    if (training.part, training.adapter) != ("adapter", "parallel"):
        raise ValueError(f"{where}.training: these are adapters; set `part: adapter` and `adapter: parallel`")
    if training.pooling != "own":
        raise ValueError(
            f"{where}.training.pooling: adapters learn with the pooling of {recipe.start}'s encoders; leave it out"
        )
    if recipe.prefix is not None:
        raise ValueError(f"{where}.prefix: adapters learn with the prompts of {recipe.start}'s encoders; leave it out")
