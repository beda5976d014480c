"""Tests of language pairs: which pairs of a study's languages are tested, and by which sets."""

from seedbed.names import languages_of
from seedbed.study.model import Study


def own_sets_of(study: Study, code: str) -> list[tuple[str, str]]:
    """Task and order of each separate test set of an order that has a language on either side."""
    return [(task, order) for task, order in study.own_sets if code in languages_of(order)]


def tested_by(study: Study, task: str) -> list[str]:
    """The pairs of languages that a task tests."""
    return sorted(pair for pair, found in study.tests_by_pair.items() if task in found)


def reserved(study: Study) -> set[str]:
    """Pairs that a table shows only if its spec names them: one of the languages is."""
    return {pair for pair in study.tests_by_pair if {*languages_of(pair)} & study.reserved}
