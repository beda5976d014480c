"""A job as one value: what a program is told, and what a record keeps of it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

import pytest

from seedbed.io import UserError
from seedbed.study import jobs
from seedbed.study.graph import generators
from seedbed.study.jobs import Bound, Jobs, listed
from tests.asking import TOLD, Wildcards, study_of

TINY = Wildcards(generator="tiny", lang="hau", polarity="both")
FILES = {"base": "g/tiny/weights/seedbed.json", "triplets": ["nli.tsv"]}
OUTPUT = ["g/tiny/task/both/seedbed.json"]


class Files(list):
    """Files of a job, some of them by name, as Snakemake hands them over."""

    def __init__(self, files: list[str], named: Mapping[str, Any]) -> None:
        super().__init__(files)
        self.items = named.items


@pytest.fixture(scope="module")
def study():
    return study_of(TOLD)


def found(study, job: Wildcards = TINY, program: str = "train_task_adapter", **given) -> tuple[dict, dict]:
    """What the program is told for a job, and what is recorded of that."""
    made = Jobs(study).job(program, **given)
    told = made["job"](job, input=Files([], FILES), output=Files(OUTPUT, {}))
    return json.loads(told), json.loads(made["recorded"](job))


def test_what_is_not_given_is_the_input_the_output_or_the_wildcard_of_its_name(study) -> None:
    told, recorded = found(study, name=lambda wildcards: "t", language="names.{lang}")
    assert told == {
        "output": "g/tiny/task/both", "base": "g/tiny/weights", "name": "t", "language": "Hausa", "triplets": "nli.tsv",
        "polarity": "both",
    }  # fmt: skip
    assert recorded == {"name": "t", "language": "Hausa"}, "Snakemake itself records files"


def test_a_function_may_give_several_arguments(study) -> None:
    made = Jobs(study).job(
        "train_task_adapter", lambda wildcards: {"name": "a", "dtype": "float32"}, name=lambda _: "b"
    )
    assert json.loads(made["recorded"](TINY)) == {"name": "b", "dtype": "float32"}


def test_a_program_is_told_all_and_a_record_keeps_what_counts(study) -> None:
    fast = study.generators["tiny"].updated({"batch_size": 3})
    given = {"generator": lambda wildcards: fast, "state": "state", "rows": lambda wildcards: 0}
    told, recorded = found(study, program="synthesise", **given)
    assert told["generator"]["batch_size"] == 3 and told["state"].endswith("/state") and "rows" not in told
    assert {*recorded} == {"generator"} and "batch_size" not in recorded["generator"]
    assert recorded["generator"]["prompts"] == "plain"


def test_snakemake_records_neither_what_is_told_nor_a_default(study) -> None:
    """It records no parameter whose function takes inputs."""
    made = Jobs(study).job("train_task_adapter", dtype=lambda wildcards: "auto")
    assert made.pop("program") == "train_task_adapter"
    assert {name: "input" in inspect.signature(find).parameters for name, find in made.items()} == {
        "job": True, "recorded": False,
    }  # fmt: skip
    assert made["recorded"](TINY) == "{}"


def test_an_argument_that_a_program_lacks_ends_the_plan(study) -> None:
    with pytest.raises(TypeError, match="epochs"):
        found(study, epochs=lambda wildcards: 3)


def test_mappings_keep_their_order(study) -> None:
    order = {"b": "x.tsv", "a": "y/seedbed.json"}
    told, _ = found(study, program="choose_scale", scores=lambda wildcards: order)
    assert [*told["scores"].items()] == [("b", "x.tsv"), ("a", "y")]


def test_a_value_is_found_once_for_a_job_and_anew_for_the_next(study) -> None:
    asked = []
    made = Jobs(study).job("choose_scale", dev=lambda wildcards: asked.append(wildcards.lang) or wildcards.lang)
    for lang in ("hau", "hin", "hau"):
        job = Wildcards(lang=lang)
        told = json.loads(made["job"](job, input=Files([], {}), output=Files(["x"], {})))
        assert (told["dev"], json.loads(made["recorded"](job))) == (lang, {"dev": lang})
    assert asked == ["hau", "hin", "hau"]


def test_where_changed_code_is_kept_a_finished_job_has_the_value_that_it_had_until_jobs_begin(study) -> None:
    had = {"fetch_model": ["'x'", "'code 12'", "3"]}
    kept = Jobs(study.model_copy(update={"changed_code": "keep"}), lambda rule, job: had.get(rule, []))
    now = Jobs(study).code("fetch_model")(TINY)
    assert now.startswith("code ") and now != "code 12"
    assert kept.code("fetch_model")(TINY) == "code 12"
    assert kept.code("fetch_corpus")(TINY) == Jobs(study).code("fetch_corpus")(TINY), "it has not run"
    assert Jobs(study, lambda rule, job: had[rule]).code("fetch_model")(TINY) == now, "unless asked, nothing is kept"
    kept.begin()
    assert kept.code("fetch_model")(TINY) == now


def test_a_record_of_long_settings_is_a_digest(study) -> None:
    def recorded(text: str) -> str:
        return Jobs(study).job("choose_scale", dev=lambda wildcards: text)["recorded"](TINY)

    assert "x" * 10 in recorded("x" * 10) and len(recorded("x" * jobs.LONG)) == 64
    assert recorded("x" * jobs.LONG) != recorded("y" * jobs.LONG)


def test_a_function_of_the_graph_is_called_without_the_study(study) -> None:
    bound = Bound(generators, study)
    assert [*inspect.signature(bound.base).parameters] == ["wildcards"]
    assert bound.base(TINY) == generators.base(study, TINY)


def test_a_fault_of_the_study_ends_a_plan_in_one_line(study, monkeypatch) -> None:
    def fault(study, wildcards):
        raise UserError("no such thing")

    monkeypatch.setattr(generators, "base", fault)
    with pytest.raises(SystemExit, match="^error: no such thing$"):
        Bound(generators, study).base(TINY)


def test_files_with_names_are_inputs() -> None:
    files = {"hau": "a/seedbed.json", "hin": "b/c.tsv"}
    assert listed(lambda wildcards: files | {"kor": "b/c.tsv"})(TINY) == [*files.values()], "each once"
    assert listed(lambda wildcards, lang: {lang: files[lang]}, "hin")(TINY) == ["b/c.tsv"]
