"""docs/operations.md promises nothing without a test."""

from __future__ import annotations

import ast
import re
import string
from contextlib import nullcontext
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from seedbed import model_files, servers
from seedbed.corpora import assets, downloads
from seedbed.generators import journal
from seedbed.generators.backends import vllm
from seedbed.settings import Place
from seedbed.study import digests
from seedbed.vectors import store

TEXT, _, TESTS = Path("docs/operations.md").read_text(encoding="utf-8").partition("\n## The tests\n")
NAMED = dict(re.findall(r"^\[\^(\w+)\]: (.+)$", TESTS, flags=re.M))
"""Mark -> tests, as they stand there."""


def test_every_paragraph_names_tests_that_exist() -> None:
    blocks = re.split(r"\n\n|\n(?=\* )", TEXT)
    bare = [block for block in blocks if not re.match("#|    ", block) and not re.search(r"\[\^\w+\]", block)]
    assert not bare, bare
    marks = re.findall(r"\[\^(\w+)\]", TEXT)
    assert {*marks} == {*NAMED} and list(dict.fromkeys(marks)) == list(NAMED), "in the order of the page"


@pytest.mark.parametrize("mark", NAMED)
def test_a_named_test_is_there(mark: str) -> None:
    for name in NAMED[mark].split(", "):
        file, test = re.fullmatch(r"`([\w/]+\.py)::(test_\w+)`", name).groups()
        tree = ast.parse(Path("tests", file).read_text(encoding="utf-8"))
        assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, name


def test_numbers_are_those_of_the_code() -> None:
    text = " ".join(TEXT.split())
    for said in (
        f"Of gzip and archives {assets.UNPACKED >> 30} GiB are read, beyond {assets.SMALL >> 20} MiB at most fifty times",
        f"an answer has {servers.LARGEST >> 20} MiB",
        f"a download {downloads.DOWNLOAD >> 30} GiB",
        f"a JSON file or a template of a model {model_files.LARGEST >> 20} MiB",
        f"Files of {digests.SMALL >> 20} MiB and more are read once",
        f"fewer than {journal.COMMIT_ROWS} completions",
        f"vLLM hands over {vllm.CHUNK:,} at a time",
        f"a job that encodes {store.CHUNK:,} texts at most, {store.BOUGHT} of an endpoint",
    ):
        assert re.sub(r"\[\^\w+\]", "", said) in re.sub(r"\[\^\w+\]", "", text), said
    assert assets.RATIO == 50


def test_paths_hold_what_the_page_says() -> None:
    (allowed,) = re.findall(r"letters, digits and `([^`]+)`, no blanks", " ".join(TEXT.split()))
    for character in {*string.printable} - {*string.ascii_letters, *string.digits}:
        with nullcontext() if character in allowed else pytest.raises(ValidationError):
            TypeAdapter(Place).validate_python(f"a{character}b")
