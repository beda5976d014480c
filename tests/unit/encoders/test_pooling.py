"""Pooling on tiny BERT, XLM-R and ModernBERT: what it averages, and what must not change it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import AutoModel, AutoTokenizer

from seedbed.encoders import backbone
from seedbed.encoders.pooling import FirstLastAverage
from seedbed.io import UserError

ARCHITECTURES = ("bert", "xlm-roberta", "modernbert")


@pytest.fixture(params=ARCHITECTURES)
def directory(request: pytest.FixtureRequest, make_weights: Callable[..., Path]) -> Path:
    return make_weights(request.param)


def direct(directory: Path, texts: list[str]) -> np.ndarray:
    """One text at a time, without sentence-transformers and without padding: (texts, width)."""
    model, tokenizer = AutoModel.from_pretrained(directory).eval(), AutoTokenizer.from_pretrained(directory)
    rows = []
    for text in texts:
        with torch.inference_mode():
            states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        rows.append(((states.hidden_states[1] + states.last_hidden_state) / 2).mean(1)[0])
    return torch.stack(rows).numpy()


def test_is_the_mean_of_first_and_last(directory: Path, sentences: list[str]) -> None:
    encoder = backbone.load(directory, pooling="first_last_average")
    np.testing.assert_allclose(encoder.encode(sentences), direct(directory, sentences), atol=1e-6)


def test_batch_and_order_do_not_matter(directory: Path, sentences: list[str]) -> None:
    encoder = backbone.load(directory, pooling="first_last_average")
    expected = encoder.encode(sentences, batch_size=1)
    np.testing.assert_allclose(encoder.encode(sentences, batch_size=8), expected, atol=1e-6)
    np.testing.assert_allclose(encoder.encode(sentences[::-1], batch_size=3)[::-1], expected, atol=1e-6)


def test_padding_does_not_matter(directory: Path, sentences: list[str]) -> None:
    encoder = backbone.load(directory, pooling="first_last_average").eval()
    features = encoder.preprocess(sentences[:1])
    padded = {
        "input_ids": torch.nn.functional.pad(features["input_ids"], (0, 5), value=1),
        "attention_mask": torch.nn.functional.pad(features["attention_mask"], (0, 5)),
    }
    with torch.inference_mode():
        plain, wide = (encoder(dict(batch))["sentence_embedding"] for batch in (features, padded))
    torch.testing.assert_close(wide, plain.to(wide), rtol=0, atol=1e-6)


def test_saved_encoder_loads_and_gives_the_same(directory: Path, tmp_path: Path, sentences: list[str]) -> None:
    encoder = backbone.load(directory, pooling="first_last_average", prefix="query: ")
    encoder.save_pretrained(str(tmp_path), create_model_card=False)
    again = SentenceTransformer(str(tmp_path), trust_remote_code=True)
    assert isinstance(again[1], FirstLastAverage)
    np.testing.assert_array_equal(again.encode(sentences), encoder.encode(sentences))
    assert set(again.state_dict()) == set(encoder.state_dict()), "a pooler has come back"


def test_texts_may_be_longer_than_the_positions(directory: Path, sentences: list[str]) -> None:
    encoder = backbone.load(directory, pooling="first_last_average")
    assert np.isfinite(encoder.encode(" ".join(sentences))).all()


def test_half_precision_is_averaged_in_single() -> None:
    *states, normed = (torch.full((1, 4, 2), value, dtype=torch.bfloat16) for value in (0.0, 1.0, 5.0, 0.001))
    features = {
        "token_embeddings": normed,
        "all_layer_embeddings": tuple(states),
        "attention_mask": torch.ones(1, 4, dtype=torch.long),
    }
    vector = FirstLastAverage(2)(features)["sentence_embedding"]
    assert vector.dtype == torch.float32
    assert vector[0, 0].item() == pytest.approx((1 + normed[0, 0, 0].item()) / 2, rel=1e-6)


def test_without_hidden_states_it_stops(weights: Path, sentences: list[str]) -> None:
    encoder = backbone.load(weights, pooling="mean")
    encoder[1] = FirstLastAverage(32)
    with pytest.raises(UserError, match="output_hidden_states"):
        encoder.encode(sentences)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_other_poolings_are_those_of_sentence_transformers(weights: Path, pooling: str) -> None:
    module = backbone.load(weights, pooling=pooling)[1]
    assert type(module) is Pooling and module.pooling_mode == pooling


def test_prefix_is_put_before_every_text_however_it_is_encoded(
    weights: Path, tmp_path: Path, sentences: list[str]
) -> None:
    plain = backbone.load(weights, pooling="mean").encode([f"query: {text}" for text in sentences])
    backbone.load(weights, pooling="mean", prefix="query: ").save_pretrained(str(tmp_path))
    encoder = SentenceTransformer(str(tmp_path))
    for encode in (encoder.encode, encoder.encode_query, encoder.encode_document):
        np.testing.assert_array_equal(encode(sentences), plain)


def test_length_is_the_backbones_own_or_shorter(make_weights: Callable[..., Path]) -> None:
    lengths = {name: backbone.load(make_weights(name), pooling="mean").max_seq_length for name in ARCHITECTURES}
    assert lengths == {"bert": 64, "xlm-roberta": 62, "modernbert": 64}
    assert backbone.load(make_weights("bert"), pooling="mean", max_length=12).max_seq_length == 12


def test_a_sentence_transformers_directory_gives_its_transformer(
    weights: Path, tmp_path: Path, sentences: list[str]
) -> None:
    backbone.load(weights, pooling="cls", prefix="x ").save_pretrained(str(tmp_path))
    encoder = backbone.load(tmp_path, pooling="first_last_average")
    np.testing.assert_allclose(encoder.encode(sentences), direct(weights, sentences), atol=1e-6)


def test_half_precision_weights_are_loaded_in_single(weights: Path, tmp_path: Path) -> None:
    shutil.copytree(weights, tmp_path, dirs_exist_ok=True)
    AutoModel.from_pretrained(weights, dtype=torch.bfloat16).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == "bfloat16"
    assert {p.dtype for p in backbone.load(tmp_path, pooling="mean").parameters()} == {torch.float32}


@pytest.mark.parametrize(
    ("missing", "message"),
    [("config.json", "no config.json"), ("tokenizer.json", "no tokenizer"), ("model.safetensors", "no .*safetensors")],
)
def test_an_incomplete_directory_is_told_in_one_line(weights: Path, tmp_path: Path, missing: str, message: str) -> None:
    shutil.copytree(weights, tmp_path, dirs_exist_ok=True)
    (tmp_path / missing).unlink()
    with pytest.raises(UserError, match=f"{message}; ") as error:
        backbone.load(tmp_path, pooling="mean")
    assert "\n" not in str(error.value)


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such directory"):
        backbone.load(tmp_path / "nothing", pooling="mean")


def test_an_opened_encoder_is_the_saved_one(directory: Path, tmp_path: Path, sentences: list[str]) -> None:
    encoder = backbone.load(directory, pooling="first_last_average", prefix="query: ")
    encoder.save_pretrained(str(tmp_path), create_model_card=False)
    np.testing.assert_array_equal(backbone.open_encoder(tmp_path).encode(sentences), encoder.encode(sentences))


def test_opening_runs_no_code_of_the_directory(weights: Path, tmp_path: Path) -> None:
    backbone.load(weights, pooling="first_last_average").save_pretrained(str(tmp_path), create_model_card=False)
    for name in ("seedbed.py", "evil.py"):
        (tmp_path / name).write_text("raise SystemExit('foreign code was run')")
    config = json.loads((tmp_path / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    backbone.open_encoder(tmp_path)

    modules = json.loads((tmp_path / "modules.json").read_text())
    for name in ("evil.Pooling", "seedbed.Pooling"):
        modules[1]["type"] = name
        (tmp_path / "modules.json").write_text(json.dumps(modules))
        with pytest.raises(UserError, match=f"{name} is foreign code"):
            backbone.open_encoder(tmp_path)


def test_opening_what_is_no_encoder(weights: Path) -> None:
    with pytest.raises(UserError, match=r"no modules\.json"):
        backbone.open_encoder(weights)
