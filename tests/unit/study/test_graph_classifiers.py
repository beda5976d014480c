"""Classifiers and their variants: models, adapters, prompts, examples."""

from __future__ import annotations

from seedbed.study.graph.classifier import (
    ClassifierAdapter,
    DescribedClassifier,
    FineTuned,
    StudyClassifier,
    adapted,
    labellers,
    seeds_of,
    variants,
)
from tests.asking import TOLD, asking, study_of

TUNED = {"classifier": "tuned", "task": "knn", "seed": "5"}


def described(ask, name: str, variant: str, lang: str = "mul", seed: str = "0"):
    return ask(DescribedClassifier, classifier=name, variant=variant, lang=lang, seed=seed)


def test_each_variant_is_of_some_classifiers(told) -> None:
    assert adapted(told) == ["xlm", "gemma"]
    assert variants(told) == dict.fromkeys(("base", "task-target", "task-pivot", "composition"), ["xlm", "gemma"]) | {
        "zero-shot": ["likely", "served"],
        "one-shot": ["likely"],
        "few-shot": ["served"],
        "far": ["likely"],
    } | dict.fromkeys(("source", "translated"), ["solver"])
    assert labellers(told) == {"random": ["drawn"], "majority": ["most"], "fine-tuned": ["tuned"]}
    seeds = {form: seeds_of(told, form) for form in labellers(told)}
    assert seeds == {"random": [3, 5], "majority": [0], "fine-tuned": [3, 5]}


def test_a_classifier_answers_tasks_of_its_protocol(ask) -> None:
    assert ask(StudyClassifier, name="tuned").tasks == ["dev", "knn", "knn-xl"]
    assert ask(StudyClassifier, name="gemma").tasks_in("hau") == ["pairs"]
    assert ask(StudyClassifier, name="likely").tasks_in("hau") == ["icl", "icl-xl"]
    assert ask(StudyClassifier, name="likely").tasks_in("hin") == ["icl"], "no test of what it lends labels for"
    some = {"likely": {"generator": "tiny", "in_context": {"retriever": {"backbone": "bert", "recipe": "published"}}}}
    some["likely"] |= {"languages": ["hau"], "tasks": ["icl-xl"]}
    few = asking(study_of(TOLD, classifiers=some, compute=None))
    assert [few(StudyClassifier, name="likely").tasks_in(code) for code in ("hau", "hin")] == [["icl-xl"], []]


def test_one_training_set_labels_the_tests_of_several_languages(ask) -> None:
    tests = {f"{code}/knn": f"corpora/{code}/knn.tsv" for code in ("hau", "hin")}
    assert ask(FineTuned, **TUNED, lang="hin").inputs()["tests"] == tests
    assert [*ask(FineTuned, **TUNED, lang="hau").tests] == ["hau/knn"]


def test_a_classifiers_settings_are_its_own_or_its_generators(told) -> None:
    assert StudyClassifier.get(told, "xlm").learner is told.classifiers["xlm"]
    assert StudyClassifier.get(told, "gemma").learner is told.generators["tiny"]
    for name, dtype, rank, style, model in (
        ("xlm", "bfloat16", 2, "head", "other"),
        ("gemma", "float32", 4, "plain", "tiny"),
    ):
        one = StudyClassifier.get(told, name)
        assert (one.learner.dtype, one.learner.lora.rank) == (dtype, rank)
        assert (one.style, one.model) == (style, model)
    assert StudyClassifier.get(told, "likely").model == "tiny"


def test_weights_are_those_of_the_model_and_a_server_has_its_own(ask) -> None:
    weights = {name: ask(StudyClassifier, name=name).weights for name in ("xlm", "gemma", "served")}
    tiny = "generators/tiny/weights/seedbed.json"
    assert weights == {"xlm": "encoders/other/weights/seedbed.json", "gemma": tiny, "served": ""}
    learnt = ask(ClassifierAdapter, classifier="gemma", part="task", lang="hau").inputs()["base"]
    assert learnt == described(ask, "gemma", "base").inputs()["base"] == tiny
    assert described(ask, "drawn", "random").inputs()["base"] == "", "chance has no model"
    job = TUNED | {"lang": "hau"}
    assert ask(FineTuned, **job).inputs()["base"] == "encoders/bert/weights/seedbed.json"
    recipe = {"tuned": {"backbone": "bert", "recipe": "unsupervised", "fine_tuning": {}}}
    made = asking(study_of(TOLD, classifiers=recipe, compute=None))
    assert made(FineTuned, **job).inputs()["base"] == "encoders/bert/unsupervised/hau/5/seedbed.json"
    assert ask(FineTuned, **job).settings()["prefix"] == "query: "


