"""The registry of languages: codes, scripts and families, and the sets that name languages their own way."""

import re

import pytest
import regex

from seedbed.corpora.clean import UNICODE_SCRIPTS
from seedbed.languages import registry

ROWS = list(registry().values())
FAMILIES = {
    "Afro-Asiatic", "Atlantic-Congo", "Austroasiatic", "Austronesian", "Aymaran", "Basque", "Constructed", "Dravidian",
    "Indo-European", "Japonic", "Kartvelian", "Koreanic", "Mande", "Mongolic-Khitan", "Nilotic", "Quechuan", "Saharan",
    "Sino-Tibetan", "Tai-Kadai", "Tupian", "Turkic", "Uralic",
}  # fmt: skip


def test_rows_are_in_order_and_whole():
    codes = [row["code"] for row in ROWS]
    assert codes == sorted(set(codes))
    for row in ROWS:
        assert re.fullmatch("[a-z]{3}(-[A-Z][a-z]{3})?", row["code"]) and row["name"] and row["family"] in FAMILIES, row
    assert {row["family"] for row in ROWS} == FAMILIES


def test_every_script_is_one_of_unicode():
    """ISO 15924 names that no Unicode script has are listed where scripts are told apart."""
    for script in {row["script"] for row in ROWS}:
        for name in UNICODE_SCRIPTS.get(script, (script,)):
            regex.compile(rf"\p{{Script={name}}}")


def test_a_code_with_a_script_is_another_row_of_its_language():
    """... of the same family and no second row in that script; FLORES and we agree on what is written how."""
    for row in ROWS:
        base, _, script = row["code"].partition("-")
        plain = registry()[base]
        assert row["family"] == plain["family"]
        assert not script or (row["script"] == script and plain["script"] != script)
        if row["flores"]:
            assert row["flores"].endswith("_" + {"Kore": "Hang"}.get(row["script"], row["script"]))


@pytest.mark.parametrize(
    ("column", "count"), [("flores", 204), ("tatoeba", 112), ("massive", 51), ("nollysenti", 5), ("name", 248)]
)
def test_every_language_of_a_set_has_one_row(column, count):
    named = [row[column] for row in ROWS if row[column]]
    assert len(named) == len(set(named)) == count
