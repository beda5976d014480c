"""What stands before a query and before a document: as a study says it, and as a model's own file does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sentence_transformers import SentenceTransformer

from scripts import cli, train_encoder, tune_encoder
from seedbed.encoders import prompts
from seedbed.encoders.models import loading
from seedbed.encoders.models.two_paths_setup import EnglishPath, add_english_path
from seedbed.encoders.settings import Backbone, Prompts, Training
from seedbed.io import UserError, read_json, sha256, write_json, write_table

ASKED = Prompts(query="Find: ", document="Read: ")
"""As a study says it."""
THEIRS = {"prompts": {"query": "Ask: ", "passage": "Page: ", "sts": "Pair: "}, "default_prompt_name": "sts"}
"""As a model's file says it."""
LEARNING = Training(pooling="mean", epochs=2, batch_size=4, learning_rate=1e-3, max_length=32, precision="float32")


@pytest.fixture
def model(weights: Path, tmp_path: Path) -> Path:
    """A model that brings prompts."""
    loading.load(weights, pooling="mean").save_pretrained(str(tmp_path / "model"))
    write_json(read_json(tmp_path / "model" / prompts.CONFIG) | THEIRS, tmp_path / "model" / prompts.CONFIG)
    return tmp_path / "model"


def job(weights: Path, output: Path, **more: Any) -> train_encoder.Job:
    state = output.with_suffix(".state")
    return train_encoder.Job(weights=weights, output=output, state=state, seed=1, **{"training": LEARNING} | more)


def test_a_saved_encoder_asks_as_it_was_told_to(weights: Path, sentences: list[str], tmp_path: Path) -> None:
    train_encoder.main(job(weights, tmp_path / "made", prompts=ASKED))
    plain = loading.load(weights, pooling="mean")
    for found in (loading.open_encoder(tmp_path / "made"), SentenceTransformer(str(tmp_path / "made"), device="cpu")):
        for encode, prompt in ((found.encode_query, "Find: "), (found.encode_document, "Read: "), (found.encode, "")):
            expected = plain.encode([prompt + text for text in sentences])
            np.testing.assert_allclose(encode(sentences), expected, atol=1e-6)
    assert "encoder.encode_query(...), encoder.encode_document(...)" in (tmp_path / "made" / "README.md").read_text()
    said = read_json(tmp_path / "made" / prompts.CONFIG)
    assert said["prompts"] == {"query": "Find: ", "document": "Read: "} and said["default_prompt_name"] is None


def test_a_model_that_brings_prompts_is_used_with_them(model: Path, sentences: list[str], tmp_path: Path) -> None:
    train_encoder.main(job(model, tmp_path / "made"))
    found, plain = loading.open_encoder(tmp_path / "made"), loading.load(model, pooling="mean", prefix="")
    for encode, prompt in ((found.encode_query, "Ask: "), (found.encode_document, "Page: "), (found.encode, "Pair: ")):
        np.testing.assert_allclose(encode(sentences), plain.encode([prompt + text for text in sentences]), atol=1e-6)
    assert loading.load(tmp_path / "made", pooling="own").prompts == found.prompts, "what goes on from it keeps them"


@pytest.mark.parametrize("prefix", ["", "query: "])
def test_a_prefix_takes_their_place(model: Path, sentences: list[str], tmp_path: Path, prefix: str) -> None:
    train_encoder.main(job(model, tmp_path / "made", prefix=prefix))
    found = loading.open_encoder(tmp_path / "made")
    for encode in (found.encode_query, found.encode_document, found.encode):
        np.testing.assert_array_equal(encode(sentences), found.encode([prefix + one for one in sentences], prompt=""))
    assert "encode_query" not in (tmp_path / "made" / "README.md").read_text()


def test_the_same_before_every_text_is_a_prefix(weights: Path, tmp_path: Path) -> None:
    same = Prompts(query="query: ", document="query: ", text="query: ")
    train_encoder.main(job(weights, tmp_path / "one", prefix="query: "))
    train_encoder.main(job(weights, tmp_path / "two", prompts=same))
    assert sha256(tmp_path / "one") == sha256(tmp_path / "two")


def test_training_puts_them_before_anchors_and_before_positives(
    weights: Path, triplets: pd.DataFrame, tmp_path: Path
) -> None:
    before = {"anchor": "Find: ", "positive": "Read: ", "negative": "Read: "}
    table = triplets.assign(id=[str(row) for row in range(len(triplets))])
    write_table(table, tmp_path / "rows.tsv")
    write_table(table.assign(**{name: before[name] + table[name] for name in before}), tmp_path / "put.tsv")
    learnt = {"objective": {"contrast": {}}}
    train_encoder.main(job(weights, tmp_path / "asked", prompts=ASKED, texts=tmp_path / "rows.tsv", **learnt))
    train_encoder.main(job(weights, tmp_path / "put", prefix="", texts=tmp_path / "put.tsv", **learnt))
    one, two, raw = (folder / "model.safetensors" for folder in (tmp_path / "asked", tmp_path / "put", weights))
    assert one.read_bytes() == two.read_bytes() != raw.read_bytes()


NEIGHBOURS = {"neighbours": {"neighbours": 1, "projection": [8, 4], "queue_size": 8}}


