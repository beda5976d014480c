"""Retrieval against a computation by hand and against mteb."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from seedbed.encoders.models import loading
from seedbed.evaluation import mteb_check
from seedbed.evaluation.files import Set, write
from seedbed.evaluation.mteb_check import (
    allowance,
    metrics_of,
    mteb_result,
    require_agreement,
    spread,
    without_run_facts,
)
from seedbed.evaluation.protocols import sts
from seedbed.evaluation.protocols.retrieval import (
    PROTOCOL,
    TREC_EVAL,
    Collection,
    collection,
    measures,
    ranking,
    unsettled,
)
from seedbed.evaluation.scores import Scores, System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.scoring import texts as texts_of
from seedbed.evaluation.settings import Task
from seedbed.io import UserError, read_json
from seedbed.vectors.store import encode_ahead
from tests import tiny


def mteb_scores(*given: Any) -> dict[str, float]:
    return metrics_of(mteb_result(*given))


def judgements(queries: int = 12, documents: int = 40, seed: int = 0) -> pd.DataFrame:
    """Graded judgements, several a query; a question asked twice; documents of equal text; distractors."""
    random = np.random.default_rng(seed)
    texts = [f"document {number // 2 if number < 12 else number}" for number in range(documents)]
    rows = [
        {
            "query": f"question {query // 2 if query < 4 else query}",
            "document": texts[document],
            "query_id": f"q{query}",
        }
        | {"document_id": f"d{document}", "relevance": str(random.choice([0, 1, 1, 2, 3]))}
        for query in range(queries)
        for document in random.choice(documents - 10, size=random.integers(1, 15), replace=False)
    ]
    rows += [
        {"query": "", "document": texts[number], "query_id": "", "document_id": f"d{number}", "relevance": ""}
        for number in range(documents - 10, documents)
    ]
    return numbered(rows)


def numbered(rows: Sequence[dict[str, str]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, dtype=str)
    return table.assign(id=[f"row{number}" for number in range(len(table))])


def encoder(seed: int = 0) -> Callable[[Sequence[str]], np.ndarray]:
    """Vectors of small whole numbers, so that texts of many embeddings tie."""

    def vector(text: str) -> np.ndarray:
        return np.random.default_rng([seed, *text.encode()]).integers(-1, 2, size=3) + np.array([0, 0, 0.5])

    return lambda texts: np.array([vector(text) for text in texts], np.float32)


def by_hand(test: pd.DataFrame, encode: Callable[[Sequence[str]], np.ndarray]) -> dict[str, list[float]]:
    """nDCG, recall, reciprocal rank and average precision of every query; ties to the greater document id."""
    texts = test.drop_duplicates("document_id").set_index("document_id")["document"]
    found: dict[str, list[float]] = {}
    for query, rows in test[test["query"] != ""].groupby("query_id", sort=False):
        gains = rows.set_index("document_id")["relevance"].astype(int).to_dict()
        (q,) = encode([rows["query"].iloc[0]]).astype(np.float64)
        vectors = encode(list(texts)).astype(np.float64)
        cosines = (vectors @ q / np.linalg.norm(vectors, axis=1) / np.linalg.norm(q)).round(6)
        ranked = sorted(zip(cosines, texts.index, strict=True), reverse=True)[:10]
        gain = np.array([gains.get(document, 0) for _, document in ranked])
        ideal = np.sort(list(gains.values()))[::-1][:10]
        relevant = sum(value > 0 for value in gains.values())
        hits = np.flatnonzero(gain > 0)
        found[query] = [
            (gain / np.log2(np.arange(len(gain)) + 2)).sum()
            / max((ideal / np.log2(np.arange(len(ideal)) + 2)).sum(), 1e-9),
            len(hits) / max(relevant, 1),
            1 / (hits[0] + 1) if len(hits) else 0,
            sum((rank + 1) / (hit + 1) for rank, hit in enumerate(hits)) / max(relevant, 1),
        ]
    return found


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_a_computation_by_hand(seed: int) -> None:
    test, encode = judgements(seed=seed), encoder(seed)
    expected = by_hand(test, encode)
    scores = score(Task(protocol="retrieval"), test, System(encode))
    assert list(scores.items["id"]) == list(expected)
    np.testing.assert_allclose(scores.items["ndcg_at_10"], [row[0] for row in expected.values()], atol=1e-9)
    np.testing.assert_allclose(scores.items["recall_at_10"], [row[1] for row in expected.values()], atol=1e-9)
    means = np.mean(list(expected.values()), axis=0)
    np.testing.assert_allclose([scores.metrics[name] for name in TREC_EVAL], means, atol=1e-9)
    assert scores.main == scores.metrics["ndcg_at_10"]


def test_the_order_of_rows_does_not_matter() -> None:
    test = judgements()
    expected = score(Task(protocol="retrieval"), test, System(encoder()))
    for seed in range(5):
        moved = score(Task(protocol="retrieval"), test.sample(frac=1, random_state=seed), System(encoder()))
        pd.testing.assert_frame_equal(
            moved.items.sort_values("id", ignore_index=True), expected.items.sort_values("id", ignore_index=True)
        )
        assert moved.metrics == pytest.approx(expected.metrics)


def test_optional_columns_have_their_defaults() -> None:
    """Each row a query of its own, equal texts one document, all relevant."""
    test = numbered(
        [{"query": q, "document": d} for q, d in [("a", "x"), ("a", "y"), ("b", "x"), ("", "z"), ("", "x")]]
    )
    held = collection(test)
    assert held.queries.to_dict() == {"row0": "a", "row1": "a", "row2": "b"}
    assert held.documents.to_dict() == {"z": "z", "y": "y", "x": "x"}
    assert held.relevance == {"row0": {"x": 1}, "row1": {"y": 1}, "row2": {"x": 1}}
    merged = collection(test.assign(query_id=test["query"]))
    assert merged.relevance == {"a": {"x": 1, "y": 1}, "b": {"x": 1}}


def test_each_text_is_encoded_once_and_no_empty_query() -> None:
    seen: list[str] = []

    def encode(texts: Sequence[str]) -> np.ndarray:
        seen.extend(texts)
        return encoder()(texts)

    test = judgements()
    score(Task(protocol="retrieval"), test, System(encode))
    assert sorted(seen) == sorted({*test["query"], *test["document"]} - {""})


def test_a_query_without_a_relevant_document_scores_nothing_and_counts() -> None:
    test = numbered(
        [{"query": "a", "document": "x", "relevance": "1"}, {"query": "b", "document": "y", "relevance": "0"}]
    )
    scores = score(Task(protocol="retrieval"), test, System(encoder()))
    first, second = scores.items["ndcg_at_10"]
    assert first > 0 and second == 0 and scores.main == first / 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": ""}, "every query is empty"),
        ({"document": "x"}, "a single document; at least two are needed"),
        ({"relevance": "0"}, "every relevance is 0; at least one query needs a relevant document"),
        ({"query_id": "q"}, "query_id 'q' has two texts"),
        ({"document_id": "d"}, "document_id 'd' has two texts"),
        ({"relevance": "-1"}, r"'row0'.*'-1'; expected 0, 1"),
        ({"relevance": "0.5"}, "id 'row0' has relevance '0.5'"),
        ({"query": ["", "a", "b"], "query_id": ["q", "r", "s"]}, "id 'row0' has no query; give its text"),
        ({"document": ["x", "", "y"]}, "id 'row1' has no document; give its text"),
        ({"relevance": ["1", "2", "1"], "query_id": ["q", "q", "r"]}, r"'q'.*'x'.*relevances"),
    ],
)
def test_bad_judgements_are_named(changes: dict, message: str) -> None:
    rows = [{"query": "a", "document": "x"}, {"query": "a", "document": "x"}, {"query": "b", "document": "y"}]
    with pytest.raises(UserError, match=message):
        collection(numbered(rows).assign(**changes))


def test_a_document_may_be_empty_where_it_has_an_id() -> None:
    rows = [{"query": "a", "query_id": "1", "document": "x", "document_id": "d"}]
    held = collection(numbered([*rows, {"query": "", "query_id": "", "document": "", "document_id": "e"}]))
    assert held.documents.to_dict() == {"d": "x", "e": ""} and held.queries.to_dict() == {"1": "a"}


@pytest.fixture(scope="module")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory):
    return loading.load(tiny.backbone(tmp_path_factory.mktemp("backbone")), pooling="mean", prefix="query: ")


def sentences_judged() -> pd.DataFrame:
    """As `judgements`, with texts that a tokenizer knows and documents that differ: mteb breaks ties by rounding."""
    test = judgements()
    queries, documents = tiny.sentences("hau", 12), tiny.sentences("eng", 40)
    test["query"] = [queries[int(name[1:]) // 2] if name else "" for name in test["query_id"]]
    return test.assign(document=[documents[int(name[1:])] for name in test["document_id"]])


@pytest.mark.parametrize(
    ("name", "subset"),
    [("MIRACLRetrievalHardNegatives", "sw"), ("IndicQARetrieval", "te"), ("BelebeleRetrieval", "swh_Latn-swh_Latn")],
)
def test_agrees_with_mteb(tiny_encoder, name: str, subset: str) -> None:
    test = sentences_judged()
    task = Task(protocol="retrieval", mteb={"name": name, "subset": subset})
    ours = score(Task(protocol="retrieval"), test, System(tiny_encoder.encode))
    theirs = mteb_scores(task, test, "", tiny_encoder)
    assert 0 < ours.main < 1
    for metric in TREC_EVAL:
        assert theirs[metric] == pytest.approx(ours.metrics[metric], abs=1e-5)
    for metric in PROTOCOL.mteb:
        require_agreement(ours.metrics[metric], theirs[metric], metric)


def test_graded_pairs_agree_with_mteb_too(tiny_encoder) -> None:
    texts = tiny.sentences("hau", 20)
    test = pd.DataFrame({"id": range(20), "sentence1": texts, "sentence2": texts[7:] + texts[:7]})
    test = test.assign(score=[str(n / 19) for n in range(20)])
    task = Task(protocol="sts", mteb={"name": "SemRel24STS", "subset": "hau"})
    ours, theirs = (
        score(Task(protocol="sts"), test, System(tiny_encoder.encode)),
        mteb_scores(task, test, "", tiny_encoder),
    )
    assert theirs["cosine_spearman"] == pytest.approx(ours.main, abs=1e-4)
    single = Task(protocol="sts", mteb={"name": "STSBenchmark"})
    assert mteb_scores(single, test, "", tiny_encoder)["cosine_spearman"] == pytest.approx(ours.main, abs=1e-4)


def test_mteb_takes_given_embeddings_and_encodes_nothing(tiny_encoder) -> None:
    texts, test = tiny.sentences("hau", 20), sentences_judged()
    pairs = pd.DataFrame({"id": range(20), "sentence1": texts, "sentence2": texts[7:] + texts[:7]})
    pairs = pairs.assign(score=[str(n / 19) for n in range(20)])
    sts = Task(protocol="sts", mteb={"name": "SemRel24STS", "subset": "hau"})
    miracl = Task(protocol="retrieval", mteb={"name": "MIRACLRetrievalHardNegatives", "subset": "sw"})
    for task, rows in ((sts, pairs), (miracl, test)):
        expected = mteb_scores(task, rows, "", tiny_encoder)
        encode = encode_ahead(tiny_encoder.encode, texts_of(task, rows))
        with forwards(tiny_encoder) as batches:
            found = mteb_scores(task, rows, "", tiny_encoder, encode)
        assert found == pytest.approx(expected, abs=1e-5) and not batches


def test_mteb_sees_embeddings_that_are_not_the_encoders(tiny_encoder) -> None:
    """What it scores is what it was given: a mix-up of texts shows."""
    task = Task(protocol="retrieval", mteb={"name": "MIRACLRetrievalHardNegatives", "subset": "sw"})
    test = sentences_judged()
    true = mteb_scores(task, test, "", tiny_encoder, tiny_encoder.encode)
    mixed = mteb_scores(task, test, "", tiny_encoder, lambda texts: tiny_encoder.encode(texts[::-1]))
    with pytest.raises(UserError, match="they must agree"):
        require_agreement(true["ndcg_at_10"], mixed["ndcg_at_10"], "nDCG")


def test_mteb_may_differ_where_cosines_are_nearly_equal() -> None:
    """An encoder that was not trained gives texts nearly one direction, and float32 cannot order them."""
    random = np.random.default_rng(0)
    vectors = 1 + random.normal(scale=0.003, size=(1200, 768))
    apart = spread(vectors)
    assert apart < 1e-4
    note = require_agreement(0.5, 0.501, "Belebele", allowance(apart))
    assert "cosines are nearly equal" in note and "\n" not in note
    assert not require_agreement(0.5, 0.50005, "Belebele", allowance(apart))
    for close, far in ((0.3, 2e-4), (apart, 0.2)):
        with pytest.raises(UserError, match="they must agree"):
            require_agreement(0.5, 0.5 + far, "Belebele", allowance(close))


def test_mteb_may_order_two_pairs_of_nearly_equal_cosines_otherwise() -> None:
    """Spearman's rho of few pairs changes much by one swap; by no more than the allowance, whatever the gold scores."""
    random = np.random.default_rng(1)
    cosines = np.sort(random.random(24))
    cosines[12] = cosines[11] + 1e-8
    swapped = cosines.copy()
    swapped[[11, 12]] = cosines[[12, 11]]
    assert sts.unsettled(np.linspace(0, 1, 24)) == 0 and allowance(0.3) == mteb_check.TOLERANCE
    worst = 0.0
    for _ in range(300):
        gold = random.permutation(24)
        worst = max(worst, abs(spearmanr(gold, cosines).statistic - spearmanr(gold, swapped).statistic))
    assert 0.01 < worst <= sts.unsettled(cosines) + 1e-12


