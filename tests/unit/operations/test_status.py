"""How far a study is: states of single jobs, the events of runs, the page."""

import ast
import logging
import os
import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.cli import parse_size_in_bytes

from scripts import clean_state, status
from seedbed import yamls
from seedbed.checkpoints import own_state
from seedbed.io import UserError
from seedbed.locks import exclusive
from seedbed.operations import events, jobs
from seedbed.operations.events import BEGAN, EVENTS, FAILED, Event, Events, last_words
from seedbed.operations.jobs import LOCK, Job, rooms
from seedbed.operations.status import layout, logs_of, state_of
from tests.programs import call, told
from tests.unit.test_house import RULES


@pytest.fixture
def job(tmp_path):
    """A job to do that has left nothing."""
    output, log, benchmark = (str(tmp_path / name) for name in ("made.tsv", "made.log", "made.jsonl"))
    return Job("synthesise", {"lang": "hau", "shard": "0"}, {}, (output,), benchmark=benchmark, log=log)


def left(path, moment):
    with open(path, "w"):  # noqa: PTH123
        os.utime(path, (moment, moment))


def said(job, kind, moment, logs=(), **more):
    """Events of which the last is of this job."""
    return Events({job.outputs[0]: Event(kind, moment, [*logs])}, **more)


def test_a_job_that_is_not_to_do_is_done_whatever_lies_about(job):
    left(job.log, 100)
    assert state_of(replace(job, todo=False), said(job, BEGAN, 50, run_since=10)) == "done"


def test_nothing_begun_is_to_do(job):
    assert state_of(job, Events()) == "to do"


def test_a_job_that_the_run_began_is_running_and_that_goes_before_an_earlier_failure(job):
    left(job.log, 40)
    assert state_of(job, said(job, BEGAN, 50, run_since=10)) == "running"
    assert state_of(job, said(job, BEGAN, 50)) == "failed", "no run is going on"
    assert state_of(job, said(job, BEGAN, 50, run_since=60)) == "failed", "another one began it, and was killed"


def test_a_job_that_ended_in_this_run_and_is_to_do_again_is_not_running(job):
    left(job.log, 100)
    left(job.benchmark, 101)
    assert state_of(job, said(job, BEGAN, 50, run_since=10)) == "to do"


def test_a_log_without_an_end_is_a_failure(job):
    left(job.log, 100)
    assert state_of(job, Events()) == "failed"


def test_a_job_that_the_run_began_after_its_events_were_read_is_running(job):
    left(job.log, 100)
    assert state_of(job, Events(run_since=10, read_at=99)) == "running"
    assert state_of(job, Events(run_since=10, read_at=101)) == "failed", "an earlier run began it"
    assert state_of(job, Events(read_at=99)) == "failed", "no run is going on"


@pytest.mark.parametrize("earlier", [{}, {"made.tsv": Event(FAILED, 5.0)}, {"made.tsv": Event(BEGAN, 5.0)}])
def test_a_job_without_an_event_of_the_run_runs_since_its_log_was_written(job, earlier):
    moment = time.mktime((2026, 11, 28, 13, 45, 0, 0, 0, -1))
    left(job.log, moment)
    job = replace(job, outputs=("made.tsv",))
    page = layout([job], rooms(), Events(earlier, run_since=10, read_at=moment))
    assert page.endswith(f"running:\n  synthesise lang=hau shard=0 since 28 Nov 13:45\n    {job.log}")


@pytest.mark.parametrize(("moment", "told"), [(40, " queued since "), (51, " since ")])
def test_a_job_of_a_cluster_is_queued_until_its_log_begins(job, moment, told):
    left(job.log, moment)  # maybe of an earlier attempt
    (line,) = (
        line
        for line in layout([job], rooms(), said(job, BEGAN, 50, run_since=10)).splitlines()
        if "since" in line and "hau" in line
    )
    assert line.partition("shard=0")[2].startswith(told)


