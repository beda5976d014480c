"""The study, checked, and what a wildcard stands for in it: files, settings, names. Functions are here and in `common/`."""

from pathlib import Path
import atexit
import contextlib
import functools
import json
import os
import re
import sys

# A profile, the command line or another Snakefile may bring the whole configuration; to merge it would mix two studies.
if "languages" not in config:
    if not os.path.isfile("config.yaml"):
        sys.exit(f"error: no study, and no config.yaml in {os.getcwd()}; name one by --configfile")

    configfile: "config.yaml"


try:
    from seedbed.config import load
except ModuleNotFoundError as error:
    sys.exit(f"error: {error} in the environment of {sys.executable}; run `make env` and `source .venv/bin/activate`")

from seedbed import devices, manifests, tracking
from seedbed.code import PACKAGES, ROOT, value
from seedbed.digests import Digests
from seedbed.encoders.classifier_settings import BESIDE
from seedbed.encoders.settings import SYNTHETIC
from seedbed.generators.settings import POLARITIES
from seedbed.gpu_needs import Needs
from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.locks import exclusive
from seedbed.names import TOGETHER, TRAINING, anchors_in
from seedbed.resources import resource, spec_file, specs
from seedbed.tables.forecasting.costs import CostSpec
from seedbed.tables.specs import TableSpec
from seedbed.yamls import check_configuration


def first(folder, *others):
    """A search path that begins with a folder."""
    return os.pathsep.join(dict.fromkeys([str(folder), *others]))


for package in PACKAGES:
    if os.path.isfile(f"{package}/__init__.py") and not ROOT.samefile("."):
        sys.exit(
            f"error: {os.path.abspath(package)}: jobs would take this package for Seedbed's; run in another folder"
        )

# Jobs run the `python` of this very environment, activated or not; conda and modules put theirs before it. And they run the
# programs beside this file, wherever the study is.
os.environ |= {
    "PATH": first(os.path.dirname(sys.executable), *os.get_exec_path()),
    "PYTHONPATH": first(ROOT, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))),
}

# A thread that waits must not slow the one that works. Memory that glibc keeps instead of giving back to the system saves a
# tenth of a training step on a CPU (most of its page faults). Downloads alone may reach the hub. A bar that moves every
# five seconds leaves a log of hours that can be read.
shell.prefix(
    "set -euo pipefail; export OMP_WAIT_POLICY=PASSIVE MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184"
    " HF_HUB_OFFLINE=${{HF_HUB_OFFLINE:-1}} TQDM_MININTERVAL=${{TQDM_MININTERVAL:-5}}; "
)

try:
    for file in workflow.configfiles:
        check_configuration(file)
    STUDY = load(config)
except UserError as error:
    sys.exit(f"error: {error}")

os.environ[tracking.ASKED] = STUDY.report_to


def checked(kind, model):
    """All specs of tables or figures, by name."""
    try:
        return {name: model.load(path) for name, path in sorted(specs(kind).items())}
    except UserError as error:
        sys.exit(f"error: {error}")


SPECS = checked("tables", TableSpec)
NEEDS = Needs(STUDY, CostSpec.load(resource("forecast.yaml")))


CLAIMS = contextlib.ExitStack()
"""Held until this process ends."""


def claim():
    """Keep other runs off these results, from other clones and other nodes too: each would delete the other's outputs.

    And say which GPUs of this machine jobs may take, if a profile gives their number. A job that must fail ends the run.
    """
    for job in workflow.dag.needrun_jobs():
        if reason := lacking(job) or NEEDS.refusal(str(job), job.resources.get("gpu_mb", 0)):
            sys.exit(f"error: {reason}")
    try:
        CLAIMS.enter_context(exclusive(Path(STUDY.results) / ".lock"))
        atexit.register(CLAIMS.close)  # before Python takes its modules apart
        gpus = getattr(workflow.global_resources.get("gpu"), "value", None)
        if workflow.local_exec and gpus:
            os.environ |= devices.shared(gpus, os.environ)
    except UserError as error:
        sys.exit(f"error: {error}")


def mourn(logs):
    """Say at the end, on the screen, what each failed job said last: it may have been hours ago."""
    from scripts.workflow import last_words  # takes a second, which every job on a cluster would pay

    print(last_words(logs), file=sys.stderr, flush=True)


