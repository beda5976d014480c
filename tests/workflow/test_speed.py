"""Each setting of a finished study, changed: one that changes no result runs nothing, any other what it concerns."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from seedbed.settings import Settings
from seedbed.study.model import Study
from seedbed.yamls import laid_over
from tests import warm
from tests.unit.test_house import ALL_RULES
from tests.workflow.conftest import ENVIRONMENT, STUDY

OPENED = {"recipes": "xllora"}
"""Group of entries -> the one whose settings are tried; elsewhere the first of each kind."""
IDLE = {
    "changed_code": "keep",
    "downloads": "elsewhere",
    "checkpoint_minutes": 1,
    "report_to": "tensorboard",
    "gpus": {"memory": {"a100": 80_000}},
    "forecast": {"gpu_hour": 2.0},
    "generators/tiny/batch_size": 4,
    "generators/tiny/endpoint": "http://localhost:1/v1",
    "generators/tiny/key": "OTHER_KEY",
    "generators/tiny/gpu_memory": 0.5,
    "generators/tiny/tensor_parallel": 2,
    "generators/tiny/timeout": 50,
    "generators/tiny/retries": 2,
    "tasks/own-sts/batch_size": 4,
}
"""Place -> another value, which runs nothing."""
FIRST: dict[str, dict[str, Any]] = {
    "fetch_corpus": {
        "results": "results/other", "lock": "other.lock.json",
        "corpora/text/member": "*.tsv", "corpora/text/format": "tsv",
        "corpora/text/where": {"id": ["1"]}, "corpora/text/buckets": [0, 90],
        "corpora/text/rows": 50, "corpora/text/licence": "CC0",
        "cleaning/min_characters": 11, "cleaning/max_characters": 400, "cleaning/min_words": 4,
        "generators/tiny/xllora/languages": ["swh"],
        "tasks/own-sts/clean": True, "tasks/own-sts/scale": [0, 2],
    },
    "select_anchors": {
        "anchors/count": 30, "anchors/language_id": False, "anchors/seed": 1,
        "languages/hau/script": "Arab", "recipes/xllora/data/from_languages": "pivot",
    },
    "train_task_adapter": {
        "generators/tiny/prompts": "chat", "generators/tiny/dtype": "bfloat16", "generators/tiny/task_adapters": "one",
        "generators/tiny/lora/rank": 4, "generators/tiny/lora/alpha": 8, "generators/tiny/lora/dropout": 0,
        "generators/tiny/lora/targets": "q_proj", "generators/tiny/lora/examples": 8, "generators/tiny/lora/epochs": 2,
        "generators/tiny/lora/batch_size": 16, "generators/tiny/lora/micro_batch_size": 4,
        "generators/tiny/lora/learning_rate": 0.02, "generators/tiny/lora/schedule": "linear",
        "generators/tiny/lora/max_grad_norm": 1, "generators/tiny/lora/max_length": 256,
        "generators/tiny/lora/quantization": "nf4", "generators/tiny/lora/seed": 1,
    },
    "train_language_adapter": {
        "languages/hau/name": "Hausawa",
        "generators/tiny/language_data": "passages",
    },
    "compose_adapters": {
        "generators/tiny/composition/scale": 0.5, "generators/tiny/composition/space": "factors",
    },
    "build_xllora_examples": {
        "generators/tiny/quantization": "nf4",
        "generators/tiny/backend": "vllm", "generators/tiny/served_model": "other",
        "generators/tiny/xllora/parts": ["synthetic"],
        "generators/tiny/sampling/temperature": 0.5, "generators/tiny/sampling/top_p": 0.5,
        "generators/tiny/sampling/top_k": 8, "generators/tiny/sampling/repetition_penalty": 2,
        "generators/tiny/sampling/max_new_tokens": 8, "generators/tiny/sampling/max_prompt_tokens": 1000,
        "generators/tiny/sampling/seed": 1,
    },
    "synthesise": {
        "generators/tiny/shots": 4, "generators/tiny/shard_rows": 8,
        "recipes/xllora/data/rows": 16,
    },
    "audit_triplets": {
        "audit/finished": True, "audit/language_id": True, "audit/script_share": 0.5, "audit/other_script": True,
        "audit/latin_words": 0.5, "audit/foreign_words": 0.5, "audit/unlikely_words": 0.5, "audit/length_ratio": 8,
        "audit/max_repetition": 0.5, "audit/refusals": ["no"], "audit/max_lost": 0.5, "audit/min_rows": 4,
    },
    "train_encoder": {
        "seeds": [1, 2], "backbones/tiny-bert/prefix": "query: ",
        "training/pooling": "mean", "training/batches": "sets", "training/epochs": 2, "training/batch_size": 16, "training/learning_rate": 0.1,
        "training/weight_decay": 0.1, "training/max_length": 16, "training/temperature": 0.1,
        "training/precision": "bfloat16", "training/dropout": 0.1, "training/mlm_weight": 0.1,
        "training/mlm_probability": 0.5, "training/freeze_word_embeddings": True, "training/part": "adapter", "training/rank": 8, "training/layers": 1,
        "training/steps": 1, "training/schedule": "constant", "training/epsilon": 1e-6, "training/adapter": "parallel",
        "training/reduction": 4, "training/scaling": 1,
        "recipes/xllora/like": "prompting", "recipes/xllora/training": {"epochs": 2},
        "recipes/xllora/summary": "Ours.", "recipes/xllora/prefix": "q: ",
    },
    "score": {"tasks/own-sts/on_request": True},
    "plan_table": {"statistics/baseline": "base", "recipes/xllora/on_request": True, "backbones/tiny-bert/paper": "BERT"},
    "tabulate": {"statistics/resamples": 200, "statistics/level": 0.9, "statistics/seed": 1, "statistics/baseline_backbone": "tiny-bert"},
    "report": {"tables": [], "figures": []},
}  # fmt: skip
"""The first rule that runs, in the order of rooms -> place -> another value, which runs it and none before it."""
OTHERS = IDLE | {place: value for group in FIRST.values() for place, value in group.items()}

PLAN = """
import json, sys
from pathlib import Path
from seedbed.operations.jobs import planned