@pytest.mark.parametrize(
    ("log", "benchmark", "found"), [(100, 101, "to do"), (100, 99.5, "to do"), (100, 50, "failed")]
)
def test_a_job_that_ended_well_and_is_to_do_again_has_not_failed(job, log, benchmark, found):
    left(job.log, log)
    left(job.benchmark, benchmark)
    assert state_of(job, Events()) == found


def test_a_job_that_outlived_its_run_is_running_while_it_holds_its_state(job, tmp_path):
    left(job.log, 100)
    job = replace(job, rule="mine_neighbours", value=told("mine_neighbours", f"--state {tmp_path}/state"))
    with own_state(tmp_path / "state", tmp_path / "made.tsv", job.arguments):
        assert state_of(job, said(job, BEGAN, 50)) == "running"
    assert state_of(job, said(job, BEGAN, 50)) == "failed"


def test_outputs_stand_for_a_benchmark_that_was_thrown_away(job):
    left(job.log, 100)
    left(job.outputs[0], 100)
    assert state_of(job, Events()) == "to do"


def test_a_cluster_job_that_never_began_is_known_from_its_event(job, tmp_path):
    left(tmp_path / "7.log", 100)
    known = said(job, FAILED, 100, [job.log, str(tmp_path / "7.log")])
    assert state_of(job, known) == "failed"
    assert logs_of(job, known) == [str(tmp_path / "7.log")], "what is not there cannot be read"
    left(job.benchmark, 200)
    assert state_of(job, known) == "to do", "it has ended well since"


@pytest.fixture
def say(tmp_path):
    """Say as Snakemake does that a job began or failed; what is kept of it lies below `tmp_path`."""
    logger = logging.getLogger("a run of a test")
    logger.setLevel(logging.INFO)
    events.keep(tmp_path, logger)

    def one(kind, *outputs, logs=()):
        logger.info("words", extra={"event": kind, "output": [*outputs], "log": [*logs]})

    yield one
    logger.info("words without an event")
    logger.info("words", extra={"event": "job_finished", "job_id": 3})
    for handler in [*logger.handlers]:
        logger.removeHandler(handler)
        handler.close()


def test_a_job_without_an_output_is_no_event(say, tmp_path, capsys):
    """Such as rule `all`, the last of each run, of which Python would print an error of logging."""
    say(BEGAN)
    assert events.read(tmp_path).last == {} and capsys.readouterr().err == ""


def test_what_was_said_last_of_a_job_is_known(say, tmp_path):
    say(BEGAN, "five.tsv", "five.json")
    say(FAILED, "five.tsv", "five.json", logs=["own.log", "slurm/7.log"])
    say(FAILED, "six.tsv")
    say(BEGAN, "six.tsv")
    known = events.read(tmp_path)
    assert {output: event.kind for output, event in known.last.items()} == {"five.tsv": FAILED, "six.tsv": BEGAN}
    assert known.last["five.tsv"].logs == ["own.log", "slurm/7.log"] and known.run_since is None
    with (tmp_path / EVENTS).open("a") as file:
        file.write('["six.ts')
    assert events.read(tmp_path) == known, "a line that a kill cut short"
    with (tmp_path / EVENTS).open("a") as file:
        file.write('\n5\n[]\n["one"]\nnull\n')
    assert events.read(tmp_path) == known, "what another program wrote"
    assert events.read(tmp_path / "elsewhere") == Events()


def test_the_log_of_a_run_is_the_one_that_it_began(tmp_path):
    """Not one of a run before it, of another study in the folder, or of one that found the lock taken."""
    for log in ("first.log", "second.log"):
        events.keep(tmp_path, logging.getLogger(f"a run with {log}"), [log])
        with (tmp_path / EVENTS).open("a") as file:
            file.write('["a line that a kill cut sho')
    assert events.read(tmp_path) == Events(), "no run is going on"
    with exclusive(tmp_path / LOCK):
        assert events.read(tmp_path).log == "second.log"
        events.keep(tmp_path, logging.getLogger("a run without a log"))
        assert events.read(tmp_path).log == ""


