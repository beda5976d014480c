"""The study, checked, and how rules ask it: for inputs, parameters and resources of their jobs."""

from pathlib import Path
import atexit
import contextlib
import gc
import os
import sys
import time

# A plan makes millions of objects, and most of them stay: to look for cycles among them takes a tenth of its time.
gc.freeze()
gc.set_threshold(100_000, 50)

# A profile, the command line or another Snakefile may bring the whole configuration; to merge it would mix two studies.
if "languages" not in config:
    if not os.path.isfile("config.yaml"):
        sys.exit(f"error: no study, and no config.yaml in {os.getcwd()}; name one by --configfile")

    configfile: "config.yaml"


try:
    from seedbed.study.loading import load, load_with
except ModuleNotFoundError as error:
    sys.exit(f"error: {error} in the environment of {sys.executable}; run `make env` and `source .venv/bin/activate`")

from snakemake.logging import logger
from snakemake.resources import Resource

from seedbed.io import UserError
from seedbed.operations import events, runs
from seedbed.operations.forecasting.costs import CostSpec
from seedbed.operations.limits import Limits
from seedbed.resources import resource
from seedbed.study import paths
from seedbed.study.environment import prepare, require_own_packages, require_own_specs
from seedbed.study.graph.best_encoder import Answer
from seedbed.study.graph.outside import StudyReference
from seedbed.study.graph.report import Paper
from seedbed.study.graph.translation import text_sets
from seedbed.study.jobs import Jobs, cache_parameters, rule_function
from seedbed.study.needs import Needs
from seedbed.study.remarks import remarks
from seedbed.study.wildcards import constraints, encoders_of, one_of
from seedbed.yamls import check_configuration

# A thread that waits must not slow the one that works. Memory that glibc keeps saves a tenth of a training step on a CPU.
# Downloads alone may reach the hub. A bar that moves every five seconds leaves a log of hours that can be read.
# Which signal ended a program, its log says.
shell.prefix(
    "set -euo pipefail; "
    'python() {{ local code=0; command python "$@" || code=$?;'
    " [ $code -le 128 ] || printf '\\nerror: SIG%s ended the program\\n' $(kill -l $code); return $code; }}; "
    "export OMP_WAIT_POLICY=PASSIVE MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184"
    " HF_HUB_OFFLINE=${{HF_HUB_OFFLINE:-1}} TQDM_MININTERVAL=${{TQDM_MININTERVAL:-5}}; "
)

cache_parameters(Resource.evaluate)  # it is called for each resource of each job

IN_MODULE = not workflow.modifier.is_main_snakefile()  # asked here: once all modules are read, it is false
try:
    require_own_packages()
    for file in workflow.configfiles:
        check_configuration(file)
    STUDY = load(config) if IN_MODULE else load_with(config, workflow.config_settings.config)
    prepare(STUDY, os.environ)
    for remark in remarks(STUDY) if workflow.is_main_process else ():
        print(f"warning: {remark}", file=sys.stderr)
    require_own_specs()
    COSTS = CostSpec.load(resource("forecast.yaml"))
    BENCHMARKS = Path(STUDY.results, "benchmarks")
    NEEDS = Needs(STUDY, COSTS, Limits(workflow, COSTS, STUDY.forecast.device, BENCHMARKS).seconds)
except UserError as error:
    sys.exit(f"error: {error}")


def recorded(rule, wildcards):
    """The parameters that a job had when it ended; a rule and its program have one name."""
    return workflow.persistence.params(workflow.get_rule(rule).output[0].apply_wildcards(wildcards)) or []


JOBS = Jobs(STUDY, recorded)
inputs, targets, job = JOBS.inputs, JOBS.targets, JOBS.job
CONFIGURATION = [os.path.relpath(file) for file in workflow.configfiles]  # where that is, is no part of a result
TEXT_SETS = text_sets(STUDY)
ANSWER, REFERENCE = Answer.get(STUDY), StudyReference.of(STUDY, CONFIGURATION)
CONDA = any(method.name == "CONDA" for method in workflow.deployment_settings.deployment_method)
BEGUN, CLAIMS = time.time(), contextlib.ExitStack()


def environment(rule):
    """The file of the environment in which a rule's jobs write, for conda."""
    named = JOBS.environment(rule)
    return rule_function(lambda wildcards: f"../envs/{named(wildcards)}.yaml")


def generator_python(rule):
    """The Python of a rule's environment, where conda provides none. A function of inputs, it is not recorded."""
    named = JOBS.environment(rule)
    return rule_function(lambda wildcards, input: "python" if CONDA else runs.python_in(named(wildcards)))


# A program reads its job from standard input, since an argument may have no more than 128 KiB.
PROGRAM = "python -m scripts.{params.program} - <<< {params.job:q} > {log:q} 2>&1"
ONLINE = f"HF_HUB_OFFLINE=0 {PROGRAM}"
ON_GPU = f"GPUS={{resources.gpu}} {PROGRAM}"
IN_GENERATOR_ENV = ON_GPU.replace("python", "{params.python:q}", 1)


def run_options():
    """How this run was started: configuration, threads and what `--config` changes."""
    return runs.asked(workflow, config if IN_MODULE else None, NEEDS.at_most)


def gpus_of_jobs():
    """The GPUs that each job takes if there are any, of which the report makes GPU hours."""
    return {"gpus": NEEDS.gpus_by_folder() | runs.gpus_given(workflow)}


def claim():
    """Before the first job: refuse jobs that cannot succeed, lock the results, and share this machine's GPUs."""
    gpus = getattr(workflow.global_resources.get("gpu"), "value", None)
    jobs = [(str(job), job.rule.name, job.wildcards, job.resources) for job in workflow.dag.needrun_jobs()]
    try:
        NEEDS.require(jobs, conda=CONDA)
        runs.require_accounting(workflow.executor_settings)
        CLAIMS.enter_context(runs.claimed(Path(STUDY.results), gpus if workflow.local_exec else None, os.environ))
        atexit.register(CLAIMS.close)  # before Python takes its modules apart
        events.keep(Path(STUDY.results), logger, workflow.logger_manager.get_logfile())
        JOBS.begin()
        workflow.persistence._params.cache_clear()  # what was kept is not what is recorded
    except UserError as error:
        sys.exit(f"error: {error}")
