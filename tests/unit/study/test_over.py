"""Entries that stand for several recipes: what each of them is, and how another entry changes one."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from seedbed import yamls
from seedbed.resources import ROOT
from seedbed.study.variants import spelled_out
from seedbed.yamls import laid_over

SIZES = {"like": "xllora", "data": {"rows": "{}000"}, "published": {"b": {"hub": "me/{}k"}}, "over": [1, 30]}


def test_a_name_stands_for_each_pair_of_braces_and_nothing_is_lost() -> None:
    assert spelled_out({"few-{}k": SIZES}) == {
        f"few-{size}k": {"like": "xllora", "data": {"rows": size * 1000}, "published": {"b": {"hub": f"me/{size}k"}}}
        for size in (1, 30)
    }


def test_a_setting_has_its_value_by_name_within_its_group() -> None:
    entry = {"training": {"epochs": 2}, "over": {"training.pooling": {"first": "cls", "all": "mean"}}}
    assert spelled_out({"of-{}": entry}) == {
        "of-first": {"training": {"epochs": 2, "pooling": "cls"}},
        "of-all": {"training": {"epochs": 2, "pooling": "mean"}},
    }


def test_what_the_entry_says_beside_that_setting_stays() -> None:
    """Unlike what a recipe has of one that it is like: this is one recipe, of which nothing is another's."""
    ways = {"data": {"by": "llm"}, "objective": "contrast", "over": {"data.written": {"a": "prompting", "b": "xllora"}}}
    assert spelled_out({"by-{}": ways}) == {
        f"by-{key}": {"data": {"by": "llm", "written": written}, "objective": "contrast"}
        for key, written in (("a", "prompting"), ("b", "xllora"))
    }
    queues = {"objective": {"listwise": {"negatives": 31}}, "over": {"objective.listwise.queue_size": {0: 0, 4: 4096}}}
    assert spelled_out({"of-{}k": queues}) == {
        "of-0k": {"objective": {"listwise": {"negatives": 31, "queue_size": 0}}},
        "of-4k": {"objective": {"listwise": {"negatives": 31, "queue_size": 4096}}},
    }


def test_a_configuration_on_top_changes_one_of_them() -> None:
    above = {"few-30k": {"data": {"rows": 9}, "training": {"epochs": 1}}}
    alone, found = (spelled_out(entries) for entries in ({"few-{}k": SIZES}, laid_over({"few-{}k": SIZES}, above)))
    assert found == alone | {"few-30k": laid_over(alone["few-30k"], above["few-30k"])} and [*found] == [*alone]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"few": SIZES}, r"few\.over: .* put \{\} into their name"),
        ({"few-{}k": SIZES, "few-{}": SIZES | {"over": ["1k"]}}, r"few-1k: few-\{\} writes this recipe too; keep one"),
        ({"few-{}k": SIZES | {"over": [3, 3]}}, r"few-3k: few-\{\}k writes this recipe too; keep one"),
        ({"few-{}k": SIZES | {"over": []}}, r"few-\{\}k\.over: give names, like \[1, 3\], .*, like \{.*\}; found \[\]"),
        (
            {"few-{}k": SIZES | {"over": {"a.b": {"x": 1}, "c": {"y": 2}}}},
            r"few-\{\}k\.over: give names, like .* or one setting",
        ),
        ({"few-{}k": SIZES | {"over": {"training.distinct": {True: True}}}}, r"few-\{\}k\.over: True, .*quotes"),
        ({"few-{}k": SIZES | {"over": [1, None]}}, r"few-\{\}k\.over: None, .*quotes"),
        ({"few-{}k": SIZES | {"over": {"data": 1}}}, r"few-\{\}k\.over: give names, like .* or one setting"),
        ({"few-{}k": SIZES | {"over": {"rows": {"1": 1000}}}}, r"few-\{\}k\.rows: is now `data: \{rows: \.\.\.\}`"),
    ],
)
def test_what_cannot_stand_for_several_is_told(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spelled_out(entries)


@pytest.mark.parametrize("name", ["config.yaml", "config/demo.yaml", "config/miners.yaml", "studies/hausa.yaml"])
def test_an_editor_knows_what_a_study_is_read_from(name: str) -> None:
    schema = json.loads((ROOT / "schemas/config.schema.json").read_text(encoding="utf-8"))
    study = yamls.read(ROOT / name)
    known = jsonschema.Draft202012Validator(schema)
    assert [fault.message for fault in known.iter_errors(study)] == []
    study["recipes"]["some-{}"] = {"like": "base"}
    assert [fault.message for fault in known.iter_errors(study)] == ["'over' is a required property"]
