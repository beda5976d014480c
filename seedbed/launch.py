"""Starting a program in several processes, one for each GPU of its job: on one machine, or on the nodes of Slurm."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, MutableMapping
from typing import IO

from seedbed.devices import REQUESTED, SHARED

NODES, STEP_NODES = "SLURM_JOB_NUM_NODES", "SLURM_STEP_NUM_NODES"
"""Environment variables of Slurm with the number of nodes of a job, and of the step of it that this process is in."""
NODE_GPUS, FIRST_NODE, JOB = "SLURM_GPUS_ON_NODE", "SLURM_LAUNCH_NODE_IPADDR", "SLURM_JOB_ID"
"""Environment variables of Slurm with the number of a job's GPUs on a node, the address of the node that started the
step, and the job's number.
"""
CORES = "SLURM_CPUS_PER_TASK"
THREADS = "OMP_NUM_THREADS"


def run_on_each_gpu(program: str, job: str, environment: MutableMapping[str, str]) -> int | None:
    """Run a program in as many processes as its job has GPUs.

    Args:
        program: the module.
        job: what the program reads.
        environment: this process's own. A rule's command puts the number of its job's GPUs there (`devices.REQUESTED`);
            it is removed for the processes that are started here, so that none starts others.

    Returns:
        The exit code; None if there is to be one process, which is this one.
    """
    if REQUESTED not in environment:
        return None
    nodes, here = nodes_of(environment)
    on_node = processes_on_node(nodes, environment)
    if nodes * on_node == 1:
        return None
    with tempfile.TemporaryFile("w+") as job_file:
        job_file.write(job)
        job_file.seek(0)
        if here < nodes:
            command = [*srun(nodes, environment), sys.executable, "-m", program, "-"]
            return subprocess.run(command, stdin=job_file).returncode
        return _elastic(program, job_file, nodes, on_node, environment)


def nodes_of(environment: Mapping[str, str]) -> tuple[int, int]:
    """The number of nodes of the Slurm job, and of those on which this program already runs.

    A run that shares out the GPUs of its machine (`devices`) is on one node, wherever else it may have more.
    """
    if STEP_NODES not in environment or SHARED in environment:
        return 1, 1
    here = int(environment[STEP_NODES])
    return max(int(environment.get(NODES) or 1), here), here


def processes_on_node(nodes: int, environment: Mapping[str, str]) -> int:
    """The number of processes on each node, one per GPU: as many as the rule requests; on several nodes, or if the rule
    requests none by Snakemake's resource (`gres`), as many as Slurm allocated.
    """
    asked = int(environment[REQUESTED]) if nodes == 1 else 0
    return asked or int(environment.get(NODE_GPUS) or 1)


def srun(nodes: int, environment: Mapping[str, str]) -> list[str]:
    """`srun` and its options, to run a command once on each node of a job, overlapping the step that starts it."""
    cores = [f"--cpus-per-task={environment[CORES]}"] if CORES in environment else []
    places = [f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1"]
    return ["srun", "--overlap", "--kill-on-bad-exit", "--cpu-bind=none", *places, *cores]


def _elastic(program: str, job: IO[str], nodes: int, on_node: int, environment: MutableMapping[str, str]) -> int:
    """Run this node's processes by torch's launcher, which ends all of them if one fails; the exit code."""
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    logging.disable()  # the launcher's: the program has said what is wrong
    number = int(environment.get(JOB) or 0)
    place = f"{environment[FIRST_NODE]}:{20_000 + number % 10_000}" if nodes > 1 else "localhost:0"
    os.dup2(job.fileno(), sys.stdin.fileno())
    del environment[REQUESTED]
    # Each would take all cores.
    environment[THREADS] = str(max(1, int(environment.get(THREADS) or os.cpu_count() or 1) // on_node))
    with tempfile.TemporaryDirectory() as logs:
        config = LaunchConfig(
            min_nodes=nodes,
            max_nodes=nodes,
            nproc_per_node=on_node,
            run_id=f"seedbed-{number or os.getpid()}",
            rdzv_backend="c10d",
            rdzv_endpoint=place,
            max_restarts=0,
            logs_specs=DefaultLogsSpecs(log_dir=logs),
        )
        try:
            elastic_launch(config, sys.executable)("-m", program, "-")
        except ChildFailedError as error:
            _, first = error.get_first_failure()
            if first.exitcode < 0:
                print(f"error: {first.signal_name()} ended a process of the training", file=sys.stderr)
            return 1
        except SignalException as error:
            return 128 + error.sigval
    return 0
