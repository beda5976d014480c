"""Classifiers: an encoder or a language model. Their files are with the encoders, but those that a generator has anyway."""


def learner(classifier):
    """Whose settings train a classifier's adapters: its own, or those of its generator."""
    spec = STUDY.classifiers[classifier]
    return STUDY.generators[spec.generator] if spec.generator else spec


def classifier_setting(name):
    """One setting of the wildcard's classifier or of its generator."""
    return lambda wildcards: plain(getattr(learner(wildcards.classifier), name))


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
    if part == "weights":
        return base_weights(spec.generator) if spec.generator else backbone_weights(spec.backbone)
    if spec.generator and part != "task":
        return generator_file(spec.generator, part, path)
    return f"<results>/encoders/{classifier}/{path}"


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


def in_context(wildcards):
    """How the wildcard's classifier learns in context; nothing: it does not."""
    return STUDY.classifiers[wildcards.classifier].in_context


def classifier_gpus(wildcards):
    """What it is scored on."""
    return gpus_of(STUDY.classifiers[wildcards.classifier].generator) if in_context(wildcards) else 1


def shown_to(wildcards):
    """What the prompts of a variant hold; None: nothing, or it reads no prompts."""
    spec = in_context(wildcards)
    return spec and spec.shown()[wildcards.variant]


def variant_retriever(wildcards):
    """The encoder that finds the shots of a variant, its first seed's; without shots it needs none."""
    if not (shown := shown_to(wildcards)):
        return []
    return first_encoder(shown.retriever, wildcards.test_lang)


def variant_adapter(wildcards):
    """The adapter of a variant; untrained or in context, it has none."""
    if wildcards.variant == "base" or in_context(wildcards):
        return []
    form, _, scale = wildcards.variant.partition("-")
    if form != "composition":
        return "<results>/encoders/{classifier}/task/{lang}/seedbed.json"
    model = f"{wildcards.classifier}+{scale}" if scale else wildcards.classifier
    return f"<results>/encoders/{model}/composition/{{lang}}/{STUDY.pivot}/seedbed.json"


def variant_head(wildcards):
    """The task adapter whose head an encoder takes."""
    if wildcards.variant == "base" or STUDY.classifiers[wildcards.classifier].generator:
        return []
    lang = STUDY.pivot if wildcards.variant.startswith("composition") else "{lang}"
    return f"<results>/encoders/{{classifier}}/task/{lang}/seedbed.json"


def variant_folders(wildcards, input):
    """Where its adapter, head and retriever are, as arguments."""
    given = {"--adapter": input.adapter, "--head": input.head, "--retriever": input.retriever}
    return [word for option, file in given.items() if file for word in (option, str(Path(str(file)).parent))]


def variant_settings(wildcards):
    """How a variant answers, or how it is asked and what it is shown, as arguments.

    Apart from the folders: Snakemake re-runs nothing for a parameter that is made of inputs.
    """
    if not (spec := in_context(wildcards)):
        return ["--style", classifier_style(wildcards), "--seed", learner(wildcards.classifier).lora.seed]
    shown = shown_to(wildcards)
    return [
        *("--generator", written_with(STUDY.classifiers[wildcards.classifier].generator, "lora", "xllora", "shots")),
        *("--answering", spec.answering().dump()),
        *("--shots", shown.shots if shown else 0, "--percentile", shown.percentile if shown else 0),
        *(["--balance"] if spec.balance else []),
    ]


# ---- Classifiers that stand beside encoders. What a fine-tuned one leaves is its labels of all test sets that share its
# training set: its weights, a gigabyte for each of a study's hundreds of training sets, nobody would use again.

LABELS = "<results>/encoders/{classifier}/labels/{task}/{lang}/{seed}.tsv"


def labelled_languages(wildcards):
    """The languages whose test sets a fine-tuned classifier labels."""
    return STUDY.labelled_by(wildcards.classifier, wildcards.task, wildcards.lang)


def labelled_tests(wildcards):
    """Those test sets."""
    return [f"{STUDY.results}/corpora/{code}/{wildcards.task}.tsv" for code in labelled_languages(wildcards)]


def labelled_arguments(wildcards):
    """The same, each with its language."""
    pairs = zip(labelled_languages(wildcards), labelled_tests(wildcards), strict=True)
    return [f"{code}={test}" for code, test in pairs]


def labels_of(wildcards):
    """Task and seed -> the labels that a score is made of; nothing: of no model's."""
    if wildcards.variant != "fine-tuned":
        return {}
    found = {}
    for task in bundle_tasks(wildcards):
        other = STUDY.train_of(task, wildcards.test_lang)
        for seed in STUDY.seeds_of_classifier(wildcards.variant):
            facts = {"classifier": wildcards.classifier, "task": STUDY.test_set(task), "lang": other, "seed": seed}
            found[f"{task}/{seed}"] = LABELS.replace("<results>", STUDY.results).format(**facts)
    return found


def learnt_with(labels):
    """The record of the training that labels come from."""
    return str(Path(labels).with_suffix(".json"))


def label_arguments(wildcards):
    """Labels and their records as arguments."""
    found = labels_of(wildcards)
    if not found:
        return []
    records = (f"{key}={learnt_with(file)}" for key, file in found.items())
    return ["--labels", *(f"{key}={file}" for key, file in found.items()), "--learnt", *records]
