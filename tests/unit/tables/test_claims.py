"""The papers' claims: of rows and columns that there are, with numbers that their pages have, and verdicts by the tests."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from seedbed.io import UserError
from seedbed.tables import claims
from seedbed.tables.claims import Claim, Claims
from seedbed.tables.tabulate import COLUMNS

CLAIMS = Claims.load()
EVERY = [claim for own in CLAIMS.papers.values() for claim in own]
LORA = {
    "claim": "Better", "where": "abstract", "table": "table1", "columns": ["STS"],
    "better": {"recipe": "xllora"}, "than": {"recipe": "crosslingual"},
}  # fmt: skip


def named(claim: Claim) -> str:
    return f"{claim.table}: {claim.better.recipe} and {claim.than.recipe}"


@pytest.mark.parametrize("claim", EVERY, ids=named)
def test_a_claim_has_numbers_of_its_paper_and_ours_stand_on_their_page(claim: Claim) -> None:
    assert claims.printed(claim)
    for one in claim.ours:
        assert Path(one.study).is_file()
        page = " ".join(Path(one.page).read_text(encoding="utf-8").split())
        values = re.findall(r"[-+]?\d+\.\d+", one.numbers)
        assert values and not [value for value in values if value.lstrip("+") not in page]


def test_the_papers_numbers_are_compared_and_counted() -> None:
    claim = Claim.model_validate(LORA)
    assert [one.text for one in claims.printed(claim)] == ["72.3 > 70.4 (XLM-R)", "72.3 > 66.8 (mmBERT)"]
    assert claims.held_by_its_paper(claim) == ""
    turned = Claim.model_validate(LORA | {"better": LORA["than"], "than": LORA["better"]})
    assert claims.held_by_its_paper(turned) == "in 0 of 2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": ["STR"]}, "table table1 has no 'STR'"),
        ({"than": {"recipe": "crosslingua"}}, "crosslingua: no row of table table1"),
        ({"table": "table2"}, "table2"),
    ],
)
def test_a_claim_of_no_row_or_column_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises((ValueError, UserError), match=message):
        Claim.model_validate(LORA | change)


def made(low: float, difference: float, p: float, delta: float = 0.5) -> pd.DataFrame:
    """Two rows of table 1: crosslingual with 70 [68, 72], and XL-LoRA, which is compared with it."""
    rows = [
        {"recipe": "crosslingual", "value": 70.0, "low": 68.0, "high": 72.0},
        {"recipe": "xllora", "value": 70 + difference, "low": low, "high": 90.0, "difference": difference, "p_adjusted": p},
    ]  # fmt: skip
    shared = {"backbone": "xlm-r", "column": "STS", "language": "avg", "n": 900, "seeds": 4, "baseline": "crosslingual"}
    shared |= {"level": 0.95, "delta": delta, "paper_cell": "xllora|XLM-R|avg|STS|spearman"}
    return pd.DataFrame([shared | row for row in rows], columns=COLUMNS)


def verdicts(table: pd.DataFrame, **changes: object) -> str:
    return claims.of_study(Claims(papers={"P": [Claim.model_validate(LORA | changes)]}), {"table1": table})


def test_a_verdict_is_that_of_the_tables_test_and_else_of_intervals_that_lie_apart() -> None:
    assert "72.0 [69.0, 90.0], n 900, seeds 4 against 70.0 [68.0, 72.0]" in verdicts(made(69, 2, 0.01))
    assert verdicts(made(69, 2, 0.01)).endswith("| reproduced |")
    assert verdicts(made(69, 2, 0.2)).endswith("| not reproduced |")
    assert verdicts(made(60, -2, 0.01)).endswith("| not reproduced |")
    untested = {"p_adjusted": float("nan")}
    assert verdicts(made(69, 2, 0.01).assign(**untested)).endswith("| not reproduced |")
    assert verdicts(made(73, 5, 0.01).assign(**untested)).endswith("| reproduced |")


def test_other_data_than_the_papers_are_no_attempt() -> None:
    assert verdicts(made(69, 2, 0.01, delta=float("nan"))) == ""
    assert claims.of_study(CLAIMS, {}) == ""


def test_a_named_backbone_is_found_by_the_papers_name() -> None:
    sides = {
        "better": {"recipe": "xllora", "backbone": "XLM-R"},
        "than": {"recipe": "crosslingual", "backbone": "mmBERT"},
    }
    table = made(73, 5, 0.01)
    assert verdicts(table, **sides) == "", "no row of mmBERT"
    table.loc[0, ["backbone", "paper_cell"]] = ["mmbert", "crosslingual|mmBERT|avg|STS|spearman"]
    assert verdicts(table, **sides).endswith("| reproduced |"), "the intervals lie apart"
