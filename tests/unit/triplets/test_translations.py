"""The audit of translations: a fault goes under its own name, with its own row, and shifts none."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from scripts import audit_triplets
from seedbed.blocks import concatenate
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.io import UserError, read_json, read_table, write_table
from seedbed.triplets.faults import Checks
from seedbed.triplets.settings import Audit
from seedbed.triplets.translations import audit_translations
from tests.programs import call

SIDES = ["anchor", "positive", "negative"]
ENGLISH = [
    (f"The weather on day {n} was cold", f"It was cold on day {n}", f"Day {n} of the trip was hot") for n in range(40)
]
HAUSA = [
    (f"Ina zuwa kasuwa ta {n} da safe", f"Zan tafi kasuwar lamba {n} yau", f"Ba zan je ko ina ba {n}")
    for n in range(40)
]
RULES = Audit(min_rows=1)


def frame(rows: list[tuple[str, str, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=SIDES).assign(id=[f"set:{n}" for n in range(len(rows))])[["id", *SIDES]]


def audit(table: pd.DataFrame, *, source: pd.DataFrame | None = None, seen: tuple[str, ...] = (), rules: Audit = RULES):
    """Read in blocks of seven rows, the source in blocks of five."""
    source = frame(ENGLISH) if source is None else source
    identify = LanguageId([text for row in HAUSA for text in row], [text for row in ENGLISH for text in row])
    kept, rejected, report = audit_translations(
        lambda: (table[start : start + 7] for start in range(0, len(table), 7)),
        (source[start : start + 5] for start in range(0, len(source), 5)),
        Checks(rules, "Latn", EvaluationTexts(seen), identify),
    )
    return concatenate(kept), concatenate(rejected), report


def test_good_rows_pass_with_their_overlaps() -> None:
    kept, rejected, report = audit(frame(HAUSA))
    pd.testing.assert_frame_equal(kept, frame(HAUSA))
    assert rejected.empty and report["dropped"] == {} and set(report["dice"]) == {"anchor-positive", "anchor-negative"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("?!", "empty"),
        (None, "a copy of the source"),
        ("Ina zuwa da da da da da da da da", "repeats itself"),
        ("Мен базарға бара жатырмын", "script"),
        ("The weather was cold on the trip", "language"),
        ("Ina zuwa kasuwa 市場 da safe yau", "word in another script"),
        ("da", "length"),
        ("Ina zuwa gonar Audu yau", "in an evaluation set"),
    ],
)
@pytest.mark.parametrize("side", SIDES)
def test_a_fault_drops_its_row_alone_and_is_counted_by_name(side: str, text: str | None, why: str) -> None:
    table = frame(HAUSA)
    table.loc[5, side] = frame(ENGLISH).loc[5, side].upper() if text is None else text
    kept, rejected, report = audit(table, seen=("Ina zuwa gonar Audu yau!",))
    assert report["dropped"] == {f"{side}: {why}": 1} and report["read"] == 40 and report["kept"] == 39
    assert list(rejected["id"]) == ["set:5"] and list(rejected["reason"]) == [f"{side}: {why}"]
    pd.testing.assert_frame_equal(kept.reset_index(drop=True), table.drop(index=5).reset_index(drop=True))


def test_what_the_limit_cut_goes_unless_it_may_stay() -> None:
    table = frame(HAUSA).assign(**{f"{side}_finished": "true" for side in SIDES})
    table.loc[3, "anchor_finished"] = "false"
    assert audit(table)[2]["dropped"] == {"anchor: cut at the length limit": 1}
    assert audit(table, rules=RULES.updated({"finished": False}))[2]["dropped"] == {}


def test_a_negative_that_the_source_lacks_is_no_fault_and_one_that_it_lacks_is_none() -> None:
    source, table = frame(ENGLISH), frame(HAUSA)
    source.loc[::2, "negative"] = ""
    table.loc[2::2, "negative"] = ""
    _, _, report = audit(table, source=source)
    assert report["dropped"] == {"negative: none in the source": 1} and report["dice"]["anchor-negative"]["n"] == 20
    source["negative"], table["negative"] = "", ""
    _, _, report = audit(table, source=source)
    assert report["dropped"] == {} and set(report["dice"]) == {"anchor-positive"}


def test_a_row_that_the_source_lacks_goes() -> None:
    assert audit(frame(HAUSA), source=frame(ENGLISH)[:30])[2]["dropped"] == {"no such row in the source": 10}


def test_a_translator_that_only_copies_is_an_error() -> None:
    with pytest.raises(UserError, match=r"audit: 0 of 40 triplets.*a copy of the source 40"):
        audit(frame(ENGLISH))


def test_the_program_compares_with_the_source(tmp_path: Path) -> None:
    table = frame(HAUSA)
    table.loc[7, "positive"] = ENGLISH[7][1]
    write_table(table, tmp_path / "raw")
    write_table(frame(ENGLISH), tmp_path / "eng")
    write_table(pd.DataFrame({"id": range(40), "text": [row[0] for row in HAUSA]}), tmp_path / "corpus")
    call(audit_triplets, [
        *("--triplets", str(tmp_path / "raw"), "--source", str(tmp_path / "eng"), "--corpus", str(tmp_path / "corpus")),
        *("--script", "Latn", "--audit", RULES.dump(), "--output", str(tmp_path / "kept")),
        *("--rejected", str(tmp_path / "rejected"), "--report", str(tmp_path / "report")),
    ])  # fmt: skip
    assert read_json(tmp_path / "report")["dropped"] == {"positive: a copy of the source": 1}
    assert "set:7" not in set(read_table(tmp_path / "kept", SIDES)["id"])
