"""YAML as text: comments are written, and stay when entries are added."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from seedbed.init.yaml_text import commented, edited
from seedbed.io import UserError

TEXT = """\
# of the study
results: results/x  # where
corpora:
  # what is trained on
  others:
    adjacent: {file: a.txt}  # mine

  # the last
  nothing:
best:
  recipe: adjacent
  why: |
    Two
    lines.

# behind best
tables: []  # none
"""


@pytest.mark.parametrize(
    ("entries", "stays"),
    [
        ([(("corpora", "others", "more"), {"file": "b: c"})], True),
        ([(("corpora", "new"), [1, 2])], True),
        ([(("corpora", "nothing", "deep", "deeper"), "x # y")], True),
        ([(("tasks", "own"), {"protocol": "sts"}), (("tasks", "other"), {})], True),
        ([(("best",), {"dev": "a", "test": "b"})], True),
        ([(("best", "why"), "one line")], True),
        ([(("corpora", "others", "adjacent", "skip"), 5)], False),
    ],
)
def test_entries_are_added_and_comments_stay(entries: list[tuple[tuple[str, ...], Any]], stays: bool) -> None:
    expected = yaml.safe_load(TEXT)
    for path, value in entries:
        group = expected
        for key in path[:-1]:
            group[key] = group.get(key) or {}
            group = group[key]
        group[path[-1]] = value
    found = edited(TEXT, entries, where="x.yaml")
    assert yaml.safe_load(found) == expected
    comments = [line.partition("#")[2] for line in TEXT.splitlines() if "#" in line]
    kept = [one for one in comments if f"#{one}" in found]
    assert kept == comments if stays else len(kept) == len(comments) - 1, "of a line that is replaced"
    assert edited(TEXT.removesuffix("\n"), entries, where="x.yaml") == found.removesuffix("\n") or yaml.safe_load(found)


@pytest.mark.parametrize("text", ["a: &x {b: 1}\nc: *x\n", "{a: 1}\n", "a: 1\n...\n"])
def test_what_cannot_be_added_is_told_and_never_wrong(text: str) -> None:
    try:
        found = edited(text, [(("c", "d"), 2)], where="x.yaml")
    except UserError as error:
        assert str(error).startswith("x.yaml: cannot be added to as it is written; add by hand: {'c.d': 2}")
    else:
        assert yaml.safe_load(found)["c"]["d"] == 2 and yaml.safe_load(found)["a"] == yaml.safe_load(text)["a"]


@pytest.mark.parametrize(
    "text", ["{a: {b: 1}, c: {d: 1}}", '{\n "a": {"b": 1},\n "c": {"d": 1}\n}\n', "a: {b: 1}\nc: {d: 1}\n"]
)
def test_of_several_entries_that_a_text_does_not_take_the_first_is_told(text: str) -> None:
    entries = [(("a", "x"), 2), (("c", "y"), {"z": 3})]
    try:
        found = edited(text, entries, where="x.yaml")
    except UserError as error:
        assert text.startswith("{") and "add by hand: {'a.x': 2, 'c.y': {'z': 3}}" in str(error)
    else:
        assert yaml.safe_load(found) == {"a": {"b": 1, "x": 2}, "c": {"d": 1, "y": {"z": 3}}}


PRINTABLE = st.text(max_size=9).filter(str.isprintable)  # as names are; PyYAML itself loses some that are not


@given(st.dictionaries(PRINTABLE, PRINTABLE, min_size=1, max_size=4), PRINTABLE)
def test_any_text_reads_as_it_was_written(value: dict[str, str], key: str) -> None:
    text = commented(value, {(name,): "said" for name in value})
    assert yaml.safe_load(text) == value and text.count("# said") >= len(value)
    try:
        added = edited(text, [((f"{key}.",), value)], where="x")
    except UserError:
        assert "? " in text, "keys of several lines, or empty ones: none is a name"
    else:
        assert yaml.safe_load(added) == value | {f"{key}.": value}
