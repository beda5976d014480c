"""Scores, and what they are of.

One job scores a recipe's encoders, or a classifier, of all seeds on all tasks of a language, since most of a small job
is its start; or a language model's variants in several, see `shares`. A task on request has a job of its own. `tasks`
is the name of a task, or TOGETHER.
"""

from pathlib import Path
from typing import Any

from seedbed.encoders.settings import Endpoint
from seedbed.evaluation import protocols
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems import ENCODER, module_of
from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.names import TOGETHER, languages_of
from seedbed.study import pairs, paths
from seedbed.study.graph import classifiers, corpora, encoders, servers, shares, tuned
from seedbed.study.model import Study
from seedbed.study.paths import at, told


def systems(study: Study, wildcards: Any) -> list[str]:
    """What is scored: a recipe's encoders of a language, or a classifier, one for each seed; or each variant."""
    name, recipe, lang = wildcards.backbone, wildcards.recipe, wildcards.lang
    if tuned.tunes(study, wildcards.tasks):
        return tuned.systems(study, wildcards)
    if name in study.backbones:
        return _encoders(study, wildcards, lang)
    spec = study.classifiers[name]
    if spec.prompted:
        facts = {"classifier": name, "lang": lang, "seed": 0}
        return [at(study, paths.CLASSIFIER, **facts, variant=one.recipe) for one in shares.systems_of(study, wildcards)]
    seeds = classifiers.seeds_of(study, recipe) if spec.as_baseline else [0]
    if not spec.fine_tuning:
        facts = {"classifier": name, "variant": recipe, "lang": lang}
        return [at(study, paths.CLASSIFIER, **facts, seed=seed) for seed in seeds]
    learnt = [(study.test_set(task), study.train_of(task, wildcards.test_lang)) for task in tasks_of(study, wildcards)]
    return [
        at(study, paths.FINE_TUNED, classifier=name, task=task, lang=train, seed=seed)
        for task, train in learnt
        for seed in seeds
    ]


def _encoders(study: Study, wildcards: Any, folder: str) -> list[str]:
    """A recipe's encoders in a language folder, one for each seed."""
    facts = {"backbone": wildcards.backbone, "recipe": pairs.maker(study, wildcards.recipe), "lang": folder}
    return [at(study, paths.ENCODER, **facts, seed=seed) for seed in encoders.seeds_of(study, wildcards.recipe)]


def seconds(study: Study, wildcards: Any) -> list[str]:
    """What encodes the second language of a pair, one for each seed; empty: one language is tested."""
    other = languages_of(wildcards.test_lang)[1:]
    return _encoders(study, wildcards, encoders.trained_on(study, wildcards.recipe, other[0])) if other else []


def orders(study: Study, wildcards: Any) -> dict[str, list[str]]:
    """Task -> the orders of a pair that have test sets of their own."""
    if not seconds(study, wildcards):
        return {}
    every = {task: _own_orders(study, task, wildcards) for task in tasks_of(study, wildcards)}
    return {task: own for task, own in every.items() if own}


def adapters(study: Study, wildcards: Any) -> bool:
    """Whether parallel adapters are on."""
    recipe = study.recipes.get(wildcards.recipe)
    off = ["never"] if seconds(study, wildcards) else ["never", "pairs"]
    return not recipe or recipe.aligned not in off


def places(study: Study, wildcards: Any) -> list[str]:
    """The folder of each system's scores."""
    facts = [
        {name: getattr(job, name) for name in ("backbone", "recipe", "lang")}
        for job in shares.systems_of(study, wildcards)
    ]
    seeds = {told(file).rpartition("/")[2]: None for file in systems(study, wildcards)}
    return [at(study, paths.SCORED, **each, seed=seed) for each in facts for seed in seeds]


def languages(study: Study, wildcards: Any) -> list[str]:
    """The languages of a job: one, or a pair; or several."""
    return [job.test_lang for job in shares.languages_of(study, wildcards)]


def language_names(study: Study, wildcards: Any) -> list[str]:
    """The names of the languages of a job; of a pair both names as one."""
    return ["-".join(study.names[code] for code in languages_of(one)) for one in languages(study, wildcards)]


def retrievers(study: Study, wildcards: Any) -> list[str]:
    """The encoders that find a classifier's examples in the test languages, or give the vectors before questions."""
    if wildcards.backbone in study.backbones:
        return []
    jobs = shares.jobs_of(study, wildcards)
    found = [classifiers.helper(study, job.backbone, job.recipe, job.test_lang) for job in jobs]
    return [*dict.fromkeys(filter(None, found))]


