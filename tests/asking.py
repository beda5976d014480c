"""Asking the graph without Snakemake: a study, a job's wildcards, answers without the folder of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from seedbed import yamls
from seedbed.study.checks import CHECKS
from seedbed.study.checks.sources import of_sources
from seedbed.study.graph.product import Product
from seedbed.study.model import Part, Study

TOLD = "tests/workflow/told/study.yaml"
"""A study of every kind of thing; nobody reads its files here."""


class Wildcards(dict[str, str]):
    """The wildcards of one job, by name and as attributes."""

    def __init__(self, **values: str) -> None:
        super().__init__(values)
        self.__dict__ = self


def study_of(file: str, **changes: Any) -> Study:
    """The study of a configuration, with some of its settings changed."""
    return Study.model_validate(yamls.read(file) | changes)


def check(study: Study) -> None:
    """All checks of a study but that of its sources, whose files a test need not have."""
    for one in CHECKS:
        if one is not of_sources:
            one(study)


def asking(study: Study) -> Callable[..., Any]:
    """What asks the study for one of its parts, by the names that tell it from others of its kind.

    `ask(Encoder, backbone="bert", recipe="few", lang="hau", seed="3").texts`: paths in answers are those within the
    folder of results.
    """

    def ask(kind: type[Part], **names: str) -> Asked:
        part = kind.of(study, Wildcards(**names)) if issubclass(kind, Product) else kind.get(study, *names.values())
        return Asked(part)

    return ask


class Asked:
    """A part of a study whose answers have no folder of results."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.part, name)
        if not callable(found):
            return within(found, self.part.study)
        return lambda *args, **options: within(found(*args, **options), self.part.study)


def within(value: Any, study: Study) -> Any:
    """A value whose paths are those within the folder of results."""
    if isinstance(value, str):
        return value.replace(f"{study.results}/", "")
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(within(one, study) for one in value))
    if isinstance(value, list | tuple):
        return type(value)(within(one, study) for one in value)
    return {key: within(one, study) for key, one in value.items()} if isinstance(value, dict) else value
