"""Classifiers: an encoder, or a language model, which has its files in the generators room."""

from pathlib import Path
from typing import Any

from seedbed.classifiers.settings import BASELINES, IN_CONTEXT, VARIANTS, Examples
from seedbed.encoders.settings import Reference
from seedbed.generators.backends import modules_of
from seedbed.generators.settings import Generator
from seedbed.resources import resource
from seedbed.study import paths
from seedbed.study.graph import encoders, generators, prefixes
from seedbed.study.model import Study
from seedbed.study.paths import at


def adapted(study: Study) -> list[str]:
    """The classifiers with adapters, for labelled pairs."""
    return [name for name, spec in study.classifiers.items() if not (spec.prompted or spec.as_baseline)]


def variants(study: Study) -> dict[str, list[str]]:
    """Variant -> the classifiers that a table of classifiers can print by it."""
    found = {name: adapted(study) for name in VARIANTS} | {name: [] for name in IN_CONTEXT}
    for name, spec in study.classifiers.items():
        for variant in (*spec.composed, *(spec.prompted.every_variant() if spec.prompted else ())):
            found.setdefault(variant, []).append(name)
    return found


def labellers(study: Study) -> dict[str, list[str]]:
    """Variant -> the classifiers that a table can print next to encoders by it."""
    return {form: [name for name, spec in study.classifiers.items() if spec.as_baseline == form] for form in BASELINES}


def seeds_of(study: Study, form: str) -> list[int]:
    """The seeds of a classifier that a table prints next to encoders: nothing is random about a majority."""
    return sorted(study.seeds) if form in ("random", "fine-tuned") else [0]


def answered_by(study: Study, classifier: str, code: str) -> list[str]:
    """The tasks that a classifier is scored on in a language."""
    spec = study.classifiers[classifier]
    if spec.languages is not None and code not in spec.languages:
        return []
    return [task for task in study.tests_by_language[code] if task in answerable(study, classifier)]


def answerable(study: Study, classifier: str) -> list[str]:
    """The tasks that a classifier is scored on: those that it names, or all of its protocol."""
    spec = study.classifiers[classifier]
    if spec.tasks is not None:
        return spec.tasks
    return [name for name, task in study.tasks.items() if task.protocol == spec.protocol]


def labelled_by(study: Study, classifier: str, task: str, code: str) -> list[str]:
    """The languages whose test sets a fine-tuned classifier labels, having learnt a task's training set in one."""
    return [
        test
        for test in sorted(study.languages)
        if any(
            study.test_set(other) == task and study.train_of(other, test) == code
            for other in answered_by(study, classifier, test)
        )
    ]


def style(study: Study, wildcards: Any) -> str:
    """How it answers: with a head, or in its generator's style of prompts."""
    return getattr(study.learners[wildcards.classifier], "prompts", "head")


def model_name(study: Study, wildcards: Any) -> str:
    """The name of what is adapted; a generator's language adapters carry it too."""
    spec = study.classifiers[wildcards.classifier]
    return study.makers[spec.generator, "weights"] if spec.generator else spec.backbone


def weights_of(study: Study, classifier: str) -> list[str] | str:
    """The weights of a classifier's model; empty: a server alone has them."""
    spec = study.classifiers[classifier]
    if not spec.generator:
        return encoders.backbone_weights(study, spec.backbone)
    return generators.weights(study, spec.generator) if study.generators[spec.generator].source else []


def weights(study: Study, wildcards: Any) -> list[str] | str:
    """The weights of the classifier that a job is of."""
    return weights_of(study, wildcards.classifier)


def tuned_weights(study: Study, wildcards: Any) -> list[str] | str:
    """What is fine-tuned: the backbone, or what a recipe made of it for the language of the training set."""
    spec = study.classifiers[wildcards.classifier]
    if not spec.recipe:
        return weights(study, wildcards)
    return encoders.of_recipe(study, spec.backbone, spec.recipe, wildcards.lang, wildcards.seed)


def described_base(study: Study, wildcards: Any) -> list[str] | str:
    """The weights of a classifier's model as an input; empty for a classifier without a model."""
    return [] if study.classifiers[wildcards.classifier].baseline else weights(study, wildcards)


