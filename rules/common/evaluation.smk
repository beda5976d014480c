"""Scores, and what they are of. One job scores a recipe's encoders of all seeds on all tasks of a language, since most of a
small one is its start; a task on request, which most encoders never see, has a job of its own. The declared output is the
list of score files.
"""

import functools

SCORED = "<results>/scores/{backbone}/{recipe}/{lang}/{test_lang}.{bundle}.json"


def encoders_of(wildcards):
    """A recipe's encoders of a language, one for each seed."""
    return collect(
        ENCODER,
        seed=STUDY.seeds_of(wildcards.recipe),
        **wildcards,
    )


def bundle_of(task):
    """The tasks that a task is scored with: its own name, or TOGETHER; classifiers have one job for each."""
    return task if STUDY.tasks[task].on_request or task in LABELLED else TOGETHER


def bundle_tasks(wildcards):
    """The tasks of a bundle that a backbone is scored on in a language."""
    asked = STUDY.asked_of(wildcards.backbone)
    tasks = [task for task in STUDY.tests(wildcards.test_lang) if bundle_of(task) == wildcards.bundle]
    return tasks if asked is None else [task for task in tasks if task in asked]


def tests_in(ending):
    """A file of the test set of each task of a bundle, in the order of the tasks."""
    return lambda wildcards: [
        f"<results>/corpora/{{test_lang}}/{STUDY.test_set(task)}{ending}" for task in bundle_tasks(wildcards)
    ]


def trained_by(wildcards):
    """Task -> training set, of those tasks of a bundle that have one."""
    found = {}
    for task in bundle_tasks(wildcards):
        if other := STUDY.train_of(task, wildcards.test_lang):
            found[task] = f"{STUDY.results}/corpora/{other}/{STUDY.test_set(task)}{TRAINING}.tsv"
    return found


def training_sets(wildcards):
    """The training sets of a bundle."""
    return sorted({*trained_by(wildcards).values()})


def training_arguments(wildcards):
    """The same, each with its task."""
    found = trained_by(wildcards)
    return " ".join(["--trains", *(f"{task}={file}" for task, file in found.items())]) if found else ""


def tasks_of_bundle(wildcards):
    """Name -> protocol and options of each task of a bundle."""
    return compact(
        {
            task: STUDY.task_for(task, wildcards.test_lang).model_dump(mode="json", exclude_defaults=True)
            for task in bundle_tasks(wildcards)
        }
    )


def task_settings(task, lang):
    """Protocol and options of one task."""
    return STUDY.task_for(task, lang).dump()


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
