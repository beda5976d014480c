"""What a shipped study's jobs ask for, and what they are forecast to take, of one plan.

python -m tests.workflow.plans CONFIG TARGET ...
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from seedbed.gpu_memory import MIB, NF4
from seedbed.operations.forecasting.costs import CostSpec
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.jobs import Job, planned
from seedbed.resources import resource
from tests.workflow.conftest import Project


class Planned(NamedTuple):
    """A plan's jobs."""

    counts: dict[str, int]
    """By rule."""
    longest: dict[str, float]
    """Minutes, by rule."""
    short: list[str]
    """What asks for less than it is forecast to need."""


def made(project: Project, config: str, *targets: str) -> Planned:
    """The jobs of targets, if nothing is there."""
    done = project.run([sys.executable, "-m", "tests.workflow.plans", config, *targets])
    assert done.returncode == 0, done.stderr[-4000:]
    return Planned(*json.loads(done.stdout.splitlines()[-1]))


def main(config: str, *targets: str) -> None:
    with mock.patch("snakemake.workflow.Workflow.dryrun", True):  # whose jobs have the limits of a cluster's
        jobs = planned([Path(config)], {}, {}, [*targets])
    plan = Plan(jobs, CostSpec.load(resource("forecast.yaml")))
    longest: dict[str, float] = {}
    for one in jobs:
        longest[one.rule] = max(longest.get(one.rule, 0), one.asks("runtime"))
    print(
        json.dumps([Counter(one.rule for one in jobs), longest, [told for one in jobs if (told := _short(plan, one))]])
    )


def _short(plan: Plan, one: Job) -> str:
    """What a job asks too little of; empty: nothing. Weights lie in its own memory and on its GPUs, by its command."""
    minutes, cost = (plan.start(one) + plan.work(one).seconds) / 60, plan.costs.rules[one.rule]
    opened = plan.model(one).parameters + plan.english(one).parameters if one.asks("gpu") and one.model else 0
    needed: dict[str, tuple[Any, float]] = {
        "runtime": (one.asks("runtime"), minutes),
        "mem_mb": (one.asks("mem_mb"), cost.memory_mb + opened * cost.weights / MIB),
        "gpu_mb": (one.asks("gpu_mb") * one.asks("gpu"), NF4 * opened / MIB),
    }
    return "; ".join(
        f"{one.outputs[0]}: {name} {has} of {needs:.0f}" for name, (has, needs) in needed.items() if has < needs
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
