"""Scores, and what they are of. One job scores a recipe's encoders of all seeds on all tasks of a language, since most of a
small one is its start; a task on request, which most encoders never see, has a job of its own. The declared output is the
list of score files. A classifier's variant is scored the same way.
"""

SCORED = "<results>/scores/{backbone}/{recipe}/{lang}/{test_lang}.{bundle}.json"
MAPPED = "<results>/maps/{figure}/{backbone}.tsv"


def encoders_of(wildcards):
    """A recipe's encoders of a language, one for each seed."""
    return collect(
        ENCODER,
        seed=STUDY.seeds_of(wildcards.recipe),
        **wildcards,
    )


def bundle_of(task, system, recipe):
    """The tasks that a task is scored with for a backbone or classifier: its own name, or TOGETHER.

    Variants of farther and farther shots are for a figure of a few tasks: no other is scored for them. And no model is
    fine-tuned for a task that nobody asks for.
    """
    spec = STUDY.classifiers.get(system)
    shown = spec and spec.in_context and spec.in_context.shown()[recipe]
    alone = (spec and spec.fine_tuning) or (shown and shown.percentile)
    return task if STUDY.tasks[task].on_request or alone else TOGETHER


def bundle_tasks(wildcards):
    """The tasks of a bundle that a backbone, or a classifier, is scored on in a language."""
    if hasattr(wildcards, "classifier"):
        made = wildcards.classifier, wildcards.variant
        tasks = STUDY.answered_by(wildcards.classifier, wildcards.test_lang)
    else:
        made, asked = (wildcards.backbone, wildcards.recipe), STUDY.asked_of(wildcards.backbone)
        tasks = [task for task in STUDY.tests(wildcards.test_lang) if asked is None or task in asked]
    return [task for task in tasks if bundle_of(task, *made) == wildcards.bundle]


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
    return ["--trains", *(f"{task}={file}" for task, file in found.items())] if found else []


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
    return sorted(
        {SCORED.format(**cell._asdict(), bundle=bundle_of(cell.task, cell.backbone, cell.recipe)) for cell in cells}
    )


def texts_of(wildcards):
    """Every file of triplets that a table measures."""
    return sorted({texts.file for block in plan_of(wildcards.table) for texts in block.texts()})


@functools.cache
def mapped(figure):
    """What a map shows of the study."""
    try:
        return STUDY.mapped(FIGURES[figure])
    except UserError as error:
        sys.exit(f"error: {error}")


def mapped_encoder(wildcards):
    """The encoder that a map asks."""
    shown = mapped(wildcards.figure)
    return ENCODER.format(
        backbone=wildcards.backbone,
        recipe=shown.map.recipe,
        lang=shown.folder,
        seed=shown.seed,
    )


def mapped_texts(wildcards):
    """The training set of each language of a map, in their order."""
    shown = mapped(wildcards.figure)
    corpus = STUDY.test_set(shown.map.task) + TRAINING
    return collect("<results>/corpora/{lang}/{corpus}.tsv", lang=shown.languages, corpus=corpus)


def mapped_arguments(wildcards, input):
    """The same, each with its language."""
    return [f"{lang}={file}" for lang, file in zip(mapped(wildcards.figure).languages, input.texts, strict=True)]


def asked_compute():
    """What is to be counted and timed."""
    if not STUDY.compute:
        sys.exit(
            "error: compute: the study asks for no measurement; give `compute: {task: ..., language: ..., encoder: ...}`"
        )
    return STUDY.compute


def compute_set(ending, language):
    """The training or test set that is labelled."""
    return f"<results>/corpora/{language}/{STUDY.test_set(asked_compute().task)}{ending}.tsv"


def compute_test(wildcards):
    """The test set."""
    return compute_set("", asked_compute().language)


def compute_train(wildcards):
    """The training set."""
    spec = asked_compute()
    return compute_set(TRAINING, STUDY.train_of(spec.task, spec.language))


def compute_encoder(wildcards):
    """The encoder of the nearest texts, its first seed's."""
    spec = asked_compute()
    return first_encoder(spec.encoder, spec.language)


def compute_weights(wildcards):
    """The backbone that is fine-tuned."""
    return backbone_weights(asked_compute().learner)


def compute_bases(wildcards):
    """The language models, in the order of their classifiers."""
    return [classifier_made(name, "weights", "weights/seedbed.json") for name in asked_compute().classifiers]


def compute_classifiers(wildcards):
    """Classifiers with their generators, as arguments; apart from folders, see `variant_settings`."""
    if not (names := asked_compute().classifiers):
        return []
    given = {}
    for name in names:
        spec = STUDY.classifiers[name]
        settings = json.loads(written_with(spec.generator, "lora", "xllora", "shots"))
        given[name] = {"generator": settings, "in_context": json.loads(spec.in_context.dump())}
    return ["--classifiers", compact(given)]


def compute_folders(wildcards, input):
    """The folder of each one's language model, as arguments."""
    bases = [f"{name}={Path(str(file)).parent}" for name, file in zip(asked_compute().classifiers, input.bases)]
    return ["--bases", *bases] if bases else []