def rules(changes):
    try:
        return [job.rule for job in planned([Path("study.yaml")], changes, {}, []) if job.todo]
    except SystemExit as error:
        return [str(error)]

print("PLAN", json.dumps([rules(changes) for changes in json.load(sys.stdin)]))
"""


def places(group: Settings, before: str = "", seen: set[type] | None = None) -> Iterator[tuple[str, bool]]:
    """Every setting, and whether it changes no result; a group of settings is opened once for each kind of it."""
    seen = set() if seen is None else seen
    for name in type(group).model_fields:
        value = getattr(group, name)
        entries = {"": value} if isinstance(value, Settings) else value if isinstance(value, Mapping) else {}
        inner = {key: one for key, one in entries.items() if isinstance(one, Settings)}
        if name in group.idle() or not inner:
            yield f"{before}{name}", name in group.idle()
            continue
        for key, one in inner.items():
            if type(one) not in seen and OPENED.get(name, key) == key:
                seen.add(type(one))
                yield from places(one, "/".join(filter(None, [f"{before}{name}", key])) + "/", seen)


def nested(place: str, value: Any) -> Any:
    """A configuration that says one thing."""
    for key in reversed(place.split("/")):
        value = {key: value}
    return value


@pytest.fixture(scope="module")
def planned(finished, tmp_path_factory) -> dict[str, list[str]]:
    """Place -> the rules of the jobs that its other value runs; `idle`: those of all together that change no result."""
    tracker = tmp_path_factory.mktemp("tracker")
    (tracker / "tensorboard-2.20.dist-info").mkdir()
    (tracker / "tensorboard-2.20.dist-info/METADATA").write_text("Name: tensorboard\nVersion: 2.20\n")
    changes = {place: nested(place, value) for place, value in OTHERS.items()} | {"nothing": {}, "idle": {}}
    for place, value in IDLE.items():
        changes["idle"] = laid_over(changes["idle"], nested(place, value))
    done = subprocess.run(
        [warm.python(), "-m", "tests.snippet", PLAN], cwd=finished.root, env=ENVIRONMENT | {"PYTHONPATH": str(tracker)},
        input=json.dumps([*changes.values()]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(zip(changes, json.loads(done.stdout.rpartition("PLAN ")[2]), strict=True))


def test_the_settings_that_change_no_result_are_those_that_say_so():
    """A setting that is given another type, and so is no longer recorded, would be missed by every job."""
    said = dict(places(Study.model_validate(STUDY)))
    assert {place for place in OTHERS if said[place]} == {*IDLE}


def test_what_changes_no_result_runs_nothing(planned):
    assert planned["nothing"] == planned["idle"] == []
    assert {place for place in IDLE if planned[place]} == set()


@pytest.mark.parametrize("place", [place for group in FIRST.values() for place in group])
def test_what_may_change_a_result_runs_what_it_concerns_and_nothing_before(planned, place):
    found = planned[place]
    assert {*found} <= {*ALL_RULES}, found
    first = next((rule for rule in ALL_RULES if rule in found), None)
    assert place in FIRST.get(first, {}), f"{first} runs first"