def generators(study: Study, wildcards: Any) -> list[Generator]:
    """The generator of a classifier that answers without adapters, as it is set today."""
    spec = study.classifiers.get(wildcards.backbone)
    return [classifiers.answering_generator(study, wildcards.backbone)] if spec and spec.prompted else []


def endpoints(study: Study, wildcards: Any) -> list[Endpoint]:
    """The endpoints behind an encoder, a fusion or a classifier's retriever, as they are set today."""
    name = wildcards.backbone
    if name in study.backbones:
        return servers.endpoints_of(study, [name])
    variants = [job.recipe for job in shares.systems_of(study, wildcards)]
    return servers.endpoints_of(study, [classifiers.retriever_backbone(study, name, one) for one in variants])


def backbone_endpoints(study: Study, wildcards: Any) -> list[Endpoint]:
    """The endpoints behind an encoder or a fusion."""
    return servers.endpoints_of(study, [wildcards.backbone])


def can_score(study: Study, backbone: str) -> list[str] | None:
    """The tasks that a backbone's encoders can be scored on; None: all of encoders.

    A fusion has distances alone, and what chose its weights tells nothing of it. A server gives vectors, as does an
    encoder of a pair, and neither shows its layers nor is fine-tuned.
    """
    fusion, spec = study.fused.get(backbone), study.backbones[backbone]
    if not (fusion or spec.endpoint or spec.pair):
        return None
    if fusion:
        return [name for name, protocol in study.declared.items() if protocol.of_distances and name != fusion.dev]
    asked = {"vectors", "distances"} | ({"paths", "choices"} if spec.pair else set())
    return [name for name, protocol in study.declared.items() if {*protocol.asks} & asked]


def gives(study: Study, recipe: str) -> list[str]:
    """What a recipe's encoders give beyond vectors, where they read translations: whose, and a vector of each path."""
    fusion = study.recipes[recipe].fusion
    return [*(["choices"] if fusion else []), *(["paths"] if fusion and fusion != "english" else [])]


def every_task(study: Study, wildcards: Any) -> list[str]:
    """The tasks of a job, of whichever language."""
    return sorted({task for job in shares.languages_of(study, wildcards) for task in tasks_of(study, job)})


def tasks_of(study: Study, wildcards: Any) -> list[str]:
    """The tasks that a backbone, or a classifier, is scored on in a language of a job."""
    name, recipe = wildcards.backbone, wildcards.recipe
    if name in study.classifiers:
        tasks = classifiers.answered_by(study, name, wildcards.test_lang)
    else:
        asked = can_score(study, name)
        given = {*gives(study, recipe)} if recipe in study.recipes else set()
        tasks = [
            task
            for task in study.tests_of(wildcards.test_lang)
            if (protocol := study.declared[task]).of_encoders
            and (asked is None or task in asked)
            and protocol.serves(given)
        ]
    return [task for task in tasks if shares.scored_with(study, task, name, recipe) == wildcards.tasks]


def tests(study: Study, wildcards: Any) -> list[str]:
    """The test set of each task of a job, by its languages and then by their tasks; of a pair of languages both.

    Raises:
        UserError: no task is scored in such a job, which somebody asked for by its file.
    """
    if not (every := every_set(study, wildcards)):
        raise UserError(
            f"scores of {wildcards.backbone} by {wildcards.recipe}: nothing in {wildcards.test_lang} is scored as "
            f"{wildcards.tasks!r}; {TOGETHER!r} has the tasks that are not on request, others have their own names"
        )
    return [corpora.test_set(study, task, lang) for task, lang in every]


def records(study: Study, wildcards: Any) -> list[str]:
    """The records of those test sets: where they come from."""
    every = every_set(study, wildcards)
    return [at(study, paths.RECORD, lang=lang, corpus=study.test_set(task)) for task, lang in every]


def every_set(study: Study, wildcards: Any) -> list[tuple[str, str]]:
    """As `sets`, of all languages of a job."""
    return [one for job in shares.languages_of(study, wildcards) for one in sets(study, job)]


def sets(study: Study, wildcards: Any) -> list[tuple[str, str]]:
    """Task and language folder of each test set of a language: those of both of a pair, or those of its orders."""
    every = languages_of(wildcards.test_lang)
    return [
        (task, lang) for task in tasks_of(study, wildcards) for lang in _own_orders(study, task, wildcards) or every
    ]


