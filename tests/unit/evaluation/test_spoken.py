"""Scores of an encoder that reads the language of a text: each test in its own, both sides of a pair."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from seedbed import manifests
from seedbed.encoders.export.save import save
from seedbed.encoders.models.inference import opened
from seedbed.encoders.models.loading import load, open_encoder
from seedbed.encoders.models.parallel_adapters import add_adapters
from seedbed.evaluation.files import Set
from seedbed.evaluation.scores import System
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems import Opening, in_context, open_system
from seedbed.io import UserError
from tests import tiny

TEXT = pd.DataFrame({"id": ["1"], "sentence1": ["Yara suna wasa."], "sentence2": ["Kasuwa ta cika."], "score": ["1"]})
PROMPTS = {"hau": "Hausa: ", "swh": "Swahili: "}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(load(tiny.backbone(tmp_path / "bert"), pooling="mean", prefix=PROMPTS), tmp_path / "encoder", {}, {})
    return tmp_path / "encoder"


def system(folder: Path, language: str, second: Path | None = None, task: Task | None = None, **more: Path) -> System:
    sets = [Set("sts", task or Task(protocol="sts", source={"file": "x"}), TEXT, None, {})]
    opening = Opening(sets, language, "", more.get("state"), second=second)
    return open_system(folder, opening)


def test_a_text_is_encoded_in_the_language_of_the_test(folder: Path, tmp_path: Path) -> None:
    texts, plain = TEXT["sentence1"].tolist(), open_encoder(folder)
    for language, prompt in PROMPTS.items():
        wanted = plain.encode([prompt + text for text in texts])
        opened = system(folder, language, state=tmp_path / "state")
        assert np.allclose(opened.encode(texts), wanted, atol=1e-5)
        layers = opened.layers(texts)
        assert np.allclose(layers[-1], system(folder, language).layers(texts)[-1])
    with pytest.raises(UserError, match="encoder: no prompt for fra, "):
        system(folder, "fra")


def test_both_sides_of_a_pair_are_read_in_their_languages(folder: Path) -> None:
    both, texts = system(folder, "hau-swh", second=folder), TEXT["sentence1"].tolist()
    assert np.allclose(both.encode(texts), system(folder, "hau").encode(texts), atol=1e-5)
    assert np.allclose(both.second(texts), system(folder, "swh").encode(texts), atol=1e-5)
    assert not np.allclose(both.encode(texts), both.second(texts))


@pytest.mark.parametrize(
    "task",
    [
        {"protocol": "bitext", "source": {"file": "x"}},
        {"protocol": "knn", "source": {"file": "x"}, "train": {"file": "x"}, "train_language": "swh", "k": [1]},
    ],
)
def test_texts_of_two_languages_in_one_test_are_refused(folder: Path, task: dict) -> None:
    with pytest.raises(UserError, match=r"score: sts.*two languages"):
        system(folder, "hau", task=Task(**task))


def test_examples_in_another_language_than_the_test_are_not_retrieved_by_it(folder: Path) -> None:
    """All texts would have the prompt of the test's language; the same holds for the nearest texts of `knn`."""
    given = {"protocol": "icl", "source": {"file": "x"}, "train": {"file": "x"}}
    for language, fits in (("", True), ("hau", True), ("swh", False)):
        task = Task(**given, train_language=language)
        opening = Opening([Set("icl", task, TEXT, None, {})], "hau", "", None)
        with nullcontext() if fits else pytest.raises(UserError, match="two languages"):
            assert in_context._retriever(folder, opening).per_language


def test_layers_of_an_encoder_whose_adapters_are_off_are_those_without(tmp_path: Path) -> None:
    encoder = load(tiny.backbone(tmp_path / "bert"), pooling="mean", prefix="")
    save(encoder, tmp_path / "plain", {}, {})
    add_adapters(encoder, seed=1)
    for adapter in encoder[0].adapters:
        torch.nn.init.normal_(adapter.up.weight)
    save(encoder, tmp_path / "adapted", {}, {})
    texts = TEXT["sentence1"].tolist()
    plain, off, on = (
        opened(tmp_path / name, 8, adapters=adapters).layers(texts)
        for name, adapters in (("plain", True), ("adapted", False), ("adapted", True))
    )
    assert np.allclose(plain, off, atol=1e-5) and not np.allclose(plain, on, atol=1e-2)


def test_what_is_saved_names_every_language(folder: Path) -> None:
    assert manifests.of(folder)
    assert open_encoder(folder).prompts == PROMPTS | {"query": "", "document": ""}


def test_scores_say_the_rows_that_each_encoder_was_last_trained_on(folder: Path, tmp_path: Path) -> None:
    save(open_encoder(folder), tmp_path / "trained", {}, {"examples": 12})
    both = system(folder, "hau-swh", second=tmp_path / "trained").about
    assert both["second"]["rows"] == 12 and "rows" not in both["encoder"]
    alone = system(tmp_path / "trained", "hau").about["encoder"]
    assert alone["rows"] == 12 and alone["digest"] == both["second"]["digest"]
