"""Pooling on tiny BERT, XLM-R and ModernBERT: what it averages, and what must not change it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
from torch import nn
from transformers import AutoModel, AutoTokenizer

from seedbed.encoders.compression.average import average
from seedbed.encoders.export import card
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading
from seedbed.encoders.pooling import FirstLastAverage, LastTwoAverage, WeightedLayers, dense, learnt_weights
from seedbed.io import UserError
from tests import warm

ARCHITECTURES = ("bert", "xlm-roberta", "modernbert")
POOLINGS = ("first_last_average", "last_two_average", "last_average", "mean", "cls", "cls_mlp")
THREE = {"layers": 3}
"""All blocks of the tiny backbones."""


@pytest.fixture(params=ARCHITECTURES)
def directory(request: pytest.FixtureRequest, make_weights: Callable[..., Path]) -> Path:
    return make_weights(request.param)


@torch.no_grad()
def direct(directory: Path, texts: list[str], mlp: Any = None) -> dict[str, np.ndarray]:
    """One text at a time, without sentence-transformers and without padding: every pooling's vectors (texts, width).

    What a block gives is taken from the block itself, not from the model's list of hidden states.
    """
    model, tokenizer = AutoModel.from_pretrained(directory).eval(), AutoTokenizer.from_pretrained(directory)
    given: list[torch.Tensor] = []
    for block in model.encoder.layer if hasattr(model, "encoder") else model.layers:
        block.register_forward_hook(lambda *args: given.append(args[-1] if torch.is_tensor(args[-1]) else args[-1][0]))
    rows = []
    for text in texts:
        given.clear()
        last = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        row = {
            "first_last_average": ((given[0][0] + last) / 2).mean(0),
            "last_two_average": ((given[-2][0] + last) / 2).mean(0),
            "last_average": ((given[-3][0] + given[-2][0] + last) / 3).mean(0),
            "mean": last.mean(0),
            "cls": last[0],
        }
        rows.append(row | ({"cls_mlp": torch.tanh(mlp.linear.weight @ last[0] + mlp.linear.bias)} if mlp else {}))
    return {pooling: torch.stack([row[pooling] for row in rows]).numpy() for pooling in rows[0]}


@pytest.mark.parametrize("pooling", POOLINGS)
def test_is_what_its_name_says(directory: Path, sentences: list[str], pooling: Any) -> None:
    encoder = loading.load(directory, **THREE, pooling=pooling)
    expected = direct(directory, sentences, encoder[2] if pooling == "cls_mlp" else None)
    vectors = encoder.encode(sentences)
    np.testing.assert_allclose(vectors, expected.pop(pooling), atol=1e-6)
    assert all(np.abs(vectors - other).max() > 1e-4 for other in expected.values())


@pytest.mark.parametrize("pooling", POOLINGS)
def test_batch_and_order_do_not_matter(directory: Path, sentences: list[str], pooling: Any) -> None:
    encoder = loading.load(directory, **THREE, pooling=pooling)
    expected = encoder.encode(sentences, batch_size=1)
    np.testing.assert_allclose(encoder.encode(sentences, batch_size=8), expected, atol=1e-6)
    np.testing.assert_allclose(encoder.encode(sentences[::-1], batch_size=3)[::-1], expected, atol=1e-6)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_padding_does_not_matter(directory: Path, sentences: list[str], pooling: Any) -> None:
    encoder = loading.load(directory, **THREE, pooling=pooling).eval()
    features = encoder.preprocess(sentences[:1])
    padded = {
        "input_ids": torch.nn.functional.pad(features["input_ids"], (0, 5), value=1),
        "attention_mask": torch.nn.functional.pad(features["attention_mask"], (0, 5)),
    }
    with torch.inference_mode():
        plain, wide = (encoder(dict(batch))["sentence_embedding"] for batch in (features, padded))
    torch.testing.assert_close(wide, plain.to(wide), rtol=0, atol=1e-6)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_tokenizer_that_pads_on_the_left_does_not(
    weights: Path, tmp_path: Path, sentences: list[str], side: str
) -> None:
    shutil.copytree(weights, tmp_path, dirs_exist_ok=True)
    AutoTokenizer.from_pretrained(weights, padding_side=side).save_pretrained(tmp_path)
    vectors = loading.load(tmp_path, pooling="cls").encode(sentences)
    np.testing.assert_allclose(vectors, direct(weights, sentences)["cls"], atol=1e-6)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_saved_encoder_loads_and_gives_the_same(
    directory: Path, tmp_path: Path, sentences: list[str], pooling: Any
) -> None:
    encoder = loading.load(directory, **THREE, pooling=pooling, prefix="query: ")
    loading.as_saved(encoder).save_pretrained(str(tmp_path), create_model_card=False)
    again = SentenceTransformer(str(tmp_path))
    assert [type(module) for module in again] == [type(module) for module in loading.as_saved(encoder)]
    np.testing.assert_array_equal(again.encode(sentences), encoder.encode(sentences))
    lost = set(again.state_dict()) ^ set(loading.as_saved(encoder).state_dict())
    assert not lost, "a pooler has come back"


PLAIN = """
import json
from sentence_transformers import SentenceTransformer
folders, texts = map(json.loads, sys.argv[1:])
print(json.dumps([SentenceTransformer(folder, device="cpu").encode(texts).tolist() for folder in folders]))
"""


def test_every_saved_encoder_loads_without_this_package(
    make_weights: Callable[..., Path], tmp_path: Path, sentences: list[str]
) -> None:
    expected = {}
    for architecture in ARCHITECTURES:
        for pooling in POOLINGS:
            encoder = loading.load(make_weights(architecture), **THREE, pooling=pooling, prefix="query: ")
            encoder = encoder.to("cpu")  # as the other process
            folder = tmp_path / architecture / pooling
            save(encoder, folder, {}, {}, tell=card.write)
            assert "trust_remote_code" not in (folder / "README.md").read_text()
            expected[str(folder)] = encoder.encode(sentences)
    arguments = [json.dumps(list(expected)), json.dumps(sentences)]
    printed = warm.abroad(PLAIN, *arguments, folder=tmp_path)
    for vectors, (folder, ours) in zip(json.loads(printed), expected.items(), strict=True):
        np.testing.assert_array_equal(np.array(vectors, np.float32), ours, err_msg=folder)


def test_an_average_of_layers_stays_one_where_training_goes_on(weights: Path, tmp_path: Path) -> None:
    save(loading.load(weights, pooling="first_last_average"), tmp_path / "encoder", {}, {})
    encoder = loading.load(tmp_path / "encoder", pooling="own")
    assert encoder[1].layer_weights.tolist() == [1, 0, 1] and not encoder[1].layer_weights.requires_grad
    assert all(parameter.requires_grad for parameter in encoder[0].parameters())


def test_texts_may_be_longer_than_the_positions(directory: Path, sentences: list[str]) -> None:
    encoder = loading.load(directory, pooling="first_last_average")
    assert np.isfinite(encoder.encode(" ".join(sentences))).all()


def states(*, blocks: int, rows: int = 2, tokens: int = 4, width: int = 3) -> dict[str, Any]:
    """Random states as a backbone gives them; the last token is padding, and the last state has been normed."""
    torch.manual_seed(0)
    given = [torch.randn(rows, tokens, width, dtype=torch.float64) for _ in range(blocks + 2)]
    mask = torch.ones(rows, tokens, dtype=torch.long)
    mask[:, -1] = 0
    return {"token_embeddings": given[-1], "all_layer_embeddings": tuple(given[:-1]), "attention_mask": mask}


@pytest.mark.parametrize("layers", [1, 3, 4])
def test_weights_of_layers_sum_to_one_start_equal_and_weigh(layers: int) -> None:
    pooling, features = WeightedLayers(3, layers).double(), states(blocks=5)
    assert pooling.weights.tolist() == pytest.approx([1 / layers] * layers)
    nn.init.normal_(pooling.scores)
    shares = np.exp(pooling.scores.tolist()) / np.exp(pooling.scores.tolist()).sum()
    assert pooling.weights.tolist() == pytest.approx(shares.tolist())
    last = [*features["all_layer_embeddings"][:-1], features["token_embeddings"]][-layers:]
    expected = sum(share * state[:, :3].mean(1) for share, state in zip(shares, last, strict=True))
    torch.testing.assert_close(pooling(features)["sentence_embedding"], expected)
    assert torch.autograd.gradcheck(
        lambda scores: torch.func.functional_call(pooling, {"scores": scores}, (states(blocks=5),))[
            "sentence_embedding"
        ],
        pooling.scores,
    )


def test_fewer_hidden_states_than_layers_are_told() -> None:
    with pytest.raises(UserError, match=r"^last_weighted: 3 .*4 layers; take fewer"):
        WeightedLayers(3)(states(blocks=2))
    without = {name: value for name, value in states(blocks=5).items() if name != "all_layer_embeddings"}
    with pytest.raises(UserError, match=r"^last_weighted: 1 .*4 layers"):
        WeightedLayers(3)(without)


def test_more_layers_than_the_backbone_has_are_told(weights: Path) -> None:
    with pytest.raises(UserError, match=r"^training.layers: 4.*3.*give 3"):
        loading.load(weights, pooling="last_average")


@pytest.mark.parametrize("pooling", ["last_weighted", "last_weighted_train", "last_average"])
def test_what_is_learnt_of_layers_is_saved_or_not(
    weights: Path, tmp_path: Path, sentences: list[str], pooling: Any
) -> None:
    encoder = loading.load(weights, pooling=pooling, layers=2)
    plain = loading.load(weights, pooling="last_two_average").encode(sentences)
    np.testing.assert_allclose(encoder.encode(sentences), plain, atol=1e-6)
    assert encoder[1].scores.requires_grad == (pooling != "last_average")
    assert learnt_weights(encoder) == ({} if pooling == "last_average" else {"layer_weights": [0.5, 0.5]})
    with torch.no_grad():
        encoder[1].scores.copy_(torch.tensor([0.0, 0.7]))
    encoder.save_pretrained(str(tmp_path / "checkpoint"), create_model_card=False)
    checkpoint = SentenceTransformer(str(tmp_path / "checkpoint"), trust_remote_code=True)
    assert checkpoint[1].scores.tolist() == encoder[1].scores.tolist() and checkpoint[1].layers == 2
    save(encoder, tmp_path / "encoder", {}, {})
    expected = encoder.encode(sentences) if pooling == "last_weighted" else plain
    np.testing.assert_allclose(loading.open_encoder(tmp_path / "encoder").encode(sentences), expected, atol=1e-6)
    assert np.abs(encoder.encode(sentences) - plain).max() > 1e-3


def test_the_mean_of_saved_encoders_has_the_mean_of_their_layer_weights(weights: Path, tmp_path: Path) -> None:
    """Weights of layers that are saved at different scales would count more or less than others."""
    encoders, shares = [], []
    for seed, scores in enumerate(([0.0, 2.0], [0.3, 0.3])):
        encoder = loading.load(weights, pooling="last_weighted", layers=2)
        with torch.no_grad():
            encoder[1].scores.copy_(torch.tensor(scores))
        shares.append(encoder[1].weights.detach())
        save(encoder, tmp_path / str(seed), {}, {})
        encoders.append(loading.open_encoder(tmp_path / str(seed)))
    found = average(encoders[0], encoders[1:])[1].layer_weights.detach()
    torch.testing.assert_close(found[-2:] / found[-2:].sum(), torch.stack(shares).mean(dim=0))


@pytest.mark.parametrize("pooler", [FirstLastAverage, LastTwoAverage])
def test_half_precision_is_averaged_in_single(pooler: Any) -> None:
    *states, normed = (
        torch.full((1, 4, 2), value, dtype=torch.bfloat16) for value in (0.0, 1.0, 5.0, 0.001)
    )  # a model of two blocks
    features = {
        "token_embeddings": normed,
        "all_layer_embeddings": tuple(states),
        "attention_mask": torch.ones(1, 4, dtype=torch.long),
    }
    vector = pooler(2)(features)["sentence_embedding"]
    assert vector.dtype == torch.float32
    assert vector[0, 0].item() == pytest.approx((1 + normed[0, 0, 0].item()) / 2, rel=1e-6)


@pytest.mark.parametrize("pooler", [FirstLastAverage, LastTwoAverage])
def test_without_hidden_states_it_stops(weights: Path, sentences: list[str], pooler: Any) -> None:
    encoder = loading.load(weights, pooling="mean")
    encoder[1] = pooler(32)
    with pytest.raises(UserError, match=f"{pooler.name}: .* output_hidden_states"):
        encoder.encode(sentences)


def test_dense_layer_is_drawn_from_the_seed_alone() -> None:
    one = dense(256, deviation=0.02, seed=1)
    torch.manual_seed(5)
    again, other = dense(256, deviation=0.02, seed=1), dense(256, deviation=0.02, seed=2)
    assert torch.equal(one.linear.weight, again.linear.weight)
    assert not torch.equal(one.linear.weight, other.linear.weight)
    assert one.linear.weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert not one.linear.bias.any()


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_other_poolings_are_those_of_sentence_transformers(weights: Path, pooling: str) -> None:
    module = loading.load(weights, pooling=pooling)[1]
    assert type(module) is Pooling and module.pooling_mode == pooling


def test_prefix_is_put_before_every_text_however_it_is_encoded(
    weights: Path, tmp_path: Path, sentences: list[str]
) -> None:
    plain = loading.load(weights, pooling="mean").encode([f"query: {text}" for text in sentences])
    loading.load(weights, pooling="mean", prefix="query: ").save_pretrained(str(tmp_path))
    encoder = SentenceTransformer(str(tmp_path))
    for encode in (encoder.encode, encoder.encode_query, encoder.encode_document):
        np.testing.assert_array_equal(encode(sentences), plain)


def test_length_is_the_backbones_own(make_weights: Callable[..., Path]) -> None:
    lengths = {name: loading.load(make_weights(name), pooling="mean").max_seq_length for name in ARCHITECTURES}
    assert lengths == {"bert": 64, "xlm-roberta": 62, "modernbert": 64}


def test_a_sentence_transformers_directory_gives_its_transformer(
    weights: Path, tmp_path: Path, sentences: list[str]
) -> None:
    loading.load(weights, pooling="cls", prefix="x ").save_pretrained(str(tmp_path))
    encoder = loading.load(tmp_path, pooling="first_last_average", prefix="")
    np.testing.assert_allclose(encoder.encode(sentences), direct(weights, sentences)["first_last_average"], atol=1e-6)


def test_half_precision_weights_are_loaded_in_single(weights: Path, tmp_path: Path) -> None:
    shutil.copytree(weights, tmp_path, dirs_exist_ok=True)
    AutoModel.from_pretrained(weights, dtype=torch.bfloat16).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == "bfloat16"
    assert {p.dtype for p in loading.load(tmp_path, pooling="mean").parameters()} == {torch.float32}


def test_so_are_those_of_an_encoder_with_its_own_pooling_whose_training_saves_them(
    weights: Path, tmp_path: Path
) -> None:
    loading.load(weights, pooling="cls").to(torch.bfloat16).save_pretrained(str(tmp_path / "half"))
    encoder = loading.load(tmp_path / "half", pooling="own")
    assert {p.dtype for p in encoder.parameters()} == {torch.float32}
    encoder.save_pretrained(str(tmp_path / "saved"))
    assert {tensor.dtype for tensor in load_file(tmp_path / "saved" / "model.safetensors").values()} == {torch.float32}
    assert {p.dtype for p in loading.open_encoder(tmp_path / "saved").parameters()} == {torch.float32}


@pytest.mark.parametrize("pooling", ["mean", "own", "static"])
def test_texts_are_put_in_lower_case_where_the_directory_says_so(pooling: str, weights: Path, tmp_path: Path) -> None:
    loading.load(weights, pooling="mean").save_pretrained(str(tmp_path))
    said = json.loads((tmp_path / "sentence_bert_config.json").read_text())
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps(said | {"do_lower_case": True}))
    upper, lower = loading.load(tmp_path, pooling=pooling).encode(["YARA Suna", "yara suna"])
    np.testing.assert_array_equal(upper, lower)
    loading.load(tmp_path, pooling=pooling).save_pretrained(str(tmp_path / "again"))
    upper, lower = loading.load(tmp_path / "again", pooling="own").encode(["YARA Suna", "yara suna"])
    np.testing.assert_array_equal(upper, lower)


@pytest.mark.parametrize(
    ("missing", "message"),
    [("config.json", "no config.json"), ("tokenizer.json", "no tokenizer"), ("model.safetensors", "no .*safetensors")],
)
def test_an_incomplete_directory_is_told_in_one_line(weights: Path, tmp_path: Path, missing: str, message: str) -> None:
    shutil.copytree(weights, tmp_path, dirs_exist_ok=True)
    (tmp_path / missing).unlink()
    with pytest.raises(UserError, match=f"{message}; ") as error:
        loading.load(tmp_path, pooling="mean")
    assert "\n" not in str(error.value)


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such directory"):
        loading.load(tmp_path / "nothing", pooling="mean")


@pytest.mark.parametrize("pooling", POOLINGS)
def test_an_opened_encoder_is_the_saved_one(
    directory: Path, tmp_path: Path, sentences: list[str], pooling: Any
) -> None:
    encoder = loading.load(directory, **THREE, pooling=pooling, prefix="query: ")
    loading.as_saved(encoder).save_pretrained(str(tmp_path), create_model_card=False)
    np.testing.assert_array_equal(loading.open_encoder(tmp_path).encode(sentences), encoder.encode(sentences))


def test_opening_runs_no_code_of_the_directory(weights: Path, tmp_path: Path) -> None:
    save(loading.load(weights, pooling="first_last_average"), tmp_path, {}, {})
    for name in ("seedbed.py", "evil.py"):
        (tmp_path / name).write_text("raise SystemExit('foreign code was run')")
    config = json.loads((tmp_path / "config.json").read_text())
    config["auto_map"] = {"AutoModel": "evil.Model", "AutoConfig": "evil.Config"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    loading.open_encoder(tmp_path)

    modules = json.loads((tmp_path / "modules.json").read_text())
    for name in ("evil.Pooling", "seedbed.Pooling"):
        modules[1]["type"] = name
        (tmp_path / "modules.json").write_text(json.dumps(modules))
        with pytest.raises(UserError, match=f"{name} is foreign code"):
            loading.open_encoder(tmp_path)


def test_opening_what_is_no_encoder(weights: Path) -> None:
    with pytest.raises(UserError, match=r"no modules\.json"):
        loading.open_encoder(weights)


def test_own_pooling_is_what_the_directory_says(weights: Path, sentences: list[str], tmp_path: Path) -> None:
    theirs = loading.load(weights, pooling="cls")
    theirs.max_seq_length = 7
    theirs.append(Normalize())
    theirs.prompts, theirs.default_prompt_name = {"query": "ask "}, "query"
    theirs.save_pretrained(str(tmp_path / "theirs"))
    ours = loading.load(tmp_path / "theirs", pooling="own")
    assert ours.max_seq_length == 7 and [type(module) for module in ours] == [type(module) for module in theirs]
    np.testing.assert_array_equal(ours.encode(sentences), theirs.encode(sentences))
    prefixed = loading.load(tmp_path / "theirs", pooling="own", prefix="query: ")
    np.testing.assert_array_equal(
        prefixed.encode(sentences), theirs.encode([f"query: {text}" for text in sentences], prompt="")
    )


def test_own_pooling_of_a_plain_transformer_is_the_mean(weights: Path, sentences: list[str]) -> None:
    expected = loading.load(weights, pooling="mean").encode(sentences)
    np.testing.assert_array_equal(loading.load(weights, pooling="own").encode(sentences), expected)
