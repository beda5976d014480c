"""Static embeddings: the mean of input embeddings by hand, saved and opened again, not trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from transformers import AutoTokenizer

from seedbed.encoders import objectives
from seedbed.encoders.models.inference import opened
from seedbed.encoders.models.loading import load, open_encoder
from seedbed.encoders.settings import Training
from seedbed.encoders.training.start import Start
from seedbed.io import UserError
from tests import tiny
from tests.trainings import train

TEXTS = ["a small cat", "word " * 300]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.backbone(tmp_path_factory.mktemp("static") / "bert")


def by_hand(weights: Path, prefix: str = "") -> np.ndarray:
    tensors = load_file(weights / "model.safetensors")
    table = next(value for name, value in tensors.items() if name.endswith("word_embeddings.weight"))
    ids = AutoTokenizer.from_pretrained(weights)([prefix + text for text in TEXTS], add_special_tokens=False)
    return np.stack([table[one].mean(axis=0) for one in ids["input_ids"]])


def test_a_vector_is_the_mean_of_input_embeddings_of_all_tokens(weights: Path) -> None:
    assert load(weights, pooling="static").encode(TEXTS) == pytest.approx(by_hand(weights), abs=1e-6)
    assert load(weights, pooling="static", prefix="a ").encode(TEXTS) == pytest.approx(by_hand(weights, "a "), abs=1e-6)


def test_it_is_saved_and_opened_again(weights: Path, tmp_path: Path) -> None:
    settings = Training(pooling="static")
    for name in ("one", "two"):
        train(
            weights,
            None,
            settings,
            objective=None,
            prefix="",
            seed=0,
            output=tmp_path / name,
            state=tmp_path,
            minutes=1,
        )
    assert open_encoder(tmp_path / "one").encode(TEXTS) == pytest.approx(by_hand(weights), abs=1e-6)
    found = opened(tmp_path / "one", 2, None).encode(TEXTS)
    assert found == pytest.approx(by_hand(weights), abs=1e-6)
    files = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*")) for name in ("one", "two")
    ]
    assert files[0] == files[1]
    assert all(
        (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
        for file in files[0]
        if (tmp_path / "one" / file).is_file()
    )


def test_it_is_not_trained(weights: Path, tmp_path: Path) -> None:
    objective = objectives.load("contrast")
    load(weights, pooling="static").save_pretrained(str(tmp_path / "static"))
    with pytest.raises(UserError, match=f"{tmp_path}/static: .* without a transformer"):
        Start(tmp_path / "static").open(Training(pooling="own"), objective, 0)
    with pytest.raises(UserError, match=r"pooling static.*take mean"):
        train(
            weights,
            None,
            Training(pooling="static"),
            objective=objective,
            prefix="",
            seed=0,
            output=tmp_path / "x",
            state=tmp_path,
            minutes=1,
        )
