"""Training refuses neighbours that another backbone, layer or prefix has found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from scripts import mine_neighbours, train_encoder
from seedbed.encoders.mining import audit_of
from seedbed.encoders.prompts import CONFIG
from seedbed.io import UserError, read_json, write_json, write_table
from tests import tiny
from tests.programs import call

LAYER = {"layer": 2, "count": 3}


@pytest.fixture(scope="module")
def mined(weights: Path, sentences: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Neighbours of four pairs by the second layer, with a prefix, and the audit beside them."""
    folder = tmp_path_factory.mktemp("mined")
    pairs = pd.DataFrame({"id": list("abcd"), "text": sentences[::2], "pivot": sentences[1::2]})
    write_table(pairs, folder / "pairs.tsv")
    pool = tiny.sentences("swh", 12)
    write_table(pd.DataFrame({"id": [str(place) for place in range(12)], "text": pool}), folder / "pool.tsv")
    return mine(folder, weights, "hau.tsv", "--prefix", "a: ")


def mine(folder: Path, weights: Path, name: str, *others: str) -> Path:
    """Mine with a backbone among the pairs and the pool of a folder."""
    output = folder / name
    call(mine_neighbours, [
        "--weights", str(weights), "--pairs", str(folder / "pairs.tsv"), "--pool", str(folder / "pool.tsv"),
        "--mining", json.dumps(LAYER), "--state", str(folder / "state"), "--output", str(output),
        "--audit", str(audit_of(output)), *others,
    ])  # fmt: skip
    return output


@pytest.fixture
def train(weights: Path, mined: Path, tmp_path: Path) -> Callable[..., Path]:
    """Train on the file, as told but for some arguments; the folder of the encoder."""

    def train(**changes: str | None) -> Path:
        objective = {"neighbours": {"neighbours": 2, "queue_size": 8, "projection": [8, 4]}}
        training = {"epochs": 1, "batch_size": 4, "precision": "float32", "pooling": "last_weighted_train", "layers": 2}
        told = {
            "weights": str(weights), "objective": json.dumps(objective), "texts": str(mined), "prefix": "a: ", "seed": "1",
            "training": json.dumps(training), "state": str(tmp_path / "state"), "output": str(tmp_path / "encoder"),
        } | changes  # fmt: skip
        call(
            train_encoder, [part for name, value in told.items() if value is not None for part in (f"--{name}", value)]
        )
        return tmp_path / "encoder"

    return train


def test_the_backbone_that_mined_learns_from_it(train: Callable[..., Path]) -> None:
    assert (train(mining=json.dumps(LAYER | {"count": 7})) / "model.safetensors").is_file(), "any number of neighbours"


def test_without_a_prefix_both_read_as_the_backbones_own_file_says(
    train: Callable[..., Path], mined: Path, weights: Path, tmp_path: Path
) -> None:
    own = shutil.copytree(weights, tmp_path / "own")
    write_json({"prompts": {"all": "own: "}, "default_prompt_name": "all"}, own / CONFIG)
    texts = mine(mined.parent, own, "own.tsv")
    assert read_json(audit_of(texts))["prefix"] == "own: "
    assert train(weights=str(own), texts=str(texts), prefix=None).is_dir()


def test_what_goes_on_from_an_encoder_names_the_backbone(
    train: Callable[..., Path], weights: Path, tmp_path: Path
) -> None:
    first = train()
    with pytest.raises(UserError, match=f"other weights than {first}; mine"):
        train(weights=str(first), output=str(tmp_path / "second"))
    assert not (tmp_path / "second").exists()
    train(weights=str(first), miner=str(weights), output=str(tmp_path / "second"))
    assert (tmp_path / "second/model.safetensors").is_file()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"prefix": "b: "},
            r"hau.tsv:.*prefix 'a: '.*'b: '; mine",
        ),
        ({"prefix": ""}, r"hau.tsv:.*prefix 'a: ', not ''"),
        ({"mining": '{"layer": 1}'}, r"hau.tsv:.*mining.layer 2, not 1"),
        ({"mining": '{"layer": 2, "near": "pivot"}'}, r"hau.tsv:.*mining.near 'text', not 'pivot'"),
    ],
)
def test_another_prefix_or_layer_is_refused(
    train: Callable[..., Path], tmp_path: Path, changes: dict[str, str], told: str
) -> None:
    with pytest.raises(UserError, match=told) as error:
        train(**changes)
    assert "\n" not in str(error.value) and not [*tmp_path.glob("encoder*")]


def test_another_backbone_is_refused(
    train: Callable[..., Path], make_weights: Callable[..., Path], tmp_path: Path
) -> None:
    other = make_weights("xlm-roberta")
    with pytest.raises(UserError, match=f"hau.tsv: .*other weights than {other}; mine"):
        train(weights=str(other))
    assert not (tmp_path / "encoder").exists()


def test_a_file_of_ones_own_has_no_audit(train: Callable[..., Path], mined: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_bytes(mined.read_bytes())
    assert train(texts=str(own), prefix="b: ").is_dir()
    with pytest.raises(UserError, match="own.audit.json: no such file; expected JSON"):
        train(texts=str(own), mining=json.dumps(LAYER))
    write_json({"read": 4}, audit_of(own))
    with pytest.raises(UserError, match=r"own.audit.json:.*mine_neighbours.*own.tsv"):
        train(texts=str(own))
    write_json(read_json(audit_of(mined)), audit_of(own))
    assert train(texts=str(own)).is_dir()
