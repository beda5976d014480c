"""The graph as a whole: each of its functions is asked by a test of this folder."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from seedbed.study.graph import ROOMS, plans, published


@pytest.mark.parametrize("module", [*ROOMS, plans, published], ids=lambda module: module.__name__.rpartition(".")[2])
def test_each_public_function_is_asked(module) -> None:
    room = module.__name__.rpartition(".")[2]
    text = "\n".join(file.read_text() for file in Path(__file__).parent.glob("test_graph_*.py"))
    named = set(re.findall(rf"\b{room}\.(\w+)", text))
    own = {name for name, one in inspect.getmembers(module, inspect.isroutine) if one.__module__ == module.__name__}
    assert {name for name in own if not name.startswith("_")} - named == set()