def adapter(study: Study, classifier: str, part: str, lang: str) -> str:
    """A classifier's adapter for the task or a language; a language model has the latter from its generator."""
    spec = study.classifiers[classifier]
    if spec.generator and part == "language":
        return generators.part(study, spec.generator, part, paths.LANGUAGE_ADAPTER, lang=lang)
    return at(study, paths.CLASSIFIER_ADAPTER, classifier=classifier, part=part, lang=lang)


def data_kind(study: Study, wildcards: Any) -> str:
    """What an adapter learns from: labelled pairs for the task, or a language's texts."""
    return "pairs" if wildcards.part == "task" else study.learners[wildcards.classifier].language_data


def examples(study: Study, wildcards: Any) -> str:
    """The corpus that an adapter learns from."""
    kind = data_kind(study, wildcards)
    return at(study, paths.CORPUS, lang=wildcards.lang, corpus="nli_pairs" if kind == "pairs" else kind)


# ---- Variants: a classifier untrained, with an adapter, or in context.


def prompts_of(study: Study, classifier: str) -> list[Path]:
    """The prompt file of a classifier; an encoder's head reads none."""
    spec = study.classifiers[classifier]
    if spec.prompted:
        return [resource(f"prompts/{'icl' if spec.in_context else 'reasoning'}.yaml")]
    return [resource(f"prompts/{name}.yaml") for name in ("classification", "nli")] if spec.generator else []


def back_end(study: Study, classifier: str) -> list[str]:
    """What runs a language model without adapters, which is loaded by name."""
    return modules_of(study.learners[classifier]) if study.classifiers[classifier].prompted else []


def _examples(study: Study, classifier: str, variant: str) -> Examples | None:
    """The training texts in the prompts of a variant; None: there are none, or it reads no prompts."""
    spec = study.classifiers[classifier].in_context
    return spec and spec.every_variant()[variant]


def helping(study: Study, classifier: str, variant: str) -> Reference | None:
    """The encoder that finds the examples of a variant, or gives the vectors before its questions and chooses their
    English; None: none is needed."""
    examples = _examples(study, classifier, variant)
    return examples.retriever if examples else prefixing(study, classifier, variant)


def retriever_backbone(study: Study, classifier: str, variant: str) -> str:
    """The backbone of the encoder that finds the examples of a variant; empty: none is needed."""
    examples = _examples(study, classifier, variant)
    return examples.retriever.backbone if examples else ""


def beside(study: Study, classifier: str) -> list[str]:
    """The backbones of encoders that a classifier's variants need beside its model, one at a time."""
    spec = study.classifiers[classifier]
    variants = spec.prompted.every_variant() if spec.prompted else ()
    found = [retriever_backbone(study, classifier, one) for one in variants]
    found += [of.backbone for one in variants if (of := prefixing(study, classifier, one))]
    return [*dict.fromkeys(filter(None, found))]


def retriever(study: Study, classifier: str, variant: str, lang: str) -> str:
    """The encoder that finds the examples of a variant for a language, of its first seed; empty: none is needed."""
    if not (shots := _examples(study, classifier, variant)):
        return ""
    return encoders.of_recipe(study, shots.retriever.backbone, shots.retriever.recipe, lang)


def variant_adapter(study: Study, wildcards: Any) -> list[str] | str:
    """The adapter of a variant; untrained or in context, it has none."""
    spec = study.classifiers[wildcards.classifier]
    if wildcards.variant == "base" or spec.prompted or spec.baseline:
        return []
    form, _, scale = wildcards.variant.partition("-")
    if form != "composition":
        return adapter(study, wildcards.classifier, "task", wildcards.lang)
    model = f"{wildcards.classifier}+{scale}" if scale else wildcards.classifier
    return at(study, paths.COMPOSED, room="classifiers", model=model, lang=wildcards.lang, polarity=study.pivot)


def head(study: Study, wildcards: Any) -> list[str] | str:
    """The task adapter whose head an encoder takes."""
    spec = study.classifiers[wildcards.classifier]
    if wildcards.variant == "base" or spec.generator or spec.baseline:
        return []
    lang = study.pivot if wildcards.variant.startswith("composition") else wildcards.lang
    return adapter(study, wildcards.classifier, "task", lang)


def prefixing(study: Study, classifier: str, variant: str) -> Reference | None:
    """What gives the vectors before the questions of a variant, and chooses their English; None: nothing does."""
    spec = study.classifiers[classifier].reasoning
    return spec.prefixes.get(variant) if spec else None