@pytest.mark.parametrize(
    ("text", "config", "fault"),
    [
        ("results: 5", {}, "results: expected the path of a folder, .* 5"),
        ("results:", {}, "results: expected the path of a folder"),
        ("", {}, "five.yaml: no settings"),
        ("[a]", {}, "five.yaml: no settings"),
        ("results: five", {"results": []}, "results: expected the path of a folder"),
    ],
)
def test_a_folder_of_results_that_is_none_is_told_before_the_plan(tmp_path, monkeypatch, text, config, fault):
    monkeypatch.chdir(tmp_path)
    Path("four.yaml").write_text("results: four")
    Path("five.yaml").write_text(text)
    with pytest.raises(UserError, match=fault):
        jobs.results_of([Path("four.yaml"), Path("five.yaml")], config)


@pytest.mark.parametrize(("program", "more"), [(status, ["--targets", "report"]), (clean_state, [])])
def test_programs_plan_what_they_are_given(program, more, job, monkeypatch, tmp_path):
    asked = []

    def planned(*given):
        asked.append(given)
        return [replace(job, value=told("mine_neighbours", f"--state {tmp_path}/state"), rule="mine_neighbours")]

    monkeypatch.setattr(jobs, "planned", planned)
    files = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for file in files:
        file.write_text(f"results: {tmp_path}")
    call(program, ["--configfiles", *files, "--config", '{"seeds": [1, 2]}', *more])
    assert asked == [(files, {"seeds": [1, 2]}, {}, more[1:])]


def test_every_rule_has_its_room():
    assert rooms() == {rule: room for room, rules in RULES.items() for rule in rules}
    assert [*dict.fromkeys(rooms().values())] == [*RULES], "in the order of the house"


@pytest.mark.parametrize("profile", ["default", "demo", "gpu", "slurm"])
def test_status_compares_files_as_large_as_a_run_does(profile):
    given = yamls.read(Path("profiles", profile, "profile.yaml"))["max-checksum-file-size"]
    assert parse_size_in_bytes(given) == jobs.SUMMED


def test_each_rule_is_counted_in_some_room(job):
    jobs = [replace(job, rule=rule, outputs=(rule,), wildcards={}, log="") for rule in rooms()]
    page = layout(jobs, rooms(), Events())
    (every,) = (line for line in page.splitlines() if line.startswith("| all"))
    assert sum(int(cell.rpartition("/")[2]) for cell in every.split("|")[2:-1]) == len(jobs)
    assert " classifiers |" in page and " classifiers |" not in layout(jobs[:1], rooms(), Events())


def test_the_page_fits_a_terminal_and_counts_by_room_and_language(job, tmp_path):
    jobs = [
        replace(job, wildcards={"lang": lang, "shard": str(n)}, outputs=(f"{lang}{n}",), log="", todo=n > 98)
        for lang in ("hau", "swh")
        for n in range(1100)
    ]
    left(tmp_path / "broken.log", 100)
    broken = replace(
        job, rule="train_encoder", log=str(tmp_path / "broken.log"), outputs=("e",), wildcards={"seed": "1"}
    )
    known = Events({f"hau{n}": Event(BEGAN, 5.0) for n in range(99, 135)}, run_since=1.0)
    page = layout([*jobs, broken], rooms(), known)
    assert page.startswith("2201 jobs: 198 done, 36 running, 1 failed, 1966 to do\n\nA run is going on since ")
    (hau,) = (line for line in page.splitlines() if line.startswith("| hau"))
    assert hau.split("|")[2].strip() == "36r 99/1100"
    assert "train_encoder seed=1\n    " + broken.log in page
    assert "synthesise lang=hau shard=99 since 01 Jan" in page and page.endswith("and 16 more")
    assert max(map(len, page.replace(str(tmp_path), "").splitlines())) <= 120


