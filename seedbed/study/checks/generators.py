"""Checks of generators: those that translate and judge, and the training data of their language adapters."""

from collections.abc import Iterator
from itertools import product

from seedbed.generators.settings import DATA_KIND, PART_CORPUS, POLARITIES, require_likelihoods
from seedbed.languages import ANY
from seedbed.settings import require_known
from seedbed.study.generator import StudyGenerator
from seedbed.study.graph.classifier import StudyClassifier, adapted
from seedbed.study.leakage import require_untested
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.study.variants import is_composed


def of_translators(study: Study) -> None:
    """Check that translators and judges are generators that can translate and judge as their settings say.

    A translator with adapters needs adapters that are trained to translate.
    """
    for name, translator in study.translators.items():
        where = f"translators.{name}"
        if translator.generator:
            _writes(study, f"{where}.generator", translator.generator)
            spec = study.generators[translator.generator]
            if translator.reads != "prompt" and spec.backend != "transformers":
                raise ValueError(
                    f"{where}.reads: {translator.reads} is read by an encoder-decoder on backend transformers, and "
                    f"{translator.generator} runs on {spec.backend}; take prompt"
                )
            if translator.adapter and spec.language_data != "translations":
                raise ValueError(
                    f"{where}.adapter: language adapters of {translator.generator} are trained on "
                    f"{spec.language_data}; set its `language_data: translations`"
                )
    for name, judge in study.judges.items():
        where = f"judges.{name}"
        _writes(study, f"{where}.generator", judge.generator)
        backend = study.generators[judge.generator].backend
        if judge.answer == "likelihood":
            advice = "take numbers, or backend {backends}"
            require_likelihoods(f"{where}.answer", backend, advice, of=judge.generator)
        require_known(f"{where}.translators", "translator", judge.translators, study.translators)
    for name in sorted({*study.judges} & {*study.translators}):
        raise ValueError(f"judges.{name}: a translator has this name; give it another")


def of_templates(study: Study) -> None:
    """Check that a translator with an adapter has no chat template arguments: adapters are trained without any."""
    adapted = {recipe.generator for recipe in StudyRecipe.every(study) if recipe.needs_adapters}
    adapted |= {spec.generator for spec in study.translators.values() if spec.adapter}
    adapted |= {spec.generator for spec in study.classifiers.values() if spec.generator and not spec.prompted}
    for name in sorted(adapted & {*study.generators}):
        if study.generators[name].template:
            raise ValueError(f"generators.{name}.template: its adapters are trained without; leave it out")


def _writes(study: Study, where: str, generator: str) -> None:
    require_known(where, "generator", generator, study.generators)
    if not StudyGenerator.get(study, generator).writes:
        raise ValueError(f"{where}: {generator} is published triplets and writes nothing; take another")


def of_generators(study: Study) -> None:
    """Check that generators on a server have its address, and the model's name there; and that the corpora of language
    adapters exist and consist of sentences, of which there is one loss.
    """
    for name, generator in study.generators.items():
        if generator.backend == "openai" and not (generator.endpoint and generator.served_model):
            raise ValueError(f"generators.{name}: backend openai: give `endpoint` (https://host/v1) and `served_model`")
        where, text = f"generators.{name}.language_text", generator.language_text
        if generator.language_loss != "text" and DATA_KIND[generator.language_data] == "text":
            raise ValueError(
                f"generators.{name}.language_loss: language adapters are trained on {generator.language_data}, without "
                "responses; leave it out, or set `language_data` to instructions, annotated or translations"
            )
        if not text:
            continue
        if generator.language_data not in ("text", "passages"):
            raise ValueError(
                f"{where}: language adapters are trained on {generator.language_data}; leave it out, or set "
                "`language_data` to text or passages"
            )
        require_known(where, "corpus under `corpora.others`", text, study.corpora.others)
        if (kind := study.roles[text]) != "text":
            raise ValueError(f"{where}: corpora.others.{text} has {kind}; name one of sentences")


def of_adapters(study: Study) -> None:
    """Check that no corpus adapters are trained on is read from the place of a test set, see `require_untested`."""
    for where, corpus, code in _that_write(study):
        require_untested(study, where, corpus, code, writes=True)
    for of in (StudyClassifier.get(study, name) for name in adapted(study)):
        text = of.generator.spec.language_corpus if of.generator else of.spec.language_data
        for corpus, code in product(("nli_pairs", text), sorted({*filter(of.tasks_in, study.languages), study.pivot})):
            require_untested(study, f"classifiers.{of.name}", corpus, code)


def _that_write(study: Study) -> Iterator[tuple[str, str, str]]:
    """Key, corpus and language of all that adapters are trained on which write triplets or translations."""
    for of in StudyRecipe.every(study):
        if of.needs_adapters:
            yield from ((f"generators.{of.writer}", *one) for one in _of_writer(study, of))
    for name in sorted({spec.generator for spec in study.translators.values() if spec.adapter}):
        text = study.generators[name].language_corpus
        yield from ((f"generators.{name}", text, code) for code in sorted({*study.languages} - {study.pivot}))


def _of_writer(study: Study, of: StudyRecipe) -> Iterator[tuple[str, str]]:
    """Corpus and language of all that the adapters are trained on which write the triplets of a recipe."""
    spec, xllora = study.generators[of.writer], study.generators[of.writer].xllora
    composed = is_composed(of.spec)
    if composed or xllora.uses("synthetic"):
        yield "nli", study.pivot
    if composed:
        codes = sorted({*of.every_language, study.pivot}) if spec.composition.scale else []
        yield from ((spec.language_corpus, code) for code in codes)
    elif xllora.source == "published":
        yield from ((f"published_{polarity}", ANY) for polarity in POLARITIES)
    else:
        yield from product(map(PART_CORPUS.get, xllora.parts), xllora.languages)
