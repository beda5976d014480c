"""The study, checked, and what a wildcard stands for in it: files, settings, names. All functions of the graph are here."""

from pathlib import Path
import contextlib
import functools
import json
import math
import re
import shlex
import sys

from seedbed.config import ANY, load
from seedbed.corpora.fetch import origin
from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.classifier_settings import VARIANTS
from seedbed.encoders.settings import SYNTHETIC, UNTRAINED
from seedbed.evaluation.settings import KIND_OF, LABELLING
from seedbed.generators.settings import BOTH, PART_CORPUS, POLARITIES
from seedbed.imports import closure
from seedbed.io import UserError
from seedbed.locks import exclusive
from seedbed.tables.specs import FigureSpec, TableSpec

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

SPECS = {path.stem: TableSpec.load(path) for path in sorted(Path("resources/tables").glob("*.yaml"))}

ROLES = {
    "text": "text",
    "instructions": "instructions",
    "annotated": "instructions",
    "nli": "triplets",
    "nli_translations": "triplets",
    "nli_machine": "triplets",
    "nli_pairs": "labelled_pairs",
    "parallel": "parallel",
    "published_positive": "targets",
    "published_negative": "targets",
}
"""The kind of corpus behind each key of `corpora:`, and behind `annotated`, the instructions without their top-up."""


TOGETHER = "all"
"""The bundle of the tasks that are not on request: they are scored together."""


CLAIMS = contextlib.ExitStack()
"""Held until this process ends."""


def claim():
    """Keep other runs off these results, from other clones and other nodes too: each would delete the other's outputs."""
    try:
        CLAIMS.enter_context(exclusive(Path(STUDY.results) / ".lock"))
    except UserError as error:
        sys.exit(f"error: {error}")


def one_of(names):
    return "|".join(re.escape(name) for name in sorted(set(names))) or "none"


ENCODED, LABELLED = (
    [name for name, task in STUDY.tasks.items() if (task.protocol in LABELLING) is labelling]
    for labelling in (False, True)
)
"""The tasks of encoders, and those of classifiers."""

