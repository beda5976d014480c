"""Document retrieval: are the relevant documents among the ten nearest, by the cosine, of all documents?

nDCG@10 (main), recall@10, MRR@10 and MAP@10 as trec_eval computes them (pytrec_eval; mteb uses it too). Corpora:
`query`, `document`, a row for each judgement (see `collection`). Items: the query's id, ndcg_at_10, recall_at_10.

    belebele-retrieval:
      protocol: retrieval
      source: {file: "own/{lang}.qrels.tsv"}
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from seedbed.evaluation.metrics.lexical import BM25, bm25
from seedbed.evaluation.protocols import Metric, Protocol
from seedbed.evaluation.scores import ROUNDING, Scores, Trial
from seedbed.io import UserError
from seedbed.vectors.neighbours import nearest

PROTOCOL = Protocol(
    kind="retrieval", asks=("vectors",), options=("mteb",), chooses=True, mteb=("ndcg_at_10", "recall_at_10")
)
METRICS = {
    "ndcg@10": Metric("ndcg_at_10", ("ndcg_at_10",), title="nDCG@10"),
    "recall@10": Metric("recall_at_10", ("recall_at_10",)),
}

DEPTH = 10
"""Documents ranked for a query; every metric is cut off here."""
TREC_EVAL = {
    "ndcg_at_10": f"ndcg_cut.{DEPTH}",
    "recall_at_10": f"recall.{DEPTH}",
    "mrr_at_10": "recip_rank",
    "map_at_10": f"map_cut.{DEPTH}",
}
"""Name of a metric here and in mteb -> trec_eval's; its reciprocal rank is cut off by the depth of the ranking only."""


@dataclass(frozen=True)
class Collection:
    """Queries, documents and relevance judgements."""

    queries: pd.Series
    """Texts by query id, in the order of the test set."""
    documents: pd.Series
    """Texts by document id in descending order, the order in which trec_eval breaks ties."""
    relevance: dict[str, dict[str, int]]
    """Query id -> document id -> relevance of judged pairs; 0: judged not relevant."""


def score(trial: Trial) -> Scores:
    """Compute mean nDCG@10, recall@10, MRR@10 and MAP@10 over queries.

    Raises:
        UserError: judgements that contradict each other or cannot be read.
    """
    held = collection(trial.test)
    queries, documents = trial.embed(pd.Series(held.queries, name="query"), pd.Series(held.documents, name="document"))
    ranked = ranking(held, queries, documents)
    by_query = measures(held, ranked)
    metrics = {name: float(by_query[name].mean()) for name in TREC_EVAL}
    items = by_query[["id", "ndcg_at_10", "recall_at_10"]]
    return Scores(metrics["ndcg_at_10"], metrics, items, unsettled=unsettled(held, ranked))


def collection(test: pd.DataFrame) -> Collection:
    """Read the collection from a test set of judgements.

    Args:
        test: rows with `id`, `query` and `document`, one for each judgement; an empty query is a document without one.
            Optional columns: `query_id` (else each row is a query with the row's id), `document_id` (else equal texts
            are one document) and `relevance` (else 1).

    Raises:
        UserError: no queries, a single document, no relevant document, an id with two texts, a pair with two
            judgements, a relevance that is not a whole number from 0, or a judgement without the query or the document
            that it is of.
    """
    _require_texts(test)
    judged = test[test["query"] != ""]
    if judged.empty:
        raise UserError("retrieval: every query is empty; at least one row needs a query")
    queries = _by_id(judged, "query_id" if "query_id" in test.columns else "id", "query")
    documents = _by_id(test, "document_id" if "document_id" in test.columns else "document", "document")
    if len(documents) == 1:  # which is every query's nearest
        raise UserError("retrieval: a single document; at least two are needed, and more than ten for recall@10")
    relevance = _relevance(judged, queries.name, documents.name)
    if not any(max(of_query.values()) for of_query in relevance.values()):
        raise UserError("retrieval: every relevance is 0; at least one query needs a relevant document")
    return Collection(queries, documents.sort_index(ascending=False), relevance)


def _require_texts(test: pd.DataFrame) -> None:
    """No row names a query that has no text, or lacks its document, whose text may be empty where it has an id."""
    nothing = pd.Series("", index=test.index)
    unasked = (test["query"] == "") & (test.get("query_id", nothing) != "")
    missing = (test["document"] == "") & (test.get("document_id", nothing) == "")
    for what, rows in (("query", unasked), ("document", missing)):
        if rows.any():
            raise UserError(f"retrieval: id {test['id'][rows].iloc[0]!r} has no {what}; give its text, or leave it out")


