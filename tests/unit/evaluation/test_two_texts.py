"""An encoder of a text and its English in each protocol, in mteb's check, in tests of two languages and in a map."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scripts import map_texts
from scripts import score as program
from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading
from seedbed.encoders.models.two_paths_setup import EnglishPath, add_english_path
from seedbed.evaluation import protocols
from seedbed.evaluation.files import Set
from seedbed.evaluation.protocols import choice, declared
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task, TextMap
from seedbed.evaluation.systems import Opening, open_system
from seedbed.io import UserError, read_json, read_table, write_json, write_table
from tests import tiny
from tests.programs import call
from tests.refusals import tells

ROWS = 24
HAUSA, SWAHILI, ENGLISH = (tiny.sentences(lang, 2 * ROWS, 1) for lang in ("hau", "swh", "eng"))
"""Hausa and Swahili of one place have the English of that place."""
TEXTS = pd.DataFrame(
    {
        "id": map(str, range(ROWS)),
        "text": HAUSA[:ROWS], "pivot": ENGLISH[1 : ROWS + 1],
        "sentence1": HAUSA[:ROWS], "sentence2": HAUSA[ROWS:], "score": [str(n / (ROWS - 1)) for n in range(ROWS)],
        "query": HAUSA[:ROWS], "document": HAUSA[ROWS:],
        "label": ["joy", "fear", "anger"] * (ROWS // 3),
        "passage": HAUSA[:ROWS], "question": HAUSA[ROWS:], "correct": "1",
        "premise": HAUSA[:ROWS], "hypothesis": HAUSA[ROWS:], "context": HAUSA[:ROWS], "starts": "[0]", "answer": "1",
        "answers": [json.dumps([one, other]) for one, other in zip(HAUSA[1:ROWS], HAUSA[ROWS + 1 :], strict=False)] + ['["a", "b"]'],
    }
)  # fmt: skip
TRAIN = TEXTS[["id", "label"]].assign(text=HAUSA[ROWS:])
OPTIONS: dict[str, dict[str, Any]] = {
    "knn": {"k": [1, 5]},
    "bitext": {"k": [1, 5]},
    "sts": {"mteb": {"name": "SemRel24STS", "subset": "hau"}},
    "retrieval": {"mteb": {"name": "MIRACLRetrievalHardNegatives", "subset": "sw"}},
}
OF_LABELS = ("classification", "icl", "math", "multiple_choice", "qa", "tuned")
REFUSED = {
    "stability": "stability of x edits texts ... score an encoder",
    "layers": "layers asks for layers ... vectors and distances",
} | {name: f"{name} asks for labels ... vectors and distances" for name in OF_LABELS}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An encoder of two texts on tiny models, and what was chosen for all of them; elsewhere, for none."""
    root = tmp_path_factory.mktemp("two")
    source = loading.load(tiny.backbone(root / "source"), pooling="mean", prefix="query: ")
    save(
        add_english_path(source, tiny.backbone(root / "english"), EnglishPath("none", {})), root / "7", {"seed": 7}, {}
    )
    every = [
        *zip(HAUSA, ENGLISH, strict=True),
        *zip(SWAHILI, ENGLISH, strict=True),
        *zip(ENGLISH, ENGLISH, strict=True),
    ]
    every += [(text, ENGLISH[0]) for text in ("a", "b")]
    table = pd.DataFrame(dict(every).items(), columns=["text", "english"])
    table = table.assign(**{"translator": "human", "human:probability": "1"})
    table.insert(0, "id", table.index)
    write_table(table, root / "chosen.tsv")
    return {"encoder": root / "7", "chosen": root / "chosen.tsv"}


def vectors(places: dict[str, Path], texts: Sequence[str], test: pd.DataFrame = TEXTS) -> np.ndarray:
    """Vectors of texts, each with the English that was chosen for it, or for its parts."""
    english = read_table(places["chosen"], ["text", "english"]).set_index("text")["english"]
    joined = {text: " ".join(english[part] for part in parts) for text, parts in choice.composed(test).items()}
    chosen = {**joined, **english}
    return loading.open_encoder(places["encoder"]).encode([(text, chosen[text]) for text in texts])


def by_program(places: dict[str, Path], root: Path, name: str, *tests: pd.DataFrame) -> Path:
    """Where `score` writes the scores of a protocol, of one test set or of those of two languages."""
    for place, test in enumerate(tests):
        write_table(test[["id", *COLUMNS[declared(name).kind]]], root / f"{place}.tsv")
        write_json({"origin": [{"kind": "file", "name": "own/x.tsv"}]}, root / f"{place}.json")
    write_table(TRAIN, root / "train.tsv")
    two = ["--seconds", str(places["encoder"])] if len(tests) > 1 else []
    call(program, [
        "--systems", str(places["encoder"]), "--english", f"0/{'hau-swh' if two else 'hau'}={places['chosen']}", *two,
        "--tasks", json.dumps({"x": {"protocol": name} | ({} if two else OPTIONS.get(name, {}))}),
        "--trains", *([f"hau/x={root / 'train.tsv'}"] if declared(name).learns else []),
        "--tests", *(str(root / f"{place}.tsv") for place in range(len(tests))),
        "--records", *(str(root / f"{place}.json") for place in range(len(tests))),
        "--language", "hau-swh" if two else "hau",
        "--scores", str(root / "scores/7"), "--output", str(root / "list.json"), "--state", str(root / "state"),
    ])  # fmt: skip
    return root / f"scores/7/x/{'hau-swh' if two else 'hau'}.json"


