"""Alignment: the loss by brute force, the pivot's vectors on the disk, what is trained, and the file that is shared."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sentence_transformers import SentenceTransformer

from scripts import embed_pivot
from seedbed.encoders import objectives
from seedbed.encoders.export.save import save
from seedbed.encoders.losses.alignment import AlignmentLoss
from seedbed.encoders.losses.contrastive import simcse
from seedbed.encoders.losses.crosslingual import sample_languages
from seedbed.encoders.models import loading
from seedbed.encoders.models import vector_file as pivot_module
from seedbed.encoders.models.parallel_adapters import ADAPTERS, add_adapters
from seedbed.encoders.models.vector_file import Vectors, write_vectors
from seedbed.encoders.objectives.alignment import PIVOT, with_pivot
from seedbed.encoders.settings import Prompts, Training
from seedbed.encoders.training import train
from seedbed.io import UserError, read_json, sha256, write_table
from seedbed.trainers import STATE
from tests import trainings

SETTINGS = Training(
    part="adapter", adapter="parallel", pooling="own", epochs=4, batch_size=4, learning_rate=1e-2, max_length=16,
    precision="float32",
)  # fmt: skip


@pytest.fixture
def base(weights: Path, tmp_path: Path) -> Path:
    """A trained encoder's folder."""
    encoder = loading.load(weights, pooling="mean", prefix="query: ")
    save(encoder, tmp_path / "base", {}, {})
    return tmp_path / "base"


@pytest.fixture
def rows(sentences: list[str]) -> pd.DataFrame:
    turned = sentences[1:] + sentences[:1]
    return pd.DataFrame(
        {"id": [str(n) for n in range(8)], "anchor": sentences, "positive": turned, "negative": sentences[::-1]}
    )


@pytest.fixture
def pivot(base: Path, sentences: list[str], tmp_path: Path) -> Path:
    texts = [text.upper() for text in sentences]
    write_vectors(base, dict.fromkeys(("pivot", "anchor", "positive", "negative"), texts), tmp_path / "pivot")
    return tmp_path / "pivot"


def parallel(sentences: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"id": range(8), "text": sentences, "pivot": [text.upper() for text in sentences]})


def test_vectors_are_found_by_text_whatever_the_order_they_were_given_in(
    base: Path, pivot: Path, sentences: list[str], tmp_path: Path
) -> None:
    texts = [text.upper() for text in sentences]
    columns = {"pivot": texts[:4], "anchor": texts[::-1], "positive": texts * 2, "negative": []}
    write_vectors(base, columns, tmp_path / "again")
    assert sha256(tmp_path / "again") == sha256(pivot)
    vectors = Vectors(pivot)
    assert isinstance(vectors.vectors, np.memmap) and vectors.vectors.shape == (8, 32)
    expected = loading.open_encoder(base).encode(texts)
    assert np.allclose(vectors.vectors[vectors.places(texts, "pivot")], expected, atol=1e-6)
    manifest = read_json(pivot / "seedbed.json")
    assert (manifest["texts"], manifest["width"]) == (8, 32)
    with pytest.raises(UserError, match=r"no vector of 'Unknown\.'"):
        vectors.places([texts[0], "Unknown."], "pivot")
    with pytest.raises(UserError, match="vectors of texts in anchor, negative, pivot, positive, none in text; have"):
        vectors.places(texts, "text")
    with pytest.raises(UserError, match="no vectors of texts"):
        Vectors(base)


def test_pivot_sentences_have_the_prompt_of_their_language(weights: Path, sentences: list[str], tmp_path: Path) -> None:
    encoder = loading.load(weights, pooling="mean", prefix={"eng": "en: ", "hau": "ha: "})
    save(encoder, tmp_path / "spoken", {}, {})
    write_vectors(tmp_path / "spoken", {"pivot": sentences}, tmp_path / "pivot", language="eng")
    vectors = Vectors(tmp_path / "pivot")
    wanted = encoder.encode(sentences, prompt="en: ")
    np.testing.assert_allclose(vectors.vectors[vectors.places(sentences, "pivot")], wanted, atol=1e-6)


