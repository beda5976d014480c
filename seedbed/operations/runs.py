"""A run of Snakemake from its start to its end: what it claims, what its jobs run in, and what it says at last."""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from seedbed import devices
from seedbed.locks import exclusive
from seedbed.operations import events


@contextlib.contextmanager
def claimed(results: Path, gpus: int | None, environment: MutableMapping[str, str]) -> Iterator[None]:
    """Keep other runs off these results, from other clones and nodes too: each would delete the other's outputs.

    Args:
        gpus: of this machine, that its jobs share, which the environment then says; None: a profile gives no number.

    Raises:
        UserError: another run has them, or the run itself sees fewer GPUs.
    """
    with exclusive(results / ".lock"):
        if gpus:
            environment |= devices.shared(gpus, environment)
        yield


def python_in(environment: str) -> str:
    """The Python of an environment: of `make env-vllm`, next to this one's, where that is needed and there."""
    own = Path(sys.prefix).with_name(f".venv-{environment}") / "bin/python"
    return str(own) if environment != "main" and own.exists() else "python"


def asked(
    workflow: Any, study: Mapping[str, Any] | None, at_most: Callable[[int | None], dict[str, int]]
) -> dict[str, Any]:
    """How a run was asked for, as arguments of a program that plans it again.

    Args:
        workflow: Snakemake's.
        study: the whole configuration, where it came from another Snakefile; None: files and `--config` say it.
        at_most: rule -> threads, of those that a limit on threads changes.
    """
    given, limits = workflow.config_settings, workflow.resource_settings
    files, changes = (given.configfiles, given.config) if study is None else ([], study)
    own = {rule: int(getattr(count, "value", count)) for rule, count in limits.overwrite_threads.items()}
    return {"configfiles": files, "config": dict(changes), "threads": at_most(limits.max_threads) | own}


def say_failures(results: str) -> None:
    """Say on the screen what each job that failed in this run said last: it may have been hours ago."""
    print(events.last_words(events.read(Path(results))), file=sys.stderr, flush=True)


def show_forecast(results: str, begun: float) -> None:
    """Print what a run has forecast since it began: at its end, as a job's own words would tear what a logger draws."""
    page = Path(results, "forecast.md")
    if page.is_file() and page.stat().st_mtime >= begun:
        print(page.read_text(encoding="utf-8"), end="", flush=True)