def _by_id(table: pd.DataFrame, key: str, text: str) -> pd.Series:
    """The text of each id, in the order of the ids' first rows; the series is named after the ids' column."""
    pairs = pd.DataFrame({"id": table[key], "text": table[text]}).drop_duplicates()
    if (repeated := pairs["id"][pairs["id"].duplicated()]).size:
        raise UserError(f"retrieval: {key} {repeated.iloc[0]!r} has two texts; every {text} needs a unique id")
    return pd.Series(pairs["text"].to_numpy(), index=pairs["id"].to_numpy(), name=key, dtype=str)


def _relevance(judged: pd.DataFrame, query: str, document: str) -> dict[str, dict[str, int]]:
    values = judged.get("relevance", pd.Series("1", index=judged.index)).astype(str)
    if (wrong := judged[~values.str.fullmatch(r"\d+(\.0+)?")]).size:
        found = f"id {wrong['id'].iloc[0]!r} has relevance {values[wrong.index[0]]!r}"
        raise UserError(f"retrieval: {found}; expected 0, 1, 2, ...")
    found: dict[str, dict[str, int]] = {}
    for q, d, value in zip(judged[query], judged[document], values.astype(float).astype(int), strict=True):
        if found.setdefault(q, {}).setdefault(d, int(value)) != value:
            raise UserError(f"retrieval: query {q!r} and document {d!r} have two relevances; judge each pair once")
    return found


def ranking(held: Collection, queries: ArrayLike, documents: ArrayLike) -> list[dict[str, float]]:
    """The nearest documents of each query, nearest first: document id -> cosine, by exact search.

    Of documents with equal cosines, the one with the greater id comes first. A ranking has at most 2 * DEPTH
    documents, twice as many as metrics count: those after the tenth might rise, see `unsettled`.

    Args:
        queries: vectors (n, d), in the order of `held.queries`.
        documents: vectors (m, d), in the order of `held.documents`.

    Raises:
        UserError: vectors that are not finite or of different widths.
    """
    scores, indices = nearest(queries, documents, min(2 * DEPTH, len(held.documents)), metric="cosine")
    ranked = zip(held.documents.index.to_numpy()[indices].tolist(), scores.tolist(), strict=True)
    return [dict(zip(ids, values, strict=True)) for ids, values in ranked]


def measures(held: Collection, ranked: Sequence[dict[str, float]]) -> pd.DataFrame:
    """`id` of each query and its metrics, the keys of TREC_EVAL, as fractions; 0 without a relevant document.

    Args:
        held: the test set.
        ranked: for each query, in the order of `held.queries`, document id -> cosine, nearest first, as `ranking`
            returns them; documents after the first DEPTH do not count.
    """
    return _by_query(held, [dict(islice(run.items(), DEPTH)) for run in ranked])


def unsettled(held: Collection, ranked: Sequence[dict[str, float]]) -> dict[str, float]:
    """The most by which nDCG@10 and recall@10 of a `ranking` may change where nearly equal cosines get another order.

    The result is the difference between two scores: with the cosines of relevant documents raised by ROUNDING times
    their relevance, and with these cosines lowered by as much.
    """
    moved = []
    for distance in (ROUNDING, -ROUNDING):
        runs = [
            {document: cosine + distance * held.relevance[query].get(document, 0) for document, cosine in run.items()}
            for query, run in zip(held.queries.index, ranked, strict=True)
        ]
        moved.append(_by_query(held, runs)[[*PROTOCOL.mteb]].mean())
    return (moved[0] - moved[1]).to_dict()


def lexical(test: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """The BM25 baseline: its name and its items; documents without a word of the query are not ranked.

    Raises:
        UserError: judgements that contradict each other or cannot be read.
    """
    held = collection(test)
    ids, ranked = held.documents.index.to_numpy(), []
    for scores in bm25([*held.queries], [*held.documents]):
        best = np.argsort(-scores, kind="stable")[:DEPTH]  # of equals the first, which has the greater id
        ranked.append({ids[place]: float(scores[place]) for place in best if scores[place] > 0})
    return BM25, _by_query(held, ranked)


def _by_query(held: Collection, ranked: list[dict[str, float]]) -> pd.DataFrame:
    """`id` and TREC_EVAL, fractions, of every query: of document id -> score of what each ranks highest."""
    import pytrec_eval

    run = dict(zip(held.queries.index, ranked, strict=True))
    by_query = pytrec_eval.RelevanceEvaluator(held.relevance, {*TREC_EVAL.values()}).evaluate(run)
    columns = {name: [by_query[query][theirs.replace(".", "_")] for query in run] for name, theirs in TREC_EVAL.items()}
    return pd.DataFrame({"id": held.queries.index, **columns})


def mteb_rows(test: pd.DataFrame) -> dict[str, Any]:
    """The test set in the form of mteb's retrieval tasks."""
    from datasets import Dataset

    held = collection(test)
    texts = {"queries": held.queries, "corpus": held.documents}
    tables = {name: Dataset.from_dict({"id": list(each.index), "text": list(each)}) for name, each in texts.items()}
    return tables | {"relevant_docs": held.relevance, "top_ranked": None}