LANGUAGES = {*STUDY.languages, *STUDY.borrowed(), STUDY.pivot, ANY}
CONSTRAINTS = {
    "lang": one_of(LANGUAGES),
    "test_lang": one_of(STUDY.languages),
    "corpus": one_of(
        [*ROLES, *STUDY.tasks, *(f"{name}+{method}" for name in STUDY.generators for method in SYNTHETIC)]
    ),
    "room": "generators|encoders",
    "model": r"[A-Za-z0-9.+-]+",
    "generator": one_of(STUDY.generators),
    "backbone": one_of(STUDY.backbones),
    "recipe": one_of(STUDY.recipes),
    "bundle": one_of([*ENCODED, TOGETHER]),
    "classifier": one_of(STUDY.classifiers),
    "variant": one_of(VARIANTS),
    "part": "task|language",
    "task": one_of(LABELLED),
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
    sets = sorted({STUDY.test_set(task) for task in tasks})
    return collect("<results>/corpora/{lang}/{task}.tsv", lang=wildcards.lang, task=sets)


# Room 1: sentences.


def source_of(wildcards):
    if "+" in wildcards.corpus:
        return STUDY.published_triplets(*wildcards.corpus.split("+"), wildcards.lang)
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
    if kind := ROLES.get(wildcards.corpus) or ("triplets" if "+" in wildcards.corpus else ""):
        return f"--kind {kind}"
    task = STUDY.tasks[wildcards.corpus]
    low, high = task.scale
    untouched = "" if task.clean else "--test"
    return f"--kind {KIND_OF[task.protocol]} {untouched} --scale {low:g} {high:g}"


# Room 2: language models and their adapters.

PROMPTS = ("resources/prompts/nli.yaml", "resources/prompts/syncse.yaml")
PAIR_PROMPTS = "resources/prompts/classification.yaml"


def model_source(wildcards):
    """Where a model comes from: a study's own, or a published adapter or encoder (see `published_model`)."""
    owner, *what = wildcards.model.split("+")
    if not what:
        model = (STUDY.generators if wildcards.room == "generators" else STUDY.backbones)[owner]
        return model.source.resolved(STUDY.facts(ANY))
    find = STUDY.published_adapter if wildcards.room == "generators" else STUDY.published_encoder
    return find(owner, *what)


def published_model(room, owner, *what):
    """The directory of what is published for a generator (method, polarity, language) or backbone (recipe, language)."""
    return f"<results>/{room}/{'+'.join([owner, *what])}/weights/seedbed.json"


def generator_setting(*path):
    """One setting of the wildcard's generator; a group of settings as canonical JSON."""

    def value(wildcards):
        setting = STUDY.generators[wildcards.generator]
        for name in path:
            setting = getattr(setting, name)
        return setting.dump() if hasattr(setting, "dump") else setting

    return value


def writer(*unused):
    """A generator's settings for a job that writes, without those that it does not read: an edit of them re-runs nothing."""
    never = {"like", "adapters", "triplets", "task_adapters", "language_data", "composition", "shard_rows"}

    def settings(wildcards):
        generator = STUDY.generators[wildcards.generator]
        return compact(generator.model_dump(mode="json", exclude_defaults=True, exclude=never | set(unused)))

    return settings


def gpus(wildcards):
    """What the wildcard's generator writes on: vLLM spreads a model over several GPUs, an endpoint has its own."""
    generator = STUDY.generators[wildcards.generator]
    return {"vllm": generator.tensor_parallel, "openai": 0}.get(generator.backend, 1)


def made(part, path):
    """A file of one part of the wildcard's generator (see MADE_FROM), in the folder of the generator that makes it."""

    return lambda wildcards: f"<results>/generators/{STUDY.maker(wildcards.generator, part)}/{path}"


def composed(part, path):
    """A file that is composed of adapters: a generator's own, or a classifier's (see `classifier_made`)."""

    def file(wildcards):
        if wildcards.room == "encoders":
            return classifier_made(wildcards.model, part, path)
        return f"<results>/generators/{STUDY.maker(wildcards.model, part)}/{path}"

    return file


def composition_of(wildcards):
    """How a generator's or a classifier's adapters are composed."""
    model = STUDY.generators[wildcards.model] if wildcards.room == "generators" else learner(wildcards.model)
    return model.composition.dump()


def weights_name(wildcards):
    """Whose weights the wildcard's generator has: adapters of variants that share them can be composed."""
    return STUDY.maker(wildcards.generator, "weights")


def language_texts(wildcards):
    """The corpus that a language adapter learns from."""
    return f"<results>/corpora/{{lang}}/{STUDY.generators[wildcards.generator].language_corpus}.tsv"


def task_adapters(generator, part="task", folder="task/{polarity}", **wildcards):
    """The adapters that write positives and negatives: in one place or in two."""
    return collect(
        f"<results>/generators/{{generator}}/{folder}/seedbed.json",
        generator=STUDY.maker(generator, part),
        polarity=[STUDY.generators[generator].task_adapter(polarity) for polarity in POLARITIES],
        **wildcards,
    )


def xllora_corpora(part):
    """One part's corpora for the languages that the XL-LoRA adapter learns from."""

    def files(wildcards):
        spec = STUDY.generators[wildcards.generator].xllora
        role = PART_CORPUS[part]
        codes = [code for code in spec.languages if spec.uses(part) and STUDY.corpus(role, code)]
        return [f"<results>/corpora/{code}/{role}.tsv" for code in codes]

    return files


def xllora_writers(wildcards):
    """The adapters that write the targets of parallel text; no other examples need any."""
    synthetic = STUDY.generators[wildcards.generator].xllora.uses("synthetic")
    return task_adapters(wildcards.generator) if synthetic else []


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
        *(("--nli-machine", *named_by_language(input.machine)) if input.machine else ()),
    ]


