"""The geometry protocol against numpy, and what a task may say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import pearsonr, spearmanr

from scripts import score as program
from seedbed.evaluation import protocols
from seedbed.evaluation.protocols import which
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import check, score, texts
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems import gives_labels
from seedbed.io import UserError, write_json, write_table
from tests.programs import call

OF_ENCODERS = which(lambda protocol: protocol.of_encoders and not protocol.tunes)


def encode(texts: list[str]) -> np.ndarray:
    """A vector of any length for each text."""
    return np.array([np.random.default_rng(list(text.encode())).normal(size=8) for text in texts], np.float32)


def graded(n: int = 30, low: float = 0, high: float = 1) -> pd.DataFrame:
    """Pairs over half as many sentences, of all grades."""
    names = [f"sentence {number % (n // 2)}" for number in range(2 * n)]
    scores = [str(low + (high - low) * number / (n - 1)) for number in range(n)]
    return pd.DataFrame(
        {
            "id": [str(i) for i in range(n)],
            "sentence1": names[:n],
            "sentence2": names[n // 3 : n // 3 + n],
            "score": scores,
            "passage": names[:n],
            "question": names[n // 3 : n // 3 + n],
            "answers": '["yes", "no"]',
            "correct": "1",
        }
    )


def test_sts_is_the_rank_correlation_of_cosine_and_gold() -> None:
    """Of vectors of other lengths than one; the two correlations differ, and the first is the score."""
    test = graded()
    scores = score(Task(protocol="sts"), test, System(encode))
    a, b = (np.stack([encode([text])[0] for text in test[name]]) for name in ("sentence1", "sentence2"))
    cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    gold = test["score"].astype(float)
    rank, linear = spearmanr(cosine, gold).statistic, pearsonr(cosine, gold).statistic
    assert abs(rank - linear) > 1e-3
    assert scores.main == scores.metrics["cosine_spearman"] == pytest.approx(rank)
    assert scores.metrics["cosine_pearson"] == pytest.approx(linear)
    np.testing.assert_allclose(scores.items["cosine"], cosine, rtol=1e-5)
    assert scores.items["id"].tolist() == test["id"].tolist()


@pytest.mark.parametrize("scale", [(0.0, 1.0), (1.0, 5.0), (-2.0, 3.0)])
def test_geometry_is_numpys(scale: tuple[float, float]) -> None:
    test = graded(low=scale[0], high=scale[1])
    scores = score(Task(protocol="geometry", scale=scale), test, System(encode))
    positive = test.iloc[[i for i in range(30) if i / 29 >= 0.8]]
    unit = {text: v / np.linalg.norm(v) for text in test["sentence1"] for v in encode([text]).astype(np.float64)}
    distances = [
        np.sum((unit[a] - unit[b]) ** 2) for a, b in zip(positive["sentence1"], positive["sentence2"], strict=True)
    ]
    assert scores.items["id"].tolist() == positive["id"].tolist()
    np.testing.assert_allclose(scores.items["distance"], distances, rtol=1e-9)
    assert scores.main == scores.metrics["alignment"] == pytest.approx(np.mean(distances))
    every = np.stack(list(unit.values()))
    assert scores.metrics["uniformity"] == pytest.approx(np.log(np.mean(np.exp(-2 * pdist(every, "sqeuclidean")))))
    assert scores.metrics["sentences"] == 15


def test_uniformity_is_of_the_sentences_of_both_sides() -> None:
    test = graded(4).assign(sentence1=list("abab"), sentence2=list("cdcd"))
    every = encode(list("abcd")).astype(np.float64)
    every /= np.linalg.norm(every, axis=1, keepdims=True)
    expected = np.log(np.mean(np.exp(-2 * pdist(every, "sqeuclidean"))))
    metrics = score(Task(protocol="geometry", scale=(0, 0.8)), test, System(encode)).metrics
    assert metrics["uniformity"] == pytest.approx(expected) and metrics["sentences"] == 4


def test_geometry_does_not_depend_on_the_order_of_rows() -> None:
    test = graded()
    expected = score(Task(protocol="geometry"), test, System(encode)).metrics
    assert score(Task(protocol="geometry"), test[::-1], System(encode)).metrics == pytest.approx(expected, rel=1e-12)


def test_four_of_five_is_positive_whatever_its_last_bit() -> None:
    test = graded(4).assign(score=["4.0", str(1.1 + 2.9), "3.99", "0"])
    assert score(Task(protocol="geometry", scale=(0, 5)), test, System(encode)).items["id"].tolist() == ["0", "1"]
    tenths = graded(4).assign(score=["0.7", "0.7", "0.69", "-0.1"])  # (0.7 - -0.1) / 1 is 0.7999...
    assert score(Task(protocol="geometry", scale=(-0.1, 0.9)), tenths, System(encode)).items["id"].tolist() == [
        "0",
        "1",
    ]


def test_one_positive_pair_is_too_few() -> None:
    test = graded(4).assign(score=["4", "3.9", "0", "0"])
    with pytest.raises(UserError, match=r"geometry: 1 pairs.*at least 4"):
        score(Task(protocol="geometry", scale=(0, 5)), test, System(encode))


@pytest.mark.parametrize(
    ("protocol", "setting", "told"),
    [
        ("bitext", {"mteb": {"name": "STS17"}}, r"mteb: protocol bitext.*distance, k"),
        ("knn", {"labels": ["neutral"]}, "labels: protocol knn"),
        ("sts", {"k": [1, 5]}, r"k: protocol sts.*scale, mteb"),
        ("classification", {"train_language": "eng"}, r"train_language:.*no such setting"),
        ("retrieval", {"clean": True}, r"^task: clean: cleaning drops no row of protocol retrieval.*; leave it out$"),
        ("qa", {"clean": True}, r"^task: clean: cleaning drops no row of protocol qa.*; leave it out$"),
    ],
)
def test_a_setting_that_a_protocol_does_not_read_is_refused(protocol: str, setting: Any, told: str) -> None:
    with pytest.raises(UserError, match=told):
        Task.load(json.dumps({"protocol": protocol} | setting))


@pytest.mark.parametrize("protocol", sorted({*OF_ENCODERS} - {"lengths", "shares"}))  # which encode nothing
def test_embeddings_that_are_not_finite_are_refused(protocol: str) -> None:
    test = graded().assign(text=lambda t: t["sentence1"], pivot=lambda t: t["sentence2"])
    test = test.assign(query=test["text"], document=test["pivot"], label=["joy", "fear"] * 15)
    if protocol in ("layers", "deviation"):
        system = {protocols.declared(protocol).asks[0]: lambda texts: np.full((3, len(texts), 2), np.nan)}
    else:
        system = {"encode": lambda texts: np.full((len(texts), 2), np.nan)}
    with pytest.raises(UserError, match="not finite; its training diverged"):
        score(Task(protocol=protocol), test, System(**system), train=test)


@pytest.mark.parametrize("protocol", sorted({*OF_ENCODERS} - {"layers", "deviation", "shares"}))
def test_the_texts_of_a_task_are_those_that_it_encodes(protocol: str) -> None:
    test = graded().assign(text=lambda t: t["sentence1"], pivot=lambda t: t["sentence2"])
    test = test.assign(
        query=test["text"].where(test.index % 3 > 0, ""), document=test["pivot"], label=["joy", "fear"] * 15
    )
    train = pd.DataFrame({"id": ["a", "b"], "text": ["another", "sentence 1"], "label": ["joy", "fear"]})
    asked: list[str] = []
    train = train if protocol == "knn" else None
    score(Task(protocol=protocol), test, System(lambda wanted: asked.extend(wanted) or encode(wanted)), train=train)
    found = texts(Task(protocol=protocol), test, train)
    if protocol == "stability":  # it encodes edited copies too, which nobody else asks for
        assert {*found} < {*asked}
        asked = [text for text in asked if text in found]
    assert sorted(found) == sorted(asked) and len(set(found)) == len(found)


@pytest.mark.parametrize("protocol", OF_ENCODERS)
def test_sets_that_are_right_are_found_so_without_an_embedding(protocol: str) -> None:
    test = graded().assign(text=lambda t: t["sentence1"], pivot=lambda t: t["sentence2"])
    test = test.assign(query=test["text"], document=test["pivot"], label=["joy", "fear"] * 15)
    check(Task(protocol=protocol), test, test)


@pytest.mark.parametrize(
    ("protocol", "changes", "fault"),
    [
        ("knn", {"label": ["joy"] * 4}, "label 'joy'; they have fear; .* `where:`"),
        ("knn", {"label": ["fear"] * 4}, "every training sentence has the label 'fear'; at least two are needed"),
        ("sts", {"score": ["1"] * 4}, r"4 pairs.*score 1"),
        ("geometry", {"score": ["0"] * 4}, r"0 pairs.*at least 0.8"),
    ],
)
def test_what_a_protocol_refuses_is_found_without_an_embedding(protocol: str, changes: Any, fault: str) -> None:
    test = graded(4).assign(text=list("abcd"), **changes)
    with pytest.raises(UserError, match=fault):
        check(Task(protocol=protocol), test, test.assign(label="fear"))


@pytest.mark.parametrize("protocol", ["knn", "icl"])
def test_the_labels_of_all_sets_are_known_before_a_model_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    """Of the second task too: by then the texts of the first would be paid for."""

    def opened(*_: Any) -> None:
        raise AssertionError("opened before the sets were checked")

    monkeypatch.setattr("seedbed.evaluation.systems.open_system", opened)
    rows = pd.DataFrame({"id": ["1", "2"], "text": ["a", "b"], "label": ["joy", "fear"]})
    for name in ("train", "right", "wrong"):
        write_table(rows.assign(label="Mixed") if name == "wrong" else rows, tmp_path / f"{name}.tsv")
        write_json({"origin": [{"kind": "file", "name": "x"}]}, tmp_path / f"{name}.json")
    write_json({"about": {}}, tmp_path / "e" / "seedbed.json")
    with pytest.raises(UserError, match=r"^tasks\.wrong in eng: .*label 'Mixed'.*fear, joy"):
        call(program, [
            "--tasks", json.dumps(dict.fromkeys(("right", "wrong"), {"protocol": protocol})),
            "--tests", str(tmp_path / "right.tsv"), str(tmp_path / "wrong.tsv"),
            "--records", str(tmp_path / "right.json"), str(tmp_path / "wrong.json"),
            "--trains", *(f"eng/{name}={tmp_path / 'train.tsv'}" for name in ("right", "wrong")),
            "--language", "eng", "--scores", str(tmp_path / "scores"), "--output", str(tmp_path / "list.json"),
            "--systems", str(tmp_path / "e"),
        ])  # fmt: skip
    assert not (tmp_path / "list.json").exists()


def test_neighbours_are_counted_for_encoders_alone(tmp_path: Path) -> None:
    for name, manifest in {"encoder": {"about": {}}, "classifier": {"system": {"kind": "chance"}}}.items():
        write_json({"files": {}} | manifest, tmp_path / name / "seedbed.json")
        assert gives_labels(tmp_path / name) == (name == "classifier")
    task, rows = (
        Task(protocol="knn", k=[10]),
        pd.DataFrame({"id": ["1", "2"], "text": ["a", "b"], "label": ["joy", "fear"]}),
    )
    check(task, rows, rows, labelled=True)
    with pytest.raises(UserError, match="k is 10, but there are 2 training sentences"):
        check(task, rows, rows)


@pytest.mark.parametrize(
    ("protocol", "heading"),
    [
        ("retrieval", "nDCG@10"),
        ("retrieval", "Recall@10"),
        ("knn", "Macro F1@5"),
        ("icl", "Macro F1"),
        ("tuned", "Macro F1"),
    ],
)
def test_metrics_are_written_as_papers_write_them(protocol: str, heading: str) -> None:
    assert heading in {metric.heading(name) for name, metric in protocols.load(protocol).METRICS.items()}
