"""Small copies: what they keep to the last bit, what they lose, and that any sentence-transformers opens them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling
from transformers import AutoModel, AutoTokenizer, BertModel, XLMRobertaConfig, XLMRobertaModel

from scripts import copy_encoder
from seedbed.encoders.compression import average, static, trim
from seedbed.encoders.compression.settings import Bfloat16, Int8, Static, Trimmed
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading
from seedbed.encoders.models.inference import opened
from seedbed.encoders.models.parallel_adapters import add_adapters
from seedbed.io import UserError, read_json, sha256, write_table
from tests import tiny, warm
from tests.programs import call

TEXTS = tiny.sentences("hau", 40)


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    return tiny.backbone(tmp_path_factory.mktemp("weights"))


def make(
    weights: Path, place: Path, ways: dict, texts: list[str], name: str, prefix: str = "", *, pooling: str = "mean"
) -> Path:
    """The copy that the program makes."""
    write_table(pd.DataFrame({"id": map(str, range(len(texts))), "text": texts}), place / "texts.tsv")
    call(copy_encoder, [
        "--weights", str(weights), "--texts", str(place / "texts.tsv"), "--copies", json.dumps(ways),
        "--training", json.dumps({"pooling": pooling}), f"--prefix={prefix}", "--seed", "1", "--about", '{"language": "hau"}',
        "--output", str(place / name),
    ])  # fmt: skip
    return place / name


@pytest.fixture
def made(weights, tmp_path):
    """A function: the copy that the program makes, in a way, of the texts."""

    def function(ways: dict, texts: list[str] = TEXTS, name: str = "1", prefix: str = "") -> Path:
        return make(weights, tmp_path, ways, texts, name, prefix)

    return function


WAYS = {"trimmed": {}, "static": {"dimensions": 8}, "bfloat16": {}, "int8": {}}


@pytest.fixture(scope="module")
def copied(weights, tmp_path_factory) -> dict[str, Path]:
    """A copy of each way, to be read."""
    place = tmp_path_factory.mktemp("copies")
    return {way: make(weights, place, {way: settings}, TEXTS, way, "query: ") for way, settings in WAYS.items()}


def vectors(folder: Path, texts: list[str]) -> np.ndarray:
    return loading.open_encoder(folder).encode(texts)


def test_a_trimmed_encoder_is_the_same_on_its_texts(weights, made):
    """Fewer rows, none of them new; other words of the same letters are not unknown."""
    original = loading.load(weights, pooling="mean", prefix="query: ")
    folder = made({"trimmed": {}}, prefix="query: ")
    small = loading.open_encoder(folder)
    np.testing.assert_array_equal(small.encode(TEXTS), original.encode(TEXTS))
    rows = small[0].auto_model.get_input_embeddings().weight
    assert len(small.tokenizer) == len(rows) < len(original.tokenizer)
    there = {tuple(row) for row in original[0].auto_model.get_input_embeddings().weight.tolist()}
    assert {tuple(row) for row in rows.tolist()} <= there
    backwards = [text[::-1].strip() for text in TEXTS]
    assert small.tokenizer.unk_token_id not in {
        token for ids in small.tokenizer(backwards)["input_ids"] for token in ids
    }
    for name in ("cls", "sep", "pad", "mask", "unk"):
        assert getattr(small.tokenizer, f"{name}_token") == getattr(original.tokenizer, f"{name}_token")
    assert small[0].auto_model.config.pad_token_id == small.tokenizer.pad_token_id
    assert read_json(folder / "seedbed.json")["training"]["agreement"] == 1.0


def test_padding_changes_no_vector_of_a_trimmed_encoder(made):
    small = loading.open_encoder(made({"trimmed": {}}))
    together = small.encode([TEXTS[0], " ".join(TEXTS[:3])])
    np.testing.assert_allclose(together[0], small.encode(TEXTS[0]), atol=1e-5)


def test_a_word_with_another_capital_than_the_texts_is_still_spelled(weights):
    tokenizer = AutoTokenizer.from_pretrained(weights)
    small = [text.lower() for text in TEXTS]
    counts = Counter(token for ids in tokenizer(small, add_special_tokens=False)["input_ids"] for token in ids)
    letters = {*"".join(small)}
    names = {*tokenizer.convert_ids_to_tokens(trim.kept_ids(tokenizer, counts))}
    capitals = {name for name in tokenizer.get_vocab() if name.lower() in letters and name != name.lower()}
    assert capitals and capitals <= names


def test_rare_tokens_go_first(made):
    every, common = (
        len(loading.open_encoder(made({"trimmed": {"least_count": least}}, name=str(least))).tokenizer)
        for least in (1, 6)
    )
    assert common < every


def test_a_static_copy_is_the_mean_of_its_tokens_vectors(weights, made):
    """Each of them is what the encoder makes of the token alone, but for a rotation, if no component is dropped."""
    folder = made({"static": {"dimensions": 32, "smoothing": 1e9, "whiten": False}})
    small, original = loading.open_encoder(folder), loading.load(weights, pooling="mean")
    token = small.tokenizer.encode("yara", add_special_tokens=False)
    rows = load_file(folder / "model.safetensors")["embedding.weight"].numpy()
    np.testing.assert_allclose(small.encode("yara"), rows[token.ids].mean(axis=0), atol=1e-6)
    ids = [original.tokenizer.convert_tokens_to_ids(small.tokenizer.id_to_token(place)) for place in range(len(rows))]
    alone = static._each_alone(original, ids)
    centred = alone - alone.mean(axis=0)
    plain = [place for place, one in enumerate(ids) if one not in original.tokenizer.all_special_ids]
    np.testing.assert_allclose(rows[plain] @ rows[plain].T, centred[plain] @ centred[plain].T, atol=1e-4)


def test_frequent_tokens_weigh_less(made):
    """a / (a + p), against the counts of the texts."""
    flat, weighted = (made({"static": {"dimensions": 8, "smoothing": a}}, name=str(a)) for a in (1e9, 0.01))
    one, two = (
        load_file(folder / "model.safetensors")["embedding.weight"].norm(dim=1).numpy() for folder in (flat, weighted)
    )
    tokenizer = loading.open_encoder(flat).tokenizer
    ids = [token for text in TEXTS for token in tokenizer.encode(text, add_special_tokens=False).ids]
    share = np.bincount(ids, minlength=len(one)) / len(ids)
    share[tokenizer.token_to_id("<unk>")] = 1  # as if each token were unknown
    used = one > 0
    np.testing.assert_allclose(two[used] / one[used], (0.01 / (0.01 + share))[used], rtol=1e-3)


def test_all_components_have_the_same_variance(weights):
    small = Static(dimensions=8, smoothing=1e9).compress(loading.load(weights, pooling="mean"), TEXTS, {})
    rows = small[0].embedding.weight.detach().numpy()
    rows = rows[np.abs(rows).sum(axis=1) > 0]
    np.testing.assert_allclose(np.square(rows).mean(axis=0), 1, rtol=0.25)  # but for those of special tokens


def test_a_text_of_unknown_tokens_has_a_vector_that_hardly_weighs(made):
    condensed = loading.open_encoder(made({"static": {"dimensions": 8}}))
    unknown, known, both = condensed.encode(["ሰላም", "Yara", "Yara ሰላም"])
    assert 0 < np.linalg.norm(unknown) < 0.2 * np.linalg.norm(known)  # and less where a known one is rarer than here
    assert _cosines(both[None], known[None])[0] > 0.98


@pytest.mark.parametrize("way", ["trimmed", "static"])
def test_tokens_that_were_added_beyond_the_vocabulary_stay(way, weights):
    encoder = loading.load(weights, pooling="mean")
    encoder.tokenizer.add_tokens(["[Q]"], special_tokens=True)
    encoder[0].auto_model.resize_token_embeddings(len(encoder.tokenizer))
    texts = [f"[Q]{text}" for text in TEXTS]
    before = encoder.encode(texts)
    small = (Trimmed() if way == "trimmed" else Static(dimensions=8)).compress(encoder, texts, {})
    assert len(small.encode(texts)) == len(texts)
    if way == "trimmed":
        np.testing.assert_array_equal(small.encode(texts), before)
        assert len(small.tokenizer) == small.tokenizer.convert_tokens_to_ids("[Q]") + 1


def test_positions_are_counted_from_the_same_place_where_padding_says_from_which(tmp_path, weights):
    """XLM-R's do; here an id below that of padding stands in no text."""
    config = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    tokenizer = AutoTokenizer.from_pretrained(weights)
    torch.manual_seed(0)
    places = {"vocab_size": len(tokenizer), "max_position_embeddings": 80, "pad_token_id": 20}
    XLMRobertaModel(XLMRobertaConfig(**config, **places)).save_pretrained(tmp_path / "xlmr")
    tokenizer.pad_token = tokenizer.convert_ids_to_tokens(20)
    tokenizer.save_pretrained(tmp_path / "xlmr")
    original = loading.load(tmp_path / "xlmr", pooling="mean")
    before = original.encode(TEXTS[:5])
    save(trim.trim(original, TEXTS[:5]), tmp_path / "small", {}, {})
    small = loading.open_encoder(tmp_path / "small")
    assert len(small.tokenizer) < len(tokenizer)
    np.testing.assert_allclose(small.encode(TEXTS[:5]), before, atol=1e-6)


