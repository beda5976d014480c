"""Limits of time as Snakemake meets them: jobs that a run hands to a queue have one, those of its own machine none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from seedbed.operations.forecasting.costs import CostSpec
from seedbed.operations.forecasting.work import Plan
from seedbed.operations.jobs import Job
from tests.programs import told

COSTS = CostSpec.load("seedbed/resources/forecast.yaml")
SOURCE = json.dumps({"hub": "google/gemma-3-27b-it"})
MODEL = {**told("fetch_model", f"--source '{SOURCE}' --output none"), "output": "none"}
STUDY = f"""
from pathlib import Path

from seedbed.operations.forecasting.costs import CostSpec
from seedbed.operations.limits import Limits
from seedbed.resources import resource

LIMITS = Limits(workflow, CostSpec.load(resource("forecast.yaml")), "gpu", Path("benchmarks"))


rule fetch_model:
    output:
        "{{room}}/{{model}}",
    params:
        job={json.dumps(json.dumps(MODEL, default=str))},
    resources:
        runtime=lambda wildcards, threads: round(LIMITS.seconds("fetch_model", wildcards, threads, 0)),
    shell:
        "echo {{resources.runtime}} > {{output}}"
"""
QUEUE = """
from pathlib import Path

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.real import RealExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecMode

common_settings = CommonSettings(non_local_exec=True, implies_no_shared_fs=False, job_deploy_sources=False)


class Executor(RealExecutor):
    '''A queue whose jobs end at once; each leaves the limit that it was given.'''

    def run_job(self, job):
        (output := Path(job.output[0])).parent.mkdir()
        output.write_text(str(job.resources.runtime))
        self.report_job_submission(SubmittedJobInfo(job))
        self.report_job_success(SubmittedJobInfo(job))

    def cancel(self): ...

    def shutdown(self): ...

    def get_exec_mode(self):
        return ExecMode.REMOTE

    def get_python_executable(self):
        return "python"

    cores = 1
"""


@pytest.mark.parametrize("where", ["local", "queue"])
def test_a_job_of_this_machine_has_no_limit_and_one_of_a_queue_its_forecast(tmp_path, where):
    (tmp_path / "Snakefile").write_text(STUDY)
    (plugin := tmp_path / "snakemake_executor_plugin_queue").mkdir()
    (plugin / "__init__.py").write_text(QUEUE)
    words = ["--executor", where, "--jobs", "1", "--cores", "1", "--latency-wait", "0", "generators/g"]
    path = os.pathsep.join([str(Path.cwd()), str(tmp_path)])
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    job = Job("fetch_model", {"room": "generators", "model": "g"}, MODEL, ("generators/g",))
    plan = Plan([job], COSTS)
    forecast = round(plan.start(job) + plan.work(job).seconds)
    assert forecast > 60
    assert int((tmp_path / "generators/g").read_text()) == (forecast if where == "queue" else 0)
