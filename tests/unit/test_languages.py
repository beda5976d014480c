"""The registry of languages: codes, scripts and families, and the sets that name languages their own way."""

import re

import pytest
import regex

from seedbed import yamls
from seedbed.corpora.shape.clean import UNICODE_SCRIPTS
from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.study.loading import load
from seedbed.study.model import Study

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
    ("column", "count"),
    [
        ("flores", 204),
        ("tatoeba", 112),
        ("massive", 51),
        ("nollysenti", 5),
        ("challenge", 179),
        ("masakhanews", 16),
        ("name", 248),
    ],
)
def test_every_language_of_a_set_has_one_row(column, count):
    named = [row[column] for row in ROWS if row[column]]
    assert len(named) == len(set(named)) == count


def test_a_pair_of_opus_is_called_by_its_two_codes_in_order():
    """Its members end in them: `Tatoeba.cmn-en.cmn` in cmn-en.txt.zip."""
    for row in ROWS:
        assert row["opus"] == ("-".join(sorted([row["opus_lang"], "en"])) if row["opus_lang"] else ""), row["code"]
    assert (registry()["zho"]["opus_lang"], registry()["swh"]["opus_lang"]) == ("cmn", "swh")


MACRO = {
    "als": "sqi", "arb": "ara", "ayr": "aym", "dik": "din", "fuv": "ful", "gaz": "orm", "khk": "mon", "knc": "kau", "lvs": "lav",
    "npi": "nep", "ory": "ori", "pbt": "pus", "pes": "fas", "plt": "mlg", "quy": "que", "swh": "swa", "taq": "tmh", "uzn": "uzb",
    "ydd": "yid",
}  # fmt: skip
"""The macrolanguages of ISO 639-3 that sets call some of our languages by."""


def test_a_pair_of_the_challenge_is_called_by_its_two_codes_in_order():
    """Of macrolanguages where there are such; its files, by the sides of that name: the first language is the source."""
    for row in ROWS:
        sides = row["challenge_text"], row["challenge_pivot"]
        code = MACRO.get(row["code"], row["code"])
        expected = {f"{code}-eng": ("src", "trg"), f"eng-{code}": ("trg", "src"), "": ("", "")}
        assert expected[row["challenge"]] == sides, row["code"]
        assert not row["challenge"] or row["challenge"].split("-") == sorted([code, "eng"])
    pairs = {code: registry()[code]["challenge"] for code in ("swh", "afr", "hau", "lvs", "eng", "ind", "srp", "nob")}
    shared = dict.fromkeys(("ind", "srp", "nob"), "")  # eng-msa, eng-hbs and eng-nor are of several of our languages
    assert pairs == {"swh": "eng-swa", "afr": "afr-eng", "hau": "eng-hau", "lvs": "eng-lav", "eng": ""} | shared


def test_masakhanews_calls_two_of_its_languages_by_their_macrolanguages():
    named = {row["code"]: row["masakhanews"] for row in ROWS if row["masakhanews"]}
    assert {code: name for code, name in named.items() if code != name} == {"swh": "swa", "gaz": "orm"}
    assert all(MACRO.get(code, code) == name for code, name in named.items())


SIZES = {
    "config/miners.yaml": {
        "tatoeba-bitext": 112, "bucc-bitext": 4, "nusax-bitext": 11, "nusatranslation-bitext": 11, "nollysenti-bitext": 4,
        "lince-bitext": 1, "phinc-bitext": 1, "massive-knn": 51, "sib200-knn": 205, "nusax-knn": 12, "nollysenti-knn": 5,
        "fire-knn": 2, "lince-knn": 1,
    },
    "studies/miners.yaml": {
        "tatoeba-bitext": 112, "nusax-bitext": 11, "nusatranslation-bitext": 4, "nollysenti-bitext": 4, "lince-bitext": 1,
        "phinc-bitext": 1, "sib200-knn": 31, "nusax-knn": 12, "nollysenti-knn": 5, "fire-knn": 2,
    },
}  # fmt: skip


@pytest.mark.parametrize("file", SIZES)
def test_miners_has_all_languages_of_its_sets(file):
    """Table 1 of the paper, and for the study the files that there are."""
    study = Study.model_validate(yamls.read(file))
    found = {name: sum(name in tasks for tasks in study.tests_by_language.values()) for name in study.tasks}
    assert {name: found[name] for name, task in study.tasks.items() if not task.set_of} == SIZES[file]
    for name, task in study.tasks.items():
        tested = [code for code in study.languages if task.train and study.test(name, code)]
        assert all(task.train.resolved(study.facts(code)) for code in tested), name


@pytest.mark.parametrize(
    ("code", "near"),
    [("yor-Latn", "did you mean 'yor'?"), ("hau-Arab", "did you mean 'hau'?"), ("yot", "did you mean")],
)
def test_the_nearest_code_of_one_with_a_script_is_that_without(code, near):
    study = {"languages": {code: {}}, "backbones": {"b": {"source": {"file": "b"}}}, "recipes": {"base": {}}}
    with pytest.raises(UserError, match=re.escape(f"languages.{code}: not in the language registry; {near}")):
        load(study)
