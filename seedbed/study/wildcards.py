"""The possible values of each wildcard of a path."""

import re
from collections.abc import Iterable

from seedbed.generators.settings import METHODS, POLARITIES
from seedbed.languages import ANY
from seedbed.names import SHARE, TOGETHER, anchors_in, training_set_of
from seedbed.study.graph import classifier
from seedbed.study.graph.translation import GIVEN
from seedbed.study.model import Study


def one_of(names: Iterable[str]) -> str:
    """A pattern of names; of none, one that is no name."""
    return "|".join(re.escape(name) for name in sorted(set(names))) or "none"


def encoders_of(study: Study, rule: str) -> dict[str, str]:
    """Patterns of the backbones, without fusions, and of the recipes whose encoders a rule makes."""
    recipes = (name for name, recipe in study.recipes.items() if recipe.rule == rule)
    return {"backbone": one_of({*study.backbones} - {*study.fused}), "recipe": one_of(recipes)}


def constraints(study: Study) -> dict[str, str]:
    """Wildcard -> regular expression of its values in a study."""
    written = [f"{name}+{method}" for name in study.generators for method in METHODS]
    given = [f"{name}+{GIVEN}" for name, spec in study.translators.items() if spec.given]
    corpora = [*given, *study.roles, *study.tasks, *map(training_set_of, study.tasks), *written]
    variants = [*classifier.variants(study), *classifier.labellers(study)]
    return {
        "lang": one_of([*study.codes, ANY, *(order for _, order in study.own_sets)]),
        "test_lang": f"{one_of([*study.languages, *study.tests_by_pair])}|{SHARE}",
        "train_lang": one_of(study.codes),
        "task": one_of(study.tasks),
        "corpus": one_of(corpora),
        "anchors": one_of([anchors_in(text) for text in ("", "text", *study.corpora.others)]),
        "room": "generators|encoders|classifiers",
        "model": r"[A-Za-z0-9.+-]+",
        "generator": one_of(study.generators),
        "what": "prefix|scale",
        "owner": r"[A-Za-z0-9.+-]+",
        "translator": one_of(study.translators),
        "judge": one_of(study.judges),
        "backbone": one_of([*study.backbones, *study.classifiers]),
        "recipe": one_of([*study.recipes, *variants, TOGETHER]),
        "mining": one_of(study.mining),
        "tasks": one_of([*study.tasks, TOGETHER]),
        "classifier": one_of(study.classifiers),
        "variant": one_of(variants),
        "part": "task|language",
        "method": one_of(METHODS),
        "polarity": one_of(POLARITIES),
        "seed": r"\d+",
        "shard": r"\d+",
        "table": r"[A-Za-z0-9_]+",
        "figure": r"[A-Za-z0-9_]+",
    }
