"""Which settings change no result: marked at the field, kept for the job, left out of what it runs again for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal, get_args

import pytest
from pydantic import PositiveInt

from seedbed.encoders.settings import Backbone
from seedbed.evaluation.settings import Task
from seedbed.generators.settings import MADE_FROM, Generator
from seedbed.io import UserError
from seedbed.settings import NO_RESULT, NoResult, Settings, named, validated
from seedbed.study.model import Study

WEIGHTS = {"source": {"file": "x"}}
SERVER = {"endpoint": "https://host/v1", "served_model": "m"}
IDLE = {
    "EndpointSettings": {"batch_size", "key", "retries", "timeout"},
    "Generator": {"batch_size", "gpu_memory", "key", "retries", "tensor_parallel", "timeout"},
    "Study": {"changed_code", "checkpoint_minutes", "downloads", "forecast", "gpus", "report_to"},
    "Task": {"batch_size"},
    "Training": {"gradient_checkpointing"},
}
"""Group -> the fields that change no result."""
OF_NOTHING_MADE = {"like", "source", "endpoint", "adapters", "triplets", "shard_rows"}
"""Settings of a generator that say where something is from, which `origin` does too, or into how many files it goes."""


def groups(annotation: Any, seen: set[type[Settings]]) -> Iterator[type[Settings]]:
    """All groups of settings that a type holds."""
    if isinstance(annotation, type) and issubclass(annotation, Settings) and annotation not in seen:
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from groups(field.annotation, seen)
    for argument in get_args(annotation):
        yield from groups(argument, seen)


def test_these_settings_of_a_study_change_no_result_and_no_others():
    marked = {
        group.__name__: {name for name, field in group.model_fields.items() if NO_RESULT in field.metadata}
        for group in groups(Study, set())
    }
    assert {name: fields for name, fields in marked.items() if fields} == IDLE


@pytest.mark.parametrize(
    ("group", "given", "changes"),
    [
        (Generator, WEIGHTS, {"batch_size": 7, "key": "OTHER", "gpu_memory": 0.5, "tensor_parallel": 2}),
        (Generator, WEIGHTS | SERVER | {"backend": "openai"}, {"endpoint": "https://other/v1"}),
        (Task, {"protocol": "knn", "k": [1, 5]}, {"batch_size": 7}),
        (
            Backbone,
            {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 4}},
            {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 4, "timeout": 7, "retries": 0}},
        ),
    ],
)
def test_a_job_gets_them_and_is_not_run_again_for_them(group, given, changes):
    before, after = group.model_validate(given), group.model_validate(given | changes)
    assert before.recorded() == after.recorded() and before.dump() != after.dump()
    assert group.load(after.dump()) == after


@pytest.mark.parametrize(
    ("given", "changes"),
    [
        (WEIGHTS, {"sampling": {"seed": 1}}),
        (WEIGHTS, {"lora": {"micro_batch_size": 1}}),
        (WEIGHTS, {"shard_rows": 1}),
        ({"backend": "openai-chat"} | SERVER, {"endpoint": "https://other/v1"}),
    ],
)
def test_it_is_for_all_others(given, changes):
    assert Generator.model_validate(given).recorded() != Generator.model_validate(given | changes).recorded()


def test_groups_are_found_wherever_they_stand():
    class Inner(Settings):
        quick: NoResult[int] = 1
        slow: int = 1

    class Outer(Settings):
        one: Inner | None = None
        named: dict[str, Inner] = {}
        several: tuple[Inner, ...] = ()

    given = {"one": {"quick": 2}, "named": {"a": {"quick": 2, "slow": 3}}, "several": [{"quick": 2}, {"slow": 2}]}
    kept = {"one": {}, "named": {"a": {"slow": 3}}, "several": [{}, {"slow": 2}]}
    assert json.loads(Outer.model_validate(given).recorded()) == kept


def test_each_setting_of_a_generator_decides_something_or_changes_no_result():
    decisive = {name for names in MADE_FROM.values() for name in names} - {"origin"}
    assert not decisive & IDLE["Generator"]
    assert {*Generator.model_fields} - decisive - IDLE["Generator"] == OF_NOTHING_MADE


class _Required(Settings):
    """Settings of which one must be given."""

    protocol: str
    k: int = 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"protocoll": "knn"}, "task.protocoll: unknown key; did you mean 'protocol'?"),
        ({"k": 2}, "task.protocol: Field required"),
        ({"protocol": "knn", "kk": 2}, "task.kk: unknown key; did you mean 'k'?"),
    ],
)
def test_a_misspelt_key_is_named_before_the_one_that_is_missing(given, told):
    with pytest.raises(UserError, match=f"^{re.escape(told)}"):
        validated(_Required, given, "task")


class _Reference(Settings):
    backbone: str


class _Several(Settings):
    """Settings of several types each."""

    english: str | _Reference = ""
    batches: Literal["mixed", "sets"] | dict[str, PositiveInt] | None = None
    languages: Literal["own"] | named("[a-z]{3}", "a code") | list[named("[a-z]{3}", "a code")] = "own"
    scale: float | _Reference = 1
    columns: dict[str, str | int | list[str]] = {}
    package: dict[named(r".+==.+", "a version"), str] = {}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"english": {"bakbone": "x"}}, "english.bakbone: unknown key; did you mean 'backbone'?"),
        ({"english": 3}, "english: Input should be a valid string (given: 3)"),
        ({"batches": {"a": 0}}, "batches.a: Input should be greater than 0 (given: 0)"),
        ({"batches": "all"}, "batches: Input should be 'mixed' or 'sets' (given: 'all')"),
        ({"languages": ["hau", "x"]}, "languages.1: expected a code (given: 'x')"),
        ({"languages": "x"}, "languages: Input should be 'own'; or expected a code (given: 'x')"),
        ({"scale": "x"}, "scale: Input should be a valid number, unable to parse string as a number (given: 'x')"),
        ({"columns": {"a": [1]}}, "columns.a.0: Input should be a valid string (given: 1)"),
        ({"columns": {1: "a"}}, "columns: key 1 is no text; put it in quotes, or take another"),
        ({"package": {"a": "b"}}, "package.a: expected a version (given: 'a')"),
    ],
)
def test_a_value_of_several_types_is_told_by_its_key_alone(given, told):
    with pytest.raises(UserError, match=f"^task.{re.escape(told)}$"):
        validated(_Several, given, "task")
