"""Asking the graph without Snakemake: a study, a job's wildcards, answers without the folder of results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from seedbed.study.model import Study

TOLD = "tests/workflow/told/study.yaml"
"""A study of every kind of thing; nobody reads its files here."""


class Wildcards(dict[str, str]):
    """The wildcards of one job, by name and as attributes."""

    def __init__(self, **values: str) -> None:
        super().__init__(values)
        self.__dict__ = self


def study_of(file: str, **changes: Any) -> Study:
    """The study of a configuration, with some of its settings changed."""
    return Study.model_validate(yaml.safe_load(Path(file).read_text()) | changes)


def asking(study: Study) -> Callable[..., Any]:
    """What asks a function of the graph about a study, or about a job whose wildcards are named.

    Other arguments than wildcards come first; `input` is what Snakemake found. Paths in answers are those within the
    folder of results.
    """

    def ask(function: Callable[..., Any], *args: Any, input: Any = None, **wildcards: str) -> Any:
        job = () if args else (Wildcards(**wildcards), *([input] if input else []))
        return within(function(study, *args, *job), study)

    return ask


def within(value: Any, study: Study) -> Any:
    """An answer with paths as they are within the study's folder of results."""
    return _within(value, study.results)


def _within(value: Any, results: str) -> Any:
    if isinstance(value, str):
        return value.replace(f"{results}/", "")
    if isinstance(value, list | tuple):
        return type(value)(_within(one, results) for one in value)
    return {key: _within(one, results) for key, one in value.items()} if isinstance(value, dict) else value
