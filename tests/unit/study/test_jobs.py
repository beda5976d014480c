"""A job as one value: what a program is told, and what a record keeps of it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seedbed import yamls
from seedbed.io import UserError
from seedbed.study import code, jobs
from seedbed.study.graph.adapter import TaskAdapter
from seedbed.study.graph.chosen import ChosenCandidate
from seedbed.study.graph.product import PRODUCTS, Product
from seedbed.study.graph.triplet import Shard
from seedbed.study.jobs import Jobs
from tests.asking import TOLD, Wildcards, study_of

TINY = Wildcards(generator="tiny", lang="hau", polarity="both", what="scale", owner="tiny")
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


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch):
    """Has the products of a class say these settings alone."""

    def give(kind: type[Product], **settings: Any) -> None:
        monkeypatch.setattr(kind, "settings", lambda product: settings)

    return give


def found(study, rule: str = "train_task_adapter", job: Wildcards = TINY) -> tuple[dict, dict]:
    """What the program is told for a job, and what is recorded of that."""
    made = Jobs(study).job(rule)
    told = made["job"](job, input=Files([], FILES), output=Files(OUTPUT, {}))
    return json.loads(told), json.loads(made["recorded"](job))


def test_what_a_product_does_not_say_is_the_input_the_output_or_the_wildcard_of_its_name(study, given) -> None:
    given(TaskAdapter, name="t", language="Hausa")
    told, recorded = found(study)
    assert told == {
        "output": "g/tiny/task/both", "base": "g/tiny/weights", "name": "t", "language": "Hausa", "triplets": "nli.tsv",
        "polarity": "both", "state": study.state, "checkpoint_minutes": study.checkpoint_minutes,
    }  # fmt: skip
    assert recorded == {"name": "t", "language": "Hausa"}, "Snakemake itself records files"


def test_a_program_is_told_all_and_a_record_keeps_what_counts(study, given, monkeypatch) -> None:
    fast = study.generators["tiny"].updated({"batch_size": 3})
    given(Shard, generator=fast, rows=0)
    monkeypatch.setattr(Shard, "inputs", lambda product: {})
    job = Wildcards(generator="tiny", method="prompting", lang="hau", shard="0")
    told, recorded = found(study, "synthesise", job)
    assert told["generator"]["batch_size"] == 3 and told["state"].endswith("/state") and "rows" not in told
    assert {*recorded} == {"generator"} and "batch_size" not in recorded["generator"]
    assert recorded["generator"]["prompts"] == "plain"


def test_snakemake_records_neither_what_is_told_nor_a_default(study, given) -> None:
    """It records no parameter whose function takes inputs."""
    given(TaskAdapter, dtype="auto")
    made = Jobs(study).job("train_task_adapter")
    assert made.pop("program") == "train_task_adapter"
    assert {name: "input" in inspect.signature(find).parameters for name, find in made.items()} == {
        "job": True, "recorded": False, "code": False,
    }  # fmt: skip
    assert made["recorded"](TINY) == "{}"


def test_an_argument_that_a_program_lacks_ends_the_plan(study, given) -> None:
    given(TaskAdapter, epochs=3)
    with pytest.raises(TypeError, match="epochs"):
        found(study)


def test_what_only_a_run_knows_is_told_too(study) -> None:
    made = Jobs(study).job("train_task_adapter", lambda: {"name": "of this run"})
    assert json.loads(made["recorded"](TINY))["name"] == "of this run"


def test_files_by_a_key_are_inputs_each_once_and_told_and_recorded_by_their_keys(study, monkeypatch) -> None:
    order = {"b": "x.tsv", "a": "y/seedbed.json", "c": "x.tsv"}
    monkeypatch.setattr(ChosenCandidate, "inputs", lambda product: {"scores": order, "none": "", "one": "z.tsv"})
    assert Jobs(study).inputs("choose")(TINY) == {
        "scores": ["x.tsv", "y/seedbed.json"], "none": [], "one": "z.tsv",
    }  # fmt: skip
    monkeypatch.setattr(ChosenCandidate, "inputs", lambda product: {"scores": order})
    monkeypatch.setattr(ChosenCandidate, "settings", lambda product: {})
    for value in found(study, "choose"):
        assert [*value["scores"].items()] == [("b", "x.tsv"), ("a", "y"), ("c", "x.tsv")]


def test_a_product_is_asked_once_for_a_job(study, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(
        ChosenCandidate, "settings", lambda product: asked.append(product.lang) or {"dev": product.lang}
    )
    monkeypatch.setattr(ChosenCandidate, "inputs", lambda product: {})
    made = Jobs(study).job("choose")
    for lang in ("hau", "hin"):
        job = Wildcards(what="scale", owner="tiny", lang=lang)
        told = json.loads(made["job"](job, input=Files([], {}), output=Files(["x"], {})))
        assert (told["dev"], json.loads(made["recorded"](job))) == (lang, {"dev": lang})
    assert asked == ["hau", "hin"]


def test_where_changed_code_is_kept_a_finished_job_has_the_value_that_it_had_until_jobs_begin(study) -> None:
    model = Wildcards(room="generators", model="tiny")
    had = {"fetch_model": ["'x'", "'code 12'", "3"]}
    kept = Jobs(study.model_copy(update={"changed_code": "keep"}), lambda rule, job: had.get(rule, []))
    now = Jobs(study).job("fetch_model")["code"](model)
    assert now.startswith("code ") and now != "code 12"
    assert kept.job("fetch_model")["code"](model) == "code 12"
    unrun = (jobs.job("sample_text")["code"](TINY) for jobs in (kept, Jobs(study)))
    assert len({*unrun}) == 1, "it has not run"
    unasked = Jobs(study, lambda rule, job: had[rule])
    assert unasked.job("fetch_model")["code"](model) == now, "unless asked, nothing is kept"
    kept.begin()
    assert kept.job("fetch_model")["code"](model) == now


def test_a_record_of_long_settings_is_a_digest(study, given) -> None:
    def recorded(text: str) -> str:
        given(ChosenCandidate, dev=text)
        return Jobs(study).job("choose")["recorded"](TINY)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ChosenCandidate, "inputs", lambda product: {})
        assert "x" * 10 in recorded("x" * 10) and len(recorded("x" * jobs.LONG)) == 64
        assert recorded("x" * jobs.LONG) != recorded("y" * jobs.LONG)


def test_a_fault_of_the_study_ends_a_plan_in_one_line(study, monkeypatch) -> None:
    def fault(product):
        raise UserError("no such thing")

    monkeypatch.setattr(TaskAdapter, "settings", fault)
    with pytest.raises(SystemExit, match="^error: no such thing$"):
        found(study)
    monkeypatch.setattr(TaskAdapter, "inputs", fault)
    with pytest.raises(SystemExit, match="^error: no such thing$"):
        Jobs(study).inputs("train_task_adapter")(TINY)
    with pytest.raises(SystemExit, match="^error: no such thing$"):
        Jobs(study).targets(lambda: fault(None))(None)


def test_a_product_has_the_wildcards_of_its_rule_and_is_made_once(study) -> None:
    @dataclass(frozen=True)
    class Brick(Product, rule="lay", place="<results>/bricks/{colour}/{seed}.txt"):
        colour: str
        seed: int

    try:
        brick = Brick.of(study, Wildcards(colour="red", seed="3"))
        assert brick is Brick.get(study, "red", 3) and brick != Brick.get(study, "red", 4)
        assert brick.path == f"{study.results}/bricks/red/3.txt"
        assert brick.at("{colour}-{size}", colour="blue", size=2) == "blue-2"
        assert PRODUCTS["lay"] is Brick and brick.inputs() == {} and brick.load(None).gpus == 0
    finally:
        del PRODUCTS["lay"]


def test_of_a_changed_copy_of_a_study_nothing_has_been_found_yet(study) -> None:
    copied = study.model_copy(update={"results": "elsewhere"})
    (adapter, other) = (TaskAdapter.get(one, "tiny", "both") for one in (study, copied))
    assert other.path == adapter.path.replace(study.results, "elsewhere")


def test_another_vllm_in_its_lock_runs_again_what_it_generated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`make env-vllm` installs the lock; what the environment that plans has is no matter there."""
    generators = {"tiny": yamls.read(TOLD)["generators"]["tiny"] | {"backend": "vllm"}}
    others = {"recipes": {"base": {}, "prompting": {}}, "translators": {}, "judges": {}, "classifiers": {}}
    study = study_of(TOLD, generators=generators, **others)
    lock = tmp_path / "envs/vllm.lock"
    lock.parent.mkdir()
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.setattr(code, "_locked", code._locked.__wrapped__)
    monkeypatch.setattr(jobs, "value_of", code.value)

    def codes(version: str) -> dict[str, str]:
        lock.write_text(f"# Made.\ncertifi>=2026\ntorch==99.1\nvllm=={version}\n")
        shard = Wildcards(generator="tiny", method="prompting", lang="hau", shard="0")
        named = {"synthesise": shard, "train_task_adapter": TINY}
        return {rule: Jobs(study).job(rule)["code"](job) for rule, job in named.items()}

    before, after = codes("0.33.0"), codes("0.34.0")
    assert before["synthesise"].endswith(" vllm 0.33.0") and " torch 99.1 " in before["synthesise"]
    assert after["synthesise"] == before["synthesise"].replace("vllm 0.33.0", "vllm 0.34.0")
    assert after["train_task_adapter"] == before["train_task_adapter"], "it runs where the study is planned"