def test_mteb_may_order_two_documents_of_nearly_equal_cosines_otherwise() -> None:
    """The tenth and the eleventh of a query, one of them relevant: a few queries' score changes by more than TOLERANCE."""
    angles = np.linspace(0.1, 1.2, 24)
    angles[10] = angles[9] + 1e-9
    documents = np.column_stack([np.cos(angles), np.sin(angles)])
    query = np.array([[1.0, 0.0]])
    names = [f"d{place:02d}" for place in range(24)]

    def scored(relevant: dict[int, int], vectors: np.ndarray) -> tuple[pd.Series, dict[str, float]]:
        judged = {"q": {names[place]: grade for place, grade in relevant.items()}}
        held = Collection(pd.Series(["?"], index=["q"]), pd.Series(names, index=names)[::-1], judged)
        ranked = ranking(held, query, vectors[::-1])
        return measures(held, ranked).iloc[0], unsettled(held, ranked)

    swapped = documents.copy()
    swapped[[9, 10]] = documents[[10, 9]]
    for relevant in ({9: 1}, {10: 1}, {9: 2, 10: 1}, {2: 1, 10: 3}):
        (one, free), (other, _) = scored(relevant, documents), scored(relevant, swapped)
        for metric in PROTOCOL.mteb:
            assert abs(one[metric] - other[metric]) <= free[metric] + 1e-12
        assert free["ndcg_at_10"] > mteb_check.TOLERANCE
    assert scored({9: 1}, documents)[1]["recall_at_10"] == 1
    assert set(scored({4: 1, 12: 1}, documents)[1].values()) == {0}, "of others, nothing depends on rounding"


