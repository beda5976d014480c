"""A protocol of one's own is one file in the study's folder: tasks, scores, tables and the code's value know it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scripts import score, tabulate
from seedbed import manifests
from seedbed.encoders.models import loading
from seedbed.evaluation import protocols
from seedbed.evaluation.settings import Task
from seedbed.io import UserError, read_json, write_json, write_table
from seedbed.study import code, reachable
from seedbed.study.loading import load
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, plan
from seedbed.tables.specs import TableSpec
from tests import tiny
from tests.programs import call
from tests.unit.study.test_code import forget

MARGIN = '''
"""How much nearer a translation is than the next sentence."""

from dataclasses import replace

import numpy as np
import pandas as pd

from seedbed.evaluation.aggregation import MEAN
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import Scores

PROTOCOL = Protocol(kind="parallel", asks=("vectors",), chooses=True)
MEDIAN = replace(MEAN, statistic=lambda items: np.median(items, axis=(-2, -1)))
METRICS = {
    "median margin": Metric("median", ("margin",), MEDIAN, points=1, title="MEDIAN margin"),
    "mean distance": Metric("distance", ("distance",), lower=True),
}


def score(trial):
    text, pivot = (x - x.mean(axis=0) for x in trial.embed(trial.test["text"], trial.test["pivot"]))
    text, pivot = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (text, pivot))
    cosines = text @ pivot.T
    own, others = np.diag(cosines), cosines - 9 * np.eye(len(cosines))
    items = pd.DataFrame({"id": trial.test["id"], "margin": own - others.max(axis=1), "distance": 1 - own})
    median = float(items["margin"].median())
    return Scores(median, {"median": median, "distance": float(items["distance"].mean())}, items)
'''
TASK = {"protocol": "margin", "source": {"file": "own/{lang}.tsv"}}
STUDY = {
    "languages": {"hau": {}},
    "corpora": {"text": {"file": "own/{lang}.tsv"}},
    "backbones": {"tiny": {"source": {"file": "own/backbone"}}},
    "recipes": {"base": {}},
    "training": {"pooling": "mean"},
    "tasks": {"own-margin": TASK},
    "tables": [],
    "figures": [],
}
SPEC = {
    "title": "Margins",
    "caption": "Of translations.",
    "recipes": {"base": "Base", "other": "Other"},
    "baseline": "base",
    "columns": [{"label": name, "protocol": "margin", "metric": name} for name in ("median margin", "mean distance")],
}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study's folder with a protocol."""
    (tmp_path / "protocols").mkdir()
    (tmp_path / "protocols/margin.py").write_text(MARGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "seedbed.evaluation.protocols.margin", raising=False)
    return tmp_path


