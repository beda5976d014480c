"""Mined neighbours in the report: what each way of mining retrieved for a pair, and the audit of all."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, FiniteFloat

from seedbed.io import read_table
from seedbed.tables.pages.triplet_browser import by_language, spread

PAIR = ["id", "pivot", "text"]
Row = dict[str, Any]


class MiningRecord(BaseModel):
    """The part of an audit of `mine_neighbours` that the page shows."""

    queries: int
    pool: int
    neighbours: int
    distinct: int
    cosines: list[FiniteFloat] = Field(alias="cosine by rank")
    duplicates: int = Field(alias="near duplicates")
    commonest: list[tuple[str, int]]
    dropped: dict[str, int]


def browse(files: Sequence[Path], count: int) -> dict[str, list[Row]]:
    """What the page shows of each language, sorted by language.

    Args:
        files: mined neighbours, `.../{backbone}/neighbours/{mining}/{lang}.tsv`.
        count: the number of pairs of a language.

    Returns:
        Language -> pairs, spread over the files: each with `anchor`, `positive` and `rows` (`mining`, `rank`, `cosine`,
        `text`), nearest first.

    Raises:
        UserError: a file lacks a column.
    """
    found = {}
    for language, ways in sorted(by_language(files, 2).items()):
        pairs: dict[tuple[str, str], list[Row]] = {}
        for name, path in ways.items():
            for row in read_table(path, [*PAIR, "neighbour_1", "cosine_1"]).to_dict("records"):
                pairs.setdefault((row["pivot"], row["text"]), []).extend(_neighbours(name, row))
        found[language] = [
            {"anchor": pivot, "positive": text, "rows": pairs[pivot, text]} for pivot, text in spread([*pairs], count)
        ]
    return found


def _neighbours(mining: str, row: Row) -> list[Row]:
    """The neighbours of one pair, nearest first."""
    found, rank = [], 1
    while f"neighbour_{rank}" in row:
        near = {"text": row[f"neighbour_{rank}"], "cosine": row.get(f"cosine_{rank}", "")}
        found.append({"mining": mining, "rank": rank} | near)
        rank += 1
    return found
