"""A training in two processes (gloo), which are started once for all of these tests: the one in one process, shared."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from scripts import cli, train_encoder
from seedbed import launch, processes
from seedbed.encoders import objectives
from seedbed.encoders.models import memory
from seedbed.encoders.training import shares
from seedbed.encoders.training import train as training
from seedbed.io import UserError, write_table
from tests import tiny, trainings
from tests.steps import STEPS

ROWS = 24
SETTINGS = STEPS.updated({"batch_size": 11})
ALIKE = {
    "contrast": ({"cutoff": 0.3}, {}),
    "graded": ({}, {"mini_batch": 3}),
    "neighbours": ({"queue": "all", "queue_size": 30, "projection": [16, 8]}, {"mini_batch": 4}),
    "correlation": ({"queue_size": 20}, {"batch_size": 1, "steps": 12}),
}
"""Objective -> its settings, and those of training: hard negatives, and what a loss draws; parts inside of shares; a
loss with a queue, a momentum encoder and weights of its own; and batches of fewer rows than there are processes.
"""


class StoppedError(Exception):
    """A training that was killed."""


def table(name: str) -> pd.DataFrame:
    reads = {"graded": ["sentence1", "sentence2"], "correlation": ["sentence1", "sentence2"]}
    names = reads.get(name, ["anchor", "positive"] if name == "neighbours" else ["anchor", "positive", "negative"])
    texts = {column: tiny.sentences("hau", ROWS, seed) for seed, column in enumerate(names)}
    return pd.DataFrame({"id": map(str, range(ROWS)), **texts, "score": [str(row % 5) for row in range(ROWS)]})


def made(place: Path, name: str, own: dict[str, Any], changes: dict[str, Any], minutes: float = 60) -> dict[str, Any]:
    options = {"prefix": "", "seed": 1, "output": place, "state": place.with_name("state"), "minutes": minutes}
    weights, settings = place.parents[1] / "weights", SETTINGS.updated(changes)
    return trainings.train(weights, table(name), settings, objective=objectives.load(name, own), **options)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def work(folder: Path) -> dict[str, Any]:
    """What one of two processes does and finds."""
    found: dict[str, Any] = {}
    trained, digests = training._train, []

    def noting(*args: Any, **options: Any) -> Any:
        encoder, *others = trained(*args, **options)
        state = b"".join(weight.numpy().tobytes() for weight in [*encoder.state_dict().values()])
        digests.append(hashlib.sha256(state).hexdigest())
        return encoder, *others

    training._train = noting
    for name, (own, changes) in ALIKE.items():
        found[name] = made(folder / "two" / name, name, own, changes)
    saves, save, step = [], training._Trainer._save_checkpoint, training._Trainer.training_step
    training._Trainer._save_checkpoint = lambda trainer, *args: saves.append(1) or save(trainer, *args)
    noisy = {"dropout": 0.1, "steps": 6, "mini_batch": 4}
    found["straight"] = made(folder / "straight" / "out", "contrast", {}, noisy)

    def until_the_fourth(trainer: Any, *args: Any, **options: Any) -> Any:
        if trainer.state.global_step == 4:
            raise StoppedError
        return step(trainer, *args, **options)

    training._Trainer.training_step = until_the_fourth
    try:
        made(folder / "killed" / "out", "contrast", {}, noisy, minutes=0)
    except StoppedError:
        processes.by_main(lambda: found.update(left=[*map(str, (folder / "killed" / "state").glob("*/*"))]))
    training._Trainer.training_step = step
    found["saves"] = len(saves)
    found["resumed"] = made(folder / "killed" / "out", "contrast", {}, noisy)
    found["digests"] = digests
    try:
        made(folder / "refused" / "out", "contrast", {}, {"mlm_weight": 0.1})
    except UserError as error:
        found["refusal"], found["first"] = str(error), processes.first_to_fail()
    return found


def one_of_two(folder: Path, index: int, ports: list[int]) -> None:
    def launcher(port: int) -> None:
        told = {"RANK": index, "LOCAL_RANK": index, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2}
        told |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        os.environ.update({name: str(value) for name, value in told.items()})

    sys.stderr = (folder / f"{index}.log").open("w", buffering=1)
    launcher(ports[0])
    processes.join(os.environ)
    found = work(folder)
    found["told"] = sorted({*processes.LAUNCHER} & {*os.environ})
    processes.leave()
    launcher(ports[1])
    sys.argv = ["train_encoder.py", "-"]
    sys.stdin = io.StringIO("the main one reads") if index else (folder / "job.json").open()
    cli.run(train_encoder.Job, train_encoder.main)
    (folder / f"{index}.json").write_text(json.dumps(found))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where two processes have done their work."""
    place = tmp_path_factory.mktemp("shares")
    tiny.backbone(place / "weights")
    write_table(table("contrast").drop(columns="score"), place / "texts.tsv")
    job = {"weights": place / "weights", "texts": place / "texts.tsv", "output": place / "program", "seed": 1}
    job |= {
        "objective": {"contrast": ALIKE["contrast"][0]},
        "training": SETTINGS,
        "prefix": "",
        "state": place / "jobs",
    }
    (place / "job.json").write_text(train_encoder.Job.model_validate(job).dump())
    ports, fork = [free_port(), free_port()], multiprocessing.get_context("fork")
    both = [fork.Process(target=one_of_two, args=(place, index, ports)) for index in (0, 1)]
    for process in both:
        process.start()
    for process in both:
        process.join(300)
        process.kill()
    return place


