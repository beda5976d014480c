"""Checks of a study beyond the types of its settings: one module for each thing that they look at.

A check raises a ValueError or a UserError at the first fault.
"""

from collections.abc import Callable
from typing import Any

from seedbed.study.checks.best import of_best
from seedbed.study.checks.checkpoints import of_seeds, of_starts, of_switched_adapters
from seedbed.study.checks.classifiers import of_classifiers
from seedbed.study.checks.generators import of_language_adapters, of_servers, of_translators
from seedbed.study.checks.languages import of_language_entries, of_languages
from seedbed.study.checks.names import (
    of_placeholders,
    of_reserved_names,
    of_specs,
    of_statistics,
    of_weights_by_language,
)
from seedbed.study.checks.prefixes import of_prefixes
from seedbed.study.checks.recipes import of_recipes
from seedbed.study.checks.sources import of_sources
from seedbed.study.checks.tasks import of_compute, of_fusions, of_language_pairs, of_scales, of_tasks
from seedbed.study.checks.translated import of_pairs, of_readers
from seedbed.study.model import Study
from seedbed.study.quoted import quotes

CHECKS: tuple[Callable[[Study], Any], ...] = (
    of_reserved_names,
    of_placeholders,
    of_languages,
    of_tasks,
    of_scales,
    of_pairs,
    of_recipes,
    of_prefixes,
    of_readers,
    of_classifiers,
    of_statistics,
    of_fusions,
    of_weights_by_language,
    of_compute,
    of_language_entries,
    of_specs,
    of_starts,
    of_language_pairs,
    of_switched_adapters,
    of_seeds,
    of_servers,
    of_translators,
    of_language_adapters,
    of_best,
    quotes,
    of_sources,
)
"""All checks, in the order in which they run: a later one may rely on what an earlier one has checked."""
