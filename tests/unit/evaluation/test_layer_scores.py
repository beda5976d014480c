"""Protocol layers: one pass, and each layer as if it were scored alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from seedbed.evaluation import protocols
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score, texts
from seedbed.evaluation.settings import Task
from seedbed.io import UserError

N = 25


@pytest.fixture
def pairs() -> pd.DataFrame:
    """Translations, of which one is as its original."""
    table = pd.DataFrame({"id": [f"p{i}" for i in range(N)]})
    return table.assign(
        text=[f"teks {i}" for i in range(N - 1)] + ["OK"], pivot=[f"t {i}" for i in range(N - 1)] + ["OK"]
    )


def means(sentences: Sequence[str]) -> np.ndarray:
    """Three layers of random places: of any text the same ones."""
    places = [np.random.default_rng([*text.encode()]).standard_normal((3, 4)) for text in sentences]
    return np.stack(places, axis=1).astype(np.float32)


def test_each_layer_as_bitext_scores_it_alone(pairs: pd.DataFrame) -> None:
    found = score(Task(protocol="layers"), pairs, System(layers=means))
    for layer in range(3):
        alone = score(Task(protocol="bitext"), pairs, System(lambda texts, layer=layer: means(texts)[layer]))
        assert found.metrics[f"layer_{layer}_forward"] == alone.metrics["forward_accuracy_at_1"]
        assert found.metrics[f"layer_{layer}_backward"] == alone.metrics["backward_accuracy_at_1"]
        assert found.metrics[f"layer_{layer}"] == pytest.approx(alone.main)
        for way in ("forward", "backward"):
            assert list(found.items[f"{way}_{layer}"]) == list(alone.items[way])
    assert found.main == found.metrics["layer_2"]


def test_all_texts_are_sent_once(pairs: pd.DataFrame) -> None:
    calls: list[list[str]] = []
    score(Task(protocol="layers"), pairs, System(layers=lambda texts: calls.append(list(texts)) or means(texts)))
    assert [sorted(call) for call in calls] == [sorted({*pairs["text"], *pairs["pivot"]})]
    assert texts(Task(protocol="layers"), pairs) == []  # no embeddings as well


def test_the_items_give_every_metric(pairs: pd.DataFrame) -> None:
    found = score(Task(protocol="layers"), pairs, System(layers=means))
    for name, metric in protocols.load("layers").METRICS.items():
        if metric.key in found.metrics:
            items = metric.by.read(found.items, list(metric.items))
            assert metric.by.statistic(items) == pytest.approx(found.metrics[metric.key]), name
    assert {"L1", "L12 forward", "L12 backward"} <= {*protocols.load("layers").METRICS}


@pytest.mark.parametrize("system", [{"encode": means}, {"search": lambda queries, corpus, k: queries}])
def test_what_has_no_layers_is_refused(pairs: pd.DataFrame, system: dict) -> None:
    with pytest.raises(UserError, match=r"layers asks.*distances alone"):
        score(Task(protocol="layers"), pairs, System(**system))
