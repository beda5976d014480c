"""Protocols of encoders that read translations: how far those lead from a human's, and whose they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense

from seedbed.encoders.models import loading
from seedbed.encoders.models.two_paths import TwoPaths
from seedbed.encoders.models.two_paths_setup import has_paths, path_vectors
from seedbed.encoders.objectives.anchoring import Anchoring
from seedbed.encoders.translations.files import ChosenEnglish, read_choices
from seedbed.evaluation import protocols
from seedbed.evaluation.metrics.stability import deviation_bound
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score, texts
from seedbed.evaluation.settings import Task
from seedbed.io import UserError, write_table

RNG = np.random.default_rng(1)
TEXTS = ["Ruwan sama ya sauka.", "Yara suna wasa a filin makaranta.", "Kasuwa ta cika da mutane."]
CHOSEN = ["Rain.", "Children play in the yard.", "The market is full."]
HUMAN = ["The rain came down.", "Children play in the school yard.", "The market is full."]
TEST = pd.DataFrame({"id": ["a", "b", "c"], "text": TEXTS, "pivot": HUMAN})


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def by_loop(g: np.ndarray, h: np.ndarray, ideal: np.ndarray) -> dict[str, float]:
    """All numbers of the protocol, vector by vector: z = [g; h] beside [h*; h*]."""
    errors, deviations, bounds, printed = [], [], [], []
    for one, two, best in zip(g, h, ideal, strict=True):
        errors.append(math.dist(one, two))
        deviations.append(math.dist([*one, *two], [*best, *best]))
        e2 = sum((x - y) ** 2 for x, y in zip(two, best, strict=True)) / 2
        bounds.append(errors[-1] + 2 * math.sqrt(2 * e2))
        printed.append(errors[-1] + math.sqrt(2 * e2))
    farthest = max(math.dist(two, best) for two, best in zip(h, ideal, strict=True))
    beyond = [deviation > bound + 1e-6 for deviation, bound in zip(deviations, printed, strict=True)]
    return {
        "epsilon1": max(errors), "deviation": max(deviations), "bound": max(errors) + 2 * farthest,
        "least_printed_bound": max(errors) + farthest, "mean_epsilon1": sum(errors) / len(g),
        "mean_deviation": sum(deviations) / len(g), "mean_bound": sum(bounds) / len(g), "beyond_least_printed": sum(beyond) / len(g),
    }  # fmt: skip


def test_error_deviation_and_bound_are_those_of_a_loop_over_vectors() -> None:
    n = 40
    test = pd.DataFrame(
        {"id": map(str, range(n)), "text": [f"x{i}" for i in range(n)], "pivot": [f"y{i}" for i in range(n)]}
    )
    vectors = {f"{side}{i}": unit(RNG.normal(size=(2, 5))) for side in "xy" for i in range(n)}
    for i in range(10):  # a perfect anchor of a wrong translation: sqrt(2) |h - h*| lies beyond the printed |h - h*|
        vectors[f"x{i}"][0] = vectors[f"x{i}"][1]
    found = score(
        Task(protocol="deviation"),
        test,
        System(
            lambda wanted: None,
            paths=lambda wanted: np.stack([vectors[text] for text in wanted], axis=1).astype(np.float32),
        ),
    )
    g, h = np.stack([vectors[f"x{i}"] for i in range(n)], axis=1)
    expected = by_loop(g, h, np.stack([vectors[f"y{i}"][1] for i in range(n)]))
    assert found.metrics == pytest.approx(expected, rel=1e-5)
    assert found.main == found.metrics["mean_deviation"] and found.metrics["beyond_least_printed"] >= 0.25
    assert (found.items["deviation"] <= found.items["bound"] + 1e-6).all()
    for name, metric in protocols.load("deviation").METRICS.items():
        assert metric.lower, f"{name}: of errors and bounds the least is the best"
        if metric.items:
            cells = metric.by.read(found.items, list(metric.items))[None]
            assert float(metric.by.statistic(cells)[0]) == pytest.approx(found.metrics[metric.key]), name


def test_the_printed_bound_is_no_less_than_what_it_is_said_to_be_at_least() -> None:
    """Worlds of four meanings, whose divergence is known: few of the texts beyond its least are beyond it."""
    rng, vectors, printed = np.random.default_rng(0), {}, []
    for n in range(500):
        kernel = unit(rng.normal(size=(4, 3)))
        p, q = rng.dirichlet(np.ones(4), size=2)
        h, ideal = q @ kernel, p @ kernel
        g = h + rng.normal(size=3) * rng.choice([0, 0.1])
        vectors |= {f"x{n}": np.stack([g, h]), f"y{n}": np.stack([ideal, ideal])}
        printed.append(deviation_bound(math.dist(g, h), float((p * np.log(p / q)).sum()), 1, form="printed"))
    test = pd.DataFrame({"id": [*map(str, range(500))], "text": [f"x{n}" for n in range(500)]})
    found = score(
        Task(protocol="deviation"),
        test.assign(pivot=test["text"].str.replace("x", "y")),
        System(
            lambda wanted: None,
            paths=lambda wanted: np.stack([vectors[text] for text in wanted], axis=1).astype(np.float32),
        ),
    )
    assert (found.items["least_printed_bound"] <= np.array(printed) + 1e-6).all()
    false = (found.items["deviation"] > np.array(printed) + 1e-6).mean()
    assert 10 * false < found.metrics["beyond_least_printed"] and found.items["beyond"].mean() > 0.3


@pytest.mark.parametrize("fusion", ["none", "prefix"])
def test_of_a_real_encoder_they_are_those_of_its_two_sides(make_weights: Callable[..., Path], fusion: str) -> None:
    sides = {"source": make_weights("xlm-roberta"), "english": make_weights("bert")}
    source = loading.load(sides["source"], pooling="mean", prefix="query: ")
    anchored = Anchoring(pool_size=3, hidden=16).prepare(source, sides, 1)
    english = loading.load(sides["english"], pooling="own")
    encoder = SentenceTransformer(modules=[TwoPaths(anchored, english, fusion)], device="cpu")
    encoder[0].english = dict(zip([*TEXTS, *HUMAN], [*CHOSEN, *HUMAN], strict=True))
    found = score(
        Task(protocol="deviation"), TEST, System(encoder.encode, paths=lambda wanted: path_vectors(encoder, wanted))
    )
    g = unit(np.stack([anchored.encode(text) for text in TEXTS]))
    h, ideal = (unit(np.stack([english.encode(text) for text in column])) for column in (CHOSEN, HUMAN))
    assert found.metrics == pytest.approx(by_loop(g, h, ideal), rel=1e-4)
    assert found.notes == ["of 1 texts the human's own English, or what has the same vector, was chosen"]
    if fusion == "none":  # what is encoded is [g; h], of length one
        np.testing.assert_allclose(encoder.encode(TEXTS), np.hstack([g, h]) / math.sqrt(2), atol=1e-5)


def test_two_paths_into_other_spaces_are_told(make_weights: Callable[..., Path]) -> None:
    source = loading.load(make_weights("bert"), pooling="mean")
    source.append(Dense(source.get_embedding_dimension(), 6))
    encoder = SentenceTransformer(modules=[TwoPaths(source, loading.load(make_weights("bert"), pooling="own"), "none")])
    encoder[0].english = dict(zip(TEXTS, CHOSEN, strict=True))
    assert has_paths(encoder) and not has_paths(source)
    with pytest.raises(UserError, match=r"6 numbers.*English; start from"):
        path_vectors(encoder, TEXTS)


def test_shares_are_counted_with_what_a_choice_at_random_would_give(tmp_path: Path) -> None:
    rows = [("human", ".5", ".5", ""), ("opus", "0.2", "0.8", "0"), ("human", "1.0", "", ""), ("human", "1", "0", "0")]
    table = pd.DataFrame(rows, columns=["translator", "human:probability", "opus:probability", "nllb:probability"])
    table.insert(0, "text", [f"text {i}" for i in range(4)])
    table.insert(0, "id", range(4))
    write_table(table, tmp_path / "choices.tsv")
    known = read_choices([tmp_path / "choices.tsv"])
    assert known["text 0"] == ChosenEnglish("human", ("human", "opus")) and known["text 2"].usable == ("human",)
    test = table[["id", "text"]].astype(str)
    found = score(Task(protocol="shares"), test, System(choices=lambda wanted: [known[text] for text in wanted]))
    uniform = (1 / 2 + 1 / 3 + 1 + 1 / 3) / 4
    assert found.metrics == pytest.approx(
        {"share_human": 0.75, "share_opus": 0.25, "share_nllb": 0, "uniform": uniform}
    )
    assert found.main == 0.75 and texts(Task(protocol="shares"), test) == []
    for name, value in (("share of opus", 0.25), ("share of nllb", 0), ("uniform", uniform)):
        metric = protocols.metric("shares", name)
        cells = metric.by.read(found.items, list(metric.items))[None]
        assert float(metric.by.statistic(cells)[0]) == pytest.approx(value) and metric.key in found.metrics


@pytest.mark.parametrize(("protocol", "asked"), [("deviation", "paths"), ("shares", "choices")])
def test_an_encoder_of_one_text_is_refused(protocol: str, asked: str) -> None:
    with pytest.raises(UserError, match=f"{protocol} asks for {asked}.*vectors and"):
        score(Task(protocol=protocol), TEST, System(lambda wanted: np.ones((len(wanted), 2))))


def test_no_order_of_texts_changes_a_number() -> None:
    vectors = {text: unit(RNG.normal(size=(2, 4))) for text in [*TEXTS, *HUMAN]}
    paths = lambda wanted: np.stack([vectors[text] for text in wanted], axis=1)  # noqa: E731
    every = [
        score(
            Task(protocol="deviation"), TEST.iloc[list(order)].reset_index(drop=True), System(paths=paths, encode=len)
        ).metrics
        for order in itertools.permutations(range(3))
    ]
    assert all(one == pytest.approx(every[0]) for one in every)
