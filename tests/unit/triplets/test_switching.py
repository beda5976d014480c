"""Words of another script, of another language and of none are found; names, units and rare words are let be."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.corpora.shape.clean import words
from seedbed.io import UserError
from seedbed.triplets.switching import END, START, Lexicon, Spelling, WordCheck, latin_share, other_script

HAUSA = words("ina zuwa kasuwa da safe domin in sayi nama kifi gishiri ruwa tare abokina yaro gida gona mota littafi")
ENGLISH = words("the weather was cold when people walked through market bought bread water house without umbrella")


def sentences(vocabulary, count, seed=0):
    rng = random.Random(seed)
    return [" ".join(rng.choices(vocabulary, k=6)) for _ in range(count)]


@pytest.fixture(scope="module")
def check():
    return WordCheck(sentences(HAUSA, 200), sentences(ENGLISH, 200), "Latn", others=0.01, unlikely=0.01)


@pytest.mark.parametrize(
    ("text", "script", "found"),
    [
        ("Niyeti сегодня muhtemelen belli etti.", "Latn", True),
        ("gelişmeleri 理解 etti", "Latn", True),
        ("gelişmeleri 理解etti", "Latn", True),
        ("Zan tafi की gida", "Latn", True),  # a letter and its vowel sign
        ("Niyeti 30 😀😀 € … µm α, 5 Ω", "Latn", False),
        ("Niyetı şöyle böyle ɓaɗe ƙofa", "Latn", False),
        ("मैं घर जा रहा हूँ COVID", "Deva", False),
        ("मैं घर ఇల్లు जा रहा हूँ", "Deva", True),
        ("한국어 韓國語 문장", "Kore", False),
        ("한국어 こんにちは 문장", "Kore", True),
        ("私はiPhoneをカメラにする", "Jpan", False),
        ("", "Latn", False),
    ],
)
def test_a_word_of_another_script(text, script, found):
    assert other_script(text, script) is found


def test_latin_in_another_script_is_counted_in_words():
    assert latin_share("मैं Google और WHO देखता हूँ", "Deva") == pytest.approx(2 / 6)
    assert latin_share("मैं x देखता हूँ", "Deva") == 0
    assert latin_share("only words in Latin", "Latn") == 0
    assert latin_share("私 iPhone", "Jpan") == pytest.approx(1 / 2)
    assert latin_share("kg६०cm", "Deva") == 1, "one word, however often it changes to Latin"


def test_spelling_is_witten_and_bells_by_hand():
    spelling = Spelling(["a"])  # its text is START a END; two symbols are predicted, each once
    half = (1 + 2 * (1 / 3)) / (2 + 2)  # no context: one of two, two kinds, over three equal chances
    after = (1 + 1 * half) / (1 + 1)  # one context, seen once
    longer = (1 + 1 * after) / (1 + 1)  # START a, seen once; START alone is the longest before "a"
    assert spelling.log_probability("a") == pytest.approx(math.log(after) + math.log(longer))
    assert spelling.totals[START] == 1 and spelling.grams["a" + END] == 1


@given(st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=6))
def test_probabilities_of_the_next_character_sum_to_one(vocabulary):
    spelling = Spelling(vocabulary)
    known = {gram for gram in spelling.grams if len(gram) == 1}
    for before in (START, START + "a", START + "ba"):
        total = sum(spelling._next(before + character, len(before)) for character in known)
        unseen = spelling._next(before + "?", len(before))
        assert total + unseen == pytest.approx(1)


def test_a_frequent_word_is_likelier_than_a_rare_and_a_rare_one_than_none():
    lexicon = Lexicon(["gida gida gida mota", "gida ruwa Sani"])
    gida, mota, none = map(lexicon.log_probability, ("gida", "mota", "zzzz"))
    assert gida > mota > none
    assert lexicon.counts["sani"] == 0  # capitalised within a sentence: a name


def test_foreign_and_unlikely_words_are_found(check):
    assert check.foreign("ina zuwa market da safe", "") == (True, False)
    assert check.foreign("ina zuwa xqwvyz da safe", "")[1]
    assert check.foreign("ina zuwa kasuwa da safe", "") == (False, False)


@pytest.mark.parametrize(
    "text",
    ["ina zuwa Market da Xqwvyz", "ina zuwa 2xqwvyz", "ina zuwa сегодня", "ina zuwa x q", "", "12 …"],
)
def test_names_numbers_scripts_and_letters_are_not_judged(check, text):
    assert check.foreign(text, "") == (False, False)


def test_words_of_the_anchor_are_let_be(check):
    assert check.foreign("ina zuwa market xqwvyz", "Xqwvyz na market") == (False, False)


def test_thresholds_keep_to_their_share():
    own = [*sentences(HAUSA, 450), *(f"ina zuwa {word} da safe" for word in ENGLISH for _ in range(5))]
    random.Random(1).shuffle(own)
    fresh = sentences(HAUSA, 300, seed=2)
    for share in (0.0, 0.2):
        strict = WordCheck(own, sentences(ENGLISH, 200), "Latn", others=share, unlikely=share)
        assert sum(strict.foreign(text, "")[0] for text in fresh) <= share * 300
    off = WordCheck(own, sentences(ENGLISH, 200), "Latn", others=0, unlikely=0)
    assert off.foreign("the xqwvyz umbrella", "") == (False, False)
    # Each check has a share of its own.
    foreign, unlikely = (WordCheck(own, sentences(ENGLISH, 200), "Latn", others=o, unlikely=0.2 - o) for o in (0.2, 0))
    assert unlikely.limits[0] == foreign.limits[1] == float("inf")


@pytest.mark.parametrize(("own", "other"), [(HAUSA[:9], ENGLISH), (HAUSA, [])])
def test_too_little_text_is_told(own, other):
    with pytest.raises(UserError, match="give more text"):
        WordCheck(own, other, "Latn", others=0.01, unlikely=0)
