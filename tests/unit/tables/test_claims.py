"""The papers' claims: of rows and columns that there are, with numbers that their pages have, and verdicts by the tests."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from seedbed.io import UserError
from seedbed.tables import claims
from seedbed.tables.claims import Claim, Claims, Ours
from seedbed.tables.measures import OTHER_DATA, UNNAMED
from seedbed.tables.tabulate import COLUMNS, COMPARED

CLAIMS = Claims.load(claims.FILE)
EVERY = [claim for own in CLAIMS.papers.values() for claim in own]
LORA = {
    "claim": "Better", "where": "abstract", "table": "table1", "columns": ["STS"],
    "better": {"recipe": "xllora"}, "than": {"recipe": "crosslingual"},
}  # fmt: skip


def named(claim: Claim) -> str:
    return f"{claim.table}: {claim.better.recipe} and {claim.than.recipe}"


@pytest.mark.parametrize("claim", EVERY, ids=named)
def test_a_claim_has_numbers_of_its_paper_and_ours_stand_on_their_page(claim: Claim) -> None:
    assert claims.printed(claim) or not claim.spec.paper
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


def test_the_lower_number_may_be_the_better_one_and_sides_may_be_columns_of_one_row() -> None:
    larger = next(claim for claim in EVERY if claim.lower and len(claim.columns) > 1)
    assert all(one.better < one.than for one in claims.printed(larger)) and claims.held_by_its_paper(larger) == ""
    sizes = {
        "better": {"recipe": "published", "column": "mean at 10"},
        "than": {"recipe": "published", "column": "mean at 1"},
    }
    words = Claim.model_validate({"claim": "Falls", "where": "A.1", "table": "lira_table10", "lower": True} | sizes)
    assert len(claims.printed(words)) == 3 and claims.held_by_its_paper(words) == ""


@pytest.mark.parametrize("lacking", ["n 600, ", ", three seeds", " [0.5, 10.6]"])
def test_a_verdict_of_a_study_stands_on_n_seeds_and_an_interval(lacking: str) -> None:
    one = {"study": "studies/a.yaml", "page": "docs/a.md", "numbers": "+5.5 [0.5, 10.6], n 600, three seeds"}
    assert Ours.model_validate(one | {"verdict": "reproduced"})
    less = one | {"numbers": one["numbers"].replace(lacking, "")}
    assert Ours.model_validate(less | {"verdict": "undecided"})
    with pytest.raises(ValueError, match="numbers: reproduced without"):
        Ours.model_validate(less | {"verdict": "reproduced"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": ["STR"]}, "table table1 has no 'STR'"),
        ({"than": {"recipe": "crosslingua"}}, "crosslingua: no row of table table1"),
        ({"table": "table2"}, "table2"),
        ({"than": {"recipe": "base"}}, "compare: table table1 does not compare xllora and base"),
    ],
)
def test_a_claim_of_no_row_or_column_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises((ValueError, UserError), match=message):
        Claim.model_validate(LORA | change)


def made(low: float, difference: float, p: float, note: str = "") -> pd.DataFrame:
    """Two rows of table 1: crosslingual with 70 [68, 72], and XL-LoRA, which is compared with it."""
    rows = [
        {"recipe": "crosslingual", "value": 70.0, "low": 68.0, "high": 72.0},
        {"recipe": "xllora", "value": 70 + difference, "low": low, "high": 90.0, "difference": difference, "p_adjusted": p},
    ]  # fmt: skip
    shared = {"backbone": "xlm-r", "column": "STS", "language": "avg", "n": 900, "seeds": 4, "baseline": "crosslingual"}
    shared |= {"level": 0.95, "paper": 70.0, "paper_note": note, "paper_cell": "xllora|XLM-R|avg|STS|spearman"}
    return pd.DataFrame([shared | row for row in rows], columns=COLUMNS)


def verdicts(table: pd.DataFrame, compared: pd.DataFrame | None = None, **changes: object) -> str:
    differences = {} if compared is None else {"table1": compared}
    own = [Claim.model_validate(LORA | changes)]
    return claims.of_study(Claims(papers={"P": own}), {"table1": table}, differences)


def test_a_verdict_is_that_of_the_tables_test_and_else_of_both_intervals() -> None:
    assert "72.0 [69.0, 90.0], n 900, seeds 4 against 70.0 [68.0, 72.0]" in verdicts(made(69, 2, 0.01))
    assert verdicts(made(69, 2, 0.01)).endswith("| reproduced |")
    assert verdicts(made(69, 2, 0.2)).endswith("| undecided |")
    assert verdicts(made(60, -2, 0.01)).endswith("| not reproduced |")
    untested = {"p_adjusted": float("nan")}
    assert verdicts(made(69, 2, 0.01).assign(**untested)).endswith("| undecided |")
    assert verdicts(made(73, 5, 0.01).assign(**untested)).endswith("| reproduced |")
    # 75 [71.8, ...] and 70 [..., 72] overlap by little: 5 is more than the root of 3.2² + 2².
    assert verdicts(made(71.8, 5, 0.01).assign(**untested)).endswith("| reproduced |")
    assert verdicts(made(70.3, 5, 0.01).assign(**untested)).endswith("| undecided |")
    below = made(40, -20, 0.01).assign(**untested).assign(high=[72.0, 60.0])
    assert verdicts(below).endswith("| not reproduced |")


@pytest.mark.parametrize("sign", [1, -1], ids=["as the claim", "turned"])
def test_two_rows_that_the_table_compares_are_judged_by_that_test(sign: int) -> None:
    """Not by their intervals, which overlap though the paired difference is above 0."""
    table = made(69, 2, 0.01).assign(baseline="base", p_adjusted=float("nan"))
    sides = ["xllora", "crosslingual"][::sign]
    row = {
        "backbone": "xlm-r",
        "column": "STS",
        "recipe": sides[0],
        "baseline": sides[1],
        "language": "avg",
        "level": 0.95,
    }
    low, high = sorted((sign * 0.4, sign * 3.6))
    row |= {"difference": sign * 2.0, "difference_low": low, "difference_high": high, "p_adjusted": 0.01}
    compared = pd.DataFrame([row], columns=COMPARED)
    assert verdicts(table).endswith("| undecided |")
    assert verdicts(table, compared).endswith("(XLM-R, avg): +2.0 [0.4, 3.6] ▲ | reproduced |")
    assert verdicts(table, compared.assign(p_adjusted=0.2)).endswith("+2.0 [0.4, 3.6] | undecided |")
    assert verdicts(table, compared, lower=True).endswith("| not reproduced |")
    for other in ({"column": "Bitext"}, {"language": "hau"}, {"backbone": "mmbert"}, {"p_adjusted": float("nan")}):
        assert verdicts(table, compared.assign(**other)).endswith("| undecided |")


def test_without_intervals_and_tests_a_claim_is_undecided() -> None:
    """As the table's own verdict, which is empty: fewer than ten items, or a metric without items."""
    bare = {"low": float("nan"), "high": float("nan"), "p_adjusted": float("nan")}
    table = made(69, 50, 0.01).assign(**bare)
    assert verdicts(table).endswith("| 120.0, n 900, seeds 4 against 70.0, n 900, seeds 4 (XLM-R, avg) | undecided |")
    assert verdicts(table, lower=True).endswith("| undecided |")
    both = pd.concat([made(73, 5, 0.01).assign(language="hau"), table.assign(language="ind")])
    found = verdicts(both, languages=["hau", "ind"])
    assert "(XLM-R, hau): +5.0 (holds in 1 of 2) | undecided |" in found