def _own_orders(study: Study, task: str, wildcards: Any) -> list[str]:
    """The orders of a pair that have test sets of their own; empty: those of its languages are joined."""
    return study.tests_by_pair.get(wildcards.test_lang, {}).get(task, []) if study.tasks[task].orders() else []


def training_by_task(study: Study, wildcards: Any) -> dict[str, str]:
    """LANGUAGE/TASK -> training set, of those tasks of a job that have one."""
    return {
        f"{job.test_lang}/{task}": train
        for job in shares.languages_of(study, wildcards)
        for task in tasks_of(study, job)
        if (train := corpora.training_set(study, task, job.test_lang))
    }


def task_for(study: Study, task: str, code: str) -> Task:
    """A task's protocol as one language's scores need it: without its source, names resolved; mteb has no pairs."""
    spec = study.tasks[task]
    mteb = (
        spec.mteb
        and code in study.languages
        and spec.mteb.updated({"subset": spec.mteb.subset.format_map(study.facts(code))})
    )
    return spec.without("source", "languages", "pairs", "train", "fine_tuning", "reading").model_copy(
        update={"mteb": mteb or None}
    )


def tasks(study: Study, wildcards: Any) -> list[dict[str, Task]]:
    """Name -> protocol and options of each task, of each language of a job."""
    return [
        {task: task_for(study, task, job.test_lang) for task in tasks_of(study, job)}
        for job in shares.languages_of(study, wildcards)
    ]


def protocol_code(*names: str) -> list[str]:
    """What a score runs of protocols, which are loaded by name."""
    files = [protocols.module_of(name) for name in sorted(set(names))]
    return [f"{file}:{part}" for file in files for part in ("PROTOCOL", "score", "texts", "composed", "mteb_rows")]


def kind(study: Study, wildcards: Any) -> str:
    """The kind of system that is scored."""
    if tuned.tunes(study, wildcards.tasks):
        return "labelled"
    return ENCODER if wildcards.backbone in study.backbones else classifiers.kind(study, wildcards.backbone)


def code(study: Study, wildcards: Any) -> list[str]:
    """What a job runs that is loaded by name: the protocols of its tasks, its kind of system, and its back end."""
    back_end = classifiers.back_end(study, wildcards.backbone) if wildcards.backbone in study.classifiers else []
    named = protocol_code(*(study.tasks[task].protocol for task in every_task(study, wildcards)))
    return [*named, module_of(kind(study, wildcards)), *back_end]


def prompts(study: Study, wildcards: Any) -> list[Path]:
    """The prompt file of a classifier."""
    return classifiers.prompts_of(study, wildcards.backbone) if wildcards.backbone in study.classifiers else []


# ---- Fusions: encoders of the same recipe, language and seed, in the order of their weights.


def members(study: Study, wildcards: Any) -> dict[str, str]:
    """Backbone -> encoder, of what a fusion is of."""
    facts = {name: getattr(wildcards, name) for name in ("recipe", "lang", "seed")}
    return {name: at(study, paths.ENCODER, backbone=name, **facts) for name in study.fused[wildcards.backbone].of}


def weights(study: Study, wildcards: Any) -> list[list[float]]:
    """The weights of a fusion, or those to choose from."""
    return study.fused[wildcards.backbone].weights


def dev_code(study: Study, wildcards: Any) -> list[str]:
    """What choosing a fusion's weights runs of a protocol; empty where the study says them."""
    dev = study.fused[wildcards.backbone].dev
    return protocol_code(study.tasks[dev].protocol) if dev else []


def dev_tests(study: Study, wildcards: Any) -> dict[str, str]:
    """Language -> development set that chooses a fusion's weights; empty where the study says them."""
    dev = study.fused[wildcards.backbone].dev
    return {code: corpora.test_set(study, dev, code) for code in study.chosen_on(dev, wildcards.lang)}


def dev_trains(study: Study, wildcards: Any) -> dict[str, str]:
    """Language -> training set that labels its development set."""
    dev = study.fused[wildcards.backbone].dev
    sets = {code: corpora.training_set(study, dev, code) for code in dev_tests(study, wildcards)}
    return {code: train for code, train in sets.items() if train}


def chooses(study: Study, wildcards: Any) -> dict[str, Any]:
    """The task that chooses a fusion's weights, with its settings; nothing where the study says them."""
    dev, codes = study.fused[wildcards.backbone].dev, [*dev_tests(study, wildcards)]
    return {"dev": dev, "task": task_for(study, dev, codes[0])} if codes else {}
