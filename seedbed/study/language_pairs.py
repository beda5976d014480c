"""Tests of language pairs: the pairs of a study, which encoders are tested on them, and checks."""

from seedbed.languages import registry
from seedbed.names import languages_of
from seedbed.settings import suggest
from seedbed.study.model import Study

SAME = ("like", "aligned", "on_request", "only", "published")
"""Settings that a recipe with `aligned: pairs` or `never` may change: those that do not change how encoders are made.
"""


def own_sets_of(study: Study, code: str) -> list[tuple[str, str]]:
    """Task and order of each separate test set of an order that has a language on either side."""
    return [(task, order) for task, order in study.own_sets if code in languages_of(order)]


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
