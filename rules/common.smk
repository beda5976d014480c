"""The study, checked, and what a wildcard stands for in it: files, settings, names. All functions of the graph are here."""

from pathlib import Path
import json
import math
import re
import shlex
import sys

from seedbed.config import ANY, load
from seedbed.corpora.fetch import origin
from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.settings import SYNTHETIC
from seedbed.evaluation.settings import KIND_OF
from seedbed.generators.settings import POLARITIES
from seedbed.imports import closure
from seedbed.io import UserError
from seedbed.tables.specs import FigureSpec

# A thread that waits must not slow the one that works. Memory that glibc keeps instead of giving back to the system saves a
# tenth of a training step on a CPU (most of its page faults). Downloads alone may reach the hub.
shell.prefix(
    "set -euo pipefail; export OMP_WAIT_POLICY=PASSIVE MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=17179869184"
    " HF_HUB_OFFLINE=${{HF_HUB_OFFLINE:-1}}; "
)

try:
    STUDY = load(config)
except UserError as error:
    sys.exit(f"error: {error}")

ROLES = {
    "text": "text",
    "instructions": "instructions",
    "nli": "triplets",
    "nli_translations": "triplets",
    "parallel": "parallel",
    "published_positive": "targets",
    "published_negative": "targets",
}
"""The kind of corpus behind each key of `corpora:`."""


def one_of(names):
    return "|".join(re.escape(name) for name in sorted(set(names))) or "none"


LANGUAGES = {*STUDY.languages, *STUDY.borrowed(), STUDY.pivot, ANY}
CONSTRAINTS = {
    "lang": one_of(LANGUAGES),
    "test_lang": one_of(STUDY.languages),
    "corpus": one_of([*ROLES, *STUDY.tasks]),
    "task": one_of(STUDY.tasks),
    "room": "generators|encoders",
    "model": one_of([*STUDY.generators, *STUDY.backbones]),
    "generator": one_of(STUDY.generators),
    "backbone": one_of(STUDY.backbones),
    "recipe": one_of(STUDY.recipes),
    "method": one_of(SYNTHETIC),
    "polarity": one_of(POLARITIES),
    "seed": r"\d+",
    "shard": r"\d+",
    "table": r"[A-Za-z0-9_]+",
    "figure": r"[A-Za-z0-9_]+",
}


def code(script, *data):
    """A program, what it imports, and the project's data it reads: inputs, so that an edit re-runs what it must."""
    return [*closure(f"scripts/{script}.py"), *data]


def compact(value):
    """Canonical JSON: two runs and two orders of keys give the same string."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def more(amount):
    """A resource that grows with each attempt."""
    return lambda wildcards, attempt: amount * attempt


def fact(name):
    """A registry column of the wildcard's language."""
    return lambda wildcards: STUDY.facts(wildcards.lang)[name]


def tests_of(wildcards):
    """Every evaluation set of a language: what its training texts must not repeat."""
    tasks = STUDY.tests(wildcards.lang) if wildcards.lang in STUDY.languages else []
    return collect("<results>/corpora/{lang}/{task}.tsv", lang=wildcards.lang, task=tasks)


# Room 1: sentences.


def source_of(wildcards):
    if wildcards.corpus in ROLES:
        source = STUDY.corpus(wildcards.corpus, wildcards.lang)
    else:
        source = STUDY.test(wildcards.corpus, wildcards.lang)
    if source is None:
        sys.exit(
            f"error: no source for the {wildcards.corpus} corpus of {wildcards.lang}: "
            f"give one under `corpora.{wildcards.corpus}` or `languages.{wildcards.lang}`"
        )
    return source


def local_file(wildcards):
    """A local source is an input: when it changes, its corpus is made again."""
    file = source_of(wildcards).file
    return [file] if file else []


def fetch_options(wildcards):
    """Options that differ between a training corpus and a test set."""
    if wildcards.corpus in ROLES:
        return f"--kind {ROLES[wildcards.corpus]}"
    task = STUDY.tasks[wildcards.corpus]
    low, high = task.scale
    untouched = "" if task.clean else "--test"
    return f"--kind {KIND_OF[task.protocol]} {untouched} --scale {low:g} {high:g}"


# Room 2: language models and their adapters.

PROMPTS = ("resources/prompts/nli.yaml", "resources/prompts/syncse.yaml")


def model_source(wildcards):
    models = STUDY.generators if wildcards.room == "generators" else STUDY.backbones
    return models[wildcards.model].source


def generator_setting(*path):
    """One setting of the wildcard's generator; a group of settings as canonical JSON."""

    def value(wildcards):
        setting = STUDY.generators[wildcards.generator]
        for name in path:
            setting = getattr(setting, name)
        return setting.dump() if hasattr(setting, "dump") else setting

    return value


def xllora_corpora(role):
    """One role's corpora for the languages that the XL-LoRA adapter learns from."""

    def files(wildcards):
        spec = STUDY.generators[wildcards.generator].xllora
        codes = spec.languages if spec.source == "build" else []
        return [f"<results>/corpora/{code}/{role}.tsv" for code in codes if STUDY.corpus(role, code)]

    return files


def task_adapters(wildcards):
    """The adapters that write the targets of parallel text; published examples need none."""
    built = STUDY.generators[wildcards.generator].xllora.source == "build"
    return collect(
        "<results>/generators/{generator}/task/{polarity}/seedbed.json",
        generator=wildcards.generator,
        polarity=list(POLARITIES) if built else [],
    )


def published(wildcards):
    """The ready examples, positive and negative, if the study uses them."""
    ready = STUDY.generators[wildcards.generator].xllora.source == "published"
    names = ["published_positive", "published_negative"] if ready else []
    return collect("<results>/corpora/mul/{corpus}.tsv", corpus=names)


