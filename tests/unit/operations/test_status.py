"""How far a study is: standings of single jobs, the records of Snakemake, the page."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from snakemake.cli import parse_size_in_bytes

from scripts import clean_state, status
from seedbed.operations import jobs
from seedbed.operations.job import Job
from seedbed.operations.jobs import errors_in, last_words, rooms
from seedbed.operations.status import Attempts, layout, logs_of, standing
from tests.programs import call, told
from tests.unit.test_house import RULES


@pytest.fixture
def job(tmp_path):
    """A job to do that has left nothing."""
    output, log, benchmark = (str(tmp_path / name) for name in ("made.tsv", "made.log", "made.jsonl"))
    return Job("synthesise", {"lang": "hau", "shard": "0"}, {}, (output,), benchmark, log)


def left(path, moment):
    with open(path, "w"):  # noqa: PTH123
        os.utime(path, (moment, moment))


def test_a_job_that_is_not_to_do_is_done_whatever_lies_about(job):
    left(job.log, 100)
    assert standing(replace(job, todo=False), Attempts(running={job.outputs[0]: 1})) == "done"


def test_nothing_begun_is_to_do(job):
    assert standing(job, Attempts()) == "to do"


def test_a_mark_is_running_and_goes_before_an_earlier_failure(job):
    left(job.log, 100)
    assert standing(job, Attempts(running={job.outputs[0]: 50.0})) == "running"


def test_a_log_without_an_end_is_a_failure(job):
    left(job.log, 100)
    assert standing(job, Attempts()) == "failed"


@pytest.mark.parametrize(
    ("log", "benchmark", "found"), [(100, 101, "to do"), (100, 99.5, "to do"), (100, 50, "failed")]
)
def test_a_job_that_ended_well_and_is_to_do_again_has_not_failed(job, log, benchmark, found):
    left(job.log, log)
    left(job.benchmark, benchmark)
    assert standing(job, Attempts()) == found


def test_outputs_stand_for_a_benchmark_that_was_thrown_away(job):
    left(job.log, 100)
    left(job.outputs[0], 100)
    assert standing(job, Attempts()) == "to do"


def test_a_cluster_job_that_never_began_is_known_from_the_log_of_the_run(job, tmp_path):
    left(tmp_path / "7.log", 100)
    tried = Attempts(errors={job.outputs[0]: (100, [job.log, str(tmp_path / "7.log")])})
    assert standing(job, tried) == "failed"
    assert logs_of(job, tried) == [str(tmp_path / "7.log")], "what is not there cannot be read"
    left(job.benchmark, 200)
    assert standing(job, tried) == "to do", "it has ended well since"


ERROR = """[Sat Nov 21 17:03:57 2026]
Error in rule synthesise:
    message: SLURM-job '7' failed
    jobid: {id}
    input: a.tsv, b.tsv
    output: {output}
    log: own.log, slurm/7.log (check log file(s) for error details)
    shell:
        echo output: no
        (command exited with non-zero exit code)
Logfile own.log:
    output: what the program said
Trying to restart job {id}.
"""


def test_errors_are_read_with_all_their_outputs_and_logs():
    found = errors_in(ERROR.format(id=5, output="a/b c.tsv, a/d.json") + "Exiting")
    assert set(found) == {"a/b c.tsv", "a/d.json"}
    assert found["a/d.json"][1] == ["own.log", "slurm/7.log"]
    assert errors_in("") == errors_in("[Sat]\nError in rule x:\n") == {}


def test_a_retry_that_ends_well_repairs():
    ended = "[Sat Nov 21 17:05:57 2026]\nFinished jobid: {id} (Rule: synthesise)\n"
    text = ERROR.format(id=5, output="five") + ERROR.format(id=6, output="six")
    assert set(errors_in(text + ended.format(id=5))) == {"six"}
    assert set(errors_in(ended.format(id=5) + text)) == {"five", "six"}


def test_a_plan_is_two_dry_runs_and_one_where_nothing_is_made(job, monkeypatch):
    event = {"rule_name": "synthesise", "wildcards": {}, "shellcmd": "", "value": "{}", "output": list(job.outputs), "benchmark": None, "log": [],
             "threads": 1, "resources": {}}  # fmt: skip
    asked = []

    def dry_run(*given, forceall):
        asked.append((given, forceall))
        return [event] if forceall else []

    monkeypatch.setattr(jobs, "dry_run", dry_run)
    given = ([Path("study.yaml")], {"seeds": [1]}, {}, ["report"])
    assert [one.todo for one in jobs.planned(*given)] == [True] and asked == [(given, True)]
    left(job.outputs[0], 100)
    assert [one.todo for one in jobs.planned(*given)] == [False] and asked[1:] == [(given, True), (given, False)]


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


@pytest.mark.parametrize("profile", ["demo", "gpu", "slurm"])
def test_status_compares_files_as_large_as_a_run_does(profile):
    given = yaml.safe_load(Path("profiles", profile, "profile.yaml").read_text())["max-checksum-file-size"]
    assert parse_size_in_bytes(given) == jobs.SUMMED


def test_each_rule_is_counted_in_some_room(job):
    jobs = [replace(job, rule=rule, outputs=(rule,), wildcards={}, log="") for rule in rooms()]
    page = layout(jobs, rooms(), Attempts())
    (every,) = (line for line in page.splitlines() if line.startswith("| all"))
    assert sum(int(cell.rpartition("/")[2]) for cell in every.split("|")[2:-1]) == len(jobs)
    assert " classifiers |" in page and " classifiers |" not in layout(jobs[:1], rooms(), Attempts())


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
    tried = Attempts(running={f"hau{n}": 5.0 for n in range(99, 135)}, run_since=1.0)
    page = layout([*jobs, broken], rooms(), tried)
    assert page.startswith("2201 jobs: 198 done, 36 running, 1 failed, 1966 to do\n\nA run is going on since ")
    (hau,) = (line for line in page.splitlines() if line.startswith("| hau"))
    assert hau.split("|")[2].strip() == "36r 99/1100"
    assert "train_encoder seed=1\n    " + broken.log in page
    assert "synthesise lang=hau shard=99 since 01 Jan" in page and page.endswith("and 16 more")
    assert max(map(len, page.replace(str(tmp_path), "").splitlines())) <= 120


def test_the_last_words_of_failed_jobs_stand_with_their_logs(tmp_path):
    told = {"a.log": "Loading\nerror: a: no such file\n\n", "b.log": "10%\r20%\rKilled", "7.log": "error: oom_kill"}
    for name, words in told.items():
        (tmp_path / name).write_text(words)
    run = tmp_path / "run.log"
    logs = ("a.log", "b.log, {0}/7.log", "never.log")
    run.write_text(
        "".join(
            ERROR.format(id=number, output=f"{number}.tsv, {number}.json").replace(
                "own.log, slurm/7.log", f"{{0}}/{log}"
            )
            for number, log in enumerate(logs)
        ).replace("{0}", str(tmp_path))
    )
    said = {
        "a.log": "error: a: no such file",
        "b.log": "Killed",
        "7.log": "error: oom_kill",
        "never.log": "nothing there",
    }
    lines = [f"  {tmp_path}/{name}: {last}" for name, last in said.items()]
    assert last_words([str(run)]).split("\n") == ["3 failed:", *lines]
    run.write_text("Finished jobid: 1")
    assert last_words([str(run)]) == last_words([]) == ""
