"""Table `translations_k`: F1 among the k nearest, on twelve sentences on a line whose neighbours are counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.io import UserError, write_json, write_table
from seedbed.resources import spec_file
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, Cell, plan
from seedbed.tables.published import Published
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import measure_blocks, tabulate
from tests.unit.tables.conftest import PAPER, page

SPEC = TableSpec.load(spec_file("tables", "translations_k"))
MOVED = {"0": 2.4, "10": 5.6, "11": 4.1}
"""Sentence n is at n, as its translation is, but for these of Hausa.

To English their translations are the 5th, 9th and 12th nearest, and from English they are the 3rd, 5th and 7th.
"""
F1 = {
    "Forward, k = 1": (6 + 3 * 2 / 3) / 12,  # three wrong answers, each another sentence's second
    "Forward, k = 5": (8 + 2 * 2 / 3) / 12,
    "Forward, k = 10": (10 + 2 / 3) / 12,
    "Backward, k = 1": (7 + 2 / 3 + 1 / 2) / 12,  # two of the three wrong answers are one sentence
    "Backward, k = 5": (10 + 2 / 3) / 12,
    "Backward, k = 10": 1,
}


def encode(texts: list[str]) -> np.ndarray:
    places = [MOVED.get(name, float(name)) if side == "hau" else float(name) for side, name in map(str.split, texts)]
    return np.array(places, np.float32)[:, None]


def made(k: tuple[int, ...], folder: Path) -> tuple[pd.DataFrame, str]:
    """The table of a study with one encoder, scored in two languages, and its page."""
    task = Task(protocol="bitext", distance="euclidean", k=k)
    for lang in ("hau", "ind"):
        rows = [{"id": str(n), "text": f"{lang} {n}", "pivot": f"eng {n}"} for n in range(12)]
        scores = score(task, pd.DataFrame(rows), System(encode))
        path = folder / Cell("me5", "base", "mul", 0, "own-bitext", lang).path
        write_table(scores.items.astype(str), path.with_suffix(".items.tsv"))
        about = {"protocol": "bitext", "metrics": scores.metrics, "items": path.with_suffix(".items.tsv").name}
        write_json(about | {"dataset": {"origin": [{"kind": "file", "name": "own"}]}}, path)
    systems = [AvailableRecipe(recipe="base", language="mul", seeds=[0])]
    tasks = {"own-bitext": AvailableTask(protocol="bitext", languages=["hau", "ind"], k=[*k])}
    blocks = plan(SPEC, systems, {"me5": AvailableModel()}, tasks, "base")
    statistics = Statistics(resamples=100)
    table = tabulate([*measure_blocks(blocks, folder, statistics, SPEC)], statistics, Published(None, PAPER))
    return table, page(table, SPEC)


def test_it_has_each_direction_and_number_of_neighbours_of_each_language(tmp_path: Path) -> None:
    table, text = made((1, 5, 10), tmp_path)
    values = table.set_index(["column", "language"])["value"]
    for column, f1 in F1.items():
        assert values[column, "hau"] == pytest.approx(100 * f1, abs=1e-3)
        assert values[column, "ind"] == 100 and values[column, "avg"] == pytest.approx(50 * f1 + 50, abs=1e-3)
        block = text.split(f"## {column}, me5\n")[1].split("\n## ")[0]
        assert f"| Base Encoder | **{100 * f1:.1f}** [" in block
    assert [*table["column"].unique()] == [*F1] and {*table["n"]} == {12, 24}
    assert "Test items: hau 12, ind 12." in text


def test_a_task_without_ten_neighbours_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"tasks.own-bitext.k: \[1, 5\]; column 'Forward, k = 10'.*add 10"):
        made((1, 5), tmp_path)
