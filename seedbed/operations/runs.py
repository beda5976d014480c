"""Start and end of a Snakemake run: locks, GPUs, environments, and final messages."""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from seedbed import devices
from seedbed.io import UserError
from seedbed.locks import exclusive
from seedbed.names import MAIN
from seedbed.operations import events
from seedbed.operations.jobs import LOCK


@contextlib.contextmanager
def claimed(results: Path, gpus: int | None, environment: MutableMapping[str, str]) -> Iterator[None]:
    """Context that locks the results folder against other runs, also from other clones and nodes.

    Args:
        gpus: GPUs of this machine that the run's jobs share; they are set in the environment. None: the profile gives
            no number.

    Raises:
        UserError: another run has the lock, or the run sees fewer GPUs.
    """
    with exclusive(results / LOCK):
        if gpus is not None:
            environment |= devices.visible_gpus(gpus, environment) if gpus else {devices.VISIBLE: ""}
        yield


def require_accounting(executor: Any) -> None:
    """Require that `sacct` answers if Snakemake learns from it which jobs have ended: else it waits for ever.

    Args:
        executor: the settings of Snakemake's executor.

    Raises:
        UserError: Slurm stores no accounting.
    """
    if getattr(executor, "status_command", "") == "sacct" and (sacct := shutil.which("sacct")):
        done = subprocess.run([sacct, "--noheader", "--jobs", "1"], capture_output=True, text=True)
        if "accounting storage is disabled" in done.stderr:
            raise UserError(
                "slurm-status-command: sacct has no accounting, by which Snakemake would see jobs end; "
                "say `slurm-status-command: squeue` in your site's profile"
            )


def python_in(environment: str) -> str:
    """The Python of an environment: that of `make env-vllm` next to this one if it is needed and exists."""
    own = Path(sys.prefix).with_name(f".venv-{environment}") / "bin/python"
    return str(own) if environment != MAIN and own.exists() else "python"


def asked(
    workflow: Any, study: Mapping[str, Any] | None, at_most: Callable[[int | None], dict[str, int]]
) -> dict[str, Any]:
    """How a run was started, as arguments of a program that plans it again.

    Args:
        study: the whole configuration, if it came from another Snakefile; None: from files and `--config`.
        at_most: maximum threads -> rule -> threads, for rules that the limit changes.
    """
    given, limits = workflow.config_settings, workflow.resource_settings
    files, changes = (given.configfiles, given.config) if study is None else ([], study)
    counts = {rule: _value(count) for rule, count in limits.overwrite_threads.items()}
    own = {rule: int(count) for rule, count in counts.items() if count is not None}
    return {"configfiles": files, "config": dict(changes), "threads": at_most(limits.max_threads) | own}


def gpus_given(workflow: Any) -> dict[str, int]:
    """Rule -> GPUs of each of its jobs, for rules to which a profile or `--set-resources` gives several."""
    given = {rule: own.get("gpu") for rule, own in workflow.resource_settings.overwrite_resources.items()}
    counts = {rule: _value(count) for rule, count in given.items()}
    return {rule: count for rule, count in counts.items() if isinstance(count, int) and count > 1}


def _value(resource: Any) -> Any:
    """The value of Snakemake's resource, or a plain one; None: it is an expression, which each job evaluates."""
    if getattr(resource, "is_evaluable", bool)():
        return None
    return getattr(resource, "value", resource)


def say_failures(results: str) -> None:
    """Print the last line of each job that failed in this run."""
    print(events.last_words(events.read(Path(results))), file=sys.stderr, flush=True)


def show_forecast(results: str, begun: float) -> None:
    """Print the forecast, if it was made since the run began; at the end, below the progress display."""
    page = Path(results, "forecast.md")
    if page.is_file() and page.stat().st_mtime >= begun:
        print(page.read_text(encoding="utf-8"), end="", flush=True)
