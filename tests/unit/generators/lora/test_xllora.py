"""The XL-LoRA training set: anchors swapped, languages even, every English sentence once."""

from __future__ import annotations

import pandas as pd
import pytest

from seedbed.generators.lora import xllora
from seedbed.io import UserError

LANGUAGES = ["arb", "fra", "swh"]


def parallel(rows=60, shared=20):
    """Each language translates its own sentences and `shared` common ones."""
    pivots = {lang: [f"common {n}" for n in range(shared)] + [f"{lang} {n}" for n in range(rows)] for lang in LANGUAGES}
    return {
        lang: pd.DataFrame({"id": [str(n) for n in range(len(texts))], "pivot": texts}).assign(
            text=lambda table, lang=lang: lang + ": " + table["pivot"]
        )
        for lang, texts in pivots.items()
    }


def nli(rows=31, languages=LANGUAGES):
    ids = [str(n) for n in range(rows)]
    return {
        lang: pd.DataFrame({
            "id": ids,
            "anchor": [f"{lang}: premise {n}" for n in ids],
            "positive": [f"entailed {n}" for n in ids],
            "negative": [f"contradicted {n}" for n in ids],
        })
        for lang in languages
    }  # fmt: skip


class Writer:
    """Stands in for the generator; every fifth premise gets completions that cannot be used."""

    def __init__(self):
        self.premises = []

    def __call__(self, premises):
        self.premises += list(premises["text"])
        bad = premises["text"].str.endswith(("0", "5"))
        return premises.assign(
            positive=("yes " + premises["text"]).where(~bad, premises["text"].str.upper()),
            negative="no " + premises["text"],
            positive_finished="true",
            negative_finished="true",
        )


@pytest.fixture
def examples():
    return xllora.build({"human": nli(), "synthetic": parallel()}, Writer(), 120, seed=1)


def test_anchors_are_swapped_and_targets_stay_english(examples):
    words = {"positive": ("yes", "entailed"), "negative": ("no", "contradicted")}
    for polarity, table in examples.items():
        assert list(table.columns) == ["id", "language", "anchor", "target", "source"]
        assert len(table) == 120 and table["id"].is_unique
        assert (table["source"] == "nli").sum() == 31
        for row in table.itertuples():
            assert row.anchor.startswith(f"{row.language}: ")
            english = row.anchor.removeprefix(f"{row.language}: ")
            yes, entailed = words[polarity]
            expected = english.replace("premise", entailed) if row.source == "nli" else f"{yes} {english}"
            assert row.target == expected


def test_languages_are_even_and_english_sentences_distinct(examples):
    for table in examples.values():
        for _, part in table.groupby("source"):
            counts = part["language"].value_counts()
            assert counts.max() - counts.min() <= 1 and len(counts) == 3
        assert table["target"].is_unique


def test_each_polarity_draws_its_own_languages(examples):
    both = examples["positive"].merge(examples["negative"], left_on="anchor", right_on="anchor")
    assert 0 < len(both) < 120


def test_the_draw_is_seeded(examples):
    again = xllora.build({"human": nli(), "synthetic": parallel()}, Writer(), 120, seed=1)
    other = xllora.build({"human": nli(), "synthetic": parallel()}, Writer(), 120, seed=2)
    for polarity, table in examples.items():
        pd.testing.assert_frame_equal(table, again[polarity])
        assert not table.equals(other[polarity])


def test_unusable_completions_are_replaced_and_no_premise_is_asked_twice():
    write = Writer()
    table = xllora.build({"human": {}, "synthetic": parallel()}, write, 100, seed=1)["positive"]
    assert len(table) == 100
    assert len(write.premises) == len(set(write.premises)) > 100


@pytest.mark.parametrize(
    "fault",
    [
        {"positive": ""},
        {"negative": ""},
        {"positive_finished": "false"},
        {"negative_finished": "false"},
        {"positive": "same", "negative": "Same"},
    ],
)
def test_what_cannot_be_used(fault):
    def write(premises):
        fine = {"positive": "a", "negative": "b", "positive_finished": "true", "negative_finished": "true"}
        return premises.assign(**fine | fault)

    with pytest.raises(UserError, match="no example"):
        xllora.build({"synthetic": parallel()}, write, 10, seed=1)


def test_a_short_pool_is_used_up_and_said(caplog):
    table = xllora.build({"synthetic": parallel(rows=10, shared=0)}, Writer(), 100, seed=1)["negative"]
    assert len(table) == 24 and "24 examples, not 100" in caplog.text


def test_nli_alone_needs_no_generator():
    def write(premises):
        raise AssertionError

    assert len(xllora.build({"human": nli(), "synthetic": {}}, write, 31, seed=1)["positive"]) == 31
    assert len(xllora.build({"human": nli(), "synthetic": parallel()}, write, 12, seed=1)["positive"]) == 12


def machine(rows=200):
    """Machine translations: other premises, other targets."""
    changed = {lang: table.assign(**{name: "mt " + table[name] for name in ("positive", "negative")})
               for lang, table in nli(rows).items()}  # fmt: skip
    return {lang: table.assign(anchor=table["anchor"].str.replace("premise", "mt")) for lang, table in changed.items()}


def never(premises):
    raise AssertionError("nothing is to be written")


@pytest.mark.parametrize(
    ("parts", "counts"),
    [
        ({"machine": machine()}, {"nli_machine": 90}),
        ({"human": nli(), "machine": machine()}, {"nli": 31, "nli_machine": 59}),
        ({"machine": machine(), "human": nli()}, {"nli_machine": 90}),
        ({"machine": machine(40), "human": nli()}, {"nli_machine": 40, "nli": 31}),
    ],
)
def test_parts_fill_up_in_their_order(parts, counts):
    for table in xllora.build(parts, never, 90, seed=1).values():
        assert table["source"].value_counts().to_dict() == counts
        assert table["id"].is_unique and table["target"].is_unique
        assert (table["target"].str.startswith("mt ") == (table["source"] == "nli_machine")).all()
        for _, part in table.groupby("source"):
            assert part["language"].value_counts().max() - part["language"].value_counts().min() <= 1


def test_three_parts_have_room_for_each_other():
    parts = {"human": nli(10), "synthetic": parallel(5, 5), "machine": machine()}
    table = xllora.build(parts, Writer(), 50, seed=1)["negative"]
    assert table["source"].value_counts().to_dict() == {"nli": 10, "parallel": 16, "nli_machine": 24}


def test_no_example_says_in_which_parts():
    with pytest.raises(UserError, match=r"no example.*human, machine; give"):
        xllora.build({"human": {}, "machine": {}}, never, 10, seed=1)


def test_a_language_with_little_is_used_first():
    tables = nli(30) | {"tha": nli(5, ["tha"])["tha"]}
    counts = xllora.build({"human": tables}, Writer(), 30, seed=1)["positive"]["language"].value_counts()
    assert counts["tha"] == 5 and counts.max() - counts["arb"] <= 1


def test_published_examples_are_sampled():
    table = pd.DataFrame({"id": list("abcdef"), "anchor": list("ABCDEF"), "target": list("uvwxyz")})
    drawn = xllora.sample(table, 4, seed=3)
    assert len(drawn) == 4 and set(drawn["source"]) == {"published"}
    assert drawn["id"].isin(table["id"]).all() and list(drawn.columns) == xllora.COLUMNS
    assert len(xllora.sample(table, 99, seed=3)) == 6