def _helper(study: Study, classifier: str, variant: str, lang: str) -> tuple[str, str]:
    """The encoder that a variant needs beside its model for a language, and as which part; empty: none."""
    if not (of := prefixing(study, classifier, variant)):
        return "retriever", retriever(study, classifier, variant, lang)
    anchored = study.recipes[of.recipe].actor or encoders.starts_anchored(study, of.recipe)
    return "prefix", encoders.of_recipe(study, of.backbone, anchored, lang)


def helper(study: Study, classifier: str, variant: str, lang: str) -> str:
    """The encoder that a variant needs beside its model for a language; empty: none."""
    return _helper(study, classifier, variant, lang)[1]


def described_retriever(study: Study, wildcards: Any) -> list[str] | str:
    """The encoder that a variant needs whatever the language; a manifest has its digest."""
    found = helper(study, wildcards.classifier, wildcards.variant, "{lang}")
    return [] if "{" in found else found or []


def parts(study: Study, wildcards: Any) -> dict[str, str]:
    """What a variant is made of: its `base`, `adapter` and `head`, and the encoder that it needs, as far as there are.

    `{lang}` in that one's path is the language that is tested.
    """
    made = {"base": described_base, "adapter": variant_adapter, "head": head}
    part, helps = _helper(study, wildcards.classifier, wildcards.variant, "{lang}")
    found = {name: find(study, wildcards) for name, find in made.items()} | {part: helps}
    return {name: file for name, file in found.items() if file}


def kind(study: Study, classifier: str) -> str:
    """The kind of system that a classifier is (see `evaluation.systems`)."""
    spec = study.classifiers[classifier]
    forms = {"labelled": spec.fine_tuning, "chance": spec.baseline, "in-context": spec.in_context}
    forms["reasoning"] = spec.reasoning
    return next((form for form, given in forms.items() if given), "adapted")


def system(study: Study, wildcards: Any) -> dict[str, Any]:
    """How a variant answers, as its kind of system says it."""
    spec, form = study.classifiers[wildcards.classifier], kind(study, wildcards.classifier)
    if form == "chance":
        return {"kind": form, "choice": spec.baseline, "seed": int(wildcards.seed)}
    if form == "adapted":
        return {"kind": form, "style": style(study, wildcards), "seed": study.learners[wildcards.classifier].lora.seed}
    asked = {"kind": form, "generator": answering_generator(study, wildcards.classifier).decisive()}
    if form == "reasoning":
        return asked | {"reasoning": spec.reasoning, "variant": wildcards.variant}
    shots = _examples(study, wildcards.classifier, wildcards.variant)
    examples = {"count": shots.shots, "percentile": shots.percentile} if shots else {"count": 0}
    return asked | {
        "answering": spec.in_context.answering(),
        "examples": examples | {"balance": spec.in_context.balance},
    }


def about(study: Study, wildcards: Any) -> dict[str, str]:
    """What score files say of a variant; a baseline has no language of its own."""
    found = {"name": wildcards.classifier, "variant": getattr(wildcards, "variant", "fine-tuned")}
    return found if study.classifiers[wildcards.classifier].as_baseline else found | {"language": wildcards.lang}


def answering_generator(study: Study, classifier: str) -> Generator:
    """The settings of a generator that answers without adapters."""
    return generators.written_with(study, study.classifiers[classifier].generator, "lora", "xllora", "shots")


# ---- Fine-tuned: what a job leaves is its labels of all test sets that share its training set. Its weights, a gigabyte
# for each of a study's hundreds of training sets, nobody would use again.


def labelled(study: Study, wildcards: Any) -> dict[str, str]:
    """LANGUAGE/NAME -> test set that a fine-tuned classifier labels."""
    codes = labelled_by(study, wildcards.classifier, wildcards.task, wildcards.lang)
    return {f"{code}/{wildcards.task}": at(study, paths.CORPUS, lang=code, corpus=wildcards.task) for code in codes}


def prefix(study: Study, wildcards: Any) -> str:
    """What stands before every text that a fine-tuned backbone reads."""
    spec = study.classifiers[wildcards.classifier]
    if spec.recipe:
        return prefixes.same(prefixes.given(study, spec.backbone, spec.recipe), spec.backbone)
    return prefixes.same(study.backbones[spec.backbone].prefix, spec.backbone)
