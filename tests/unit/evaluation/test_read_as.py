"""Queries are encoded with one prompt and documents with another, by every protocol that has any."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seedbed.encoders.export.save import save
from seedbed.encoders.models.loading import load, open_encoder
from seedbed.encoders.settings import Prompts
from seedbed.evaluation.files import Set
from seedbed.evaluation.protocols.retrieval import TREC_EVAL
from seedbed.evaluation.scores import Scores, System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems import Opening, open_system
from seedbed.vectors.types import ReadAs
from tests import tiny

PROMPTS = Prompts(query="watoto maji: ", document="les enfants: ", text="gona ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("asked")
    save(load(tiny.backbone(place / "bert"), pooling="mean", prefix=PROMPTS), place / "encoder", {}, {})
    return place / "encoder"


def questions() -> pd.DataFrame:
    hausa, english = tiny.sentences("hau", 8), tiny.sentences("eng", 12)
    rows = {"id": [str(n) for n in range(8)], "query": hausa, "document": english[:8]}
    others = {"id": [f"d{n}" for n in range(4)], "query": [""] * 4, "document": english[8:]}
    return pd.concat([pd.DataFrame(rows), pd.DataFrame(others)], ignore_index=True)


def choices() -> pd.DataFrame:
    hausa, english = tiny.sentences("hau", 8), tiny.sentences("eng", 12)
    answers = [json.dumps(english[n : n + 3]) for n in range(8)]
    correct = [str(1 + n % 3) for n in range(8)]
    rows = {"id": [str(n) for n in range(8)], "passage": tiny.sentences("fra", 8), "question": hausa}
    return pd.DataFrame(rows | {"answers": answers, "correct": correct})


def opened(
    folder: Path, task: Task, test: pd.DataFrame, state: Path | None = None, second: Path | None = None
) -> System:
    language = "hau-eng" if second else "hau"
    return open_system(folder, Opening([Set("task", task, test, None, {})], language, "", state, second=second))


def by_prompt(folder: Path, found: pd.DataFrame, task: Task, role: dict[str, str]) -> Scores:
    """The score of texts that have their prompts already, by an encoder that puts none."""
    plain = load(folder, pooling="own", prefix="")
    told = {text: getattr(PROMPTS, name) + text for column, name in role.items() for text in found[column]}
    return score(
        task, found, System(lambda texts: plain.encode([told.get(text, "watoto maji: " + text) for text in texts]))
    )


TASKS = [
    ("retrieval", questions, {"query": "query", "document": "document"}),
    ("choice", choices, {"passage": "document"}),
]


@pytest.mark.parametrize(("protocol", "sets", "role"), TASKS)
def test_a_query_is_read_otherwise_than_a_document(folder: Path, tmp_path: Path, protocol, sets, role) -> None:
    task, test = Task(protocol=protocol, source={"file": "x"}), sets()
    expected = by_prompt(folder, test, task, role)
    for _ in range(2):  # made, and read from the store
        system = opened(folder, task, test, tmp_path / "state")
        found = score(task, test, System(system.encode))
        pd.testing.assert_frame_equal(found.items, expected.items, atol=1e-6)
    alike = score(task, test, System(system.encode.text))
    assert not alike.items.equals(found.items), "the prompts change something"
    second = opened(folder, task, test, tmp_path / "state", second=folder) if protocol == "choice" else None
    if second:
        both = score(task, test, System(second.encode, second=second.second), language="hau-eng")
        pd.testing.assert_frame_equal(both.items, expected.items, atol=1e-6)


def test_mteb_asks_in_the_same_way(folder: Path) -> None:
    mteb = {"name": "BelebeleRetrieval", "subset": "swh_Latn-swh_Latn"}
    task, test = Task(protocol="retrieval", source={"file": "x"}, mteb=mteb), questions()
    system = opened(folder, task, test)
    found = score(task, test, System(system.encode))
    before = dict(found.metrics)
    system.check(Set("task", task, test, None, {"origin": []}), found)
    for metric in TREC_EVAL:
        assert found.metrics[metric] == before[metric]


def test_other_texts_have_the_third(folder: Path) -> None:
    texts = tiny.sentences("hau", 6)
    test = pd.DataFrame({"id": range(3), "sentence1": texts[:3], "sentence2": texts[3:], "score": ["1", "2", "4"]})
    task = Task(protocol="sts", source={"file": "x"})
    encode = opened(folder, task, test).encode
    plain = load(folder, pooling="own", prefix="")
    np.testing.assert_allclose(encode(texts), plain.encode([f"gona {text}" for text in texts]), atol=1e-6)
    assert isinstance(encode, ReadAs) and sorted(encode.others) == ["document", "query"]


def test_an_encoder_with_one_prefix_reads_all_texts_alike(folder: Path, tmp_path: Path) -> None:
    save(load(folder, pooling="own", prefix="query: "), tmp_path / "alike", {}, {})
    task = Task(protocol="retrieval", source={"file": "x"})
    assert not isinstance(opened(tmp_path / "alike", task, questions()).encode, ReadAs)
    assert {*open_encoder(tmp_path / "alike").prompts} == {"query", "document"}


def test_no_text_is_encoded_twice_unless_it_is_read_otherwise(folder: Path) -> None:
    asked: list[str] = []

    def encode(name: str):
        def made(texts: Sequence[str]) -> np.ndarray:
            asked.extend(f"{name} {text}" for text in texts)
            return np.random.default_rng(0).normal(size=(len(texts), 3))

        return made

    test = questions().assign(query=[*tiny.sentences("eng", 8), *[""] * 4])  # the queries are documents too
    read = ReadAs(encode("text"), {"query": encode("query"), "document": encode("document")})
    score(Task(protocol="retrieval"), test, System(read))
    assert len(asked) == len({*asked}) == 8 + 12
