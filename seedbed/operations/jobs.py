"""What Snakemake knows of the study: its jobs, which of them run, which failed. Nothing here writes or takes a lock."""

import base64
import json
import logging
import re
import tempfile
import time
from collections import ChainMap
from pathlib import Path
from typing import Any
from unittest import mock

from seedbed import yamls
from seedbed.io import UserError
from seedbed.locks import held_since
from seedbed.operations.job import Job
from seedbed.operations.status import Attempts
from seedbed.resources import ROOT

RECORDS = Path(".snakemake")
SUMMED = 10**12
"""Bytes: files up to this size count by what is in them, here as in the profiles (`max-checksum-file-size`)."""

_END = re.compile(
    r"^\[(?P<time>\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})\]\n"
    r"(?:Error in rule \w+:\n(?P<error>(?: {4}.*\n)+)|Finished jobid: (?P<finished>\d+))",
    flags=re.M,
)
"""In a log of Snakemake: a job that failed, or that ended well."""


def planned(configfiles: list[Path], config: dict, threads: dict, targets: list[str]) -> list[Job]:
    """Every job of the targets, as Snakemake itself plans them, and which of them it would run."""
    every = dry_run(configfiles, config, threads, targets, forceall=True)
    if not any(Path(output).exists() for event in every for output in event["output"]):
        return [job(event, todo=True) for event in every]
    todo = {tuple(event["output"]) for event in dry_run(configfiles, config, threads, targets, forceall=False)}
    return [job(event, todo=tuple(event["output"]) in todo) for event in every]


def job(event: dict, *, todo: bool) -> Job:
    """A job from Snakemake's log event of it."""
    return Job(
        rule=event["rule_name"],
        wildcards=dict(event["wildcards"]),
        value=json.loads(event["value"]),
        outputs=tuple(event["output"]),
        benchmark=event["benchmark"] or "",
        log=next(iter(event["log"]), ""),
        threads=event["threads"],
        gpus=float(event["resources"].get("gpu", 0)),
        gpu_mb=float(event["resources"].get("gpu_mb", 0)),
        mem_mb=float(event["resources"].get("mem_mb", 0)),
        todo=todo,
    )


def dry_run(configfiles: list[Path], config: dict, threads: dict, targets: list[str], *, forceall: bool) -> list[dict]:
    """The log events of the jobs of a dry-run, without a lock; another run may be going on.

    Raises:
        UserError: Snakemake cannot plan these targets.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.exceptions import RuleException, WorkflowError
    from snakemake.logging import logger
    from snakemake.persistence.file import FilePersistence
    from snakemake.settings import types

    events: list[dict] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if hasattr(record, "rule_name") and getattr(record, "shellcmd", None):
                events.append(vars(record))

    collector = Collector()
    with tempfile.TemporaryDirectory() as folder:
        # A dry-run writes too: an inventory of the files, and folders. It does so beside links to the records.
        for name in ("metadata", "incomplete"):
            if (RECORDS / name).is_dir():
                Path(folder, name).symlink_to((RECORDS / name).absolute())

        def records(**options: Any) -> FilePersistence:
            return FilePersistence(**options | {"path": Path(folder)})

        try:
            with (
                mock.patch("snakemake.workflow.FilePersistence", records),
                SnakemakeApi(types.OutputSettings(dryrun=True)) as api,
            ):
                for handler in logger.handlers:
                    handler.setLevel(logging.ERROR)
                logger.addHandler(collector)
                workflow = api.workflow(
                    # As many cores as any rule may ask for: a job on fewer would be planned with fewer threads.
                    resource_settings=types.ResourceSettings(cores=10_000, overwrite_threads=threads),
                    config_settings=types.ConfigSettings(config=config, configfiles=configfiles),
                    snakefile=ROOT / "Snakefile",
                )
                # Half-made outputs, of a job that runs or was killed, are to be made.
                asked = {"targets": set(targets), "forceall": forceall, "force_incomplete": True}
                dag = workflow.dag(types.DAGSettings(**asked, max_checksum_file_size=SUMMED))
                dag.execute_workflow(executor="dryrun", execution_settings=types.ExecutionSettings(lock=False))
                plan = workflow._workflow.dag
                told = {plan.jobid(job): job.params.job for job in plan.jobs if "job" in job.params.keys()}  # noqa: SIM118
        except (RuleException, WorkflowError) as error:
            what = ", ".join(targets) or "the study"
            raise UserError(f"no plan for {what}: {' '.join(str(error).split())}") from None
        finally:
            logger.removeHandler(collector)
    return [event | {"value": told[event["jobid"]]} for event in events]


def rooms() -> dict[str, str]:
    """Rule -> the room whose file it stands in, in the order in which the Snakefile has these."""
    files = re.findall(r'^include: "(rules/.+)"$', (ROOT / "Snakefile").read_text(), flags=re.M)
    rules = {Path(file).stem: re.findall(r"^rule (\w+):$", (ROOT / file).read_text(), flags=re.M) for file in files}
    return {rule: room for room, names in rules.items() for rule in names}


def results_of(configfiles: list[Path], config: dict) -> Path:
    """Where a study's results lie."""
    files = [yamls.read(file) for file in configfiles or [Path("config.yaml")]]
    return Path(ChainMap(config, *reversed(files)).get("results", "results"))