def test_an_encoder_that_is_fetched_is_counted_with_encoders(job):
    fetched = replace(job, rule="fetch_model", wildcards={"room": "encoders", "model": "me5-small"}, log="")
    page = layout([fetched], rooms(), Events())
    assert " encoders |" in page and "generators" not in page


def test_allar_is_a_language_and_not_all_of_them(job):
    jobs = [replace(job, wildcards={"lang": lang}, outputs=(lang,), log="") for lang in ("all", "hau", "hau")]
    page = layout(jobs, rooms(), Events()).splitlines()
    assert [line.split("|")[2].strip() for line in page if line.startswith("| all")] == ["0/1", "0/3"]


def test_the_last_words_of_failed_jobs_stand_with_their_logs(say, tmp_path):
    told = {"a.log": "Loading\nerror: a: no such file\n\n", "b.log": "10%\r20%\rKilled", "7.log": "error: oom_kill"}
    for name, words in told.items():
        (tmp_path / name).write_text(words)
    say(FAILED, "of an earlier run", logs=[str(tmp_path / "a.log")])
    with exclusive(tmp_path / ".lock"):
        assert last_words(events.read(tmp_path)) == ""
        for number, logs in enumerate((["a.log"], ["b.log", "7.log"], ["never.log"])):
            say(FAILED, f"{number}.tsv", f"{number}.json", logs=[str(tmp_path / log) for log in logs])
        say(FAILED, "repaired", logs=[str(tmp_path / "a.log")])
        say(BEGAN, "repaired")
        words = last_words(events.read(tmp_path))
    said = {
        "a.log": "error: a: no such file",
        "b.log": "Killed",
        "7.log": "error: oom_kill",
        "never.log": "not there, since the job did not begin",
    }
    assert words.split("\n") == ["3 failed:", *(f"  {tmp_path}/{name}: {last}" for name, last in said.items())]


def test_why_slurm_ended_a_job_goes_before_what_snakemake_then_said(say, tmp_path):
    told = "slurmstepd-vm: error: Exceeded job memory limit"
    log = tmp_path / "12.log"
    log.write_text(
        f"Job 0: Score\nslurmstepd-vm: error: StepId=12.0 ...\n{told}\nWorkflowError:\nAt least one job did not\n"
    )
    say(FAILED, "a.tsv", logs=[str(log)])
    assert last_words(events.read(tmp_path)) == f"1 failed:\n  {log}: {told}"


@pytest.mark.parametrize(
    ("end", "code", "said"), [("kill -KILL $$", 137, "error: SIGKILL ended the program"), ("exit 1", 1, "60%")]
)
def test_the_signal_that_ended_a_program_is_the_last_line_of_its_log(say, tmp_path, monkeypatch, end, code, said):
    """As rules start a program, here one that shows a bar."""
    prefix = re.search(r"^shell\.prefix(\(.+?^\))$", Path("rules/common.smk").read_text(), flags=re.M | re.S)[1]
    program, log = tmp_path / "python", tmp_path / "a.log"
    program.write_text(f"#!/bin/sh\nprintf '\\r60%%'\n{end}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    command = f"{ast.literal_eval(prefix).format()} GPUS=0 python -m scripts.one - <<< '{{}}' > {log} 2>&1"
    assert subprocess.run(["bash", "-c", command]).returncode == code
    say(FAILED, "a.tsv", logs=[str(log)])
    assert last_words(events.read(tmp_path)) == f"1 failed:\n  {log}: {said}"


@pytest.mark.parametrize(("free", "said"), [(0, "nothing there, since its disk is full"), (2**40, "nothing there")])
def test_a_log_that_is_empty_since_the_disk_is_full_is_told(say, tmp_path, monkeypatch, free, said):
    (tmp_path / "a.log").touch()
    say(FAILED, "a.tsv", logs=[str(tmp_path / "a.log")])
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=free))
    assert last_words(events.read(tmp_path)) == f"1 failed:\n  {tmp_path}/a.log: {said}"
