"""What words alone score, against the formula of BM25 and trec_eval."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

from seedbed.evaluation import protocols
from seedbed.evaluation.files import write
from seedbed.evaluation.metrics import lexical
from seedbed.evaluation.protocols import retrieval
from seedbed.evaluation.scores import Scores
from seedbed.io import write_table
from seedbed.tables import best
from seedbed.tables.plan import AvailableRecipe, Block
from seedbed.tables.report import answer
from seedbed.tables.settings import Statistics
from seedbed.tables.specs import Column

DOCUMENTS = ["The cat sat on the mat, the mat!", "A dog sat.", "Cats and dogs", "", "THE mat"]


def by_formula(query: list[str], documents: list[list[str]], k1: float = 1.5, b: float = 0.75) -> list[float]:
    """Lucene's BM25, written out."""
    mean = sum(map(len, documents)) / len(documents)
    found = []
    for words in documents:
        counts, total = Counter(words), 0.0
        for word in query:
            having = sum(word in other for other in documents)
            idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            total += idf * counts[word] / (counts[word] + k1 * (1 - b + b * len(words) / mean))
        found.append(total)
    return found


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("The mat", ["the", "mat"]),
        ("dog, DOG sat?", ["dog", "dog", "sat"]),
        ("no such word but mat", ["no", "such", "word", "but", "mat"]),
        ("zebra", ["zebra"]),
        ("?!", []),
    ],
)
def test_documents_fit_a_query_by_the_formula_of_bm25(query, words):
    split = [
        ["the", "cat", "sat", "on", "the", "mat", "the", "mat"],
        ["a", "dog", "sat"],
        ["cats", "and", "dogs"],
        [],
        ["the", "mat"],
    ]
    (scores,) = lexical.bm25([query], DOCUMENTS)
    assert scores == pytest.approx(by_formula(words, split), abs=1e-5)


def test_where_no_blanks_part_words_pairs_of_characters_are_the_words():
    documents, query = ["天地玄黄", "宇宙洪荒天地", "天 地"], "天地天地"
    pairs = [["天地", "地玄", "玄黄"], ["宇宙", "宙洪", "洪荒", "荒天", "天地"], ["天", "地"]]
    (scores,) = lexical.bm25([query], documents)
    assert scores == pytest.approx(by_formula(["天地", "地天", "天地"], pairs), abs=1e-5)


def collection(queries: int = 30, documents: int = 60) -> pd.DataFrame:
    """Each query has three words of its document, among words that many have."""
    draw = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in draw.integers(0, 80, size=draw.integers(3, 12))) for _ in range(documents)]
    rows = [
        {
            "query": " ".join(draw.choice(texts[n].split(), size=2)) + f" w{draw.integers(80)}" if n < queries else "",
            "document": texts[n],
            "document_id": f"d{n:02}",
        }
        for n in range(documents)
    ]
    return pd.DataFrame(rows).assign(id=[f"r{n:02}" for n in range(documents)])


def test_the_ranking_by_words_is_scored_as_trec_eval_does():
    test = collection()
    name, items = protocols.lexical("retrieval")(test)
    documents = [text.split() for text in test["document"]]
    asked = test[test["query"] != ""]
    run = {
        row["id"]: {
            document: score
            for document, score in zip(test["document_id"], by_formula(row["query"].split(), documents), strict=True)
            if score > 0
        }
        for _, row in asked.iterrows()
    }
    gold = {row["id"]: {row["document_id"]: 1} for _, row in asked.iterrows()}
    theirs = pytrec_eval.RelevanceEvaluator(gold, {"ndcg_cut.10"}).evaluate(run)
    assert name == "BM25 search" and list(items["id"]) == list(asked["id"])
    expected = [theirs[query]["ndcg_cut_10"] for query in items["id"]]
    assert items["ndcg_at_10"].tolist() == pytest.approx(expected) and 0 < np.mean(expected) < 1


def test_a_query_whose_words_no_document_has_finds_nothing():
    test = collection()
    test.loc[0, "query"], test.loc[1, "query"] = "zebra", "?!"
    _, items = protocols.lexical("retrieval")(test)
    assert items["ndcg_at_10"][:2].tolist() == [0, 0] and items["recall_at_10"][:2].tolist() == [0, 0]


def test_retrieval_is_compared_with_bm25_query_by_query(tmp_path: Path):
    test = collection()
    _, own = retrieval.lexical(test)
    items = own[["id", "ndcg_at_10", "recall_at_10"]]
    for recipe, better in {"base": 0.0, "good": 0.3}.items():
        shown = items.assign(ndcg_at_10=(items["ndcg_at_10"] + better).clip(upper=1))
        about = {"task": "search", "protocol": "retrieval", "language": "hau"}
        about |= {"dataset": {"origin": [{"kind": "file", "name": "own"}]}}
        mean = float(shown["ndcg_at_10"].mean())
        file = tmp_path / f"scores/bert/{recipe}/hau/1/search/hau.json"
        write(Scores(mean, {"ndcg_at_10": mean}, shown), about, file)
    write_table(test, tmp_path / "test.tsv")
    block = Block(
        backbone="bert",
        paper_backbone="",
        column=Column(label="search", protocol="retrieval", metric="ndcg@10", tasks=["search"]),
        tests={"hau": "search"},
        systems=[AvailableRecipe(recipe=name, language="hau", seeds=[1]) for name in ("base", "good")],
        names={"base": "base", "good": "good"},
        baseline="base",
    )
    chosen = next(cell for cell in block.cells() if cell.recipe == "good")
    found = best.report([block], chosen, tmp_path / "scores", Statistics(resamples=500), tmp_path / "test.tsv")
    words, base = found["others"]["BM25 search"], found["others"]["base"]
    assert words == base | {"p_adjusted": words["p_adjusted"]} and words["apart"]
    expected = 100 * (((items["ndcg_at_10"] + 0.3).clip(upper=1)) - items["ndcg_at_10"]).mean()
    assert words["difference"] == pytest.approx(expected, abs=1e-3)
    assert words["difference_low"] < expected < words["difference_high"]
    facts = {"name": "Hausa", "recipe": "good", "backbone": "bert", "rows": 9, "base": "base", "test": found}
    text = answer.text({"best/hau": facts | {"dev": {"tasks": ["dev"], "score": 0.4, "among": 2}}})
    assert "| BM25 search, no encoder | " in text and "30 items" in text