def test_of_two_texts_no_agreement_is_said(made):
    facts = read_json(made({"bfloat16": {}}, texts=TEXTS[:2]) / "seedbed.json")["training"]
    assert "agreement" not in facts and facts["texts"] == 2 and facts["examples"] == 0


def test_half_the_bytes_and_float32_when_opened(weights, made):
    folder = made({"bfloat16": {}})
    saved = load_file(folder / "model.safetensors")
    assert {str(one.dtype) for one in saved.values()} == {"torch.bfloat16"}
    small = loading.open_encoder(folder)
    assert {str(one.dtype) for one in small.parameters()} == {"torch.float32"}
    facts = read_json(folder / "seedbed.json")["training"]
    assert facts["bytes"] * 2 == facts["bytes of the original"] and facts["agreement"] > 0.99
    np.testing.assert_allclose(small.encode(TEXTS), loading.load(weights, pooling="mean").encode(TEXTS), atol=0.05)


def test_a_copy_of_a_copy_says_how_large_that_one_is(copied, tmp_path):
    """Opened, the weights of one in bfloat16 take twice the bytes of its file."""
    folder = make(copied["bfloat16"], tmp_path, {"averaged": {}}, TEXTS[:3], "1", pooling="own")
    facts, original = (read_json(one / "seedbed.json")["training"] for one in (folder, copied["bfloat16"]))
    assert {key: facts[f"{key} of the original"] for key in ("parameters", "bytes")} == {
        key: original[key] for key in ("parameters", "bytes")
    }
    assert facts["bytes"] == 2 * facts["bytes of the original"]