def test_it_is_a_protocol_where_its_folder_is(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {*protocols.names()} >= {"margin", "sts"}
    assert Task.model_validate(TASK).protocol == "margin"
    assert "margin" in protocols.which(lambda one: one.chooses)
    with pytest.raises(UserError, match=r"k: protocol margin.*reads no such"):
        Task.load(json.dumps(TASK | {"k": [5]}))
    monkeypatch.chdir("/")
    with pytest.raises(UserError, match=r"task.protocol: no such protocol; .*bitext"):
        Task.load(json.dumps(TASK))


def test_a_study_with_it_is_valid(own: Path) -> None:
    Path("own/backbone").mkdir(parents=True)
    for name in ("hau.tsv", "eng.tsv"):
        Path("own", name).touch()
    study = load(STUDY)
    assert study.tests_by_language["hau"] == ["own-margin"]


def scored(own: Path, recipe: str, seed: int) -> None:
    """Scores of a tiny encoder, by the program."""
    folder = own / "encoders" / recipe / "0"
    model = loading.load(tiny.backbone(own / "backbone"), pooling=("mean", "cls")[seed])
    model.save(str(folder))
    manifests.write(folder, {"about": {}})
    call(score, [
        "--tasks", json.dumps({"own-margin": {"protocol": "margin"}}), "--tests", "own/hau.tsv", "--records", "own/hau.json",
        "--language", "hau", "--scores", f"scores/tiny/{recipe}/mul/0", "--output", f"{recipe}.json", "--systems", str(folder),
    ])  # fmt: skip


def test_its_scores_are_made_and_tables_show_them_with_an_interval(own: Path) -> None:
    rows = {"id": [str(n) for n in range(24)], "text": tiny.sentences("hau", 24), "pivot": tiny.sentences("eng", 24)}
    write_table(pd.DataFrame(rows), own / "own/hau.tsv")
    write_json({"origin": [{"kind": "file", "name": "hau.tsv"}]}, own / "own/hau.json")
    for seed, recipe in enumerate(("base", "other")):
        scored(own, recipe, seed)
    found = read_json(own / "scores/tiny/other/mul/0/own-margin/hau.json")
    assert found["protocol"] == "margin" and found["main_score"] == found["metrics"]["median"]
    (own / "spec.yaml").write_text(json.dumps(SPEC))
    systems = [AvailableRecipe(recipe=recipe, language="mul", seeds=[0]) for recipe in ("base", "other")]
    tasks = {"own-margin": AvailableTask(protocol="margin", languages=["hau"])}
    blocks = plan(TableSpec.load(own / "spec.yaml"), systems, {"tiny": AvailableModel()}, tasks, "base")
    (own / "plan.json").write_text(json.dumps([block.model_dump(mode="json") for block in blocks]))
    files = {"spec": "spec.yaml", "scores": "scores", "plan": "plan.json", "output": "t.csv", "layout": "t.md"}
    files |= {"compared": "t.compared.csv"}
    call(tabulate, [word for key, file in files.items() for word in (f"--{key}", file)])
    table, page = pd.read_csv("t.csv").set_index(["column", "recipe", "language"]), Path("t.md").read_text()
    row = table.loc["median margin", "other", "hau"]
    items = pd.read_csv("scores/tiny/other/mul/0/own-margin/hau.items.tsv", sep="\t")
    assert row["value"] == pytest.approx(np.median(items["margin"]), abs=1e-3)
    assert row["low"] < row["value"] < row["high"] and 0 < row["p_adjusted"] <= 1
    assert "MEDIAN margin, mean over" in page and "Mean distance x 100, mean over" in page
    least = table.loc["mean distance", :, "hau"]["value"].min()
    assert f"**{least:.1f}**" in page.split("mean distance, tiny")[1], "the least distance is the best"


def test_a_metric_that_it_does_not_have_is_told(own: Path) -> None:
    wrong: dict[str, Any] = SPEC | {"columns": [{"label": "x", "protocol": "margin", "metric": "mean margin"}]}
    (own / "spec.yaml").write_text(json.dumps(wrong))
    with pytest.raises(UserError, match=r"'mean margin' in protocol margin.*'median margin'"):
        TableSpec.load(own / "spec.yaml")


def value(*definitions: str, name: str = "margin") -> str:
    """Of the program that scores encoders by a protocol."""
    forget()
    return code.value("scripts/score.py", modules=[f"{protocols.module_of(name)}:{one}" for one in definitions])


def test_its_score_is_a_part_of_the_codes_value_and_its_metrics_are_not(own: Path, tmp_path_factory) -> None:
    before = value("PROTOCOL", "score")
    Path("protocols/margin.py").write_text(MARGIN.replace("points=1", "points=2"))
    assert value("PROTOCOL", "score") == before != value("METRICS")
    Path("protocols/margin.py").write_text(MARGIN.replace("9 * np.eye", "8 * np.eye"))
    assert value("PROTOCOL", "score") != before


@pytest.mark.parametrize(
    "line",
    [
        "from seedbed.evaluation.protocols.ranks import rank",
        "from .ranks import rank",
        "from seedbed.evaluation.protocols import ranks",
        "from . import ranks",
        "import seedbed.evaluation.protocols.ranks",
        "import seedbed.evaluation.protocols.ranks as ranks",
    ],
)
@pytest.mark.parametrize("place", ["top", "inside"])
def test_what_it_imports_of_the_studys_own_is_a_part(own: Path, line: str, place: str) -> None:
    call = "rank" if "import rank" in line and "import ranks" not in line else "ranks.rank"
    call = f"seedbed.evaluation.protocols.{call}" if line.endswith("protocols.ranks") else call
    text = MARGIN.replace("9 * np.eye(len(cosines))", f"{call}(cosines)")
    text = text.replace("import numpy as np\n", f"import numpy as np\n{line}\n", 1) if place == "top" else text
    text = text.replace("def score(trial):\n", f"def score(trial):\n    {line}\n") if place == "inside" else text
    Path("protocols/margin.py").write_text(text)
    Path("protocols/ranks.py").write_text("def rank(x):\n    return 9 * x\n")
    before = value("PROTOCOL", "score")
    Path("protocols/ranks.py").write_text("# A remark.\ndef rank(x):\n    return 9 * x\n")
    assert value("PROTOCOL", "score") == before
    Path("protocols/ranks.py").write_text("def rank(x):\n    return 8 * x\n")
    assert value("PROTOCOL", "score") != before


def test_where_it_lies_is_no_part_of_the_codes_value(own: Path, tmp_path_factory, monkeypatch) -> None:
    before, other = value("score"), tmp_path_factory.mktemp("moved")
    (own / "protocols").rename(other / "protocols")
    monkeypatch.chdir(other)
    assert value("score") == before


def test_a_score_program_reaches_no_protocol_but_what_its_job_names() -> None:
    def files(name: str) -> set[str]:
        of = protocols.module_of(name)
        assert Path(of).is_file() and not Path(of).is_absolute()
        found = reachable.reached(("scripts/score.py", f"{of}:PROTOCOL", f"{of}:score"))
        return {file for file in found.definitions if file.startswith("seedbed/evaluation/")}

    alone = {*reachable.reached(("scripts/score.py",)).definitions}
    assert not {protocols.module_of(name) for name in protocols.names()} & alone
    own = {"seedbed/evaluation/protocols/bitext.py", "seedbed/evaluation/bitext.py"}
    assert {name for name in protocols.names() if files(name) & own} == {"bitext"}
    assert files("bitext") >= own


FAULTS = {
    "raise RuntimeError('boom')": "RuntimeError: boom; mend the file",
    "import sys; sys.exit(0)": "SystemExit: 0; mend the file",
    "import nosuchmodule": "ModuleNotFoundError: .*'nosuchmodule'; mend the file",
    "def (": "SyntaxError: .*; mend the file",
    "raise BaseException": "BaseException; mend the file",
    "raise ValueError('one\\ntwo')": "ValueError: one two; mend the file",
    "": r"no PROTOCOL.*docs/contributing.md",
    "PROTOCOL = 3": r"no PROTOCOL.*docs/contributing.md",
    MARGIN.replace("def score(", "def rates("): "no METRICS.*function score.*docs/contributing.md",
    MARGIN.replace("METRICS = ", "METRICS = None and "): "no METRICS.*function score.*docs/contributing.md",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_of_ones_own_protocol_is_one_line_with_its_file(own: Path, text: str) -> None:
    (own / "protocols/margin.py").write_text(text)
    sys.modules.pop("seedbed.evaluation.protocols.margin", None)
    for ask in (protocols.load, protocols.declared):
        with pytest.raises(UserError, match=f"^protocols/margin.py: {FAULTS[text]}$"):
            ask("margin")


def test_a_protocol_that_no_task_names_is_not_run(own: Path) -> None:
    (own / "protocols/evil.py").write_text("open('RAN', 'w')")
    Task.load(json.dumps(TASK))
    assert "evil" in protocols.names() and not (own / "RAN").exists()
