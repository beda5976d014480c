"""Programs: arguments that do not fit together end them in one line; what every program does first."""

from __future__ import annotations

import io
import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import (
    choose_best,
    cli,
    fuse_encoders,
    measure_compute,
    publish,
    report,
    score,
    status,
    tabulate,
    train_encoder,
    tune_encoder,
)
from seedbed.io import UserError, write_json
from seedbed.resources import spec_file
from tests import warm
from tests.programs import call
from tests.refusals import tells

MEASURE = (
    "--compute {C} --task.protocol sts --train x --test x --encoder x --weights x --flops x --seconds x --output x"
)
COMPUTE = '{"task": "t", "language": "hau", "encoder": {"backbone": "b", "recipe": "r"}}'
LEARNS = (
    '{"a": {"generator": {"source": {"file": "x"}}, "in_context": {"retriever": {"backbone": "b", "recipe": "r"}}}}'
)
FUSE = "--members a=x b=x --output x --weights"
API = '{"url": "https://host/v1", "model": "m", "dimensions": 8}'
TRAIN = "--output x --state x --weights x --seed 1"


@pytest.mark.parametrize(
    ("program", "words", "message"),
    [
        (
            measure_compute,
            [*MEASURE.replace("{C}", COMPUTE.replace(" ", "")).split(), "--classifiers", LEARNS],
            "bases: ... a",
        ),
        (fuse_encoders, [*FUSE.split(), "[[1,3],[1]]"], "weights: ... lists of 2"),
        (fuse_encoders, [*FUSE.split(), "[]"], "weights: ... lists of 2"),
        (fuse_encoders, [*FUSE.split(), "[[1,0],[0,1]]"], "weights: 2 candidates ... `dev`"),
        (publish, [], "--what ... first word ... folder of an encoder ... --help"),
        (train_encoder, ["--output", "x"], "--state is required"),
        (train_encoder, ["--seed", "x"], "--seed: ... integer"),
        (train_encoder, ["--sed", "1"], "--sed: ... 'seed'"),
        (train_encoder, [*TRAIN.split(), "--training.epoch", "2"], "--training.epoch: ... 'epochs'"),
        (train_encoder, [*TRAIN.split(), "--training", '{"epoch": 2}'], "--training.epoch: ... 'epochs'"),
        (train_encoder, [*TRAIN.split(), "--objective", '{"contras": {}}'], "objective: ... 'contrast'"),
        (train_encoder, [*TRAIN.split(), "--fusion", "both"], "--fusion: ... 'concat'"),
        (train_encoder, [*TRAIN.split(), "--training.batches", "a=-1"], "--training.batches: Input should be 'mixed'"),
        (report, ["--title", "[1]", "[2]", "--output", "x"], "--title: ... string (given: [[1], [2]])"),
        (
            train_encoder,
            ['{"seed": 1, "output": "x", "state": "x", "weights": "x", "rows": "2"}'],
            "job.rows: ... integer",
        ),
        (train_encoder, ['{"seed": 1'], "job: not JSON"),
        (train_encoder, ["--output", "x", "--state", "x", "--seed", "1"], "give `weights` or `endpoint`"),
        (
            train_encoder,
            ["--output", "x", "--state", "x", "--seed", "1", "--endpoint", API, "--objective", '{"contrast": {}}'],
            "objective: ... endpoint is not trained",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_arguments_that_do_not_fit_are_one_line(program, words: list[str], message: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        cli.read(program.Job, words)
    assert tells(str(caught.value), message) and "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


TASKS = '[{"a": {"protocol": "sts", "source": {"file": "x"}}, "b": {"protocol": "sts", "source": {"file": "x"}}}]'
SCORE = "--systems x --language hau --records x --scores x --output x --tests"
TUNE = "--kind labelled_texts --train x --base x --output x --state x --seed 1 --tests {}"
PLAN = "--spec {spec} --scores x --plan plan.json --output x --compared x --layout x"
BEST = "--language hau --name Hausa --blocks [] --encoder b/r --root x --output x"


@pytest.mark.parametrize(
    ("program", "words", "message"),
    [
        (score, [*SCORE.split(), "x", "--tasks", TASKS], "tests: 1 for 2"),
        (score, [*SCORE.split(), "x", "x", "x", "--tasks", TASKS], "tests: 3 for 2"),
        (tune_encoder, [*TUNE.split(), "--learning", '{"epochs": -1}'], "learning.epochs"),
        (tabulate, PLAN.split(), "plan.json ... what plan_table writes"),
        (
            report,
            ["--title", "x", "--output", "x", "--best", "folder"],
            "folder/seedbed.json: no `best` ... choose_best",
        ),
        (choose_best, BEST.split(), "encoder: 'b/r' ... BACKBONE/RECIPE/LANGUAGE/SEED"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_a_program_cannot_use_is_one_line(program, words: list[str], message: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_json([{"plan": "x"}], Path("plan.json"))
    write_json({"files": {}}, Path("folder/seedbed.json"))
    with pytest.raises(UserError) as caught:
        call(program, [str(spec_file("tables", "table1")) if word == "{spec}" else word for word in words])
    assert tells(str(caught.value), message) and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [None, 5, [], {}])
def test_a_plan_without_blocks_is_one_line(content: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_json(content, Path("plan.json"))
    with pytest.raises(UserError, match=r"^plan.json: no list of blocks; expected what plan_table writes$"):
        call(tabulate, PLAN.format(spec=spec_file("tables", "table1")).split())
    assert [*tmp_path.iterdir()] == [tmp_path / "plan.json"]


def test_flags_are_what_json_says(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "--output=x --state y --weights w --seed 3 --training.epochs 2 --training.part head --each hau=a=1.tsv swh=b,c.tsv"
    flags = [
        *words.split(),
        "--prefix",
        "{lang}: ",
        "--objective",
        '{"contrast": {}}',
        "--translations",
        '[{"t": "a.tsv"}]',
    ]
    value = {
        "output": "x", "state": "y", "weights": "w", "seed": 3, "training": {"epochs": 2, "part": "head"},
        "each": {"hau": "a=1.tsv", "swh": "b,c.tsv"}, "prefix": "{lang}: ", "objective": {"contrast": {}},
        "translations": [{"t": "a.tsv"}],
    }  # fmt: skip
    read = cli.read(train_encoder.Job, flags)
    assert read == cli.read(train_encoder.Job, [json.dumps(value)])
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(value)))
    assert cli.read(train_encoder.Job, ["-"]) == read and cli.read(train_encoder.Job, [read.dump()]) == read


def test_a_plan_takes_changes_as_snakemake_does() -> None:
    words = [
        "kin.yaml",
        "--config",
        "training={steps: 2}",
        "tables=[table1, labels]",
        "results={lang}/x",
        "paths={a: [}",
    ]
    told = cli.read(status.Job, words).config
    assert told["training"] == {"steps": 2} and told["tables"] == ["table1", "labels"]
    assert told["results"] == "{lang}/x" and told["paths"] == "{a: [}", "what is no YAML is a word"


def test_several_files_of_one_name_and_words_without_a_flag() -> None:
    read = cli.read(
        report.Job, ["--title", "x", "--output", "y", "--encoders", "Hausa=a", "Hausa=b", "--tables", "t.csv"]
    )
    assert read.encoders == {"Hausa": [Path("a"), Path("b")]} and read.tables == [Path("t.csv")]
    assert cli.read(report.Job, ["--title", "[1]", "--output", "y"]).title == "[1]"
    read = cli.read(publish.Job, ["results/best/hau", "--dry-run"])
    assert read.what == Path("results/best/hau") and read.dry_run


def test_no_argument_is_told_without_its_flags_in_help(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        cli.read(train_encoder.Job, ["--help"])
    said = capsys.readouterr().out
    assert "--training.epochs" in said and "put before every text" in said and "required" in said


ALIGNING = """
from types import SimpleNamespace
from scripts.cli import Job, run
from transformers.trainer_utils import align_special_tokens, logger

def main(job=None):
    config = SimpleNamespace(eos_token_id=None, bos_token_id=None, pad_token_id=1, get_text_config=lambda: config)
    align_special_tokens(SimpleNamespace(config=config), SimpleNamespace(eos_token_id=2, bos_token_id=0, pad_token_id=1))
    assert (config.eos_token_id, config.bos_token_id) == (2, 0)
    logger.warning("something else")
"""


def test_a_program_does_not_log_that_special_tokens_were_aligned():
    """A warning of transformers in the training of each encoder whose configuration names no special tokens."""
    calls = "main()\nlogger.warning('now as a program')\nrun(Job, main)"
    command = [warm.python(), "-m", "tests.snippet", f"{ALIGNING}\n{calls}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    aligned, *others, program, last = done.stderr.splitlines()
    assert "were aligned accordingly" in aligned and program.endswith("now as a program")
    assert others == [last] and "something else" in last


REFUSED = {
    "a name of 300 characters": lambda place: (place / ("x" * 300)).write_text(""),
    "a file for a folder": lambda place: (place / "file" / "x").write_text(""),
    "a folder for a file": lambda place: place.read_text(),
    "no such file": lambda place: (place / "gone").read_text(),
    "a link to be removed as a folder": lambda place: shutil.rmtree(place / "link"),
    "no address": lambda place: socket.create_connection(("127.0.0.1", 1), timeout=5),
    "a reason in two lines": lambda place: (_ for _ in ()).throw(OSError("one\ntwo")),
    "no reason": lambda place: (_ for _ in ()).throw(OSError()),
}


@pytest.mark.parametrize("what", REFUSED)
def test_whatever_the_system_refuses_is_one_line(what, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    monkeypatch.setattr(sys, "argv", ["program"])
    with pytest.raises(SystemExit) as stop:
        cli.run(cli.Job, lambda job: REFUSED[what](tmp_path))
    assert re.fullmatch(r"error: .+: .+", str(stop.value.code))
