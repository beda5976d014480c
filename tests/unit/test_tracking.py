"""Trainings report to TensorBoard or Trackio where these are installed, are refused where not, and are the same."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
from transformers import Trainer, TrainingArguments

from seedbed.checkpoints import own_state
from seedbed.io import UserError, read_json, sha256
from seedbed.settings import Settings
from seedbed.study.loading import load
from seedbed.tracking import ASKED, require
from seedbed.trainers import fit
from tests import tiny

STEPS = 3
NAMES = {
    "train_encoder": "encoders/tiny/unsupervised/hau/1",
    "train_task_adapter": "generators/tiny/task/positive",
    "fine_tune": "classifiers/labels/fine-tuned/topics/hau/1",
}
"""Program -> what it makes, and so what its run is called."""


def installed(package: str) -> bool:
    try:
        return bool(importlib.metadata.distribution(package))
    except importlib.metadata.PackageNotFoundError:
        return False


def options(program: str, data: Path) -> list[str]:
    """The program's options but for state and output: three steps each."""
    if program == "train_encoder":
        training = {"epochs": 1, "batch_size": 8, "precision": "float32", "pooling": "mean"}
        texts = ("--texts", data / "texts.tsv", "--training", json.dumps(training))
        return ["--weights", data / "backbone", "--objective", '{"contrast": {}}', *texts, "--seed", "1"]
    if program == "fine_tune":
        tuning = {"epochs": 1, "batch_size": 7, "held_out": 0.125}
        sets = ("--train", data / "texts.tsv", "--tests", f"hau={data / 'texts.tsv'}")
        how = ("--fine-tuning", json.dumps(tuning), "--dtype", "float32", "--seed", "1")
        return ["--base", data / "backbone", *sets, *how]
    lora = {"examples": 24, "epochs": 1, "batch_size": 8, "micro_batch_size": 8}
    how = ("--style", "plain", "--dtype", "float32", "--lora", json.dumps(lora), "--language", "English")
    nli = ("--triplets", data / "nli.tsv", "--polarity", "positive")
    return ["--base", data / "generator", "--name", "tiny", *nli, *how]


def trained(program: str, data: Path, results: Path, tracker: str) -> Path:
    """Run a program as a rule does; what it made."""
    made = results / NAMES[program]
    places = ["--state", results / "state", "--output", made]
    words = [sys.executable, "-m", f"scripts.{program}", *options(program, data), *places]
    environment = {**os.environ, ASKED: tracker}
    environment.pop("TRACKIO_DIR", None)
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tracking")
    tiny.generator(root / "generator")
    tiny.backbone(root / "backbone")
    texts = {"id": range(24), "text": tiny.sentences("hau", 24), "label": ["a", "b"] * 12}
    pd.DataFrame(texts).to_csv(root / "texts.tsv", sep="\t", index=False)
    nli = {"id": range(24), **{name: tiny.sentences("eng", 24, n) for n, name in enumerate(("anchor", "positive"))}}
    pd.DataFrame(nli).to_csv(root / "nli.tsv", sep="\t", index=False)
    return root


@pytest.mark.parametrize("program", NAMES)
def test_tensorboard_has_loss_and_rate_of_each_step_and_the_result_is_the_same(data, tmp_path, program):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    made = trained(program, data, tmp_path / "with", "tensorboard")
    found = EventAccumulator(str(tmp_path / "with/tensorboard" / NAMES[program])).Reload()
    for name in ("train/loss", "train/learning_rate"):
        assert [event.step for event in found.Scalars(name)] == [1, 2, 3]
    assert all(event.value > 0 for event in found.Scalars("train/loss"))
    assert sha256(made) == sha256(trained(program, data, tmp_path / "without", "none"))
    assert not (tmp_path / "without/tensorboard").exists()


def test_trackio_has_them_too_and_the_result_is_the_same(data, tmp_path):
    pytest.importorskip("trackio")
    made = trained("train_encoder", data, tmp_path / "with", "trackio")
    probe = "import json, trackio; print(json.dumps([r.name for r in trackio.Api().runs('with')]))"
    environment = {**os.environ, "TRACKIO_DIR": str(tmp_path / "with/trackio")}
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, env=environment)
    assert json.loads(done.stdout.splitlines()[-1]) == [NAMES["train_encoder"]], done.stderr
    assert sha256(made) == sha256(trained("train_encoder", data, tmp_path / "without", "none"))


STAND_IN = """
import json, os
from contextvars import ContextVar
from pathlib import Path
from types import SimpleNamespace

FOLDER = Path(os.environ["TRACKIO_DIR"])
context_vars = SimpleNamespace(current_space_id=ContextVar("space", default=None))
config, run = {}, {}


def init(project, name, **_):
    run.update(project=project, name=name, steps=[])


def log(values):
    run["steps"].append(values["train/global_step"])


def finish():
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "run.json").write_text(json.dumps(run))
"""
"""What transformers calls of trackio. It keeps where a run lies, what it is called and which steps it has."""


class Slope(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.slope = torch.nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": ((self.slope * x - 1) ** 2).mean()}


@pytest.mark.parametrize("output", [*(f"{name}/seedbed.json" for name in NAMES.values()), "tables/own.tsv"])
def test_a_run_is_called_as_what_it_makes_and_lies_beside_the_results(tmp_path, monkeypatch, output):
    if installed("trackio"):
        pytest.skip("trackio is installed, and is asked itself")
    (there := tmp_path / "packages/trackio").mkdir(parents=True)
    (there / "__init__.py").write_text(STAND_IN)
    (metadata := tmp_path / "packages/trackio-1.dist-info").mkdir()
    (metadata / "METADATA").write_text("Name: trackio\nVersion: 1\n")
    monkeypatch.syspath_prepend(tmp_path / "packages")
    monkeypatch.setenv(ASKED, "trackio")
    monkeypatch.setenv("TRACKIO_DIR", "")  # so that it is gone afterwards
    monkeypatch.delenv("TRACKIO_DIR")
    monkeypatch.delitem(sys.modules, "trackio", raising=False)
    results = tmp_path / "mine"
    with own_state(results / "state", results / output, Settings()) as state:
        how = TrainingArguments(
            str(state / "training"), num_train_epochs=1, logging_steps=1, use_cpu=True, report_to=[]
        )
        fit(Trainer(Slope(), how, train_dataset=[{"x": torch.ones(1)}] * 8 * STEPS), minutes=60)
    monkeypatch.delitem(sys.modules, "trackio")
    name = output.removesuffix("/seedbed.json").removesuffix(".tsv")
    assert read_json(results / "trackio/run.json") == {"project": "mine", "name": name, "steps": [1, 2, 3, 3]}


@pytest.mark.parametrize("tracker", ["tensorboard", "trackio"])
def test_a_tracker_that_is_not_installed_is_refused_before_anything_runs(data, tmp_path, tracker):
    if installed(tracker):
        pytest.skip(f"{tracker} is installed")
    study = {"languages": {"hau": {}}, "backbones": {"a": {"source": {"file": str(data / "backbone")}}}}
    study |= {
        "recipes": {"base": {}},
        "tasks": {"x": {"protocol": "bitext", "source": {"file": str(data / "nli.tsv")}}},
    }
    said = f"^report_to: {tracker} is not installed; run `.*python.* -m pip install {tracker}`, or set none$"
    assert load(study | {"report_to": "none"})
    with pytest.raises(UserError, match=said):
        load(study | {"report_to": tracker})
    with pytest.raises(UserError, match=said):
        require(tracker)
    with pytest.raises(UserError, match=r"report_to:.*'tensorboard'"):
        load(study | {"report_to": "wandb"})
