"""Checks of a study beyond the types of its settings: one module for each thing that they look at.

A check raises a ValueError or a UserError at the first fault.
"""

from collections.abc import Callable
from typing import Any

from seedbed.study.checks import (
    best,
    checkpoints,
    classifiers,
    generators,
    languages,
    names,
    prefixes,
    recipes,
    sources,
    tasks,
    translated,
)
from seedbed.study.model import Study
from seedbed.study.quoted import quotes

CHECKS: tuple[Callable[[Study], Any], ...] = (
    names.of_reserved_names,
    names.of_placeholders,
    languages.of_languages,
    tasks.of_tasks,
    tasks.of_scales,
    translated.of_pairs,
    recipes.of_recipes,
    prefixes.of_prefixes,
    translated.of_readers,
    classifiers.of_classifiers,
    names.of_names,
    tasks.of_fusions,
    tasks.of_compute,
    languages.of_language_entries,
    tasks.of_training_sets,
    checkpoints.of_starts,
    checkpoints.of_switched_adapters,
    checkpoints.of_seeds,
    generators.of_generators,
    generators.of_translators,
    generators.of_templates,
    generators.of_adapters,
    best.of_best,
    quotes,
    sources.of_sources,
)
"""All checks, in the order in which they run: a later one may rely on what an earlier one has checked."""
