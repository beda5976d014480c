"""Mined neighbours against one search over all vectors; blocks, kills and controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seedbed.encoders import mining
from seedbed.encoders.mining import mine, neighbours
from seedbed.encoders.models import loading
from seedbed.encoders.models.layers import layer_means
from seedbed.encoders.settings import Mining
from seedbed.io import UserError, write_table
from seedbed.vectors.neighbours import nearest
from tests import tiny

POOL = tiny.sentences("swh", 60)


@pytest.fixture
def pairs(sentences: list[str]) -> pd.DataFrame:
    """Four pairs; the pool holds one of their texts."""
    return pd.DataFrame({"id": list("abcd"), "text": [*sentences[:3], POOL[5].upper()], "pivot": sentences[4:]})


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    write_table(pd.DataFrame({"id": [f"p{place}" for place in range(60)], "text": POOL}), tmp_path / "pool.tsv")
    return tmp_path / "pool.tsv"


def brute_force(weights: Path, queries: list[str], without: list[str], layer: int, k: int) -> tuple[Any, Any]:
    """Cosines and texts by one `nearest` over the layer's means of all twelve blocks."""
    encoder, left = loading.load(weights, pooling="mean", prefix="a: "), [t for t in POOL if t.upper() not in without]
    scores, indices = nearest(
        layer_means(encoder, queries)[layer], layer_means(encoder, left)[layer], k, metric="cosine"
    )
    return scores, np.array(left, dtype=object)[indices]


@pytest.mark.parametrize("near", ["text", "pivot"])
@pytest.mark.parametrize(("layer", "rows"), [(1, 7), (2, 1), (2, 59), (3, 1000)])
def test_are_those_of_one_search_over_all_vectors(
    weights: Path, pairs: pd.DataFrame, pool: Path, near: Any, layer: int, rows: int
) -> None:
    settings = Mining(layer=layer, count=3, near=near)
    table, audit = neighbours(pairs, pool, weights, settings, prefix="a: ", rows=rows)
    cosines, texts = brute_force(weights, pairs[near].tolist(), pairs["text"].tolist(), layer, 3)
    for rank in (1, 2, 3):
        assert table[f"neighbour_{rank}"].tolist() == texts[:, rank - 1].tolist()
        assert [POOL[int(name[1:])] for name in table[f"pool_id_{rank}"]] == texts[:, rank - 1].tolist()
        found = table[f"cosine_{rank}"].astype(float)
        np.testing.assert_allclose(found, cosines[:, rank - 1], atol=2e-6)
    assert table[["id", "text", "pivot"]].equals(pairs) and POOL[5] not in {*texts.ravel()}
    assert (
        (audit["pool"], audit["dropped"]) == (59, {"in a seed pair": 1})
        and audit["mining"]["layer"] == layer
        and audit["neighbours"] == 12
    )
    assert audit["cosine by rank"] == pytest.approx(cosines.mean(axis=0).tolist(), abs=2e-6)
    counts = pd.Series(texts.ravel()).value_counts()
    assert audit["distinct"] == len(counts) and audit["commonest"][0][1] == counts.max()
    assert dict(audit["commonest"]).items() <= counts.to_dict().items()
    assert audit["near duplicates"] == (cosines >= 0.99).sum()


def test_the_nearest_two_of_seven_are_the_nearest_two(weights: Path, pairs: pd.DataFrame, pool: Path) -> None:
    two, seven = (neighbours(pairs, pool, weights, Mining(layer=2, count=count), rows=9)[0] for count in (2, 7))
    pd.testing.assert_frame_equal(seven[two.columns], two)


@pytest.mark.parametrize("killed", [1, 3, 9])
def test_killed_at_any_block_it_ends_with_the_same_bytes(
    weights: Path, pairs: pd.DataFrame, pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: int
) -> None:
    def counting(encoder: Any, rows: int) -> Callable[[Sequence[str]], np.ndarray]:
        encode = batched(encoder, rows)

        def counted(texts: Sequence[str]) -> np.ndarray:
            if len(calls) == killed:
                calls.append("kill")
                raise KeyboardInterrupt
            calls.append(list(texts))
            return encode(texts)

        return counted

    calls: list[Any] = []
    batched = mining.batched
    settings = Mining(layer=2, count=3)
    expected, audit = neighbours(pairs, pool, weights, settings, rows=7)
    monkeypatch.setattr(mining, "batched", counting)
    with pytest.raises(KeyboardInterrupt):
        neighbours(pairs, pool, weights, settings, state=tmp_path / "state", rows=7)
    calls.append("again")
    table, again = neighbours(pairs, pool, weights, settings, state=tmp_path / "state", rows=7)
    for name, found in (("expected", expected), ("again", table)):
        write_table(found, tmp_path / name)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "expected").read_bytes() and again == audit
    blocks = calls[calls.index("again") + 2 :]
    assert sum(blocks, []) == [text for text in POOL if text != POOL[5]][7 * (killed - 1) :]  # noqa: RUF017
    [kept] = (tmp_path / "state").iterdir()
    assert kept.stat().st_size < 2_000, "vectors of the pool are kept"


