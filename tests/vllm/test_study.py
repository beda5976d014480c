"""A study by its rules: what vLLM writes, judges and labels is what the same model does on transformers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seedbed.generators.writing.translation_settings import ASPECTS
from tests import tiny
from tests.vllm import MARKS
from tests.vllm.models import WIDE
from tests.workflow.conftest import ENVIRONMENT, STUDY, Project, copy_project

pytestmark = MARKS
ROOT = "results/own"
LABELS = ("bad", "fair", "good")
TINY = STUDY["generators"]["tiny"]
LIKELIEST = TINY["sampling"] | {"temperature": 0, "top_k": 0, "top_p": 1.0}
# `fast` has the adapters of `tiny`, since it differs in how they are run alone. They learn so little that the likeliest
# texts still differ.
RUNS = STUDY | {
    "generators": {
        "tiny": TINY | {"sampling": LIKELIEST, "lora": TINY["lora"] | {"learning_rate": 0.0015}},
        "fast": {"like": "tiny", "backend": "vllm", "gpu_memory": 0.1},
    },
    "translators": {
        "tiny-en": {"generator": "tiny"},
        "fast-en": {"generator": "fast"},
        "human": {"given": {"file": "own/{lang}-eng.tsv", "columns": {"text": "text", "english": "pivot"}}},
    },
    "judges": {f"{name}-judge": {"generator": name, "translators": ["human"]} for name in ("tiny", "fast")},
    "recipes": {"published": {}},
    "classifiers": {
        f"{name}-icl": {
            "generator": name,
            "in_context": {"bos": True, "retriever": {"backbone": "tiny-bert", "recipe": "published"}},
        }
        for name in ("tiny", "fast")
    },
    "tasks": {
        "own-sts": STUDY["tasks"]["own-sts"],
        "own-icl": {
            "protocol": "icl",
            "distance": "euclidean",
            "source": {"file": "own/{lang}.test.tsv"},
            "train": {"file": "own/{lang}.train.tsv"},
            "instruction": "Say how it is.",
        },
    },
    "statistics": {"resamples": 100, "baseline": "published"},
    "tables": [],
    "figures": [],
}


def products(name: str) -> dict[str, str]:
    """Rule -> what it makes by a generator."""
    return {
        "synthesise": f"{ROOT}/triplets/{name}/composition/hau.raw.tsv",
        "translate": f"{ROOT}/generators/{name}-en/translations/hau/own-sts.tsv",
        "judge": f"{ROOT}/generators/{name}-judge/judgements/hau/own-sts.tsv",
        "score": f"{ROOT}/scores/{name}-icl/all/mul/mul.all.json",
    }


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The study after its run, in which jobs of `fast` alone had the environment of vLLM."""
    study = copy_project(tmp_path_factory.mktemp("vllm"), RUNS)
    for name, place in {".venv": Path(".venv"), ".venv-vllm": Path(sys.prefix)}.items():
        (study.root / name).symlink_to(place.resolve())
    shutil.rmtree(study.root / "own/generator")
    tiny.ending(tiny.generator(study.root / "plain", **WIDE), study.root / "own/generator")
    for seed, (part, rows) in enumerate({"train": 18, "test": 11}.items()):
        own = {"id": range(rows), "text": tiny.sentences("hau", rows, seed)}
        own["label"] = [LABELS[number % 3] for number in range(rows)]
        pd.DataFrame(own).to_csv(study.root / f"own/hau.{part}.tsv", sep="\t", index=False)
    command = [
        ".venv/bin/python",
        *study.command(*(file for name in ("tiny", "fast") for file in products(name).values()))[1:],
    ]
    done = subprocess.run(command, cwd=study.root, env=ENVIRONMENT | dict(os.environ), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return study


def read(study: Project, rule: str, name: str) -> pd.DataFrame:
    file = products(name)[rule]
    file = f"{ROOT}/scores/{name}-icl/one-shot/mul/0/own-icl/hau.items.tsv" if rule == "score" else file
    return pd.read_csv(study.root / file, sep="\t", dtype={"id": str}, keep_default_na=False)


@pytest.mark.parametrize(("rule", "column"), [("synthesise", "positive"), ("translate", "english")])
def test_a_rule_writes_what_it_writes_on_transformers(study: Project, rule: str, column: str) -> None:
    found, wanted = (read(study, rule, name).drop(columns="generator", errors="ignore") for name in ("fast", "tiny"))
    assert len(found) >= 32 and found[column].nunique() > 8
    pd.testing.assert_frame_equal(found, wanted)


@pytest.mark.parametrize(("rule", "columns"), [("judge", [*ASPECTS]), ("score", ["probability"])])
def test_a_rule_finds_answers_as_likely(study: Project, rule: str, columns: list[str]) -> None:
    # Blank where there is nothing to judge.
    found, wanted = (read(study, rule, name)[columns].apply(pd.to_numeric) for name in ("fast", "tiny"))
    assert len(found.dropna()) >= 11
    np.testing.assert_allclose(found, wanted, atol=2e-4, rtol=0)