@pytest.fixture(scope="module")
def found(folder: Path) -> list[dict[str, Any]]:
    """What both found."""
    return [json.loads((folder / f"{index}.json").read_text()) for index in (0, 1)]


@pytest.mark.parametrize("name", ALIKE)
def test_steps_of_two_processes_are_those_of_one(name: str, folder: Path, found: list[dict[str, Any]]) -> None:
    alone = made(folder / "one" / name, name, *ALIKE[name])
    steps = SETTINGS.updated(ALIKE[name][1]).steps
    for process in found:
        assert process[name]["loss"] == pytest.approx(alone["loss"], rel=1e-5) and len(alone["loss"]) == steps
        assert process[name]["processes"] == 2 and "processes" not in alone
    both = (load_file(folder / kind / name / "model.safetensors") for kind in ("one", "two"))
    for expected, shared in zip(*(weights.values() for weights in both), strict=True):
        torch.testing.assert_close(shared, expected, atol=1e-6, rtol=1e-5)


def test_weights_are_the_same_in_both_to_the_bit(found: list[dict[str, Any]]) -> None:
    assert found[0]["digests"] == found[1]["digests"] and len(found[0]["digests"]) == len(ALIKE) + 3


def test_the_main_one_saves_one_checkpoint_and_both_go_on_from_it(folder: Path, found: list[dict[str, Any]]) -> None:
    assert [process["saves"] for process in found] == [4, 0]
    assert [Path(place).name for place in found[0]["left"]] == ["checkpoint-4"]
    assert found[0]["resumed"]["loss"] == found[0]["straight"]["loss"]
    straight, resumed = ((folder / kind / "out" / "model.safetensors") for kind in ("straight", "killed"))
    assert straight.read_bytes() == resumed.read_bytes(), "with dropout, which is drawn anew"


def test_batches_that_are_encoded_whole_are_refused_in_one_line_that_one_says(found: list[dict[str, Any]]) -> None:
    assert {process["refusal"] for process in found} == {
        "2 processes: this training predicts masked words, of whole batches; give it one GPU"
    }
    assert sorted(process["first"] for process in found) == [False, True]


def test_the_program_reads_its_job_once_and_writes_one_encoder(folder: Path, found: list[dict[str, Any]]) -> None:
    program, direct = (
        load_file(place / "model.safetensors") for place in (folder / "program", folder / "two/contrast")
    )
    assert all(torch.equal(program[name], direct[name]) for name in direct)
    assert not [*(folder / "jobs").iterdir()] and (folder / "program" / "README.md").is_file()
    assert not any(process["told"] for process in found), "else the trainer would share out rows"
    logs = [(folder / f"{index}.log").read_text() for index in (0, 1)]
    assert "loss=" in logs[0] and "loss=" not in logs[1] and "process group" not in logs[0]


