"""Every source of config.yaml, as it is shipped, is fetched and read for every language, from a replica of what is outside.

Opt-in (`make rehearsal`). Nothing of the study is changed: what it finds depends on sources.yaml alone.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from fnmatch import fnmatchcase

import pytest

from seedbed.corpora.labels import LABELS
from seedbed.corpora.settings import COLUMNS, OPTIONAL
from tests.rehearsal import replica
from tests.rehearsal.hub import Replica

pytestmark = pytest.mark.rehearsal
LOSSES = ("out of bounds", "repeated", "repeated id", "without a match")
"""Why a row may be left out: none of the replica's gives a reason."""
NO_TEXT = {"id", "score", "label", "query_id", "document_id", "relevance"}
IN_PIVOT = {"pivot", "positive", "negative"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What came of every source, and what the replica was asked for."""
    folder = tmp_path_factory.mktemp("rehearsal")
    with Replica() as server:
        environment = os.environ | {"HF_ENDPOINT": server.url, "HF_HUB_OFFLINE": "0", "HF_HOME": str(folder / "hub")}
        command = [sys.executable, "-m", "tests.rehearsal.reading", "--config", "config.yaml", "--folder", str(folder)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in (folder / "read.jsonl").open()], server.asked


@pytest.fixture(scope="module")
def read(run):
    return [one for one in run[0] if "error" not in one]


def name(one):
    return f"{one['corpus']} of {one['lang']}"


def test_every_source_can_be_read(run):
    assert {name(one): one["error"] for one in run[0] if "error" in one} == {}
    corpora = {(one["corpus"], one["lang"]) for one in run[0]}
    assert len(corpora) == len(run[0])
    # As many as a dry-run of `all_bootstrapping` fetches, but for two test sets, which no table shows of English.
    graph = {one for one in corpora if one[0] != "gemma-3-27b+xllora"} - {("xnli", "eng"), ("xnli-dev", "eng")}
    assert len(graph) == 106
    assert Counter(lang for _, lang in graph)["kor"] == 6


def test_all_of_the_replica_was_read(run):
    table = replica.load("sources.yaml")
    assert set(table["hub"]) <= run[1]
    for url in table["archives"]:
        assert any(fnmatchcase(asked, url.format(name="*")) for asked in run[1]), url


def test_columns_are_those_of_the_kind(read):
    for one in read:
        first = ["id", *COLUMNS[one["kind"]]]
        columns = list(one["rows"])
        assert columns[: len(first)] == first and {*columns[len(first) :]} <= {*OPTIONAL.get(one["kind"], ())}, name(
            one
        )
        assert len({*one["rows"]["id"]}) == len(one["rows"]["id"]), name(one)


def test_no_row_is_lost(read):
    for one in read:
        counts = one["counts"]
        assert not any(counts.get(loss) for loss in LOSSES), f"{name(one)}: {counts}"
        assert counts["kept"] == counts.get("triplets", counts["read"]) > 0, f"{name(one)}: {counts}"


def test_each_text_is_in_its_language(read):
    for one in read:
        for column, cells in one["rows"].items():
            asked = "eng" if column in IN_PIVOT else one["lang"]
            # A document that nobody asks for has no query.
            texts = [cell for cell in cells if cell or column != "query"] if column not in NO_TEXT else []
            wrong = [text for text in texts if replica.written_in(text) != asked]
            assert not wrong, f"{name(one)}, {column}: {wrong[0]!r}"


def test_labels_are_words_and_relevance_is_judged(read):
    for one in read:
        if one["kind"] == "labelled_pairs":
            assert {*one["rows"]["label"]} == {*LABELS}, name(one)
        if one["kind"] == "retrieval" and "relevance" in one["rows"]:
            assert "1" in one["rows"]["relevance"], name(one)


@pytest.mark.parametrize(
    "path",
    [
        "/api/datasets/mteb/no-such-set",
        "/datasets/mteb/belebele/resolve/main/no-such-file",
        "/datasets/mteb/belebele/resolve/0000000000000000000000000000000000000000/README.md",
        "/archives/https://downloads.wortschatz-leipzig.de/corpora/tel_newscrawl_2011_300K.tar.gz",
    ],
)
def test_the_replica_has_nothing_that_its_table_lacks(path):
    with Replica() as server, pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(server.url + path)