def adapter_arguments(wildcards, input):
    """The folders of a positive and a negative adapter, as arguments; nothing where there are none."""
    folders = [str(Path(manifest).parent) for manifest in input.adapters]
    return [argument for polarity, folder in zip(POLARITIES, folders) for argument in (f"--{polarity}-adapter", folder)]


def named_by_language(files):
    """LANG=FILE arguments for corpora that lie in their language's folder."""
    return [f"{file.split('/')[-2]}={file}" for file in files]


# Room 3: synthetic triplets.


def shards_of(wildcards):
    """Enough shards for as many anchors as recipes ask for; a language with fewer gets smaller ones."""
    anchors = STUDY.anchors_for(wildcards.generator, wildcards.method)
    return math.ceil(anchors / STUDY.generators[wildcards.generator].shard_rows)


def output_language(wildcards):
    """XL-LoRA writes the pivot language, whatever the anchor's."""
    return STUDY.pivot if wildcards.method == "xllora" else wildcards.lang


def method_adapters(wildcards):
    """The adapters that write positives and negatives; prompting has none, and a scale of 0 leaves the task's own."""
    facts = (wildcards.generator, wildcards.method)
    if all(STUDY.published_adapter(*facts, polarity, wildcards.lang) for polarity in POLARITIES):
        return [published_model("generators", *facts, polarity, wildcards.lang) for polarity in POLARITIES]
    if wildcards.method == "xllora":
        return collect(
            "<results>/generators/{generator}/xllora/{polarity}/seedbed.json",
            generator=STUDY.maker(wildcards.generator, "xllora"),
            polarity=list(POLARITIES),
        )
    if wildcards.method == "prompting":
        return []
    if STUDY.generators[wildcards.generator].composition.scale:
        folder = "composition/{lang}/{polarity}"
        return task_adapters(wildcards.generator, "composition", folder, lang=wildcards.lang)
    return task_adapters(wildcards.generator)


def raw_triplets(wildcards):
    """What the audit reads: the published triplets, or those of our shards."""
    if STUDY.published_triplets(wildcards.generator, wildcards.method, wildcards.lang):
        return "<results>/corpora/{lang}/{generator}+{method}.tsv"
    return "<results>/triplets/{generator}/{method}/{lang}.raw.tsv"


# Room 4: sentence encoders.


def untrained(wildcards):
    """Whether an encoder is used as it is."""
    recipe = STUDY.recipes[wildcards.recipe]
    return recipe.method in UNTRAINED or bool(encoder_published(wildcards))


def encoder_published(wildcards):
    """The published encoder, if the study takes it."""
    return STUDY.published_encoder(wildcards.backbone, wildcards.recipe, wildcards.lang)


def starting_weights(wildcards):
    """What training starts from, or the published encoder."""
    if encoder_published(wildcards):
        return published_model("encoders", wildcards.backbone, wildcards.recipe, wildcards.lang)
    return "<results>/encoders/{backbone}/weights/seedbed.json"


def training_texts(wildcards):
    """What a recipe's encoder learns from; the base encoder learns nothing."""
    recipe = STUDY.recipes[wildcards.recipe]
    if untrained(wildcards):
        return []
    if recipe.method == "unsupervised":
        return "<results>/corpora/{lang}/anchors.tsv"
    return STUDY.triplets_of(wildcards.recipe)


def lineage(wildcards):
    """What the model card says of an encoder's making."""
    recipe, given = STUDY.recipes[wildcards.recipe], encoder_published(wildcards)
    source = given or STUDY.backbones[wildcards.backbone].source
    about = {
        "backbone": wildcards.backbone,
        "base_model": source.hub or "",
        "backbone_licence": source.licence,
        "recipe": wildcards.recipe,
        "method": "published" if given else recipe.method,
        "language": wildcards.lang,
        "language_name": STUDY.facts(wildcards.lang)["name"],
        "seed": int(wildcards.seed),
        "data": [],
    }
    if untrained(wildcards):
        return compact(about)
    role = "nli" if recipe.method == "crosslingual" else "text"
    about["data"].append(described(role, STUDY.corpus(role, wildcards.lang)))
    if recipe.method in SYNTHETIC:
        about["generator"] = STUDY.generator_of(wildcards.recipe)
        about["data"].append(described(about["generator"], STUDY.generators[about["generator"]].source))
    return compact(about)


