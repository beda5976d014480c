"""Anchors: in the language, in the script, in no evaluation set."""

import pandas as pd
import pytest

from seedbed.blocks import concatenate
from seedbed.corpora.select import anchors
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.corpora.settings import COLUMNS, OPTIONAL, Anchors
from seedbed.corpora.shape.clean import characters
from seedbed.io import UserError, write_table

HAUSA = [f"{who} {what} {where}" for who in ("Yara", "Mata", "Maza", "Dalibai") for what in ("suna zuwa", "sun dawo daga", "za su je")
         for where in ("kasuwa yau", "makaranta gobe", "gona da safe", "asibiti jiya")]  # fmt: skip
ENGLISH = [f"{who} {what} {where}" for who in ("Children", "Women", "Men", "Students") for what in ("are going to", "came back from", "will visit")
           for where in ("the market today", "the school tomorrow", "the farm in the morning", "the hospital")]  # fmt: skip


def corpus(texts):
    return pd.DataFrame({"id": [str(n) for n in range(len(texts))], "text": texts})


def select(texts, pivot, tests, *others):
    """Read in blocks of twenty rows."""
    identify = LanguageId(texts, pivot) if pivot else None
    table = corpus(texts)
    drawn, audit = anchors.select(
        lambda: (table[start : start + 20] for start in range(0, len(table), 20)),
        identify,
        EvaluationTexts(tests),
        *others,
    )
    return concatenate(drawn), audit


def test_anchors_are_drawn_in_order_and_by_seed():
    chosen, audit = select(HAUSA, ENGLISH, [], "Latn", Anchors(count=10))
    again, _ = select(HAUSA, ENGLISH, [], "Latn", Anchors(count=10))
    pd.testing.assert_frame_equal(chosen, again)
    other, _ = select(HAUSA, ENGLISH, [], "Latn", Anchors(count=10, seed=1))
    assert list(other["id"]) != list(chosen["id"])
    assert list(chosen["id"].astype(int)) == sorted(chosen["id"].astype(int))
    assert audit == {"read": len(HAUSA), "dropped": {}, "not drawn": len(HAUSA) - 10, "kept": 10}


def test_evaluation_sentences_other_languages_and_scripts_are_dropped():
    mixed = [*HAUSA, "The children are going to the market", "यह हिंदी में एक वाक्य है"]
    chosen, audit = select(mixed, ENGLISH, [HAUSA[0].upper() + "!"], "Latn", Anchors())
    assert HAUSA[0] not in set(chosen["text"])
    assert audit["dropped"]["in an evaluation set"] == 1
    assert sum(audit["dropped"].values()) == 3
    assert audit["kept"] == len(HAUSA) - 1


def test_anchors_of_the_pivot_itself_are_told_from_no_other_language():
    """Paper 000, table 4: its anchors and prompts are English."""
    mixed = [*ENGLISH, "यह हिंदी में एक वाक्य है"]
    chosen, audit = select(mixed, None, [ENGLISH[0]], "Latn", Anchors())
    assert list(chosen["text"]) == ENGLISH[1:]
    assert audit["dropped"] == {"in an evaluation set": 1, "script": 1}


def test_nothing_left_is_an_error():
    with pytest.raises(UserError, match="none of 48 sentences is left"):
        select(HAUSA, ENGLISH, HAUSA, "Latn", Anchors())


def test_language_identification_on_unseen_sentences():
    identify = LanguageId(HAUSA[::2], ENGLISH[::2])
    assert identify.in_language(HAUSA[1::2]).mean() > 0.95
    assert identify.in_language(ENGLISH[1::2]).mean() < 0.05
    assert identify.in_language([]).shape == (0,)
    # A text without letters says nothing, nor does the size of a corpus.
    uneven = [LanguageId(HAUSA * 3, ENGLISH[:3]), LanguageId(HAUSA[:3], ENGLISH * 3)]
    assert uneven[0].in_language(["?!"]) == uneven[1].in_language(["?!"])
    with pytest.raises(UserError, match="no sentence"):
        LanguageId([], ENGLISH)


def test_contamination_sees_case_punctuation_and_eight_common_words():
    seen = EvaluationTexts(["one two three four five six seven eight nine ten"])
    assert seen.repeats("One two, three four five six seven eight nine ten!")
    assert seen.repeats("zero one two three four five six seven eight and then more")
    assert not seen.repeats("one two three four five six seven and others")
    short = EvaluationTexts(["One two three."])
    assert short.repeats("ONE, TWO, THREE") and not short.repeats("one two")