@pytest.mark.parametrize(
    ("objective", "before"),
    [
        ({"contrast": {}}, {"text": "Text: "}),
        (NEIGHBOURS, {"anchor": "Find: ", "positive": "Read: ", "neighbour_1": "Read: "}),
        (NEIGHBOURS, {"pivot": "Text: ", "text": "Text: ", "neighbour_1": "Text: "}),
    ],
)
def test_a_text_and_its_positive_or_its_neighbour_are_read_alike(
    weights: Path, sentences: list[str], tmp_path: Path, objective: dict[str, Any], before: dict[str, str]
) -> None:
    """Training with prompts is training on texts that begin with them."""
    table = pd.DataFrame({"id": [str(row) for row in range(len(sentences))]})
    table = table.assign(**{name: [f"{text} {name}" for text in sentences] for name in before})
    write_table(table, tmp_path / "rows.tsv")
    write_table(table.assign(**{name: before[name] + table[name] for name in before}), tmp_path / "put.tsv")
    prompts = Prompts(query="Find: ", document="Read: ", text="Text: ")
    training = {"training": LEARNING.updated({"dropout": 0.0})}  # sampled otherwise where columns are encoded together
    for name, more in (("rows", {"prompts": prompts}), ("put", {"prefix": ""})):
        train_encoder.main(
            job(weights, tmp_path / name, texts=tmp_path / f"{name}.tsv", objective=objective, **more, **training)
        )
    one, two = (read_json(tmp_path / name / "seedbed.json")["training"]["loss"] for name in ("rows", "put"))
    assert one == pytest.approx(two, rel=1e-5) and len(one) == 4


def test_columns_are_read_as_queries_documents_or_neither(weights: Path) -> None:
    encoder = loading.load(weights, pooling="mean", prefix=Prompts(query="q ", document="d ", text="t "))
    columns = ("query", "document", "sentence1", "pivot", "anchor", "negative")
    found = prompts.prompts_of(encoder, columns)
    assert found == dict(zip(columns, ("q ", "d ", "t ", "t ", "q ", "d "), strict=True))
    assert encoder.default_prompt_name == "text"


def test_a_file_that_says_nothing_or_nonsense(tmp_path: Path) -> None:
    assert prompts.read_prompts(tmp_path) == Prompts()
    for prompt in ({}, None, {"web_search_query": "Instruct: "}, {"query": None}):
        write_json({"prompts": prompt, "default_prompt_name": None}, tmp_path / prompts.CONFIG)
        assert prompts.read_prompts(tmp_path) == Prompts()
    write_json({"prompts": {"query": "{lang}: "}, "default_prompt_name": "query"}, tmp_path / prompts.CONFIG)
    assert (prompts.read_prompts(tmp_path).query, prompts.read_prompts(tmp_path).text) == ("{lang}: ", "{lang}: ")
    for odd in ([], {"prompts": ["query: "]}, {"prompts": {"query": ["x"]}}, {"default_prompt_name": ["query"]}):
        write_json(odd, tmp_path / prompts.CONFIG)
        with pytest.raises(UserError, match="config_sentence_transformers.json: prompts: expected a mapping of names"):
            prompts.read_prompts(tmp_path)


def test_one_prefix_or_prompts_not_both(weights: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="give `prefix`, the same before every text, or `prompts`, not both"):
        Backbone(source={"file": "x"}, prefix="query: ", prompts=ASKED)
    with pytest.raises(ValueError, match=r"query: \{flores\} is another in each language, which a `prefix` alone"):
        Prompts(query="{flores} ")
    with pytest.raises(ValueError, match="prompts: fused backbones, and those of a pair, have their own"):
        Backbone(fusion={"of": {"a": 1, "b": 1}}, prompts=ASKED)
    with pytest.raises(ValueError, match="prompts: a prefix is given too; leave one of the two out"):
        job(weights, tmp_path, prefix="", prompts=ASKED)


@pytest.mark.parametrize(("kind", "prompt"), [("questions", "Ask: "), ("labelled_texts", "Pair: ")])
def test_what_is_fine_tuned_is_asked_as_its_encoder_says(model: Path, tmp_path: Path, kind: str, prompt: str) -> None:
    told = {"base": model, "train": tmp_path, "tests": {}, "seed": 1, "output": tmp_path / "out", "kind": kind}
    given = tune_encoder.Job(**told, state=tmp_path / "state")
    with cli.tuning(given, tune_encoder.read_as(kind)) as how:
        assert how.prefix == prompt
    with cli.tuning(given.model_copy(update={"prefix": ""})) as how:
        assert how.prefix == ""


@pytest.mark.parametrize("fusion", ["none", "concat", "english"])
def test_of_two_texts_the_english_is_the_query(
    weights: Path, model: Path, sentences: list[str], tmp_path: Path, fusion: str
) -> None:
    english = dict(zip(sentences, reversed(sentences), strict=True))
    source = loading.load(weights, pooling="mean", prefix="source: ")
    found = add_english_path(source, model, EnglishPath(fusion, english))
    other = loading.load(model, pooling="own", prefix="")
    for encode, prompt in ((found.encode_query, "Ask: "), (found.encode_document, "Page: "), (found.encode, "Pair: ")):
        vectors = encode(sentences)[:, -other.get_embedding_dimension() :]
        expected = other.encode([prompt + english[text] for text in sentences], normalize_embeddings=True)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.testing.assert_allclose(vectors / lengths, expected, atol=1e-6)
    told = add_english_path(source, model, EnglishPath(fusion, english, ASKED))
    assert told.prompts["query"] == "Find: "
    with pytest.raises(UserError, match="fusion: the multilingual encoder has prompts for queries and documents"):
        add_english_path(loading.load(model, pooling="mean"), model, EnglishPath("none", english))
