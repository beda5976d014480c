"""Settings as parameters of jobs: what a program is told, and what a record keeps of it."""

from __future__ import annotations

import inspect
import json
from types import SimpleNamespace

import pytest

from seedbed.io import UserError
from seedbed.study import jobs
from seedbed.study.graph import generators
from seedbed.study.jobs import Bound, Jobs, listed, named, option, options
from tests.asking import TOLD, Wildcards, study_of

TINY = Wildcards(generator="tiny", lang="hau")


@pytest.fixture(scope="module")
def study():
    return study_of(TOLD)


def given(study, **settings) -> dict[str, object]:
    """What each parameter is for a job of the tiny generator."""
    made = Jobs(study).settings(**settings)
    return {name: find(TINY) if name == "results" else find(TINY, resources=None) for name, find in made.items()}


def test_a_program_is_told_all_and_a_record_keeps_what_counts(study) -> None:
    fast = study.generators["tiny"].updated({"batch_size": 3})
    found = given(study, generator=lambda wildcards: fast, style="generators.{generator}.prompts")
    assert json.loads(found["generator"])["batch_size"] == 3 and found["style"] == "plain"
    kept = json.loads(found["results"])
    assert (
        kept["style"] == "plain" and "batch_size" not in kept["generator"] and kept["generator"]["prompts"] == "plain"
    )


def test_a_setting_that_changes_no_result_is_told_and_not_kept(study) -> None:
    assert given(study, minutes="checkpoint_minutes") == {"minutes": 2.5, "results": "{}"}


def test_snakemake_records_the_results_alone(study) -> None:
    """It records no parameter whose function takes resources."""
    made = Jobs(study).settings(seed="generators.{generator}.lora.seed")
    takes = {name: "resources" in inspect.signature(find).parameters for name, find in made.items()}
    assert takes == {"seed": True, "results": False}


def test_a_setting_is_found_once_for_a_job_and_anew_for_the_next(study) -> None:
    asked = []
    made = Jobs(study).settings(lang=lambda wildcards: asked.append(wildcards.lang) or wildcards.lang)
    for lang in ("hau", "hin", "hau"):
        job = Wildcards(lang=lang)
        assert (made["lang"](job, resources=None), made["results"](job)) == (lang, f'{{"lang": "{lang}"}}')
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
    short, long = (given(study, plan=lambda wildcards, n=n: "x" * n)["results"] for n in (10, jobs.LONG))
    assert "x" * 10 in short and len(long) == 64
    assert long != given(study, plan=lambda wildcards: "y" * jobs.LONG)["results"]


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


def test_an_input_is_an_argument_where_a_job_has_it() -> None:
    input = SimpleNamespace(base="a/seedbed.json", texts="t.tsv", pivot=[])
    words = [option(name)(TINY, input) for name in ("base", "texts", "pivot")]
    assert words == [["--base", "a"], ["--texts", "t.tsv"], []], "of a model a program is told the folder"
    assert [*inspect.signature(option("base")).parameters] == ["wildcards", "input"]


def test_files_with_names_are_inputs_and_arguments() -> None:
    files = {"hau": "a/seedbed.json", "hin": "b/c.tsv"}
    assert listed(lambda wildcards: files | {"kor": "b/c.tsv"})(TINY) == [*files.values()], "each once"
    assert named(lambda wildcards: files)(TINY) == ["hau=a", "hin=b/c.tsv"]
    assert named(lambda wildcards: files, option="--tests")(TINY) == ["--tests", "hau=a", "hin=b/c.tsv"]
    assert named(lambda wildcards, lang: {lang: files[lang]}, "hin")(TINY) == ["hin=b/c.tsv"]
    assert listed(lambda wildcards, lang: {lang: files[lang]}, "hin")(TINY) == ["b/c.tsv"]
    assert named(lambda wildcards: {}, option="--tests")(TINY) == []
    assert options(lambda wildcards: files, "--{}-set")(TINY) == ["--hau-set", "a", "--hin-set", "b/c.tsv"]