def test_a_difference_from_mteb_by_rounding_is_no_failure(tiny_encoder) -> None:
    """Forty queries, each with two documents that float32 cannot tell apart; a mix-up of texts still fails."""
    random = np.random.default_rng(0)
    vectors: dict[str, np.ndarray] = {}
    rows = []
    for place in range(40):
        axes, _ = np.linalg.qr(random.normal(size=(64, 3)))
        vectors[f"question {place}"] = axes[:, 0]
        for side, axis in enumerate(axes.T[1:]):
            document = f"document {2 * place + side}"
            vectors[document] = np.cos(0.3) * axes[:, 0] + np.sin(0.3) * axis
            ids = {"query_id": f"q{place}", "document_id": f"d{2 * place + side}", "relevance": str(1 - side)}
            rows.append({"query": f"question {place}", "document": document, **ids})
    test = numbered(rows)

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.array([vectors[text] for text in texts], np.float32)

    task = Task(protocol="retrieval", mteb={"name": "MIRACLRetrievalHardNegatives", "subset": "sw"})
    given = Set("retrieval", task, test, None, {"origin": [{"kind": "file", "name": "own.tsv"}]})
    found = score(Task(protocol="retrieval"), test, System(encode))
    mteb_check.check_by_mteb(tiny_encoder, encode, given, found)
    (note,) = found.notes
    assert "ndcg_at_10" in note and "mteb rounds them to float32" in note
    with pytest.raises(UserError, match="they must agree"):
        mteb_check.check_by_mteb(tiny_encoder, lambda texts: encode(texts[::-1]), given, found)


