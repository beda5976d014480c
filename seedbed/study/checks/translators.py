"""Checks of a study's translators and judges, and their requirements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seedbed.encoders.recipes import Recipe
from seedbed.generators.settings import WRITING, require_likelihoods
from seedbed.settings import require_known

if TYPE_CHECKING:
    from seedbed.study.model import Study


def consistent(study: Study) -> None:
    """Check that translators and judges are generators, and that a translator with an adapter was trained to translate.

    Raises:
        ValueError: the first that is not.
    """
    for name, translator in study.translators.items():
        where = f"translators.{name}"
        if translator.generator:
            _writes(study, f"{where}.generator", translator.generator)
            backend = study.generators[translator.generator].backend
            if translator.reads != "prompt" and backend != "transformers":
                raise ValueError(
                    f"{where}.reads: {translator.reads} is read by an encoder-decoder on backend transformers, and "
                    f"{translator.generator} runs on {backend}; take prompt"
                )
            data = study.generators[translator.generator].language_data
            if translator.adapter and data != "translations":
                raise ValueError(
                    f"{where}.adapter: language adapters of {translator.generator} are trained on {data}; set its "
                    "`language_data: translations`"
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
    _without_template(study)


def _without_template(study: Study) -> None:
    """Check that a translator with an adapter has no chat template arguments: adapters are trained without any."""
    adapted = {
        recipe.data.by or next(iter(study.generators), "") for recipe in study.recipes.values() if _by_adapters(recipe)
    }
    adapted |= {spec.generator for spec in study.translators.values() if spec.adapter}
    adapted |= {spec.generator for spec in study.classifiers.values() if spec.generator and not spec.prompted}
    for name in sorted(adapted & {*study.generators}):
        if study.generators[name].template:
            raise ValueError(f"generators.{name}.template: its adapters are trained without; leave it out")


def _by_adapters(recipe: Recipe) -> bool:
    return bool(recipe.written) and WRITING[recipe.written].adapters != "none"


def _writes(study: Study, where: str, generator: str) -> None:
    require_known(where, "generator", generator, study.generators)
    if study.generators[generator].backend == "published":
        raise ValueError(f"{where}: {generator} is published triplets and writes nothing; take another")
