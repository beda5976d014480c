"""Tests of two languages: which pairs a study has, whose encoders they take, and what must hold of them."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from seedbed.languages import registry
from seedbed.names import languages_of, orders_of, pair_of
from seedbed.settings import suggest

if TYPE_CHECKING:
    from seedbed.study.model import Study

SAME = ("like", "aligned", "on_request", "only", "published")
"""What a recipe with `aligned: pairs` or `never` may have of its own: nothing that an encoder is made by."""


def facts(study: Study, order: str) -> dict[str, str]:
    """What stands for the placeholders of the source of an order: the first language's, but the order's own code."""
    return study.facts(languages_of(order)[0]) | {"code": order, "lang": order}


def own_sets(study: Study) -> list[tuple[str, str]]:
    """Task and order of each test set that is an order's own, of the study's languages."""
    every = [(task, order) for task, spec in sorted(study.tasks.items()) for order in spec.orders()]
    here = [(task, order) for task, order in every if {*languages_of(order)} <= {*study.languages}]
    return [(task, order) for task, order in here if study.test(task, order)]


def own_sets_of(study: Study, code: str) -> list[tuple[str, str]]:
    """Task and order of each test set that is an order's own and has a language on either side."""
    return [(task, order) for task, order in own_sets(study) if code in languages_of(order)]


def tests(study: Study) -> dict[str, dict[str, list[str]]]:
    """Pair of languages -> its tasks -> the orders in which each tests it.

    Of sets that are joined both orders; of sets of their own those that there are.
    """
    found: dict[str, dict[str, list[str]]] = {}
    own = own_sets(study)
    for task, spec in sorted(study.tasks.items()):
        tested = study.tested_by(task) if spec.pairs else []
        named = combinations(tested, 2) if spec.pairs == "all" else map(languages_of, spec.pairs)
        joined = [pair_of("-".join(both)) for both in named if {*both} <= {*tested} and not spec.orders()]
        for order in [
            *(order for pair in joined for order in orders_of(pair)),
            *(o for name, o in own if name == task),
        ]:
            found.setdefault(pair_of(order), {}).setdefault(task, []).append(order)
    return found


def tested_by(study: Study, task: str) -> list[str]:
    """The pairs of languages that a task tests."""
    return sorted(pair for pair, found in study.tests_by_pair.items() if task in found)


def reserved(study: Study) -> set[str]:
    """Pairs that a table shows only if its spec names them: one of the languages is."""
    return {pair for pair in study.tests_by_pair if {*languages_of(pair)} & study.reserved}


def consistent(study: Study) -> None:
    """Pairs are of languages that there are, and a recipe that takes adapters off makes no encoder.

    Raises:
        ValueError: the first that is not so.
    """
    known = sorted({*study.languages, *registry()})
    for name, task in study.tasks.items():
        for code in (code for pair in task.pairs if task.pairs != "all" for code in languages_of(pair)):
            if code not in known:
                raise ValueError(f"tasks.{name}.pairs: no language {code!r}; {suggest(code, known)}")
    for name, recipe in study.recipes.items():
        if recipe.aligned != "always":
            _takes_adapters_off(study, name)


def _takes_adapters_off(study: Study, name: str) -> None:
    recipe, where = study.recipes[name], f"recipes.{name}.aligned"
    if recipe.like not in {*study.recipes} - {name}:
        raise ValueError(f"{where}: it scores the encoders of another recipe of the study; name that as `like`")
    other = study.recipes[recipe.like]
    if recipe.training.get("adapter") != "parallel":
        raise ValueError(f"{where}: encoders of {recipe.like} have no parallel adapters; leave it out")
    for key in type(recipe).model_fields:
        if key not in SAME and getattr(recipe, key) != getattr(other, key):
            raise ValueError(
                f"recipes.{name}.{key}: `aligned: {recipe.aligned}` has the encoders of {recipe.like}; leave it out"
            )
