"""Checks of backbones that encode a text with its translation, and of recipes that take translations as input."""

from seedbed.encoders.recipes import Recipe
from seedbed.encoders.settings import Pivot, Reference
from seedbed.languages import placeholders
from seedbed.settings import require_known
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe, untrained

NONE = "none"


def of_pairs(study: Study) -> None:
    """Check that both encoders of a `pair` are backbones with weights and suitable prefixes, and that fusions are of
    backbones of one encoder.
    """
    for name, pair in study.paired.items():
        for side in ("multilingual", "english"):
            where = f"backbones.{name}.pair.{side}"
            require_known(where, "backbone with weights", [getattr(pair, side)], study.weighted)
        if study.backbones[pair.english].prefix:
            raise ValueError(f"backbones.{name}.pair.english: {pair.english} has a prefix; take one without")
        if study.backbones[pair.multilingual].prompts:
            raise ValueError(
                f"backbones.{name}.pair.multilingual: {pair.multilingual} has `prompts`, and the English alone is a "
                "query or a document; take one without"
            )
        if placeholders(study.backbones[pair.multilingual].prefix or ""):
            raise ValueError(f"backbones.{name}.pair.multilingual: its prefix is by language; take one without")
    single = {*study.backbones} - {*study.paired, *study.fused}
    for name, fusion in study.fused.items():
        require_known(f"backbones.{name}.fusion.of", "backbone that can be fused", fusion.of, single)


def of_readers(study: Study) -> None:
    """Check the recipes that take translations as input, and that no other recipe names a backbone that is a pair."""
    for of in StudyRecipe.every(study):
        if of.spec.paired:
            _reads(study, of)
        elif wrong := sorted({*(of.spec.only.backbones or [])} & {*study.paired}):
            raise ValueError(
                f"recipes.{of.name}.only.backbones: {wrong[0]} is a pair, and this recipe reads no translation"
            )


def referred(study: Study, where: str, of: Reference, *, given: bool = True) -> None:
    """Check a recipe that is named together with a backbone: both are there, it has encoders of it, and these get the
    input that they need.

    Args:
        given: whether English is given to such an encoder; a training gives none to encoders that it refers to.
    """
    backbone = of.backbone if isinstance(of, Pivot) else [of.backbone]
    require_known(f"{where}.backbone", "backbone", backbone, study.backbones)
    require_known(f"{where}.recipe", "recipe", [of.recipe], study.recipes)
    recipe = study.recipes[of.recipe]
    if of.backbone and recipe.paired != (of.backbone in study.paired):
        makes = "reads no translation, and {} is a pair" if not recipe.paired else "is of pairs, and {} is none"
        raise ValueError(f"{where}: {of.recipe} {makes.format(of.backbone)}; take another recipe, or another backbone")
    if recipe.english.fusion and not given:
        raise ValueError(f"{where}: {of.recipe} reads translations, and has none here; take one that reads texts alone")


def _reads(study: Study, of: StudyRecipe) -> None:
    """Check a recipe that takes translations as input, or chooses among them."""
    recipe, where = of.spec, f"recipes.{of.name}"
    _says_which(where, recipe)
    _names_known(study, where, recipe)
    if not study.paired:
        raise ValueError(f"{where}: it reads translations, and no backbone is a `pair`; add one")
    require_known(f"{where}.only.backbones", "pair", recipe.only.backbones, study.paired)
    _chooses(study, of)
    if recipe.english.fusion and recipe.data.from_languages == "pivot":
        raise ValueError(f"{where}.data.from_languages: pivot; a text in {study.pivot} is its own translation")
    if recipe.english.fusion == "prefix" and not of.anchored:
        raise ValueError(f"{where}.english.fusion: prefix, and it starts from no anchored encoder; name one as `from`")


def _says_which(where: str, recipe: Recipe) -> None:
    """Check that a recipe says whose translations it takes, and how one of them is chosen."""
    english = recipe.english
    if not english.fusion:
        if english.choose:
            raise ValueError(
                f"{where}.english.choose: {english.choose}, and the policy that it trains chooses; leave it out, or "
                "give it to a recipe that reads what was chosen, with `english.fusion`"
            )
        _require_a_choice(where, recipe)
    if english.fusion and not (english.translators and english.choose):
        raise ValueError(f"{where}.english: say whose translations it reads and which: give `translators` and `choose`")
    if english.choose == "judge" and not english.judge:
        raise ValueError(f"{where}.english.choose: judge, and nobody judged; name a `judge`")
    if english.choose == "oracle" and "human" not in english.translators:
        raise ValueError(
            f"{where}.english.choose: oracle takes what translator `human` wrote; name it in `translators`"
        )


def _require_a_choice(where: str, recipe: Recipe) -> None:
    """Check that a policy has translators to choose among."""
    if (count := len(recipe.english.translators)) < 2:
        raise ValueError(f"{where}.english.translators: {count}; a policy chooses among two or more")


def _names_known(study: Study, where: str, recipe: Recipe) -> None:
    """Check that the study has the translators, the judge, the recipe and the backbone that a recipe names."""
    english = recipe.english
    require_known(f"{where}.english.translators", "translator", english.translators, study.translators)
    require_known(f"{where}.english.judge", "judge", english.judge, study.judges)
    judged = study.judges[english.judge].translators if english.judge else None
    for translator in english.translators if judged is not None else ():
        if translator not in judged:
            raise ValueError(
                f"{where}.english.judge: {english.judge} judges nothing of {translator}; add it to its translators"
            )
    require_known(f"{where}.english.actor", "recipe", english.actor, study.recipes)
    if english.similarity not in ("", NONE):
        require_known(f"{where}.english.similarity", "backbone with weights", english.similarity, study.weighted)
        if not untrained(study):
            raise ValueError(
                f"{where}.english.similarity: no recipe has {english.similarity} as it is; add recipe `base`"
            )


def _chooses(study: Study, of: StudyRecipe) -> None:
    """Check that what chooses among translations exists, and can choose among those of this recipe."""
    where, english = f"recipes.{of.name}", of.spec.english
    chooser = of.chooser if english.fusion else ""
    if english.actor and not study.recipes[english.actor].paired:
        raise ValueError(
            f"{where}.english.actor: {english.actor} chooses nothing; name a recipe with `data: {{candidates: ...}}`"
        )
    if english.choose == "actor" and not chooser:
        raise ValueError(
            f"{where}.english.choose: actor, and no recipe that it starts from has one; name one as `actor`"
        )
    if english.choose == "critic" and (english.similarity == NONE or not (chooser or english.similarity)):
        raise ValueError(f"{where}.english.choose: critic needs a similarity; name a backbone as `similarity`")
    if english.choose == "actor":
        _require_a_choice(where, of.spec)
        has, had = english.similarity or NONE, study.recipes[chooser].english.similarity or NONE
        if has != had:
            raise ValueError(
                f"{where}.english.similarity: {has}, and the policy of {chooser} was trained with {had}; give the same"
            )
    own = chooser and study.recipes[chooser].data.from_languages == "own"
    if own and chooser != of.anchored:
        raise ValueError(
            f"{where}.english.actor: {chooser} is made for each language; start from it, or give that "
            "`data: {from_languages: all}`"
        )
