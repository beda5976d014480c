"""Normal forms of texts, against Unicode's own rules and by properties."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seedbed.corpora.settings import Cleaning
from seedbed.corpora.shape.clean import (
    characters,
    clean,
    comparable,
    length,
    runs,
    script_share,
    terms,
    within_bounds,
    words,
)
from seedbed.io import UserError


@given(st.text(st.one_of(st.characters(), st.sampled_from("ab \r\n\t\x1f\x85\u200b\u2028\u0301\u200d\ufeffកា។"))))
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


@given(st.text(st.sampled_from("aŉاـءe \u0653\u0301\u200b\u200c\u200d\u00ad\u02bb\u02bc\ufe71'")))
def test_comparable_is_idempotent_where_it_takes_characters_out(text):
    assert comparable(comparable(text)) == comparable(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("می\u200cروند", "می روند"),
        ("ශ්\u200dරී", "ශ්රී"),
        ("الســوق", "السوق"),
        ("Kolossal\u00ad\u2060bau\u200e", "Kolossalbau!"),  # as the context of a question may have it
        ("\u02bcYa\u02bcyan", "’Ya’yan"),
        ("O\u02bbzbek", "O‘zbek"),
    ],
)
def test_spellings_that_one_reads_alike_are_comparable(text, same):
    assert clean(text) != clean(same) and comparable(text) == comparable(same)


def test_two_encodings_of_a_letter_are_one():
    assert clean("e\u0301 \u1100\u1161") == "é 가"


def test_what_is_taken_out_leaves_no_trace():
    assert clean("one \u200b two\r\U000f0000\rthree") == "one two three"
    assert clean("e\u200b\u0301") == "é"


def test_joiners_are_spelling_and_stay():
    assert clean("क्\u200dष") == "क्\u200dष"
    assert clean("a\u200bb\ufeff") == "ab"
    assert clean(" a\tb\r\n\x1fc\x1c \u3000d\u2028") == "a b c d"


def test_a_space_without_width_separates_words_where_blanks_do_not():
    """Khmer, from Tatoeba: an encoder's tokens are others without it; texts with and without it compare equal."""
    assert clean("នឹង\u200bមាន\u200b\u200bជ") == "នឹង\u200bមាន\u200bជ"
    assert clean("\u200bនឹង\u200b មាន\u200b។a\u200bនឹង\ufeff\u200b") == "នឹង មាន។aនឹង"
    assert comparable("នឹង\u200bមាន") == comparable("នឹងមាន")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ina son karatu, sosai!", ["ina", "son", "karatu", "sosai"]),
        ("मैं घर जा रहा हूँ।", ["मैं", "घर", "जा", "रहा", "हूँ"]),
        ("你好 world", ["你", "好", "world"]),
        ("コーヒー2杯", ["コ", "ー", "ヒ", "ー", "2", "杯"]),
        ("ที่ดี", ["ที่", "ดี"]),
        ("ຂ້ອຍຮູ້", ["ຂ້", "ອ", "ຍ", "ຮູ້"]),
        ("မိူင်တႆ", ["မိူ", "င်", "တႆ"]),
        ("", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@given(st.text(st.sampled_from("ab é你ー ที่ို្ញ")))
def test_characters_are_the_whole_text(text):
    assert "".join(characters(text)) == text


def test_a_character_has_its_marks():
    assert characters("ที่ é\u0301x") == ["ที่", " ", "é\u0301", "x"]


def test_terms_are_words_or_pairs_of_characters_where_no_blanks_part_them():
    assert terms("The cat, the CAT") == {"the", "cat"}
    assert terms("天地玄黄") == {"天地", "地玄", "玄黄"} and terms("天") == {"天"}


@pytest.mark.parametrize(
    ("letters", "size"),
    [([*"abcdefghij"], 8), ([*"天地玄黄宇宙洪荒日月盈昃辰宿"], 12), ([*"いろはにほへとちりぬるをわかよたれそつねならむうゐの"], 24)],
)  # fmt: skip
def test_a_run_is_eight_words_or_as_much_in_scripts_without_blanks(letters, size):
    blank = " " if size == 8 else ""
    assert [*runs(blank.join(letters[: size - 1]))] == []
    assert [*runs(blank.join(letters))] == [tuple(letters[n : n + size]) for n in range(len(letters) - size + 1)]


def test_marks_make_no_run_longer_and_a_word_in_mixed_text_is_three_characters():
    assert [len(run) for run in runs("ที่" * 25)] == [24, 24]
    assert [*runs("一二三四五六 a b c d")] == [("一", "二", "三", "四", "五", "六", "a", "b", "c", "d")]
    assert [*runs("一二三四五六 a b c")] == []


@given(st.lists(st.sampled_from(["a", "b", "天", "ที่", "の", "z"]), max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_a_stretch_that_is_long_enough_is_shared(units, first, last):
    """A run of the stretch is one of every text that it stands in."""
    stretch = " ".join(units[first:last])
    assert {*runs(stretch)} <= {*runs(" ".join(units))}
    assert {*runs(stretch)} <= {*runs(f"q 地 {stretch} ก地 q")}


@pytest.mark.parametrize(
    ("text", "expected"), [("one two, three", 3), ("你好世界啊", 2.5), ("ที่ดี", 1), ("he said 你好", 3), ("", 0)]
)
def test_length_in_words(text, expected):
    assert length(text) == expected


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
    with pytest.raises(UserError, match=r"^script 'Latm':.*ISO 15924"):
        script_share("abc", "Latm")


def test_bounds():
    bounds = Cleaning(min_characters=5, max_characters=20, min_words=2)
    assert within_bounds("two words", bounds)
    assert not within_bounds("a b", bounds)
    assert not within_bounds("onewordonly", bounds)
    assert not within_bounds("far too many words in this one", bounds)
    assert within_bounds("你好世界啊", bounds)
    assert not within_bounds("你好世", bounds.updated({"min_characters": 1})), "a character is less than a word"