def test_mteb_reads_the_file_of_its_result_again(tiny_encoder, tmp_path: Path) -> None:
    """Its own loader, whole; and what mteb's leaderboard takes is the same in every run."""
    from mteb.results import TaskResult

    task = Task(protocol="retrieval", mteb={"name": "MIRACLRetrievalHardNegatives", "subset": "sw"})
    found = Scores(0.5, {"ndcg_at_10": 0.5}, pd.DataFrame({"id": [1]}))
    for folder in ("one", "two"):
        result = mteb_result(task, sentences_judged(), "", tiny_encoder)
        found.mteb.update(without_run_facts(result))
        *_, filed = write(found, {}, tmp_path / folder / "swh.json")
    assert filed.name == "swh.mteb.json" == read_json(filed.with_name("swh.json"))["mteb"]
    assert filed.read_bytes() == (tmp_path / "one" / "swh.mteb.json").read_bytes()
    again = TaskResult.from_disk(filed, load_historic_data=False)
    assert again.task_name == "MIRACLRetrievalHardNegatives" and again.dataset_revision == result.dataset_revision
    assert again.hf_subsets == ["sw"] and again.get_score() == pytest.approx(result.get_score(), abs=1e-6)


def test_a_note_stands_in_the_score_file(tmp_path: Path) -> None:
    found = Scores(0.5, {"ndcg_at_10": 0.5}, pd.DataFrame({"id": [1]}))
    file, _ = write(found, {}, tmp_path / "hau.json")
    assert "notes" not in read_json(file)
    found.notes.append("cosines are nearly equal")
    write(found, {}, file)
    assert read_json(file)["notes"] == ["cosines are nearly equal"]