def test_pivot_sentences_have_the_prompts_of_their_columns(
    weights: Path, rows: pd.DataFrame, sentences: list[str], tmp_path: Path
) -> None:
    prompts = Prompts(query="Find: ", document="Read: ")
    encoder = loading.load(weights, pooling="mean", prefix=prompts)
    save(encoder, tmp_path / "asked", {}, {})
    upper = rows.assign(**{name: rows[name].str.upper() for name in ("anchor", "positive", "negative")})
    written = upper.assign(pivot=upper["anchor"])  # of which each is a query, a document and neither
    write_table(written, tmp_path / "rows.tsv")

    def given(*columns: str) -> dict[str, Any]:
        made = {"encoder": tmp_path / "asked", "texts": tmp_path / "rows.tsv", "columns": [*columns]}
        job = embed_pivot.Job(**made, state=tmp_path / "state", output=tmp_path / "pivot")
        embed_pivot.main(job)
        return {"pivot": tmp_path / "pivot"}

    def require(table: pd.DataFrame, folders: dict[str, Any], before: dict[str, str], texts: pd.DataFrame) -> None:
        loss = objectives.load("alignment").loss(encoder, table, SETTINGS, folders)
        for place, (name, prompt) in enumerate(before.items()):
            wanted = encoder.encode(texts[name].tolist(), prompt=prompt)
            np.testing.assert_allclose(loss.vectors[loss.places[:, place]], wanted, atol=1e-6)

    each = {"anchor": "Find: ", "positive": "Read: ", "negative": "Read: "}
    require(with_pivot(rows, upper), given("anchor", "positive", "negative"), each, upper)
    crossing = {"positive": "Read: ", "negative": "Read: "}
    require(upper, given("positive", "negative"), crossing, upper)  # of XL-LoRA
    assert len(Vectors(tmp_path / "pivot").keys) == len(sentences), "no more vectors than before"
    require(parallel(sentences), given("pivot"), {"pivot": ""}, parallel(sentences))


def test_a_killed_job_makes_no_vector_again(
    base: Path, pivot: Path, sentences: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts = [text.upper() for text in sentences]
    monkeypatch.setattr(pivot_module, "BLOCK", 3)
    batched, seen = pivot_module.batched, []

    def watched(*args: Any, **options: Any) -> Any:
        encode = batched(*args, **options)

        def until_killed(block: list[str]) -> np.ndarray:
            if len(seen) == 2:
                seen.append("killed")
                raise KeyboardInterrupt
            seen.append(len(block))
            return encode(block)

        return until_killed

    monkeypatch.setattr(pivot_module, "batched", watched)
    with pytest.raises(KeyboardInterrupt):
        write_vectors(base, {"pivot": texts}, tmp_path / "again", tmp_path / "state")
    assert not (tmp_path / "again").exists()
    write_vectors(base, {"pivot": texts}, tmp_path / "again", tmp_path / "state")
    assert seen == [3, 3, "killed", 2]
    assert not {*(path.name for path in (tmp_path / "again").iterdir())} - {"vectors.npy", "keys.npy", "seedbed.json"}
    vectors = [np.load(folder / "vectors.npy") for folder in (tmp_path / "again", pivot)]
    assert np.allclose(*vectors, atol=1e-6)


def expected_loss(
    encoder: SentenceTransformer, own: list[list[str]], others: list[list[str]], vectors: Any, languages: np.ndarray
) -> torch.Tensor:
    """Row by row: the sentence of each place by the encoder of its language."""
    columns = []
    for column in range(languages.shape[1]):
        of_column = []
        for row, language in enumerate(languages[:, column]):
            if language:
                features = encoder.preprocess([own[column % len(own)][row]], prompt="query: ")
                of_column.append(encoder(features)["sentence_embedding"][0])
            else:
                of_column.append(torch.from_numpy(vectors(others[column % len(others)][row])))
        columns.append(torch.stack(of_column))
    return simcse(*columns, temperature=0.05)


@pytest.mark.parametrize("columns", [("text",), ("anchor", "positive", "negative")])
def test_the_loss_and_its_gradients_are_those_of_each_sentence_by_its_own_encoder(
    base: Path, pivot: Path, sentences: list[str], rows: pd.DataFrame, columns: tuple[str, ...]
) -> None:
    encoder = loading.open_encoder(base)
    add_adapters(encoder, seed=1)
    with torch.no_grad():
        for weight in encoder[0].adapters.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(weight.numel())) * 0.1)
    encoder.eval()
    own = [sentences] if len(columns) == 1 else [rows[name].tolist() for name in columns]
    others = [[text.upper() for text in column] for column in own]
    known = Vectors(pivot)
    names = columns if len(columns) > 1 else ["pivot"]
    loss = AlignmentLoss(encoder, known, dict(zip(names, others, strict=True)), 0.05)
    batch = torch.tensor([6, 1, 4, 3, 0])
    some = [[column[row] for row in batch.tolist()] for column in own]
    features = [encoder.preprocess(column, prompt="query: ") for column in some]
    torch.manual_seed(5)
    given = loss(features, batch)
    torch.manual_seed(5)
    rng = np.random.default_rng(int(torch.randint(2**62, ())))
    languages = sample_languages(5, max(2, len(columns)), 2, rng)
    theirs = [[column[row] for row in batch.tolist()] for column in others]

    def vector(text: str) -> np.ndarray:
        return known.vectors[known.places([text], "pivot")][0]

    expected = expected_loss(encoder, some, theirs, vector, languages)
    assert given.item() == pytest.approx(expected.item(), abs=1e-5)
    weights = [*encoder[0].adapters.parameters()]
    ours, plain = (torch.autograd.grad(value, weights) for value in (given, expected))
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(ours, plain, strict=True))
    assert max(gradient.abs().max() for gradient in ours) > 0.01


