"""Classifiers whose language model runs on vLLM: labels and letters are as likely as under transformers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scripts import score
from seedbed import manifests
from seedbed.classifiers import in_context
from seedbed.classifiers.manifest import describe
from seedbed.classifiers.reasoning import Problem, generate_answers
from seedbed.classifiers.settings import Reasoning
from seedbed.encoders.models import loading
from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Backend
from seedbed.io import write_json, write_table
from tests import tiny
from tests.programs import call
from tests.vllm import MARKS
from tests.vllm.models import settings

pytestmark = MARKS
ROWS, LABELS = 11, ("bad", "fair", "good")
TASK = {"protocol": "icl", "distance": "euclidean", "instruction": "Say how it is."}


@pytest.fixture(scope="module")
def scored(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], pd.DataFrame]:
    """Score a classifier that is shown one example, by its back end: the answer to each item."""
    root = tmp_path_factory.mktemp("study")
    if not (base / manifests.MANIFEST).exists():
        manifests.write(base, {"kind": "weights"})
    encoder = root / "encoder"
    loading.load(tiny.backbone(root / "backbone"), pooling="mean").save(str(encoder))
    manifests.write(encoder, {"about": {"backbone": "tiny"}})
    write_json({"origin": [{"kind": "file", "name": "x"}]}, root / "record.json")
    for seed, (part, rows) in enumerate({"train": 18, "test": ROWS}.items()):
        own = {"id": map(str, range(rows)), "text": tiny.sentences("hau", rows, seed)}
        write_table(pd.DataFrame(own | {"label": [LABELS[n % 3] for n in range(rows)]}), root / f"{part}.tsv")

    def scored(backend: str) -> pd.DataFrame:
        generator = json.loads(settings(base, backend=backend).model_dump_json())
        system = {"kind": "in-context", "generator": generator, "answering": {}, "examples": {"count": 1}}
        describe(root / backend, {"name": "c", "variant": "one-shot"}, system, {"base": base, "retriever": encoder})
        call(score, [
            "--systems", root / backend, "--language", "hau", "--language-name", "Hausa",
            "--tasks", json.dumps({"icl": TASK}), "--tests", root / "test.tsv", "--records", root / "record.json",
            "--trains", f"hau/icl={root / 'train.tsv'}", "--state", root / "state",
            "--scores", root / "scores" / backend, "--output", root / backend / "list.json",
        ])  # fmt: skip
        return pd.read_csv(root / "scores" / backend / "icl/hau.items.tsv", sep="\t")

    return scored


def test_the_program_scores_labels_as_on_transformers(
    scored: Callable[[str], pd.DataFrame], engine: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are kept by back end: the second asks again. The engine is the one that runs already."""
    wanted = scored("transformers")
    opens, opened = in_context.open_backend, []

    def open_backend(generator: Generator, folder: Path, *more: Any) -> Backend:
        opened.append(generator.backend)
        return engine if generator.backend == "vllm" else opens(generator, folder, *more)

    monkeypatch.setattr(in_context, "open_backend", open_backend)
    found = scored("vllm")
    assert opened == ["vllm"] and len(found) == ROWS
    np.testing.assert_allclose(found["probability"], wanted["probability"], atol=1e-4, rtol=0)
    assert found["predicted"].tolist() == wanted["predicted"].tolist()


def test_letters_of_options_are_as_likely(engine: Backend, local: Backend, base: Path) -> None:
    texts = tiny.sentences("hau", ROWS)
    problems = [Problem(str(number), f"{text}\nAnswer:", text) for number, text in enumerate(texts)]
    found = [
        generate_answers(settings(base, backend=name), lambda one=backend: one, problems, "ABCD", Reasoning())
        for name, backend in (("vllm", engine), ("transformers", local))
    ]
    np.testing.assert_allclose(found[0].probabilities, found[1].probabilities, atol=1e-4, rtol=0)
    assert found[0].labels == found[1].labels
