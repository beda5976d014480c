"""Normal forms of texts, against Unicode's own rules and by properties."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seedbed.corpora.clean import clean, comparable, script_share, within_bounds, words
from seedbed.corpora.settings import Cleaning
from seedbed.io import UserError


@given(st.text(st.one_of(st.characters(), st.sampled_from("ab \r\n\t\x1f\x85\u200b\u2028\u0301\u200d"))))
@example("0\r\x1f\r0")
@example("e\u200b\u0301")
@example("\u200b \u0301a\x1f ")
def test_clean_is_idempotent_one_line_and_nfc(text):
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert not {"\t", "\n", "\r", "\0"} & set(cleaned) and "  " not in cleaned
    assert unicodedata.is_normalized("NFC", cleaned)


@given(st.text())
def test_comparable_ignores_case_and_punctuation(text):
    assert comparable(comparable(text)) == comparable(text)
    assert comparable(f"  {text}!? ") == comparable(text)


def test_two_encodings_of_a_letter_are_one():
    assert clean("e\u0301 \u1100\u1161") == "é 가"


def test_what_is_taken_out_leaves_no_trace():
    assert clean("one \u200b two\r\U000f0000\rthree") == "one two three"
    assert clean("e\u200b\u0301") == "é"


def test_joiners_are_spelling_and_stay():
    assert clean("क्\u200dष") == "क्\u200dष"
    assert clean("a\u200bb\ufeff") == "ab"
    assert clean(" a\tb\r\n\x1fc\x1c \u3000d\u2028") == "a b c d"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ina son karatu, sosai!", ["ina", "son", "karatu", "sosai"]),
        ("मैं घर जा रहा हूँ।", ["मैं", "घर", "जा", "रहा", "हूँ"]),
        ("你好 world", ["你", "好", "world"]),
        ("", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "script", "share"),
    [
        ("abcd", "Latn", 1.0),
        ("नमस्ते ab", "Deva", 4 / 6),
        ("안녕 韓", "Kore", 1.0),
        ("漢字かな", "Jpan", 1.0),
        ("123 !", "Telu", 1.0),
        ("Depremde 理解", "Latn", 8 / 10),
        ("اردو زبان ab", "Aran", 8 / 10),  # Urdu as it is written, which Unicode has as Arab
    ],
)
def test_script_share_counts_letters(text, script, share):
    assert script_share(text, script) == pytest.approx(share)


def test_an_unknown_script_is_one_line():
    with pytest.raises(UserError, match="^script 'Latm': no such script; expected a code of ISO 15924"):
        script_share("abc", "Latm")


def test_bounds():
    bounds = Cleaning(min_characters=5, max_characters=20, min_words=2)
    assert within_bounds("two words", bounds)
    assert not within_bounds("a b", bounds)
    assert not within_bounds("onewordonly", bounds)
    assert not within_bounds("far too many words in this one", bounds)
    assert within_bounds("你好世界啊", bounds)
    assert not within_bounds("你好世", bounds.updated({"min_characters": 1})), "a character is less than a word"
