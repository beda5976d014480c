"""Every source of the papers' studies, as they are shipped, is fetched and read for every language from a replica.

Opt-in (`make rehearsal`). Nothing of the study is changed: what it finds depends on the tables of what is outside alone (`sources*.yaml`).
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from fnmatch import fnmatchcase

import pytest

from seedbed import yamls
from seedbed.corpora.settings import COLUMNS, OPTIONAL
from seedbed.corpora.shape.labels import LABELS
from seedbed.names import TRAINING, languages_of
from tests.rehearsal import replica
from tests.rehearsal.cutting import PAPERS
from tests.rehearsal.hub import Replica

pytestmark = pytest.mark.rehearsal
LOSSES = ("blank", "out of bounds", "repeated", "repeated id", "without a match")
"""Why a row may be left out: none of the replica's gives a reason."""
NO_TEXT = {"id", "score", "label", "query_id", "document_id", "relevance", "answer", "answers", "starts", "correct"}
IN_PIVOT = {"pivot", "positive", "negative"}
MAY_LACK = ("query", "passage")
CUT = 1000
"""Characters that config/lira.yaml reads of a passage and of an article."""
STUDIES = {paper.config: paper.sources for paper in PAPERS.values()}
CORPORA = {"config/lira.yaml": 193, "config/miners.yaml": 696, "config/modular.yaml": 109, "config/neighxlm.yaml": 43}
"""All that each study reads; of config.yaml, see below."""


@pytest.fixture(scope="module", params=STUDIES)
def study(request):
    return request.param


@pytest.fixture(scope="module")
def run(study, tmp_path_factory):
    """What came of every source, and what the replica was asked for."""
    folder = tmp_path_factory.mktemp("rehearsal")
    with Replica() as server:
        environment = os.environ | {"HF_ENDPOINT": server.url, "HF_HUB_OFFLINE": "0", "HF_HOME": str(folder / "hub")}
        environment["PYTHONPATH"] = os.pathsep.join(["tests/rehearsal/site", "."])
        command = [sys.executable, "-m", "tests.rehearsal.reading", "--config", study, "--folder", str(folder)]
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
    assert len({(one["corpus"], one["lang"]) for one in run[0]}) == len(run[0])


def test_no_corpus_is_left_out(study, run):
    corpora = {(one["corpus"], one["lang"]) for one in run[0]}
    languages = {code for _, lang in corpora for code in languages_of(lang)}
    if study == "config.yaml":
        # What `snakemake --dry-run all_bootstrapping` fetches; no table shows these two test sets of English.
        graph = {one for one in corpora if one[0] != "gemma-3-27b+xllora"} - {("xnli", "eng"), ("xnli-dev", "eng")}
        assert len(graph) == 110 and len(languages) == 21
    else:
        spoken = {*yamls.read(study)["languages"]}
        assert len(corpora) == CORPORA[study] and spoken <= languages <= spoken | {"eng"}


def test_all_of_the_replica_was_read(study, run):
    table = replica.load(STUDIES[study])
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


def test_no_row_is_lost(study, read):
    for one in read:
        counts = one["counts"]
        if (study, one["corpus"]) == ("config/modular.yaml", "text"):
            counts = of_lines(counts)
        assert not any(counts.get(loss) for loss in LOSSES), f"{name(one)}: {counts}"
        assert counts["kept"] == counts.get("triplets", counts["read"]) > 0, f"{name(one)}: {counts}"


def of_lines(counts):
    """Counts of MADLAD-400 and CC100 by lines: the first are read by documents, which have three; between those of the other
    stand blank lines, which are read.
    """
    blank = counts.get("blank", 0)
    assert blank in (0, 100)
    return counts | {"read": 300 + counts["read"] - 100 - blank, "blank": 0}


def whole(text):
    """A text without the word in which it was cut."""
    return text if len(text) < CUT else text.rpartition(" ")[0]


def test_each_text_is_in_its_language(read):
    for one in read:
        for column, cells in one["rows"].items():
            pivot = "ind" if one["corpus"] == "nusatranslation-bitext" else "eng"
            first, *others = languages_of(one["lang"])
            asked = pivot if column in IN_PIVOT else others[0] if others and column == "sentence2" else first
            # A document that nobody asks for has no query, and a question to choose from no passage.
            texts = [cell for cell in cells if cell or column not in MAY_LACK] if column not in NO_TEXT else []
            wrong = [text for text in map(whole, texts) if not replica.is_in(text, asked)]
            assert not wrong, f"{name(one)}, {column}: {wrong[0]!r}"


def test_labels_are_words_and_relevance_is_judged(read):
    for one in read:
        if one["kind"] == "labelled_pairs":
            assert {*one["rows"]["label"]} == {*LABELS}, name(one)
        if one["kind"] == "labelled_texts":
            assert len({*one["rows"]["label"]}) > 1 and not any(map(str.isdecimal, one["rows"]["label"])), name(one)
        if one["kind"] == "retrieval" and "relevance" in one["rows"]:
            assert "1" in one["rows"]["relevance"], name(one)


def test_answers_stand_at_their_places(read):
    for one in (one for one in read if one["kind"] == "questions"):
        rows = one["rows"]
        for context, texts, starts in zip(rows["context"], rows["answers"], rows["starts"], strict=True):
            texts, starts = json.loads(texts), json.loads(starts)
            assert texts and (starts or not one["corpus"].endswith(TRAINING)), name(one)
            assert all(context[start:].startswith(text) for text, start in zip(texts, starts, strict=False)), name(one)


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
