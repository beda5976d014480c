"""Listwise ranking: a differentiable nDCG of each query's document among its nearest other documents."""

from typing import Literal

from pydantic import Field

from seedbed.encoders.objectives import LANGUAGE, Queued
from seedbed.io import UserError


class Listwise(Queued):
    """A differentiable nDCG@k with safe negatives, a hinge and a moments term: see `lasr.ListwiseLoss`.

    Rows are relevance judgements, as in the protocol `retrieval`: a row without a query, or with relevance 0,
    contributes a document only. A query's negatives are never relevant to it, copies of a relevant document, or in
    another language. Source: paper 002, section 4.2 and appendix A.4, equations 33 to 42 (DocQueue);
    docs/papers/lira.md has what the paper leaves open.

        corpora: {others: {own-queries: {kind: retrieval, file: "own/{lang}.queries.tsv"}}}
        recipes:
          ranked: {data: {corpus: own-queries}, objective: {listwise: {queue_size: 4096}}}
    """

    shapes = (("query", "document"),)
    optional = ("relevance", LANGUAGE + "document")

    queue_size: int = Field(4096, ge=0)
    """Earlier documents that are candidates in addition to the batch's; 0: none. 4,096 of width 4,096 take 64 MiB."""
    negatives: int = Field(31, gt=0)
    """M: number of candidates, the nearest to the query, that are ranked with its own document."""
    k: int = Field(10, gt=0)
    """How many documents of the ranking count, as in nDCG@k."""
    temperature: float = Field(0.1, gt=0)
    """Tau of the soft ranks, on cosines (paper: 0.05 to 0.2); `training.temperature` does not count."""
    cut_temperature: float = Field(0.5, gt=0)
    """Tau_k of the cut at k, on ranks (paper: about 0.5)."""
    gate: Literal["ranks", "discounts", "none"] = "ranks"
    """How negatives that may be relevant too are spared. ranks: they count little in the ranks of others, and not in
    the hinge. discounts: as the paper prints it, which does nothing. none: not at all."""
    margin: float = Field(0.2, ge=0)
    """Delta: who is no farther below the own document's cosine than this may be relevant too (paper: 0.1 to 0.3)."""
    gate_temperature: float = Field(0.03, gt=0)
    """Beta: how soft that border is (paper: 0.01 to 0.05)."""
    hinge_weight: float = Field(0.1, ge=0)
    """Lambda_h of the hinge."""
    hinge_margin: float = Field(0.05, ge=0)
    """Gamma: margin of the own document's cosine over that of the nearest other (paper: about 0.05)."""
    moments_weight: float = Field(0.1, ge=0)
    """Lambda_r of the term that draws the mean of a list's cosines to 0 and their variance to `variance`."""
    variance: float = Field(0.15, ge=0)
    """Nu (paper: about 0.15)."""

    def loss(self, encoder, table, training, folders):
        """Build a `ListwiseLoss`.

        Raises:
            UserError: a relevance is not a number, no row has a query with a relevant document, or no query has a
                document that is not relevant.
        """
        import pandas as pd
        import torch

        from seedbed.encoders.losses.lasr import ListwiseLoss
        from seedbed.encoders.losses.rows import numbers

        languages = table.get(LANGUAGE + "document", pd.Series("", table.index))
        queries, spoken = (torch.tensor(column.factorize()[0]) for column in (table["query"], languages))
        documents = torch.tensor(table.groupby(["document", languages], observed=True).ngroup().to_numpy())
        relevant = torch.tensor((table["query"] != "").to_numpy())
        if "relevance" in table.columns:
            relevant &= torch.from_numpy(numbers(table, "relevance", "listwise") > 0)
        if not relevant.any():
            raise UserError(f"listwise: none of {len(table)} rows has a query with a relevant document; give some")
        loss = ListwiseLoss(encoder, queries, documents, relevant, spoken, **self.model_dump())
        answers = pd.DataFrame({"query": loss.pairs // loss.count, "language": loss.language[loss.pairs % loss.count]})
        known = answers.groupby(["query", "language"])["query"].transform("size")
        if (known == torch.bincount(loss.language)[answers["language"]].numpy()).all():
            found = "each query's documents are all that there are in their language"
            raise UserError(f"listwise: {found}, so that the queue would hold positives alone; add other documents")
        return loss
