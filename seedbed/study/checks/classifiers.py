"""Checks of the classifiers of a study."""

from seedbed.classifiers.settings import Classifier
from seedbed.encoders.settings import Reference
from seedbed.generators.settings import Generator, ScaleChoice, require_likelihoods
from seedbed.settings import require_known
from seedbed.study.checks.translated import referred
from seedbed.study.generator import StudyGenerator
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe


def of_classifiers(study: Study) -> None:
    """Check that what classifiers name exists, and that their models can answer their tasks."""
    for name, classifier in study.classifiers.items():
        _classifier(study, name, classifier)


def _classifier(study: Study, name: str, classifier: Classifier) -> None:
    """Check one classifier: the names in it, then what its model can do."""
    where = f"classifiers.{name}"
    if name in {*study.backbones, *study.generators}:
        raise ValueError(f"{where}: a backbone or generator has this name; give it another")
    require_known(f"{where}.generator", "generator", classifier.generator, study.generators)
    for kind in ("languages", "tasks"):
        require_known(f"{where}.{kind}", kind.removesuffix("s"), getattr(classifier, kind), getattr(study, kind))
    for task in classifier.tasks or []:
        if study.tasks[task].protocol not in classifier.protocols:
            raise ValueError(
                f"{where}.tasks: {task} has protocol {study.tasks[task].protocol}; this classifier answers "
                f"{' and '.join(classifier.protocols)}"
            )
    generator = StudyGenerator.get(study, classifier.generator) if classifier.generator else None
    _weights(study, where, classifier, generator)
    if classifier.recipe:
        _fine_tuned(study, where, classifier)
    if classifier.prompted:
        _prompted(study, where, classifier, generator)


def _weights(study: Study, where: str, classifier: Classifier, generator: StudyGenerator | None) -> None:
    """Its model has weights, and a language model's adapters are composed by a given scale."""
    if generator and not (generator.writes and (generator.spec.source or classifier.prompted)):
        raise ValueError(f"{where}.generator: {classifier.generator} has no weights; take another")
    if isinstance(classifier.composition.scale, ScaleChoice):
        raise ValueError(f"{where}.composition.scale: of a generator alone is it chosen; give a number")
    if classifier.generator in study.choosing and not classifier.prompted:
        raise ValueError(
            f"{where}.generator: encoders choose the scale of {classifier.generator}, which labels nothing; take a "
            f"generator with `like: {classifier.generator}` and a scale that is a number"
        )
    require_known(f"{where}.backbone", "backbone with weights", classifier.backbone, study.weighted)


def _fine_tuned(study: Study, where: str, classifier: Classifier) -> None:
    """The encoders of its recipe can be fine-tuned, with a prefix that is known before any is scored."""
    require_known(f"{where}.recipe", "recipe", classifier.recipe, study.recipes)
    what, of = f"backbone of recipe {classifier.recipe}", study.recipes[classifier.recipe].only.backbones
    require_known(f"{where}.backbone", what, classifier.backbone, of or study.backbones)
    recipe = StudyRecipe.get(study, classifier.recipe)
    if not recipe.transformer:
        raise ValueError(f"{where}.recipe: {classifier.recipe} has no transformer to fine-tune; take another recipe")
    recipe.given_prefix(classifier.backbone)  # refuses one that is not known beforehand


def _prompted(study: Study, where: str, classifier: Classifier, generator: StudyGenerator) -> None:
    """What its prompts need exists, and its model gives likelihoods if they choose the answers."""
    if spec := classifier.in_context:
        referred(study, f"{where}.in_context.retriever", spec.retriever)
        for variant, shown in spec.variants.items():
            if shown.retriever:
                referred(study, f"{where}.in_context.variants.{variant}.retriever", shown.retriever)
    if classifier.reasoning:
        _english(study, f"{where}.reasoning.english", classifier.reasoning.english)
        for variant, of in classifier.reasoning.prefixes.items():
            _prefix(study, f"{where}.reasoning.prefixes.{variant}", of, generator.spec)
    if classifier.prompted.answer == "likelihood":
        protocols = {study.tasks[task].protocol for task in classifier.tasks or []}
        if classifier.in_context or "multiple_choice" in protocols:
            place, advice = f"{where}.{classifier.form}.answer", "take generation, or backend {backends}"
            require_likelihoods(place, generator.spec.backend, advice, of=generator.name, what="labels")


def _english(study: Study, where: str, english: str | Reference) -> None:
    if isinstance(english, str):
        require_known(where, "translator", english, study.translators)
        return
    referred(study, where, english)
    if "choices" not in StudyRecipe.get(study, english.recipe).gives:
        raise ValueError(f"{where}.recipe: {english.recipe} chooses no translations; take one that does")


def _prefix(study: Study, where: str, of: Reference, generator: Generator) -> None:
    referred(study, where, of)
    if not (study.recipes[of.recipe].english.actor or StudyRecipe.get(study, of.recipe).anchored):
        raise ValueError(f"{where}.recipe: {of.recipe} has no anchored encoder; take one that is, or starts from such")
    if generator.backend != "transformers":
        raise ValueError(f"{where}: vectors are read by backend transformers alone, and this is {generator.backend}")
