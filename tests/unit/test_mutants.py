"""The list of planted bugs fits the code, whose edits it would else miss for hours. `make test-mutants` plants them."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants.drawn import draw, mutants_of, tried_on
from tests.mutants.listed import Mutant, StaleError, mutants, planted, stale
from tests.mutants.reached import Reached


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


def test_a_bug_whose_tests_are_elsewhere_is_told() -> None:
    bug = replace(mutants()[0], tests="tests/unit/gone.py -k one")
    assert stale([bug]) == [f"{bug.room}: {bug.name}: no tests/unit/gone.py"]


TEXT = "def a():\n    x = 1\n\n\ndef b(\n    y,\n):\n    x = 1\n"


def test_a_bug_is_planted_in_its_definition_alone():
    bug = Mutant("room", "name", "file.py", "x = 1", "x = 2", "", "", "def b")
    assert planted(bug, TEXT) == "def a():\n    x = 1\n\n\ndef b(\n    y,\n):\n    x = 2\n"


def test_what_is_drawn_is_python_differs_from_the_code_and_is_the_same_every_time():
    rooms = ("ground", "triplets", "vectors")
    found = draw(40, 3, rooms)
    assert found == draw(40, 3, rooms) != draw(40, 4, rooms)
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
    return max(x, key=y, strict=True)
"""
    changes = {(each.old, each.new) for each in mutants_of(text, "f.py")}
    assert changes == {
        ("2", "3"),
        ("x < y and not x", "(x < y or not x)"),
        ("x < y", "(x <= y)"),
        ("not x", "(x)"),
        ("x += 4", "pass"),
        ("4", "5"),
        ("max(x, key=y, strict=True)", "min(x, key=y, strict=True)"),
    }


MEASURED = """LIMIT = 3


def f(x):
    if x > LIMIT:
        x = min(
            x,
            LIMIT,
        )
    return x
"""


@pytest.fixture
def reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reached:
    """Of a module with tests of its own, one of another's that takes longer, and one that is gone."""
    monkeypatch.chdir(tmp_path)
    for folder in ("seedbed/room", "tests/unit", ".venv"):
        Path(folder).mkdir(parents=True)
    Path("seedbed/room/module.py").write_text(MEASURED)
    Path("tests/unit/test_module.py").write_text("def test_few(): ...\ndef test_more(): ...\n")
    Path("tests/unit/test_other.py").write_text("def test_all(): ...\n")
    few, more, others, gone = (
        f"tests/unit/test_{name}"
        for name in ("module.py::test_few", "module.py::test_more", "other.py::test_all", "g.py")
    )
    lines = {4: [], 5: [more, few, others, gone], 6: [others], 10: [few, more]}
    seconds = {few: 0.1, more: 0.5, others: 2.0, gone: 1.0}
    Reached(seconds, {"seedbed/room/module.py": MEASURED}, {"seedbed/room/module.py": lines}).save()
    return Reached.load()


def _named(stages: list[list[str]]) -> list[list[str]]:
    return [[test.partition("::")[2] or test for test in stage] for stage in stages]


def test_the_tests_that_run_a_line_are_tried_the_modules_own_and_short_ones_first(reached: Reached):
    file = "seedbed/room/module.py"
    assert _named(reached.stages(file, 5)) == [["test_few", "test_more"], ["test_all"]]
    assert _named(reached.stages(file, 8)) == [["test_all"]], "a line of a statement that began before"
    assert _named(reached.stages(file, 1)) == [["test_few", "test_more"], ["test_all"]], "read at import: of the module"


def test_what_was_measured_holds_for_an_edited_module_and_for_tests_written_since(reached: Reached):
    file = "seedbed/room/module.py"
    Path(file).write_text("# One line more.\n" + MEASURED.replace("return x", "x += 1\n    return x"))
    Path("tests/unit/test_module.py").write_text("def test_few(): ...\ndef test_new(): ...\n")
    assert _named(reached.stages(file, 12)) == [["test_new", "test_few"]]
    assert _named(reached.stages(file, 11)) == [["test_new", "test_few"], ["test_all"]], (
        "a line that is new: of the function"
    )


def test_of_a_module_that_is_new_its_tests_are_tried_whole_and_of_one_that_none_runs_none(reached: Reached):
    Path("seedbed/room/other.py").write_text("y = 1\n")
    assert reached.stages("seedbed/room/other.py", 1) == [["tests/unit/test_other.py"]]
    reached.sources["seedbed/room/other.py"] = "y = 1\n"
    assert reached.stages("seedbed/room/other.py", 1) == []