def test_other_settings_do_not_go_on_from_it(weights: Path, pairs: pd.DataFrame, pool: Path, tmp_path: Path) -> None:
    base = {"layer": 2, "count": 3}
    for changes in ({}, {"count": 2}, {"layer": 1}, {"near": "pivot"}):
        settings = Mining.model_validate(base | changes)
        kept = neighbours(pairs, pool, weights, settings, state=tmp_path / "state", rows=7)[0]
        pd.testing.assert_frame_equal(kept, neighbours(pairs, pool, weights, settings, rows=7)[0])
    assert len([*(tmp_path / "state").iterdir()]) == 4


def test_vectors_of_one_block_at_a_time() -> None:
    """Whatever the size of the pool: an encoder of two numbers a text."""
    sizes: list[int] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        sizes.append(len(texts))
        return np.array([[np.cos(float(text)), np.sin(float(text))] for text in texts], np.float32)

    def pool() -> Iterator[pd.DataFrame]:
        for start in range(0, 1000, 300):
            numbers = [str(number) for number in range(start, min(start + 300, 1000))]
            yield pd.DataFrame({"id": numbers, "text": numbers})

    found = mine(["0.1", "3.1"], pool, 2, encode=encode, rows=128)
    assert sizes == [2, *[128] * 7, 1000 - 7 * 128]
    left = [str(number) for number in range(1000)]
    expected = nearest(encode(["0.1", "3.1"]), encode(left), 2, metric="cosine")
    assert found.texts.tolist() == np.array(left)[expected[1]].tolist()
    np.testing.assert_array_equal(found.cosines, expected[0])
    assert found.pool == 1000


def test_by_chance_they_are_drawn_by_a_seed(weights: Path, pairs: pd.DataFrame, pool: Path) -> None:
    def draw(seed: int) -> pd.DataFrame:
        return neighbours(pairs, pool, weights, Mining(layer=2, count=5, near="chance", seed=seed), prefix="a: ")[0]

    table = draw(1)
    names = [f"neighbour_{rank}" for rank in range(1, 6)]
    pd.testing.assert_frame_equal(table, draw(1))
    assert not table[names].equals(draw(2)[names])
    assert all(len({*row}) == 5 and POOL[5] not in row for row in table[names].to_numpy().tolist())
    means = layer_means(loading.load(weights, pooling="mean", prefix="a: "), [*pairs["text"], *table["neighbour_1"]])[2]
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    np.testing.assert_allclose(table["cosine_1"].astype(float), (means[:4] * means[4:]).sum(1), atol=2e-6)


def test_by_chance_no_sentence_comes_twice(weights: Path, pairs: pd.DataFrame, pool: Path) -> None:
    all_of_them = Mining(layer=2, count=59, near="chance", seed=1)
    table = neighbours(pairs, pool, weights, all_of_them)[0]
    rows = table[[f"neighbour_{rank}" for rank in range(1, 60)]].to_numpy().tolist()
    assert {frozenset(row) for row in rows} == {frozenset({*POOL} - {POOL[5]})}


@pytest.mark.parametrize("near", ["text", "chance"])
def test_what_cannot_be_mined(weights: Path, pairs: pd.DataFrame, pool: Path, tmp_path: Path, near: Any) -> None:
    with pytest.raises(UserError, match=r"^mining: 59 sentences.*60"):
        neighbours(pairs, pool, weights, Mining(layer=2, count=60, near=near), state=tmp_path / "state")
    with pytest.raises(UserError, match=r"^layer 9:.*blocks 1 to 3"):
        neighbours(pairs, pool, weights, Mining(near=near))
    with pytest.raises(UserError, match="no column 'text'"):
        write_table(pd.DataFrame({"id": ["a"]}), tmp_path / "broken.tsv")
        neighbours(pairs, tmp_path / "broken.tsv", weights, Mining(layer=2, count=1, near=near))
