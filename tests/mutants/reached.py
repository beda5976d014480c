"""Which unit tests run which lines of the library: measured once, and carried over to the code of today."""

from __future__ import annotations

import ast
import difflib
import functools
import gzip
import importlib
import json
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.mutants.drawn import tried_on

FILE = Path(".venv/reached.json.gz")
"""Git ignores its folder."""


@dataclass
class Reached:
    """What was measured. A test is `FILE::FUNCTION`, whatever its parameters; `FILE` alone stands for all of a file."""

    seconds: dict[str, float] = field(default_factory=dict)
    """Test -> how long it takes, what it sets up included."""
    sources: dict[str, str] = field(default_factory=dict)
    """File of the library -> its text when it was measured."""
    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    """File of the library -> line -> the tests that run it."""

    @classmethod
    def load(cls) -> Reached | None:
        """None: nothing was measured here."""
        if not FILE.is_file():
            return None
        kept = json.loads(gzip.decompress(FILE.read_bytes()))
        tests = kept["tests"]
        lines = {
            file: {int(line): [tests[number] for number in numbers] for line, numbers in found.items()}
            for file, found in kept["lines"].items()
        }
        return cls(kept["seconds"], kept["sources"], lines)

    def save(self) -> None:
        tests = sorted({test for found in self.lines.values() for run in found.values() for test in run})
        numbers = {test: number for number, test in enumerate(tests)}
        lines = {
            file: {line: [numbers[test] for test in run] for line, run in found.items()}
            for file, found in self.lines.items()
        }
        kept = {"tests": tests, "seconds": self.seconds, "sources": self.sources, "lines": lines}
        FILE.write_bytes(gzip.compress(json.dumps(kept).encode()))

    def stages(self, file: str, line: int) -> list[list[str]]:
        """The tests that run a line, in the order in which they are tried: the module's own, then others, short ones first.

        What would take long is left out, so that a bug that none of these sees may yet be seen by another. None: the file
        is run by programs alone, which were not measured.
        """
        own = {test for test in tried_on(file)[0] if test.endswith(".py")}
        since = {test for test in self.existing if "::" in test and test not in self.seconds}
        tests = self.tests(file, line) | {test for test in since if test.partition("::")[0] in own}
        if not tests:
            return [] if file in self.sources else tried_on(file)[:1]
        near = {test for test in tests if test.partition("::")[0] in own}
        first = self._within(near, 8)
        second = self._within(tests - {*first}, 12)
        return [stage for stage in (first, second) if stage]

    @functools.cached_property
    def existing(self) -> set[str]:
        """All unit tests of today, and their files."""
        found = set()
        for path in Path("tests/unit").rglob("test_*.py"):
            found |= {str(path), *(f"{path}::{name}" for name in _tests(ast.parse(path.read_text(encoding="utf-8"))))}
        return found

    def _within(self, tests: set[str], seconds: float) -> list[str]:
        """As many tests as end in so many seconds; one at least."""
        found, total = [], 0.0
        for test in sorted(tests, key=lambda test: (self.seconds.get(test, 0.0), test)):
            total += self.seconds.get(test, 0.0)
            if not found or total <= seconds:
                found.append(test)
        return found

    def tests(self, file: str, line: int) -> set[str]:
        """The tests, of those that exist, that run a statement; if none does, those that run what is around it.

        A constant, say, is read when its module is imported, before any test.
        """
        text = Path(file).read_text(encoding="utf-8")
        before = _carried(self.sources.get(file, ""), text)
        run = self.lines.get(file, {})
        for lines in _around(text, line):
            if found := {test for each in lines for test in run.get(before.get(each, 0), ())} & self.existing:
                return found
        return set()


def _tests(node: ast.Module | ast.ClassDef) -> Iterator[str]:
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and child.name.startswith("test"):
            yield child.name
        elif isinstance(child, ast.ClassDef) and child.name.startswith("Test"):
            yield from (f"{child.name}::{name}" for name in _tests(child))


def _carried(before: str, now: str) -> dict[int, int]:
    """Line of today's text -> its number in an earlier one; lines that are new are not there."""
    blocks = difflib.SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False).get_matching_blocks()
    return {block.b + n + 1: block.a + n + 1 for block in blocks for n in range(block.size)}


def _around(text: str, line: int) -> Iterator[range]:
    """The lines of the statement that holds a line, then of each definition around it, then of the module."""
    tree = ast.parse(text)
    holding = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno  # outer ones first
    ]
    if holding:
        inner = holding[-1]
        body = getattr(inner, "body", None)  # of a statement with a body, its head alone
        yield range(inner.lineno, body[0].lineno if body else inner.end_lineno + 1)
    for node in reversed(holding):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield range(node.lineno, node.end_lineno + 1)
    yield range(1, len(text.splitlines()) + 1)


class Recorder:
    """A plugin of pytest that tells coverage which test runs, and keeps how long each takes."""

    def __init__(self, measured) -> None:
        self.measured = measured
        self.seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item) -> Generator[None, object, object]:
        self.measured.switch_context(_unparametrised(item.nodeid))
        result = yield
        self.measured.switch_context("")
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request) -> Generator[None, object, object]:
        """What is set up once for several tests is run by all tests of the file."""
        if fixturedef.scope == "function":
            return (yield)
        test = _unparametrised(request._pyfuncitem.nodeid)
        self.measured.switch_context(test.partition("::")[0])
        result = yield
        self.measured.switch_context(test)
        return result

    def pytest_runtest_logreport(self, report) -> None:
        for name in (_unparametrised(report.nodeid), report.nodeid.partition("::")[0]):
            self.seconds[name] += report.duration


def _unparametrised(nodeid: str) -> str:
    return nodeid.partition("[")[0]


def measure(tests: list[str]) -> Reached:
    """Run tests and keep which lines each of them runs.

    Raises:
        ImportError: coverage, which the project needs for nothing else, is not installed.
    """
    measured = importlib.import_module("coverage").Coverage(data_file=None, source=["seedbed"])
    recorder = Recorder(measured)
    measured.start()
    pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[recorder])
    measured.stop()
    found = Reached(dict(recorder.seconds))
    for path in measured.get_data().measured_files():
        file = str(Path(path).relative_to(Path.cwd()))
        found.sources[file] = Path(path).read_text(encoding="utf-8")
        lines = measured.get_data().contexts_by_lineno(path)
        found.lines[file] = {line: sorted(filter(None, run)) for line, run in lines.items() if any(run)}
    return found