COUNTRY = {
    "Thai": ["ประเทศไทยมีฝนตกหนักในเดือนกันยายน", "อาหารของประเทศไทยเผ็ดมาก", "แม่ของฉันไม่เคยออกจากประเทศไทย", "ทีมฟุตบอลประเทศไทยแพ้เมื่อคืนนี้"],
    "Khmer": ["ប្រទេសកម្ពុជាមានភ្លៀងធ្លាក់ខ្លាំង", "ម្ហូបនៅប្រទេសកម្ពុជាឆ្ងាញ់ណាស់", "ម្តាយខ្ញុំមិនដែលចេញពីប្រទេសកម្ពុជាទេ", "ក្រុមបាល់ទាត់ប្រទេសកម្ពុជាចាញ់យប់មិញ"],
    "Lao": ["ປະເທດລາວມີຝົນຕົກໜັກ", "ອາຫານຂອງປະເທດລາວແຊບຫຼາຍ", "ແມ່ຂອງຂ້ອຍບໍ່ເຄີຍອອກຈາກປະເທດລາວ", "ທີມບານເຕະປະເທດລາວເສຍໄຊມື້ຄືນນີ້"],
    "Burmese": ["မြန်မာနိုင်ငံတွင် မိုးသည်းထန်စွာရွာသည်", "မြန်မာနိုင်ငံ၏ အစားအစာသည် စပ်သည်", "ကျွန်ုပ်၏အမေသည် မြန်မာနိုင်ငံမှ တစ်ခါမျှမထွက်ခဲ့", "မြန်မာနိုင်ငံအသင်း မနေ့ညက ရှုံးသည်"],
    "Shan": ["မိူင်းတႆးၼႆႉ ၾူၼ်တူၵ်းႁႅင်း", "တၢင်းၵိၼ်မိူင်းတႆးၼႆႉ ဝၢၼ်တႄႉ", "မႄႈၵဝ်ဢမ်ႇယၢမ်ႈဢွၵ်ႇမိူင်းတႆး", "ၸုမ်းမိူင်းတႆး သုမ်းယဝ်ႉမိူဝ်ႈၶမ်ႈဝႃး"],
    "Japanese": ["アメリカ合衆国では雨がたくさん降ります", "母はアメリカ合衆国の料理が好きです", "去年アメリカ合衆国で新しい法律ができた", "昨夜アメリカ合衆国のチームが負けた"],
    "Chinese": ["中华人民共和国的天气很热", "我妈妈从来没有离开过中华人民共和国", "昨晚中华人民共和国的球队输了", "他写了一本关于中华人民共和国的书"],
}  # fmt: skip
"""Sentences that have one name in common and nothing else: eight code points of it are no repetition."""


@pytest.mark.parametrize("language", COUNTRY)
def test_in_scripts_without_blanks_a_name_is_no_contamination_and_a_piece_of_a_test_is(language):
    for place, sentence in enumerate(COUNTRY[language]):
        rest = [*COUNTRY[language][:place], *COUNTRY[language][place + 1 :]]
        assert not EvaluationTexts(rest).repeats(sentence)
        test = EvaluationTexts([f"{rest[0]}{rest[1]}{rest[2]}"])
        assert test.repeats(f"{sentence} {rest[1][3:]}{rest[2][:-3]} {sentence}")
        assert EvaluationTexts([sentence]).repeats("、 ".join(characters(sentence)))


@pytest.mark.parametrize("kind", ["text", "pairs", "parallel", "retrieval", "labelled_texts"])
def test_every_text_of_an_evaluation_set_is_held_out(tmp_path, kind):
    names = [*COLUMNS[kind], *OPTIONAL.get(kind, ())]
    write_table(pd.DataFrame({"id": ["1"], **{name: [f"the {name}"] for name in names}}), tmp_path / "test.tsv")
    expected = {f"the {name}" for name in COLUMNS[kind] if name not in ("score", "label")}
    seen = EvaluationTexts.read([tmp_path / "test.tsv"])
    assert all(map(seen.repeats, expected))
    assert not any(map(seen.repeats, ["1", "the score", "the query_id", "the relevance"]))