def test_a_note_is_told_in_the_log_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    task = Task(protocol="retrieval", mteb={"name": "MIRACLRetrievalHardNegatives", "subset": "sw"})
    found = Scores(0.5, {"ndcg_at_10": 0.5, "recall_at_10": 0.5}, pd.DataFrame({"id": [1]}))
    monkeypatch.setattr(mteb_check, "mteb_result", lambda *_: None)
    monkeypatch.setattr(mteb_check, "metrics_of", lambda _: {"ndcg_at_10": 0.5, "recall_at_10": 0.5})
    monkeypatch.setattr(mteb_check, "without_run_facts", lambda _: {"task_name": "MIRACL"})
    monkeypatch.setattr(mteb_check, "require_agreement", lambda *_, **__: "cosines are nearly equal")
    monkeypatch.setattr(mteb_check, "spread", lambda _: 0.0)
    given = Set(
        "miracl", task, sentences_judged(), None, {"origin": [{"kind": "hub", "name": "a/b", "revision": "main"}]}
    )
    mteb_check.check_by_mteb(None, encoder(), given, found)
    assert found.mteb == {"task_name": "MIRACL"}
    assert {*found.notes} == {"cosines are nearly equal"} and "cosines are nearly equal\n" in capsys.readouterr().err


def test_mteb_encodes_where_a_query_has_a_prompt_of_its_own(tiny_encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiny_encoder, "prompts", {"query": "yara mata: ", "document": "query: "})
    task = Task(protocol="retrieval", mteb={"name": "MIRACLRetrievalHardNegatives", "subset": "sw"})
    with forwards(tiny_encoder) as batches:
        found = mteb_scores(task, sentences_judged(), "", tiny_encoder, encoder())
    assert batches and found == mteb_scores(task, sentences_judged(), "", tiny_encoder)


@contextmanager
def forwards(model) -> Iterator[list[int]]:
    """The sizes of the batches that an encoder encodes within."""
    sizes: list[int] = []
    hook = model[0].register_forward_pre_hook(lambda _, inputs: sizes.append(len(inputs[0]["input_ids"])))
    yield sizes
    hook.remove()


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_the_batch_size_does_not_matter(tiny_encoder, batch_size: int) -> None:
    test = sentences_judged()
    expected = score(Task(protocol="retrieval"), test, System(tiny_encoder.encode))
    found = score(
        Task(protocol="retrieval"), test, System(lambda texts: tiny_encoder.encode(texts, batch_size=batch_size))
    )
    pd.testing.assert_frame_equal(found.items, expected.items)


def test_mteb_is_asked_about_its_own_revision(tiny_encoder) -> None:
    task = Task(protocol="retrieval", mteb={"name": "BelebeleRetrieval", "subset": "swh_Latn-swh_Latn"})
    with pytest.raises(UserError, match=r"fetched at 0000, mteb .*979a2112"):
        mteb_scores(task, judgements(), "0000", tiny_encoder)


def test_a_fetched_collection_is_whole(tmp_path: Path) -> None:
    """Long documents, repeated rows, empty queries and optional columns pass through, cleaned or not."""
    from seedbed.corpora.read.assets import Store
    from seedbed.corpora.settings import Cleaning, Source
    from tests.whole import fetch

    test = judgements().assign(extra="x")
    test.loc[0, "document"] = "word " * 5000 + "end"
    test.to_csv(tmp_path / "test.tsv", sep="\t", index=False)
    store = Store(tmp_path / "downloads", tmp_path / "lock.json")
    for whole in (True, False):
        found, record = fetch(Source(file=str(tmp_path / "test.tsv")), "retrieval", store, Cleaning(), test=whole)
        assert list(found) == ["id", "query", "document", "query_id", "document_id", "relevance"]
        pd.testing.assert_frame_equal(found, test[list(found)])
        odd = {"queries without a relevant document": 1} if whole else {}
        assert record["counts"] == {"read": len(test), **odd, "kept": len(test)}
