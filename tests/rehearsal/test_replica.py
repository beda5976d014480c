"""What NeighXLM's study reads of files that hold more than it asks for, from the replica's files; in the ordinary suite."""

import json
from collections import Counter

import pandas as pd
import pytest

from seedbed.corpora.read.assets import Store
from seedbed.study.loading import load
from tests.rehearsal import replica
from tests.rehearsal.cutting import PAPERS, read
from tests.whole import fetch

PLACE = ("hub", "config", "split", "revision", "archive", "member", "rows")


@pytest.fixture(scope="module")
def study():
    return load(read(PAPERS["001"].config))


def fetched(study, source, data, kind, folder):
    """A corpus from one of the replica's files."""
    place = folder / (source.member or source.archive or "x.parquet").rpartition("/")[2]
    place.write_bytes(data)
    local = source.without(*PLACE).updated({"file": str(place)})
    return fetch(local, kind, Store(folder, folder / "lock.json"), study.cleaning, test=True)[0]


def hub(source, path):
    """A file of a data set."""
    return replica.repository(source.hub, replica.sources()["hub"][source.hub]).files[path]


def test_sd_qa_has_questions_of_three_languages_and_its_test_set_those_in_swahili(study, tmp_path):
    source = study.test("sdqa", "swh")
    data = replica.archive(source.archive)
    asked = Counter(
        part["qas"][0]["id"].partition("-")[0] for article in json.loads(data)["data"] for part in article["paragraphs"]
    )
    assert asked == {"english": 24, "swahili": 24, "arabic": 24}
    table = fetched(study, source, data, "questions", tmp_path)
    assert len(table) == 24 and all(replica.is_in(text, "swh") for text in [*table["question"], *table["context"]])


@pytest.mark.parametrize(("lang", "split", "classes"), [("swh", "test", 7), ("eng", "train", 6)])
def test_masakhanews_is_read_by_its_columns(study, tmp_path, lang, split, classes):
    source = study.test("masakhanews", lang) if split == "test" else study.training_set("masakhanews", lang)
    data = hub(source, f"{split}/{source.config}.parquet")
    table = fetched(study, source, data, "labelled_texts", tmp_path)
    (tmp_path / "raw.parquet").write_bytes(data)
    raw = pd.read_parquet(tmp_path / "raw.parquet")
    assert list(table["text"]) == list(raw["headline"] + " " + raw["text"])
    assert list(table["label"]) == list(raw["category"]) and table["label"].nunique() == classes


def test_places_of_answers_count_from_the_beginning_of_their_context():
    for row, placed in ((0, True), (5, True), (38, True), (7, False)):
        context = replica.cells({"text": "swh", "times": 4}, 1, "swh", "x", {})[0]
        found = replica.answer(context, row, placed=placed)
        assert len(found["text"][0].split()) == 2 and (("answer_start" in found) == placed)
        assert not placed or context[found["answer_start"][0] :].startswith(found["text"][0])
