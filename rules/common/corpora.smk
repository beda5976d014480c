"""Sources, and what they are fetched with."""

from seedbed.evaluation.settings import KIND_OF


def source_of(wildcards):
    if "+" in wildcards.corpus:
        return STUDY.published_triplets(*wildcards.corpus.split("+"), wildcards.lang)
    if wildcards.corpus in STUDY.roles:
        source = STUDY.corpus(wildcards.corpus, wildcards.lang)
    else:
        task = wildcards.corpus.removesuffix(TRAINING)
        find = STUDY.test if task == wildcards.corpus else STUDY.training_set
        source = find(task, wildcards.lang)
    if source is None:
        sys.exit(
            f"error: no source for the {wildcards.corpus} corpus of {wildcards.lang}: "
            f"give one under `corpora.{wildcards.corpus}` or `languages.{wildcards.lang}`"
        )
    return source


def fetch_options(wildcards):
    """Options that differ between a training corpus and a test set."""
    if kind := STUDY.roles.get(wildcards.corpus) or ("triplets" if "+" in wildcards.corpus else ""):
        return ["--kind", kind]
    task = STUDY.tasks[wildcards.corpus.removesuffix(TRAINING)]
    low, high = task.scale
    untouched = [] if task.clean else ["--test"]
    return ["--kind", KIND_OF[task.protocol], *untouched, "--scale", f"{low:g}", f"{high:g}"]


AUDITED = "text" if STUDY.audit.reads_words else "text.sample"
"""What an audit reads of a language: its words stand in the whole corpus, and the language shows in a sample."""


def other_text(wildcards):
    """The one of the study's other corpora that anchors are drawn from; nothing: from `text`."""
    return wildcards.anchors.rpartition("+")[0]


def pivot_text(name):
    """Sentences of the pivot language, which a language is told from; of the pivot itself none."""
    text = f"<results>/corpora/{STUDY.pivot}/{name}.tsv"
    return lambda wildcards: [] if wildcards.lang == STUDY.pivot else text


def pivot_argument(wildcards, input):
    """The same as an argument."""
    return ["--pivot", str(input.pivot)] if input.pivot else []