def one_of(names):
    return "|".join(re.escape(name) for name in sorted(set(names))) or "none"


LANGUAGES = {*STUDY.languages, *STUDY.borrowed(), *STUDY.lent(), STUDY.pivot, ANY}
CONSTRAINTS = {
    "lang": one_of(LANGUAGES),
    "test_lang": one_of(STUDY.languages),
    "corpus": one_of(
        [
            *STUDY.roles,
            *STUDY.tasks,
            *(f"{task}{TRAINING}" for task in STUDY.tasks),
            *(f"{name}+{method}" for name in STUDY.generators for method in SYNTHETIC),
        ]
    ),
    "anchors": one_of([anchors_in(text) for text in ("", *STUDY.corpora.others)]),
    "room": "generators|encoders",
    "model": r"[A-Za-z0-9.+-]+",
    "generator": one_of(STUDY.generators),
    "backbone": one_of(STUDY.backbones),
    "recipe": one_of(STUDY.recipes),
    "bundle": one_of([*STUDY.tasks, TOGETHER]),
    "classifier": one_of(STUDY.classifiers),
    "variant": one_of(STUDY.variants()),
    "part": "task|language",
    "method": one_of(SYNTHETIC),
    "polarity": one_of(POLARITIES),
    "seed": r"\d+",
    "shard": r"\d+",
    "table": r"[A-Za-z0-9_]+",
    "figure": r"[A-Za-z0-9_]+",
}


DIGESTS = Digests(Path(STUDY.downloads, "digests"))


@functools.cache
def value_of(program, data, modules):
    """As `seedbed.code.value`."""
    return value(f"scripts/{program}.py", data, modules)


def code(program, *data, modules=lambda wildcards: ()):
    """What a program runs, as a value: an edit re-runs what it may change, whatever the times of files.

    Args:
        data: files that the program reads, or functions of wildcards that give them. Such a file may be an input
            too, of which Snakemake sees only edits that are newer than the output.
        modules: those that it imports by a computed name.
    """

    def found(wildcards):
        files = (one(wildcards) if callable(one) else one for one in data)
        return value_of(program, tuple(file for file in files if file), tuple(modules(wildcards)))

    return found


def made_folder(wildcards, output):
    """The folder of an output. What is there already must be what its job wrote."""
    if (made := Path(str(output[0]))).is_file():
        try:
            manifests.read(made, DIGESTS.file)
        except UserError as error:
            sys.exit(f"error: {error}")
    return str(made.parent)


def digests_of(files):
    """Digests of local files, as a parameter: an edit of any age is noticed, and a touch is none."""
    return compact(DIGESTS.files(files))


def compact(value):
    """Canonical JSON: two runs and two orders of keys give the same string."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def plain(setting):
    """A setting as a parameter; a group of settings as canonical JSON."""
    return setting.dump() if hasattr(setting, "dump") else setting


def unrecorded(value):
    """A setting that no result depends on, as a parameter: Snakemake keeps none that is made of resources."""
    return lambda wildcards, resources: value


def more(amount):
    """A resource that grows with each attempt."""
    return lambda wildcards, attempt: amount * attempt


def on_a_gpu(need):
    """Resources of a job that needs so many MiB of a GPU: the number, and how Slurm is told (see `Needs.kinds`)."""

    def told(flag):
        return lambda wildcards: NEEDS.kinds(need(wildcards)).get(flag)

    return {"gpu_mb": need, "constraint": told("constraint"), "gpu_model": told("gpu_model")}


def fact(name):
    """A registry column of the wildcard's language."""
    return lambda wildcards: STUDY.facts(wildcards.lang)[name]


def tests_of(wildcards):
    """Every evaluation set of a language: what its training texts must not repeat."""
    tasks = STUDY.held_out(wildcards.lang) if wildcards.lang in STUDY.languages else []
    sets = sorted({STUDY.test_set(task) for task in tasks})
    return collect("<results>/corpora/{lang}/{task}.tsv", lang=wildcards.lang, task=sets)


include: "common/corpora.smk"
include: "common/generators.smk"
include: "common/triplets.smk"
include: "common/encoders.smk"
include: "common/classifiers.smk"
include: "common/evaluation.smk"
include: "common/tables.smk"
