"""The audit finds planted faults, each under its own name, and leaves good triplets alone."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts import audit_triplets
from seedbed.blocks import concatenate
from seedbed.corpora.select.contamination import EvaluationTexts
from seedbed.corpora.select.language_id import LanguageId
from seedbed.io import UserError, read_json, write_table
from seedbed.triplets import audit as auditing
from seedbed.triplets.faults import Checks, length_ratio, repetition
from seedbed.triplets.overlap import dice
from seedbed.triplets.settings import Audit
from seedbed.triplets.switching import WordCheck
from tests.programs import call

GOOD = [
    (f"Ina zuwa kasuwa ta {n} da safe", f"Zan tafi kasuwar lamba {n} yau", f"Ba zan je ko ina ba har {n} ga wata")
    for n in range(40)
]
ENGLISH = [f"The weather was cold on day {n} of the trip" for n in range(40)]
RULES = Audit(min_rows=1)


def frame(rows):
    columns = ["anchor", "positive", "negative"]
    return pd.DataFrame(rows, columns=columns).assign(id=[str(n) for n in range(len(rows))])


def audit(table, *others):
    """Read in blocks of seven rows."""
    blocks = lambda: (table[start : start + 7] for start in range(0, len(table), 7))  # noqa: E731
    kept, rejected, report = auditing.audit(blocks, *others)
    return concatenate(kept), concatenate(rejected), report


def checks(*, seen=(), rules=RULES, **others):
    identify = LanguageId([text for row in GOOD for text in row], ENGLISH)
    return Checks(rules, "Latn", EvaluationTexts(seen), identify, **others)


def run(rows, **options):
    return audit(frame(rows), checks(**options))


def test_triplets_of_the_pivot_itself_pass(tmp_path):
    """Paper 000, table 4: English anchors, positives and negatives; no word is of another language."""
    rows = [
        (text, f"The trip was cold on day {n}", f"The weather of day {n} was the cold")
        for n, text in enumerate(ENGLISH)
    ]
    write_table(frame(rows), tmp_path / "t")
    write_table(pd.DataFrame({"id": range(40), "text": ENGLISH}), tmp_path / "corpus")
    rules = RULES.updated({"foreign_words": 0.1, "unlikely_words": 0.1})
    for in_pivot in ([], ["--in-pivot"]):
        call(audit_triplets, [
            *("--triplets", str(tmp_path / "t"), "--corpus", str(tmp_path / "corpus"), "--script", "Latn", *in_pivot),
            *("--audit", rules.dump(), "--output", str(tmp_path / "kept"), "--rejected", str(tmp_path / "rejected")),
            *("--report", str(tmp_path / "report"), "--about", '{"generator": {"name": "tiny"}}'),
        ])  # fmt: skip
        report = read_json(tmp_path / "report")
        dropped = report["dropped"]
        assert report["generator"] == {"name": "tiny"}, "who wrote them"
        assert report["kept"] > 30 and not [why for why in dropped if "unlikely" not in why]


def test_good_triplets_pass_and_the_report_counts_them():
    kept, rejected, report = run(GOOD)
    assert len(kept) == 40 and rejected.empty
    assert report["read"] == report["kept"] == 40 and report["dropped"] == {}
    assert report["dice"]["anchor-positive"]["mean"] == pytest.approx(
        sum(dice(anchor, positive) for anchor, positive, _ in GOOD) / 40, abs=1e-4
    )
    assert report["dice"]["anchor-negative"]["n"] == 40
    assert report["dice"]["anchor-negative"]["mean"] == pytest.approx(
        sum(dice(anchor, negative) for anchor, _, negative in GOOD) / 40, abs=1e-4
    )


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_only_a_row_that_is_kept_makes_others_repetitions(size):
    """A row that is left out is in no batch, so that neither of its texts is there a second time."""
    (a, b, c), (p, q, r) = ([row[side] for row in GOOD[:3]] for side in (0, 1))
    pairs = [(a, p), (b, p), (b, q), (a, r), (c, r)]
    rows = frame([*((*pair, GOOD[n][2]) for n, pair in enumerate(pairs)), *GOOD[5:]])
    blocks = lambda: (rows[start : start + size] for start in range(0, len(rows), size))  # noqa: E731
    kept, rejected, _ = auditing.audit(blocks, checks())
    assert [*concatenate(kept)["id"]] == ["0", "2", *(str(n) for n in range(4, 40))]
    rejected = concatenate(rejected)
    assert [*zip(rejected["id"], rejected["reason"], strict=True)] == [
        ("1", "positive: repeated"), ("3", "anchor: repeated")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (("Ina gida yau", "", "Ba na gida"), "positive: empty"),
        (("Ina gida yau", "Here is an entailment: ina gida", "Ba na gida"), "positive: refusal, preamble or echo"),
        (("Ina gida yau", "I’m sorry, but I cannot do that", "Ba na gida"), "positive: refusal, preamble or echo"),
        (("Ina gida yau", "ina gida yau!", "Ba na gida"), "positive: equals the anchor"),
        (("Ina gida yau", "na na na na na na na na", "Ba na gida"), "positive: repeats itself"),
        (("Ina gida yau", "Niyeti сегодня ясно", "Ba na gida"), "positive: script"),
        (("Ina gida yau", "The weather was cold today", "Ba na gida"), "positive: language"),
        (("Ina", "Zan tafi kasuwar lamba daya yau da safe domin in sayi kaya", "Ba na gida"), "positive: length"),
        (("Ina gida yau", "Ba na gida ko kadan", "ba na gida ko kadan."), "positive equals negative"),
        (("Ina gida yau da safe", "Zan tafi gona yau", "Ba zan je kasuwa ba"), "positive: in an evaluation set"),
        (("Zan tafi gona yau", "Ina gida yau da safe", "Ba zan je kasuwa ba"), "anchor: in an evaluation set"),
        (("Ina gida yau da safe", "Ba zan je kasuwa ba", "Zan tafi gona yau"), "negative: in an evaluation set"),
        (("Sabon zance", GOOD[0][1], "Ba na gida"), "positive: repeated"),
        ((GOOD[0][0], "Zan tafi can nesa", "Ba na gida"), "anchor: repeated"),
    ],
)
def test_each_planted_fault_is_dropped_under_its_name(fault, reason):
    kept, rejected, report = run([*GOOD, fault], seen=["zan tafi gona yau"])
    assert list(rejected["reason"]) == [reason]
    assert report["dropped"] == {reason: 1}
    assert len(kept) == 40


@pytest.mark.parametrize(
    ("positive", "script", "rules", "reason"),
    [
        ("Zan tafi сегодня gidan makarantar mu", "Latn", {}, "positive: word in another script"),
        ("Zan tafi сегодня gidan makarantar mu", "Latn", {"other_script": False}, None),
        (
            "मैं google facebook twitter देखता रहा हूँ",
            "Deva",
            {"script_share": 0, "latin_words": 0.25},
            "positive: Latin words",
        ),
        ("मैं google facebook twitter देखता रहा हूँ", "Deva", {"script_share": 0}, None),
        # A text may lie on a bound: 7 of 15 letters are too few of its script, 7 of 14 are not.
        ("zan tafi идуу сюд", "Latn", {"script_share": 0.5, "other_script": False}, None),
        ("zan tafi идуу сюда", "Latn", {"script_share": 0.5, "other_script": False}, "positive: script"),
        ("Zan tafi weather lamba yau", "Latn", {"foreign_words": 0.05}, "positive: foreign word"),
        ("Zan tafi xwqvyx lamba yau", "Latn", {"unlikely_words": 0.05}, "positive: unlikely word"),
        ("Zan tafi weather lamba xwqvyx", "Latn", {}, None),
        ("Zan tafi gida lamba yau", "Latn", {"foreign_words": 0.05, "unlikely_words": 0.05}, None),
    ],
)
def test_words_that_do_not_belong(positive, script, rules, reason):
    rules = Audit(min_rows=1, **rules)
    own = [text for row in GOOD for text in row]
    words = WordCheck(own, ENGLISH, script, others=rules.foreign_words, unlikely=rules.unlikely_words)
    rows = frame([("Ina gida yau", positive, positive + " ba")])
    of_words = Checks(rules, script, EvaluationTexts([]))
    if reason is None:
        assert len(audit(rows, of_words, words)[0]) == 1
        return
    with pytest.raises(UserError, match=f"most dropped: {reason} 1"):
        audit(rows, of_words, words)


def test_no_triplets_at_all_are_told_as_such() -> None:
    words = WordCheck([text for row in GOOD for text in row], ENGLISH, "Latn", others=0.1, unlikely=0.1)
    with pytest.raises(UserError, match="there are no triplets"):
        auditing.audit(lambda: iter([frame([])]), Checks(Audit(min_rows=1), "Latn", EvaluationTexts([])), words)


def test_xllora_targets_must_be_in_the_pivot_language():
    rows = [
        (anchor, english, f"The weather was hot on trip {n}")
        for n, ((anchor, *_), english) in enumerate(zip(GOOD, ENGLISH, strict=True))
    ]
    kept, _, _ = run(rows, in_pivot=True)
    assert len(kept) == 40
    with pytest.raises(UserError, match="0 of 40 triplets pass"):
        run(GOOD, in_pivot=True)


def test_unfinished_completions_are_dropped():
    table = frame(GOOD).assign(positive_finished="true", negative_finished=["false"] + ["true"] * 39)
    kept, rejected, _ = audit(table, Checks(RULES, "Latn", EvaluationTexts([])))
    assert list(rejected["reason"]) == ["negative: cut at the length limit"] and len(kept) == 39


def test_a_generator_that_fails_stops_the_job():
    with pytest.raises(UserError, match=r"3 of 40 triplets.*positive: empty 37"):
        run([*GOOD[:3], *[(a, "", n) for a, _, n in GOOD[3:]]], rules=Audit(min_rows=4))


def test_none_may_be_left_where_the_rules_say_so():
    kept, rejected, report = run([(a, "", n) for a, _, n in GOOD], rules=Audit(min_rows=0, max_lost=1))
    assert (len(kept), len(rejected), report["kept"], report["dice"]) == (0, 40, 0, {})
    with pytest.raises(UserError, match="0 of 40 triplets"):
        run([(a, "", n) for a, _, n in GOOD], rules=Audit(min_rows=0))


@given(st.text(), st.text())
def test_dice_is_symmetric_bounded_and_one_for_the_same(a, b):
    assert dice(a, b) == dice(b, a)
    assert 0 <= dice(a, b) <= 1
    assert dice(a, a) in (0, 1)


def test_dice_by_hand():
    assert dice("The cat sat", "the CAT ran away") == pytest.approx(2 * 2 / (3 + 4))
    assert dice("", "") == 0


def test_repetition_and_length():
    assert repetition("a b c d e f") == pytest.approx(1 / 6)
    assert repetition("a a a") == 0
    assert list(length_ratio(pd.Series(["ab", "", "abcd"]), pd.Series(["abcd", "abc", "ab"]))) == [2, 3, 2]