def test_a_quantized_encoder_is_smaller_and_near_and_has_a_vector_of_each_text_by_itself(weights, copied):
    folder, original = copied["int8"], loading.load(weights, pooling="mean", prefix="query: ")
    small = loading.open_encoder(folder)
    one, other = small.encode(TEXTS), original.encode(TEXTS)
    cosines = (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    assert cosines.min() > 0.98 and cosines.max() < 0.999999
    np.testing.assert_array_equal(one, np.stack([small.encode(text) for text in TEXTS]))
    np.testing.assert_array_equal(one[::-1], small.encode(TEXTS[::-1], batch_size=7))
    facts = read_json(folder / "seedbed.json")["training"]
    assert facts["bytes"] == (folder / "model.onnx").stat().st_size and facts["agreement"] > 0.95
    assert facts["parameters"] == facts["parameters of the original"]
    assert not any(folder.rglob("*.safetensors")) and b"/site-packages/" not in (folder / "model.onnx").read_bytes()
    assert (
        "onnxruntime" in (folder / "README.md").read_text()
        and "trust_remote_code=True" in (folder / "README.md").read_text()
    )


def test_a_quantized_encoder_leaves_the_prompt_out_where_its_original_does(weights, tmp_path):
    body = loading.load(weights, pooling="mean")[0]
    modules, prompts = [body, Pooling(32, "mean", include_prompt=False)], {"query": "Yara suna gida: ", "document": ""}
    SentenceTransformer(modules=modules, prompts=prompts).save_pretrained(str(tmp_path / "original"))
    original = loading.load(tmp_path / "original", pooling="own")
    small = Int8().compress(loading.load(tmp_path / "original", pooling="own"), TEXTS, {})
    save(small, tmp_path / "small", {}, {})
    small = loading.open_encoder(tmp_path / "small")
    for texts in (TEXTS, [text[:9] for text in TEXTS]):
        assert _cosines(small.encode_query(texts), original.encode_query(texts)).min() > 0.99
        assert _cosines(small.encode_document(texts), original.encode_document(texts)).min() > 0.99
    for tokenized in (small.preprocess(TEXTS, prompt=prompts["query"]), small[0].preprocess(TEXTS, prompts["query"])):
        assert tokenized["prompt_length"] == original.preprocess(TEXTS, prompt=prompts["query"])["prompt_length"]


@pytest.mark.parametrize(
    ("dtype", "way"), [(torch.float16, "int8"), (torch.float16, "bfloat16"), (torch.bfloat16, "bfloat16")]
)
def test_an_encoder_in_16_bits_with_modules_of_its_own_is_copied(dtype, way, weights, tmp_path):
    modules = [loading.load(weights, pooling="mean")[0], Pooling(32, "mean"), Dense(32, 16)]
    SentenceTransformer(modules=modules).to(dtype).save_pretrained(str(tmp_path / "half"))
    folder = make(tmp_path / "half", tmp_path, {way: {}}, TEXTS, "copy", pooling="own")
    original = loading.load(tmp_path / "half", pooling="own")
    assert _cosines(vectors(folder, TEXTS), original.encode(TEXTS)).min() > 0.99


def test_a_transformer_that_onnx_does_not_have_is_refused_in_one_line(tmp_path):
    weights = tiny.encoder_decoder(tmp_path / "t5")
    with pytest.raises(UserError, match="t5: int8: .*kind mt5; copy it as bfloat16, trimmed or static") as told:
        make(weights, tmp_path, {"int8": {}}, TEXTS, "copy")
    assert "\n" not in str(told.value) and {path.name for path in tmp_path.iterdir()} == {"t5", "texts.tsv"}
    for way in ("bfloat16", "trimmed", "static"):
        assert vectors(make(weights, tmp_path, {way: WAYS[way]}, TEXTS, way), TEXTS).shape[0] == len(TEXTS)


@pytest.mark.parametrize(("pooling", "start"), [("first_last_average", "unlike"), ("last_two_average", "encoder")])
def test_a_quantized_encoder_pools_the_layers_that_its_original_does(pooling, start, weights, tmp_path):
    """From a backbone, and from a saved encoder, whose pooling is sentence-transformers' own."""
    model = AutoModel.from_pretrained(weights)
    for name, weight in model.named_parameters():
        weight.data *= 10 if ".layer.1." in name and "LayerNorm" not in name else 1  # so that layers are unlike
    AutoTokenizer.from_pretrained(weights).save_pretrained(tmp_path / "unlike")
    model.save_pretrained(weights := tmp_path / "unlike")
    original, last = (loading.load(weights, pooling=name) for name in (pooling, "mean"))
    save(original, tmp_path / "encoder", {}, {})
    save(Int8().compress(loading.load(tmp_path / start, pooling=pooling), TEXTS, {}), tmp_path / "small", {}, {})
    found = loading.open_encoder(tmp_path / "small").encode(TEXTS)
    assert _cosines(found, original.encode(TEXTS)).min() > 0.99 > _cosines(found, last.encode(TEXTS)).max()


def _cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


def test_the_mean_of_several_is_that_of_each_weight_and_loses_none(weights, tmp_path):
    """Of three encoders of one start, which differ by more than an average of averages would hide."""
    folders = []
    for seed in (1, 2, 10):
        encoder = loading.load(weights, pooling="mean", prefix="query: ")
        generator = torch.Generator().manual_seed(seed)
        for weight in encoder.parameters():
            weight.data += seed * torch.rand(weight.shape, generator=generator)
        encoder.save_pretrained(str(tmp_path / f"seed{seed}"))
        folders.append(tmp_path / f"seed{seed}")
    write_table(pd.DataFrame({"id": map(str, range(40)), "text": TEXTS}), tmp_path / "texts.tsv")
    call(copy_encoder, [
        "--weights", str(folders[0]), "--refer", *(f"{folder.name}={folder}" for folder in folders[1:]),
        "--texts", str(tmp_path / "texts.tsv"), "--copies", '{"averaged": {}}', "--training", '{"pooling": "own"}',
        "--prefix=query: ", "--seed", "1", "--about", '{"language": "hau"}',
        "--output", str(tmp_path / "mean"),
    ])  # fmt: skip
    each = [load_file(folder / "model.safetensors") for folder in folders]
    mean = load_file(tmp_path / "mean/model.safetensors")
    assert {*mean} == {*each[0]}
    for name, weight in mean.items():
        np.testing.assert_allclose(
            weight, np.mean([one[name].double().numpy() for one in each], axis=0), rtol=1e-5, atol=1e-6
        )
    found = loading.open_encoder(tmp_path / "mean")
    assert found.prompts["query"] == "query: " and found.encode(TEXTS).shape == (40, found.get_embedding_dimension())


def test_the_mean_may_have_a_share_of_the_encoder_before_training(weights):
    """Weight by weight, on weights that are numbers known by hand."""
    one, other, base = (loading.load(weights, pooling="mean") for _ in range(3))
    for encoder, value in ((one, 1.0), (other, 3.0), (base, 10.0)):
        for weight in encoder.parameters():
            weight.data.fill_(value)
    mixed = average.interpolate(average.average(one, [other]), base, 0.25)
    assert {value for weight in mixed.parameters() for value in weight.detach().unique().tolist()} == {4.0}


def test_what_follows_the_transformer_stays_the_encoders(weights):
    """A pooling over layers is saved with a weight, which the start point does not have."""
    encoder, base = loading.load(weights, pooling="first_last_average"), loading.load(weights, pooling="mean")
    kept = [weight.detach().clone() for module in list(encoder)[1:] for weight in module.parameters()]
    before = encoder[0].auto_model.embeddings.word_embeddings.weight.detach().clone()
    with torch.no_grad():
        base[0].auto_model.embeddings.word_embeddings.weight += 1
    mixed = average.interpolate(encoder, base, 0.25)
    assert torch.allclose(mixed[0].auto_model.embeddings.word_embeddings.weight, before + 0.25)
    after = [weight for module in list(mixed)[1:] for weight in module.parameters()]
    assert len(kept) == len(after) and all(map(torch.equal, kept, after))


def test_a_copy_near_its_start_is_made_by_the_program(weights, tmp_path):
    """Of one seed, a quarter of the way from the encoder to the weights that its training started from."""
    trained = loading.load(weights, pooling="mean")
    for weight in trained.parameters():
        weight.data += 0.25
    save(trained, tmp_path / "1", {}, {})
    write_table(pd.DataFrame({"id": map(str, range(40)), "text": TEXTS}), tmp_path / "texts.tsv")
    call(copy_encoder, [
        "--weights", str(tmp_path / "1"), "--refer", f"start={weights}", "--texts", str(tmp_path / "texts.tsv"),
        "--copies", '{"averaged": {"share": 0.25}}', "--training", '{"pooling": "own"}', "--seed", "1",
        "--about", '{"language": "hau"}', "--output", str(tmp_path / "near"),
    ])  # fmt: skip
    before, near = (load_file(folder / "model.safetensors") for folder in (tmp_path / "1", tmp_path / "near"))
    for name, weight in near.items():
        np.testing.assert_allclose(weight, before[name] - 0.25 * 0.25, atol=1e-6)


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_share_of_the_start_reaches_every_module_that_its_own_pooling_trained(seeds, weights, tmp_path):
    """Of a BERT with a pooler and a dense layer after it, as sentence-transformers saves it; sums by hand."""
    body = loading.load(weights, pooling="mean")[0]
    body.auto_model.pooler = BertModel(body.auto_model.config).pooler
    body.model_kwargs = {}
    generator = torch.Generator().manual_seed(0)
    modules = [body, Pooling(32, "mean"), Dense(32, 16), Normalize()]
    SentenceTransformer(modules=modules).save_pretrained(str(tmp_path / "start"))
    for number in range(seeds):
        trained = loading.load(tmp_path / "start", pooling="own")
        for weight in trained.parameters():
            weight.data += torch.rand(weight.shape, generator=generator)
        save(trained, tmp_path / f"seed{number}", {}, {"pooling": "own"})
    write_table(pd.DataFrame({"id": map(str, range(40)), "text": TEXTS}), tmp_path / "texts.tsv")
    refer = {f"seed{number}": tmp_path / f"seed{number}" for number in range(1, seeds)} | {"start": tmp_path / "start"}
    call(copy_encoder, [
        "--weights", str(tmp_path / "seed0"), "--refer", *(f"{name}={folder}" for name, folder in refer.items()),
        "--texts", str(tmp_path / "texts.tsv"), "--copies", '{"averaged": {"share": 0.3}}',
        "--training", '{"pooling": "own"}', "--seed", "1", "--about", '{"language": "hau"}',
        "--output", str(tmp_path / "near"),
    ])  # fmt: skip
    for file in ("model.safetensors", "2_Dense/model.safetensors"):
        near, start, *each = (
            load_file(tmp_path / name / file) for name in ("near", "start", *(f"seed{n}" for n in range(seeds)))
        )
        assert {*near} == {*start}
        for name, weight in near.items():
            mean = torch.stack([one[name] for one in each]).mean(dim=0)
            torch.testing.assert_close(weight, 0.7 * mean + 0.3 * start[name], msg=name)
    assert "pooler.dense.weight" in load_file(tmp_path / "near/model.safetensors")


def test_a_pooler_that_the_start_does_not_have_stays(weights):
    """Nothing uses it."""
    encoder, base = loading.load(weights, pooling="mean"), loading.load(weights, pooling="mean")
    encoder[0].auto_model.pooler = BertModel(encoder[0].auto_model.config).pooler
    before = encoder[0].auto_model.pooler.dense.weight.detach().clone()
    assert torch.equal(average.interpolate(encoder, base, 0.25)[0].auto_model.pooler.dense.weight, before)


@pytest.mark.parametrize("name", ["pooler", "encoder"])
def test_a_start_of_other_weights_has_no_share(name, weights):
    """Fewer, as of fewer layers, or more, as of a dense layer that the encoder lacks."""
    encoder, base = loading.load(weights, pooling="mean"), loading.load(weights, pooling="mean")
    if name == "pooler":
        base[0].auto_model.pooler = BertModel(base[0].auto_model.config).pooler
    else:
        del base[0].auto_model.encoder.layer[1]
    with pytest.raises(UserError, match="averaged: what training started from.*leave `share` out"):
        average.interpolate(encoder, base, 0.25)


def test_encoders_of_other_weights_have_no_mean(weights):
    other = loading.load(weights, pooling="mean")
    other[0].auto_model.resize_token_embeddings(7)
    with pytest.raises(UserError, match=r"averaged:.*2.*average seeds"):
        average.average(loading.load(weights, pooling="mean"), [other])


WITHOUT_SEEDBED = """
import json
from sentence_transformers import SentenceTransformer
for folder in sys.argv[1:]:
    print(json.dumps(SentenceTransformer(folder, trust_remote_code=True).encode("Yara suna gida.").tolist()))
"""


def test_copies_are_opened_without_this_package_and_scored_as_any_encoder(copied, tmp_path):
    printed = warm.abroad(WITHOUT_SEEDBED, *map(str, copied.values()), folder=tmp_path)
    for (way, folder), vector in zip(copied.items(), printed.splitlines(), strict=True):
        found = opened(folder, rows=8)
        np.testing.assert_allclose(found.encode(["Yara suna gida."])[0], json.loads(vector), atol=1e-5, err_msg=way)
        assert (found.layers is None) == (way in ("static", "int8"))


@pytest.mark.parametrize("way", WAYS)
def test_the_same_copy_twice(way, copied, made):
    assert sha256(made({way: WAYS[way]}, prefix="query: ")) == sha256(copied[way])


def test_an_encoder_that_is_saved_again_has_no_pooler_of_random_weights_either(weights, tmp_path):
    settings = "sentence_bert_config.json"
    save(loading.load(weights, pooling="mean"), tmp_path / "first", {}, {})
    save(loading.open_encoder(tmp_path / "first"), tmp_path / "again", {}, {})
    assert read_json(tmp_path / "again" / settings) == read_json(tmp_path / "first" / settings)
    encoder = Bfloat16().compress(loading.open_encoder(tmp_path / "again"), TEXTS, {})
    save(Bfloat16().for_saving(encoder), tmp_path / "small", {}, {})
    for name in ("again", "small"):
        model = SentenceTransformer(str(tmp_path / name))[0].auto_model
        assert model.pooler is None and model.dtype == torch.float32, name


def test_what_cannot_be_copied_is_told_in_one_line(weights, made, tmp_path):
    encoder = loading.load(weights, pooling="mean")
    add_adapters(encoder, reduction=2, scaling=4.0, seed=0)
    save(encoder, tmp_path / "adapted", {}, {})
    for way, settings in WAYS.items():
        with pytest.raises(UserError, match=r"parallel adapters; copy.*aligned"):
            make(tmp_path / "adapted", tmp_path, {way: settings}, TEXTS, "2", pooling="own")
    with pytest.raises(UserError, match="no transformer; copy"):
        make(made({"static": {"dimensions": 8}}), tmp_path, {"trimmed": {}}, TEXTS, "2", pooling="own")
    with pytest.raises(UserError, match=r"static.dimensions: 400.*32.*give fewer"):
        made({"static": {"dimensions": 400}})
    with pytest.raises(UserError, match=r"trimmed: 1 texts.*2"):
        made({"trimmed": {}}, texts=TEXTS[:1])


def test_a_tokenizer_that_cannot_be_cut_is_refused(tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(tiny.generator(tmp_path / "bpe"))
    with pytest.raises(UserError, match=r"BPE.*cut.*Unigram"):
        trim.cut_tokenizer(tokenizer, [0, 1, 2])