def run_since(results: Path) -> float | None:
    """Since when a run has held the results; None: none does."""
    return held_since(results / ".lock")


def attempts(results: Path) -> Attempts:
    """What runs and what failed, from the lock on the results and the records that Snakemake keeps for itself."""
    since, logs = run_since(results), sorted((RECORDS / "log").glob("*.snakemake.log"))
    errors: dict[str, tuple[float, list[str]]] = {}
    for log in logs:
        errors |= errors_in(log.read_text(errors="replace"))
    # A mark that is older than the lock was left by a run that was killed.
    running = {output: begun for output, begun in _marks().items() if since is not None and begun >= since}
    return Attempts(running=running, errors=errors, run_since=since, log=logs[-1] if logs else None)


def errors_in(log: str) -> dict[str, tuple[float, list[str]]]:
    """Output -> when its job failed, and the logs to read, in a log of Snakemake; not those that a retry repaired."""
    failed: dict[str, tuple[float, list[str], list[str]]] = {}
    for end in _END.finditer(log):
        if end["finished"]:
            failed.pop(end["finished"], None)
            continue
        facts = dict(re.findall(r"^ {4}(jobid|output|log): (.*)$", end["error"], flags=re.M))
        logs = facts.get("log", "").removesuffix(" (check log file(s) for error details)").split(", ")
        failed[facts["jobid"]] = (time.mktime(time.strptime(end["time"])), logs, facts.get("output", "").split(", "))
    return {output: (when, logs) for when, logs, outputs in failed.values() for output in outputs}


def last_words(logs: list[str]) -> str:
    """The jobs that failed in a run, each with its logs, a cluster's too, and the last line there; empty: none did.

    Args:
        logs: of Snakemake, which it hands to `onerror`.
    """
    found = errors_in("".join(Path(log).read_text(errors="replace") for log in logs))
    failed = dict.fromkeys(tuple(logs) for _, logs in found.values())
    lines = [f"  {log}: {_last_line(Path(log))}" for logs in failed for log in logs if log]
    return "\n".join([f"{len(failed)} failed:", *lines]) if failed else ""


def _last_line(log: Path) -> str:
    """The last that a program said; of a bar, as it stood last."""
    words = log.read_text(errors="replace").split("\n") if log.is_file() else []
    return next((line.rpartition("\r")[2] for line in reversed(words) if line.strip()), "nothing there")


def _marks() -> dict[str, float]:
    """Output -> since when a job has been at work on it. Snakemake names the files by base64, cut at 254 characters."""
    found = {}
    for mark in (RECORDS / "incomplete").rglob("*"):
        try:
            parts = mark.relative_to(RECORDS / "incomplete").parts
            if mark.is_file():
                name = "".join(part.removeprefix("@") for part in parts)
                found[base64.urlsafe_b64decode(name).decode()] = mark.stat().st_mtime
        except (FileNotFoundError, ValueError):  # the job has just ended; or no mark
            continue
    return found