@pytest.mark.parametrize("name", sorted({*protocols.names()} - {*REFUSED} - {"deviation", "shares"}))
def test_a_score_is_that_of_the_vectors_of_both_texts(places: dict[str, Path], tmp_path: Path, name: str) -> None:
    """Retrieval and STS are checked by mteb too, which sees the same vectors."""
    found = read_json(by_program(places, tmp_path, name, TEXTS))
    task = Task(protocol=name, **{key: value for key, value in OPTIONS.get(name, {}).items() if key != "mteb"})
    train = TRAIN if declared(name).learns else None
    expected = score(task, TEXTS, System(lambda texts: vectors(places, texts)), train=train)
    assert {key: found["metrics"][key] for key in expected.metrics} == pytest.approx(expected.metrics, abs=2e-5)
    if checked := declared(name).mteb:
        theirs = {"cosine_spearman": "spearman", "ndcg_at_10": "ndcg_at_10"}[checked[0]]
        assert {theirs, "main_score"} <= {*found["metrics"]}, "mteb's own numbers stand beside ours"
    if name not in ("lengths",):  # which embeds nothing
        alone = loading.load(places["encoder"] / "source", pooling="own")
        other = score(task, TEXTS, System(lambda texts: alone.encode(texts)), train=train)
        assert other.items.to_dict() != expected.items.to_dict(), "the English counts"


@pytest.mark.parametrize("name", ["deviation", "shares"])
def test_what_is_asked_of_translations_alone_is_there(places: dict[str, Path], tmp_path: Path, name: str) -> None:
    found = read_json(by_program(places, tmp_path, name, TEXTS))
    assert found["n"] == ROWS and found["metrics"].get("share_human", 1) == 1


@pytest.mark.parametrize("name", [name for name in protocols.names() if declared(name).second])
def test_a_test_of_two_languages_reads_the_english_of_both(places: dict[str, Path], tmp_path: Path, name: str) -> None:
    swahili = dict(zip(HAUSA, SWAHILI, strict=True))
    turned = TEXTS.map(lambda cell: swahili.get(cell, cell))
    found = read_json(by_program(places, tmp_path, name, TEXTS, turned))
    orders = []
    for one, other in ((TEXTS, turned), (turned, TEXTS)):
        test = one.assign(**{column: other[column] for column in declared(name).second})
        orders.append(score(Task(protocol=name), test, System(lambda texts, test=test: vectors(places, texts, test))))
    assert found["main_score"] == pytest.approx(np.mean([one.main for one in orders]), abs=2e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_a_protocol_that_cannot_be_is_refused_in_one_line(places: dict[str, Path], name: str) -> None:
    given = Set(
        "x",
        Task(protocol=name),
        TEXTS,
        TEXTS if declared(name).learns else None,
        {"origin": [{"kind": "file", "name": "x"}]},
    )
    english = dict(zip(HAUSA, ENGLISH, strict=True))
    with pytest.raises(UserError) as told:
        system = open_system(places["encoder"], Opening([given], "hau", "Hausa", None, english=english))
        program.scored(system, given, "hau")
    assert tells(str(told.value), REFUSED[name]) and "\n" not in str(told.value)


def test_every_protocol_is_tried() -> None:
    """One that asks for vectors or distances serves an encoder of two texts, unless it makes texts of its own."""
    for name in protocols.names():
        serves = bool({*declared(name).asks} & {"vectors", "distances", "paths", "choices"})
        assert (name in REFUSED) == (not serves or declared(name).edits), name


@pytest.mark.parametrize("pairs", [0, 8])
def test_a_map_is_of_the_vectors_of_both_texts(
    places: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: int
) -> None:
    seen = {}

    def flat(embeddings: np.ndarray, how: TextMap) -> np.ndarray:
        seen["embeddings"] = embeddings
        return np.zeros((len(embeddings), 2))

    monkeypatch.setattr("seedbed.evaluation.maps.to_plane", flat)
    kind = "parallel" if pairs else "labelled_texts"
    write_table(TEXTS[["id", *COLUMNS[kind]]], tmp_path / "texts.tsv")
    shown = TextMap(task="x", perplexity=5, **({"pairs": pairs} if pairs else {"texts": 16}))
    options = [
        "--encoder", str(places["encoder"]), "--texts", f"hau={tmp_path / 'texts.tsv'}", "--map", shown.dump(),
        "--pivot", "eng", "--backbone", "two", "--recipe", "beside", "--batch-size", "8",
    ]  # fmt: skip
    call(map_texts, [*options, "--english", str(places["chosen"]), "--output", str(tmp_path / "map.tsv")])
    points = read_table(tmp_path / "map.tsv", ["id", "language", "x", "y"], unique=None)
    sides = TEXTS.set_index("id")
    drawn = [sides.at[row.id, "text" if row.language == "hau" else "pivot"] for row in points.itertuples()]
    np.testing.assert_allclose(seen["embeddings"], vectors(places, drawn), atol=1e-5)
    with pytest.raises(UserError, match="no English of "):
        call(map_texts, [*options, "--output", str(tmp_path / "none.tsv")])
    assert not (tmp_path / "none.tsv").exists()
