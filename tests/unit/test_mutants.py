"""The list of planted bugs fits the code, whose edits it would else miss for hours. `make test-mutants` plants them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutants.drawn import draw, mutants_of, tried_on
from tests.mutants.listed import Mutant, StaleError, mutants, planted, stale


def test_each_bug_of_the_list_can_be_planted_and_has_a_name() -> None:
    listed = mutants()
    assert stale(listed) == []
    assert len({(mutant.file, mutant.name) for mutant in listed}) == len(listed)


@pytest.mark.parametrize(
    ("within", "old", "message"),
    [("", "x = 3", "stands 0 times"), ("", "x = 1", "stands 2 times"), ("def c", "x = 1", "no 'def c'")],
)
def test_a_bug_that_does_not_fit_is_told(within: str, old: str, message: str):
    with pytest.raises(StaleError, match=message):
        planted(Mutant("room", "name", "file.py", old, "x = 2", "", "", within), TEXT)


TEXT = "def a():\n    x = 1\n\n\ndef b(\n    y,\n):\n    x = 1\n"


def test_a_bug_is_planted_in_its_definition_alone():
    bug = Mutant("room", "name", "file.py", "x = 1", "x = 2", "", "", "def b")
    assert planted(bug, TEXT) == "def a():\n    x = 1\n\n\ndef b(\n    y,\n):\n    x = 2\n"


def test_what_is_drawn_is_python_differs_from_the_code_and_is_the_same_every_time(monkeypatch):
    monkeypatch.setattr("tests.mutants.drawn.ROOMS", ("triplets", "vectors"))
    found = draw(40, seed=3)
    assert found == draw(40, seed=3) != draw(40, seed=4)
    for each in found:
        text = Path(each.file).read_text()
        assert ast.dump(ast.parse(each.planted(text))) != ast.dump(ast.parse(text)), each.name
        assert all(Path(test).exists() for stage in tried_on(each.file) for test in stage)


def test_each_kind_of_change_is_one_and_messages_and_annotations_have_none():
    text = """
def f(x: Literal[1], *, y: int = 2) -> bool:
    "A text."
    if x < y and not x:
        raise ValueError(f"{x + 1}", 3)
    x += 4
    return max(x, key=y)
"""
    changes = {(each.old, each.new) for each in mutants_of(text, "f.py")}
    assert changes == {
        ("2", "3"),
        ("x < y and not x", "(x < y or not x)"),
        ("x < y", "(x <= y)"),
        ("not x", "(x)"),
        ("x += 4", "pass"),
        ("4", "5"),
        ("max(x, key=y)", "min(x, key=y)"),
    }