def xllora_inputs(wildcards, input):
    """Where the examples come from, as arguments."""
    if input.published:
        return [
            "--published-positive",
            input.published[0],
            "--published-negative",
            input.published[1],
        ]
    return [
        *adapter_arguments(wildcards, input),
        *("--parallel", *named_by_language(input.parallel)),
        *("--nli", *named_by_language(input.nli)),
    ]


def adapter_arguments(wildcards, input):
    """The folders of a positive and a negative adapter, as arguments; nothing where there are none."""
    folders = [str(Path(manifest).parent) for manifest in input.adapters]
    return [argument for polarity, folder in zip(POLARITIES, folders) for argument in (f"--{polarity}-adapter", folder)]


def named_by_language(files):
    """LANG=FILE arguments for corpora that lie in their language's folder."""
    return [f"{file.split('/')[-2]}={file}" for file in files]


# Room 3: synthetic triplets.


def shards_of(generator):
    """Enough shards for as many anchors as the study asks for; a language with fewer gets smaller ones."""
    return math.ceil(STUDY.anchors.count / STUDY.generators[generator].shard_rows)


def output_language(wildcards):
    """XL-LoRA writes the pivot language, whatever the anchor's."""
    return STUDY.pivot if wildcards.method == "xllora" else wildcards.lang


def method_adapters(wildcards):
    """The adapters that write positives and negatives; prompting has none."""
    folder = {
        "prompting": None,
        "composition": "<results>/generators/{generator}/composition/{lang}/{polarity}/seedbed.json",
        "xllora": "<results>/generators/{generator}/xllora/{polarity}/seedbed.json",
    }[wildcards.method]
    return collect(folder, polarity=list(POLARITIES), **wildcards) if folder else []


# Room 4: sentence encoders.


def training_texts(wildcards):
    """What a recipe's encoder learns from; the base encoder learns nothing."""
    recipe = STUDY.recipes[wildcards.recipe]
    if recipe.method == "base":
        return []
    if recipe.method == "unsupervised":
        return "<results>/corpora/{lang}/anchors.tsv"
    if recipe.method == "crosslingual":
        return "<results>/corpora/{lang}/nli.tsv"
    generator = STUDY.generator_of(wildcards.recipe)
    return f"<results>/triplets/{generator}/{recipe.method}/{{lang}}.tsv"


def lineage(wildcards):
    """What the model card says of an encoder's making."""
    recipe, backbone = STUDY.recipes[wildcards.recipe], STUDY.backbones[wildcards.backbone]
    about = {
        "backbone": wildcards.backbone,
        "base_model": backbone.source.hub or "",
        "backbone_licence": backbone.source.licence,
        "recipe": wildcards.recipe,
        "method": recipe.method,
        "language": wildcards.lang,
        "language_name": STUDY.facts(wildcards.lang)["name"],
        "seed": int(wildcards.seed),
        "data": [],
    }
    if recipe.method != "base":
        role = "nli" if recipe.method == "crosslingual" else "text"
        about["data"].append(described(role, STUDY.corpus(role, wildcards.lang)))
    if recipe.method in SYNTHETIC:
        about["generator"] = STUDY.generator_of(wildcards.recipe)
        about["data"].append(described(about["generator"], STUDY.generators[about["generator"]].source))
    return compact(about)


def described(name, source):
    """A source as a card names it."""
    return {"name": name, "origin": origin(source), "licence": source.licence}


# Room 5: scores.

SCORE = "<results>/scores/{backbone}/{recipe}/{lang}/{seed}/{task}/{test_lang}.json"


def scores_of(recipes=None):
    """Every score file that the study's tables are made of."""
    return [
        SCORE.format(
            backbone=backbone,
            recipe=recipe,
            lang=folder,
            seed=seed,
            task=task,
            test_lang=test_lang,
        )
        for test_lang in sorted(STUDY.languages)
        for task in STUDY.tests(test_lang)
        for backbone in sorted(STUDY.backbones)
        for recipe in sorted(recipes or STUDY.recipes)
        for folder in [STUDY.trained_on(recipe, test_lang)]
        for seed in STUDY.seeds_of(recipe)
    ]


# Room 6: tables, figures, the report.


def triplets_of(ending):
    """A file of each set of triplets that the study trains on."""
    recipes = [(name, recipe.method) for name, recipe in STUDY.recipes.items() if recipe.method in SYNTHETIC]
    made = {(STUDY.generator_of(name), method) for name, method in recipes}
    return [
        f"<results>/triplets/{generator}/{method}/{lang}{ending}"
        for generator, method in sorted(made)
        for lang in sorted(STUDY.languages)
    ]


def cards():
    """Model cards, one of each encoder that tables show, of its first seed; and the data card."""
    folders = {
        f"{STUDY.results}/encoders/{backbone}/{recipe}/{STUDY.trained_on(recipe, lang)}/{STUDY.seeds_of(recipe)[0]}"
        for backbone in STUDY.backbones
        for recipe in STUDY.recipes
        for lang in STUDY.languages
    }
    return [f"{folder}/README.md" for folder in sorted(folders)]


def table_of(wildcards):
    figure = FigureSpec.load(f"resources/figures/{wildcards.figure}.yaml")
    return f"<results>/tables/{figure.table}.csv"


def asked():
    """How this very run was asked for, as arguments of a program that plans it again."""
    given = workflow.config_settings
    threads = {rule: int(getattr(n, "value", n)) for rule, n in workflow.resource_settings.overwrite_threads.items()}
    arguments = ["--configfiles", *map(str, given.configfiles), "--config", compact(dict(given.config))]
    return shlex.join([*arguments, "--threads", compact(threads)])
