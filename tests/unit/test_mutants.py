"""The list of planted bugs fits the code. `make test-mutants` plants them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.listed import Mutant, StaleError, mutants, planted

LISTED = mutants()


def test_there_are_enough_of_them_and_each_has_a_name():
    assert len(LISTED) >= 120
    assert len({(mutant.file, mutant.name) for mutant in LISTED}) == len(LISTED)


@pytest.mark.parametrize("mutant", LISTED, ids=lambda mutant: f"{mutant.room}: {mutant.name}")
def test_each_can_be_planted(mutant: Mutant):
    before = Path(mutant.file).read_text()
    assert planted(mutant, before) != before


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