def test_other_data_than_the_papers_are_no_attempt() -> None:
    assert verdicts(made(69, 2, 0.01, note=f"zero-shot; {OTHER_DATA}")) == ""
    assert verdicts(made(69, 2, 0.01).assign(paper=float("nan"))) == ""
    assert verdicts(made(69, 2, 0.01, note=UNNAMED)).endswith("| reproduced |"), "both of ours are over one set of them"
    assert claims.of_study(CLAIMS, {}, {}) == ""


def test_a_named_backbone_is_found_by_the_papers_name() -> None:
    sides = {
        "better": {"recipe": "xllora", "backbone": "XLM-R"},
        "than": {"recipe": "crosslingual", "backbone": "mmBERT"},
    }
    table = made(73, 5, 0.01)
    assert verdicts(table, **sides) == "", "no row of mmBERT"
    table.loc[0, ["backbone", "paper_cell"]] = ["mmbert", "crosslingual|mmBERT|avg|STS|spearman"]
    assert verdicts(table, **sides).endswith("| reproduced |"), "the intervals lie apart"


def test_rows_of_a_table_are_joined_by_the_papers_name_of_the_backbone() -> None:
    table = made(69, 2, 0.01)
    table.loc[0, ["backbone", "paper_cell"]] = ["the-other", "crosslingual|XLM-R|avg|STS|spearman"]
    table.loc[1, "p_adjusted"] = float("nan")  # another backbone is not its baseline
    assert "(XLM-R, avg) | undecided |" in verdicts(table)


def test_where_lower_is_better_so_is_the_test() -> None:
    assert verdicts(made(69, 2, 0.01), lower=True).endswith("| not reproduced |")
    assert verdicts(made(60, -2, 0.01), lower=True).endswith("| reproduced |")


def test_the_claims_of_a_paper_are_shown_with_one_that_was_tried() -> None:
    own = [Claim.model_validate(LORA | change) for change in ({}, {"table": "bootstrapping_table3", "than": LORA["better"],
           "better": {"recipe": "xllora-20k"}}, {"cannot": "it is gone"})]  # fmt: skip
    papers = Claims(papers={"P": own, "Q": own[1:]})
    found = claims.of_study(papers, {"table1": made(69, 2, 0.01)}, {}).splitlines()
    ends = [line.rsplit("|", 2)[1].strip() for line in found]
    assert ends == ["Verdict", "---", "reproduced", "not run", "cannot be run: it is gone"]