def described(name, source):
    """A source as a card names it."""
    return {"name": name, "origin": origin(source), "licence": source.licence}


# Classifiers: an encoder or a language model. Their files are in this room, but those that the generator has anyway.


def learner(classifier):
    """Whose settings train a classifier's adapters: its own, or those of its generator."""
    spec = STUDY.classifiers[classifier]
    return STUDY.generators[spec.generator] if spec.generator else spec


def classifier_setting(name):
    """One setting of the wildcard's classifier or of its generator; a group of settings as canonical JSON."""

    def value(wildcards):
        setting = getattr(learner(wildcards.classifier), name)
        return setting.dump() if hasattr(setting, "dump") else setting

    return value


def classifier_style(wildcards):
    """How it answers: with a head, or in its generator's style of prompts."""
    return getattr(learner(wildcards.classifier), "prompts", "head")


def classifier_name(wildcards):
    """The name of what is adapted; a generator's language adapters carry it too."""
    spec = STUDY.classifiers[wildcards.classifier]
    return STUDY.maker(spec.generator, "weights") if spec.generator else spec.backbone


def classifier_made(classifier, part, path):
    """A file of a classifier's weights, of its language adapters, or of its own."""
    spec = STUDY.classifiers[classifier]
    if spec.generator and part != "task":
        return f"<results>/generators/{STUDY.maker(spec.generator, part)}/{path}"
    return f"<results>/encoders/{spec.backbone if part == 'weights' else classifier}/{path}"


def classifier_weights(wildcards):
    """What it is made of."""
    return classifier_made(wildcards.classifier, "weights", "weights/seedbed.json")


def classifier_kind(wildcards):
    """What an adapter learns from: labelled pairs for the task, or a language's texts."""
    return "pairs" if wildcards.part == "task" else learner(wildcards.classifier).language_data


def classifier_examples(wildcards):
    """The corpus that an adapter learns from."""
    kind = classifier_kind(wildcards)
    return f"<results>/corpora/{{lang}}/{'nli_pairs' if kind == 'pairs' else kind}.tsv"


def variant_adapter(wildcards):
    """The adapter of a variant; untrained, it has none."""
    if wildcards.variant == "base":
        return []
    folder = f"composition/{{lang}}/{STUDY.pivot}" if wildcards.variant == "composition" else "task/{lang}"
    return f"<results>/encoders/{{classifier}}/{folder}/seedbed.json"


def variant_head(wildcards):
    """The task adapter whose head an encoder takes."""
    if wildcards.variant == "base" or STUDY.classifiers[wildcards.classifier].generator:
        return []
    lang = STUDY.pivot if wildcards.variant == "composition" else "{lang}"
    return f"<results>/encoders/{{classifier}}/task/{lang}/seedbed.json"


def variant_arguments(wildcards, input):
    """Its adapter and head, as arguments."""
    given = {"--adapter": input.adapter, "--head": input.head}
    return [word for option, file in given.items() if file for word in (option, str(Path(str(file)).parent))]


def test_of_task(ending):
    """A file of the test set of the wildcard's task."""
    return lambda wildcards: f"<results>/corpora/{{test_lang}}/{STUDY.test_set(wildcards.task)}{ending}"


# Room 5: scores. One job scores a recipe's encoders of all seeds on all tasks of a language, since most of a small one is
# its start; a task on request, which most encoders never see, has a job of its own. The declared output is the list of score
# files.

SCORED = "<results>/scores/{backbone}/{recipe}/{lang}/{test_lang}.{bundle}.json"


def encoders_of(wildcards):
    """A recipe's encoders of a language, one for each seed."""
    return collect(
        "<results>/encoders/{backbone}/{recipe}/{lang}/{seed}/seedbed.json",
        seed=STUDY.seeds_of(wildcards.recipe),
        **wildcards,
    )