@pytest.mark.parametrize(("rows", "count"), [(24, 2), (11, 4), (5, 4), (1, 3), (3, 3)])
def test_shares_are_all_rows_once_and_in_order(rows: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "count", lambda: count)
    seen: list[int] = []
    for index in range(count):
        monkeypatch.setattr(processes, "index", lambda index=index: index)
        seen += range(rows)[shares.share(rows)]
    assert seen == [*range(rows)]


def test_a_process_counts_its_share_and_its_part_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = memory.machine_bytes()
    monkeypatch.setattr(processes, "on_machine", lambda: 2)
    assert memory.machine_bytes() == alone // 2


def test_what_one_process_does_is_not_started_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    class Job(cli.Job):
        """One that says nothing of others."""

    monkeypatch.setattr(processes, "count", lambda: 2)
    monkeypatch.setattr(sys, "argv", ["some.py", "{}"])
    with pytest.raises(SystemExit, match="^error: 2 processes: .* start it without a launcher$"):
        cli.run(Job, lambda job: pytest.fail("it ran"))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"GPUS": "1"}, None),
        ({"GPUS": "4"}, (1, 4)),
        ({"GPUS": "1", "SLURM_JOB_NUM_NODES": "1", "SLURM_STEP_NUM_NODES": "1", "SLURM_GPUS_ON_NODE": "8"}, None),
        ({"GPUS": "0", "SLURM_JOB_NUM_NODES": "1", "SLURM_STEP_NUM_NODES": "1", "SLURM_GPUS_ON_NODE": "2"}, (1, 2)),
        ({"GPUS": "8", "SLURM_JOB_NUM_NODES": "2", "SLURM_STEP_NUM_NODES": "1", "SLURM_GPUS_ON_NODE": "4"}, "srun"),
        ({"GPUS": "8", "SLURM_JOB_NUM_NODES": "2", "SLURM_STEP_NUM_NODES": "2", "SLURM_GPUS_ON_NODE": "4"}, (2, 4)),
        ({"GPUS": "1", "SEEDBED_GPUS": "0,1", "SLURM_JOB_NUM_NODES": "2", "SLURM_STEP_NUM_NODES": "1"}, None),
        ({"GPUS": "1", "SLURM_JOB_NUM_NODES": "2"}, None),
    ],
)
def test_a_job_is_started_once_for_each_of_its_gpus(
    environment: dict[str, str], expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what a rule and Slurm say; nothing is started where there is one, nor in a run on several nodes by itself."""
    started: list[Any] = []

    def run(command: list[str], **options: Any) -> Any:
        started.append(command[0])
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr(launch.subprocess, "run", run)
    monkeypatch.setattr(launch, "_elastic", lambda program, job, nodes, gpus, seen: started.append((nodes, gpus)) or 0)
    assert launch.run_on_each_gpu("scripts.train_encoder", "{}", environment) == (None if expected is None else 0)
    assert started == ([] if expected is None else [expected])


def test_what_is_started_starts_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.distributed.launcher import api

    seen: list[dict[str, str]] = []

    class Launcher:
        def __init__(self, config: Any, entrypoint: str) -> None:
            assert (config.nproc_per_node, config.max_restarts) == (2, 0)

        def __call__(self, *words: str) -> None:
            seen.append({**environment, "runs": " ".join(words)})

    environment = {"GPUS": "2", "OMP_NUM_THREADS": "8"}
    monkeypatch.setattr(api, "elastic_launch", Launcher)
    monkeypatch.setattr(launch.os, "dup2", lambda *numbers: None)
    monkeypatch.setattr(launch.logging, "disable", lambda: None)
    monkeypatch.setattr(launch.sys, "stdin", (tmp_path / "in").open("w+"))
    assert launch.run_on_each_gpu("scripts.train_encoder", "{}", environment) == 0
    assert seen == [{"OMP_NUM_THREADS": "4", "runs": "-m scripts.train_encoder -"}]