def test_adapters_learn_labelled_pairs_or_a_languages_texts(ask) -> None:
    assert ask(StudyClassifier, name="xlm").language_adapter("hau") == "classifiers/xlm/language/hau/seedbed.json"
    assert ask(StudyClassifier, name="gemma").language_adapter("hau") == "generators/tiny/language/hau/seedbed.json"
    assert ask(StudyClassifier, name="gemma").task_adapter("hau") == "classifiers/gemma/task/hau/seedbed.json"
    task, language = (ask(ClassifierAdapter, classifier="xlm", part=part, lang="hau") for part in ("task", "language"))
    assert (task.settings()["kind"], language.settings()["kind"]) == ("pairs", "text")
    assert task.inputs()["examples"] == "corpora/hau/nli_pairs.tsv"
    assert language.inputs()["examples"] == "corpora/hau/text.tsv"


def test_a_classifier_is_one_kind_of_system(ask) -> None:
    kinds = {name: ask(StudyClassifier, name=name).kind for name in ("xlm", "gemma", "served", "tuned", "drawn")}
    wanted = {"xlm": "adapted", "gemma": "adapted", "served": "in-context", "tuned": "labelled", "drawn": "chance"}
    assert kinds == wanted


def test_a_language_model_is_asked_in_words(ask) -> None:
    prompts = {
        name: [path.stem for path in ask(StudyClassifier, name=name).prompts] for name in ("xlm", "gemma", "served")
    }
    assert prompts == {"xlm": [], "gemma": ["classification", "nli"], "served": ["icl"]}
    assert ask(StudyClassifier, name="served").back_end == ("seedbed/generators/writing/backends/openai.py",)
    assert ask(StudyClassifier, name="gemma").back_end == ()
    written = ask(StudyClassifier, name="likely").answering()
    assert (written.sampling.temperature, written.lora.rank, written.shots) == (0.5, 8, 5), (
        "adapters and shots are unread"
    )


def test_a_retriever_finds_the_examples_of_a_variant(told, ask) -> None:
    likely = ask(StudyClassifier, name="likely")
    assert likely.retriever("zero-shot") is None
    assert [likely.retriever(name).backbone for name in ("one-shot", "far")] == ["bert", "other"]
    assert likely.helper("zero-shot", "hau") == "" == ask(StudyClassifier, name="xlm").helper("base", "hau")
    assert likely.helper("one-shot", "hau") == "encoders/bert/published/mul/0/seedbed.json"
    assert likely.helper("far", "hau") == "encoders/other/unsupervised/hau/3/seedbed.json"
    far = {"retriever": "encoders/other/unsupervised/{lang}/3/seedbed.json"}
    base = {"base": "generators/tiny/weights/seedbed.json"}
    assert described(ask, "likely", "far").settings()["parts"] == base | far
    assert described(ask, "likely", "zero-shot").settings()["parts"] == base
    read = [described(ask, "likely", name).inputs()["retriever"] for name in ("zero-shot", "one-shot", "far")]
    assert read == ["", "encoders/bert/published/mul/0/seedbed.json", ""], "far's is of the language that is tested"


def test_a_variant_has_its_adapter_and_an_encoder_a_head(ask) -> None:
    variants_of = (
        *(("xlm", variant) for variant in ("base", "task-target", "composition", "composition-0.5")),
        *(("gemma", "composition"), ("likely", "far"), ("drawn", "random")),
    )
    read = {names: described(ask, *names, "hau").inputs() for names in variants_of}
    task, pivot = (f"classifiers/xlm/task/{lang}/seedbed.json" for lang in ("hau", "eng"))
    assert {names: (files["adapter"], files["head"]) for names, files in read.items()} == {
        ("xlm", "base"): ("", ""),
        ("xlm", "task-target"): (task, task),
        ("xlm", "composition"): ("classifiers/xlm/composition/hau/eng/seedbed.json", pivot),
        ("xlm", "composition-0.5"): ("classifiers/xlm+0.5/composition/hau/eng/seedbed.json", pivot),
        ("gemma", "composition"): ("classifiers/gemma/composition/hau/eng/seedbed.json", ""),
        ("likely", "far"): ("", ""),
        ("drawn", "random"): ("", ""),
    }
    assert [*described(ask, "xlm", "base").settings()["parts"]] == ["base"]
    assert [*described(ask, "xlm", "composition", "hau").settings()["parts"]] == ["base", "adapter", "head"]


def test_a_variant_answers_as_its_kind_of_system_says(ask) -> None:
    def system(name, variant):
        return described(ask, name, variant, seed="3").settings()["system"]

    assert system("drawn", "random") == {"kind": "chance", "choice": "random", "seed": 3}
    assert system("xlm", "base") == {"kind": "adapted", "style": "head", "seed": 8}
    served = system("served", "few-shot")
    assert (served["kind"], served["generator"].served_model) == ("in-context", "m")
    assert served["examples"] == {"count": 2, "percentile": 0, "balance": True}
    assert system("served", "zero-shot")["examples"] == {"count": 0, "balance": True}


def test_scores_say_what_they_are_of(ask) -> None:
    assert described(ask, "drawn", "random").settings()["about"] == {"name": "drawn", "variant": "random"}
    about = described(ask, "xlm", "base").settings()["about"]
    assert about == {"name": "xlm", "variant": "base", "language": "mul"}
    about = ask(FineTuned, **TUNED, lang="hin").settings()["about"]
    assert about == {"name": "tuned", "variant": "fine-tuned"}