def bundle_of(task):
    """The tasks that a task is scored with: its own name, or TOGETHER; classifiers have one job for each."""
    return task if STUDY.tasks[task].on_request or task in LABELLED else TOGETHER


def bundle_tasks(wildcards):
    """The tasks of a bundle that a language is scored on."""
    return [task for task in STUDY.tests(wildcards.test_lang) if bundle_of(task) == wildcards.bundle]


def tests_in(ending):
    """A file of the test set of each task of a bundle, in the order of the tasks."""
    return lambda wildcards: [
        f"<results>/corpora/{{test_lang}}/{STUDY.test_set(task)}{ending}" for task in bundle_tasks(wildcards)
    ]


def tasks_of_bundle(wildcards):
    """Name -> protocol and options of each task of a bundle."""
    return compact(
        {
            task: STUDY.task_for(task, wildcards.test_lang).model_dump(mode="json", exclude_defaults=True)
            for task in bundle_tasks(wildcards)
        }
    )


@functools.cache
def plan_of(table):
    """What a table shows of the study."""
    try:
        return STUDY.plan(table)
    except UserError as error:
        sys.exit(f"error: {error}")


def scores_of(wildcards):
    """Every list of scores that a table is made of."""
    cells = [cell for block in plan_of(wildcards.table) for cell in block.cells()]
    return sorted({SCORED.format(**cell._asdict(), bundle=bundle_of(cell.task)) for cell in cells})


def texts_of(wildcards):
    """Every file of triplets that a table measures."""
    return sorted({texts.file for block in plan_of(wildcards.table) for texts in block.texts()})


# Room 6: tables, figures, the report.


def encoders_shown():
    """Backbone, recipe, language and seed of every encoder in the study's tables."""
    shown = [table for table in STUDY.tables if not SPECS[table].of_classifiers]
    return {cell[:4] for table in shown for block in plan_of(table) for cell in block.cells()}


def triplets_of(ending):
    """A file of each set of triplets that the study's tables rest on."""
    learnt = {(recipe, lang) for _, recipe, lang, _ in encoders_shown()}
    learnt |= {texts[:2] for table in STUDY.tables for block in plan_of(table) for texts in block.texts()}
    made = {
        (STUDY.generator_of(recipe), STUDY.recipes[recipe].method, lang)
        for recipe, lang in learnt
        if STUDY.recipes[recipe].method in SYNTHETIC
    }
    return [f"<results>/triplets/{generator}/{method}/{lang}{ending}" for generator, method, lang in sorted(made)]


def cards():
    """Model cards of the encoders in tables, one of each, of its first seed."""
    first = {}
    for backbone, recipe, lang, seed in sorted(encoders_shown()):
        folder = f"{STUDY.results}/encoders/{backbone}/{recipe}/{lang}"
        first.setdefault(folder, f"{folder}/{seed}/README.md")
    return list(first.values())


def paper_of(wildcards):
    """The paper's numbers for a table."""
    paper = SPECS[wildcards.table].paper
    return f"resources/paper/{paper.csv}" if paper else []


def group(kind, paper):
    """The tables or figures of one paper."""
    tables = {name for name, spec in SPECS.items() if spec.group == paper}
    figures = {path.stem: FigureSpec.load(path).table for path in Path("resources/figures").glob("*.yaml")}
    return sorted(tables if kind == "tables" else [name for name, table in figures.items() if table in tables])


def table_of(wildcards):
    figure = FigureSpec.load(f"resources/figures/{wildcards.figure}.yaml")
    return f"<results>/tables/{figure.table}.csv"


def asked():
    """How this very run was asked for, as arguments of a program that plans it again."""
    given = workflow.config_settings
    threads = {rule: int(getattr(n, "value", n)) for rule, n in workflow.resource_settings.overwrite_threads.items()}
    arguments = ["--configfiles", *map(str, given.configfiles), "--config", compact(dict(given.config))]
    return shlex.join([*arguments, "--threads", compact(threads)])