def test_of_an_anchor_whose_partners_are_the_pivots_it_alone_is_read(
    base: Path, pivot: Path, rows: pd.DataFrame, run: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    crossing = rows.assign(positive=rows["positive"].str.upper(), negative=rows["negative"].str.upper())
    objective, known = objectives.load("alignment"), Vectors(pivot)
    encoder = loading.open_encoder(base).eval()
    assert objective.columns(crossing) == {"anchor": rows["anchor"].tolist()}
    loss = objective.loss(encoder, crossing, SETTINGS, {"pivot": pivot})
    batch = torch.tensor([6, 1, 4])
    some = crossing.iloc[batch.tolist()]
    features = [encoder.preprocess(some["anchor"].tolist(), prompt="query: ")]
    anchors = encoder(dict(features[0]))["sentence_embedding"]
    partners = ("positive", "negative")
    theirs = [torch.from_numpy(known.vectors[known.places(some[name].tolist(), name)]) for name in partners]
    assert loss(features, batch).item() == pytest.approx(simcse(anchors, *theirs, temperature=0.05).item(), abs=1e-5)
    assert run("crossing", crossing)["examples"] == 8
    columns = {name: [text.upper() for text in rows[name]] for name in partners}
    none = AlignmentLoss(encoder, known, columns, 0.05, torch.zeros(len(rows), dtype=torch.bool))
    alone = simcse(anchors, theirs[0], temperature=0.05).item()
    assert none(features, batch).item() == pytest.approx(alone, abs=1e-5), "no row has a negative"


def test_what_stands_in_the_place_of_a_negative_that_a_row_lacks_is_no_matter(
    base: Path, pivot: Path, rows: pd.DataFrame
) -> None:
    encoder, known = loading.open_encoder(base).eval(), Vectors(pivot)
    keep = torch.tensor([True, False, True, True, False, False, True, True])

    def loss(table: pd.DataFrame, negatives: torch.Tensor | None) -> float:
        columns = {name: table[name].tolist() for name in ("anchor", "positive", "negative")}
        features = [encoder.preprocess(column, prompt="query: ") for column in columns.values()]
        others = {name: [text.upper() for text in column] for name, column in columns.items()}
        torch.manual_seed(5)
        return AlignmentLoss(encoder, known, others, 0.05, negatives)(features, torch.arange(8)).item()

    other = rows.assign(negative=rows["negative"].where(keep.numpy(), rows["anchor"]))
    assert loss(rows, keep) == pytest.approx(loss(other, keep), abs=1e-5)
    assert loss(rows, None) - loss(rows, keep) > 0.01, "fewer candidates"
    none = torch.zeros(8, dtype=torch.bool)
    assert loss(rows, none) == pytest.approx(loss(rows.assign(negative=rows["anchor"]), none), abs=1e-5)


@pytest.fixture
def run(base: Path, pivot: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def run(name: str, table: pd.DataFrame, **settings: Any) -> dict[str, Any]:
        return trainings.train(
            base, table, SETTINGS.updated(settings), objective=objectives.load("alignment"), folders={"pivot": pivot},
            prefix="query: ", seed=3, output=tmp_path / name, state=tmp_path / "state", minutes=0,
        )  # fmt: skip

    return run


def test_adapters_alone_are_trained_and_the_weights_stay_one_file(
    run: Callable[..., dict[str, Any]], base: Path, pivot: Path, sentences: list[str], tmp_path: Path
) -> None:
    result = run("aligned", parallel(sentences))
    assert result["steps"] == 8 and result["pivot"] == read_json(pivot / "seedbed.json")["encoder"]
    assert (tmp_path / "aligned/model.safetensors").samefile(base / "model.safetensors")
    assert not (tmp_path / "aligned/config.json").samefile(base / "config.json")
    encoder, before = loading.open_encoder(tmp_path / "aligned"), loading.open_encoder(base).encode(sentences)
    assert np.array_equal(encoder.encode(sentences, aligned=False), before)
    assert not np.array_equal(encoder.encode(sentences), before)
    run("again", parallel(sentences))
    assert sha256(tmp_path / "again") == sha256(tmp_path / "aligned")


@pytest.mark.parametrize(("schedule", "last"), [("constant", 1.0), ("linear", 0.25)])
def test_the_rate_and_epsilon_are_the_settings(
    run: Callable[..., dict[str, Any]],
    sentences: list[str],
    monkeypatch: pytest.MonkeyPatch,
    schedule: str,
    last: float,
) -> None:
    seen = []
    step = torch.optim.AdamW.step

    def spy(optimiser: Any, *args: Any, **options: Any) -> Any:
        seen.append((optimiser.param_groups[0]["lr"], optimiser.defaults["eps"]))
        return step(optimiser, *args, **options)

    monkeypatch.setattr(torch.optim.AdamW, "step", spy)
    run(schedule, parallel(sentences), schedule=schedule, epsilon=1e-6, epochs=2)
    assert [rate for rate, _ in seen][-1] == pytest.approx(last * SETTINGS.learning_rate) and len(seen) == 4
    assert {epsilon for _, epsilon in seen} == {1e-6}


def test_weights_are_copied_where_there_are_no_links(
    run: Callable[..., dict[str, Any]],
    base: Path,
    sentences: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*args: Any, **options: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refused)
    run("copied", parallel(sentences))
    assert not (tmp_path / "copied/model.safetensors").samefile(base / "model.safetensors")
    assert sha256(tmp_path / "copied/model.safetensors") == sha256(base / "model.safetensors")


def test_a_checkpoint_has_the_adapters_and_not_the_weights(
    run: Callable[..., dict[str, Any]], sentences: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    saved = train._Trainer._save

    def spy(trainer: Any, *args: Any, **options: Any) -> None:
        saved(trainer, *args, **options)
        sizes.extend(path.stat().st_size for path in (tmp_path / "state").rglob(STATE))

    monkeypatch.setattr(train._Trainer, "_save", spy)
    run("aligned", parallel(sentences))
    assert sizes and max(sizes) < 1.1 * (tmp_path / "aligned" / ADAPTERS).stat().st_size


def test_triplets_are_joined_with_the_pivots_by_id(rows: pd.DataFrame, run: Callable[..., dict[str, Any]]) -> None:
    upper = rows.assign(**{name: rows[name].str.upper() for name in ("anchor", "positive", "negative")})
    joined = with_pivot(rows.iloc[[5, 2, 7, 0]], upper.iloc[::-1])
    assert joined["id"].tolist() == ["5", "2", "7", "0"]
    assert (joined[f"{PIVOT}negative"] == joined["negative"].str.upper()).all()
    assert run("triplets", joined)["examples"] == 4
    with pytest.raises(UserError, match=r"pivot language.*id.*'0'.*'x0'"):
        with_pivot(rows, upper.assign(id="x" + rows["id"]))
    with pytest.raises(UserError, match=r"pivot's.*column 'negative'"):
        with_pivot(rows, upper.drop(columns="negative"))
    with pytest.raises(UserError, match="no vector of"):
        run("bad", rows)  # whose partners are read as the pivot's


def test_bad_input(base: Path, pivot: Path, sentences: list[str], run: Callable[..., dict[str, Any]]) -> None:
    encoder = loading.open_encoder(base)
    known = Vectors(pivot)
    known.vectors = known.vectors[:, :16]
    with pytest.raises(UserError, match=r"^alignment:.*32.*16; take encoders of"):
        AlignmentLoss(encoder, known, {"pivot": [sentences[0].upper()]}, 0.05)
    with pytest.raises(UserError, match="no vector of"):
        run("bad", parallel(sentences).assign(pivot=sentences))
    with pytest.raises(UserError, match=r"alignment: 1 rows.*at least 2"):
        run("bad", parallel(sentences).iloc[:1])
