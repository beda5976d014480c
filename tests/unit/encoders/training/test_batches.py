"""Batches that are laid out before training: of one set, in which languages, each row when, and what is refused."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from seedbed.encoders import objectives
from seedbed.encoders.objectives import LANGUAGE
from seedbed.encoders.settings import Training
from seedbed.encoders.training import batches, train
from seedbed.io import UserError, sha256, write_table
from tests import trainings
from tests.refusals import tells

TEXTS = ["anchor", "positive", "negative", "sentence1"]
SIZES = {"long": 21, "short": 9}
ID = [f"{name}:{row}" for name, size in SIZES.items() for row in range(size)]


def of(code: str, ids: list[str] = ID, columns: tuple[str, ...] = ("anchor", "positive", "negative")) -> pd.DataFrame:
    """Texts that say in which language, row and column they are."""
    return pd.DataFrame({"id": ids} | {name: [f"{code} {row} {name}" for row in ids] for name in columns})


def laid_out(tables: dict[str, pd.DataFrame], seed: int = 1, **settings: Any) -> tuple[list[pd.DataFrame], dict]:
    """The batches, and what is said of them."""
    given = Training(batch_size=4, epochs=1).updated(settings)
    rows, facts = batches.lay_out(tables, TEXTS, given, seed)
    assert len(rows) % given.batch_size == 0
    return [rows.iloc[at : at + given.batch_size] for at in range(0, len(rows), given.batch_size)], facts


def languages(batch: pd.DataFrame) -> np.ndarray:
    """The language of each sentence (rows, columns); texts are those of their row and column."""
    names = [name for name in TEXTS if name in batch]
    for name in names:
        assert [text.split()[1:] for text in batch[name]] == [[row, name] for row in batch["id"]]
    found = batch[names].map(lambda text: text.split()[0])
    assert (found == batch[[LANGUAGE + name for name in names]].astype(str).to_numpy()).all(axis=None)
    return found.to_numpy()


def test_a_batch_is_of_one_set_and_sets_take_turns() -> None:
    found, facts = laid_out({"own": of("x")}, batches="sets", epochs=4)
    names = [{row.partition(":")[0] for row in batch["id"]} for batch in found]
    assert all(len(name) == 1 for name in names) and len(found) == 4 * (30 // 4)
    read = len({row for batch in found for row in batch["id"]})
    assert facts == {"examples": 30, "examples_read": read, "sets": SIZES} and 28 <= read <= 30
    few, facts = laid_out({"own": of("x")}, batches="sets", steps=6)  # `short` is read again before all of `long` is
    assert facts["examples_read"] == len({row for batch in few for row in batch["id"]}) < 6 * 4
    rounds = [tuple(next(iter(name)) for name in names[at : at + 2]) for at in range(0, len(names), 2)]
    assert {*rounds} == {("long", "short"), ("short", "long")}, "in another order each round"
    # Paper's code: a set begins again where what is left makes no batch; so 21 rows make 5 batches, and 9 make 2.
    for name, each in (("long", 5), ("short", 2)):
        own = [batch["id"].tolist() for batch, of_one in zip(found, names, strict=True) if of_one == {name}]
        for at in range(0, len(own) - each + 1, each):
            assert len({*chain(*own[at : at + each])}) == 4 * each, "no row twice before all have been there"
        assert sorted(own[0]) != sorted(own[each])


def test_every_batch_has_so_many_rows_of_a_set_and_others_fill_it() -> None:
    tables = {"x": of("x"), "y": of("y", ID[:19]), "z": of("z")}  # y has no row of `short`
    found, facts = laid_out(tables, batches={"short": 3}, batch_size=8, steps=40)
    assert len(found) == 40 and facts["sets"] == {"others": 21, "short": 9}
    spoken = Counter()
    for batch in found:
        counts = Counter(row.partition(":")[0] for row in batch["id"])
        assert counts == {"short": 3, "long": 5} and not batch["id"].duplicated().any()
        (code,) = {*languages(batch).ravel()}
        spoken[code] += 1
    assert {*spoken} == {"x", "z"} and min(spoken.values()) > 10
    (alone, _) = laid_out({"own": of("x")}, batches={"short": 3}, batch_size=8, steps=12)
    for name, rounds in (("short", 3), ("long", 4)):  # 9 rows are three batches, 21 four of five with one left
        own = [[row for row in batch["id"] if row.startswith(name)] for batch in alone]
        for at in range(0, len(own) - rounds + 1, rounds):
            assert len({*chain(*own[at : at + rounds])}) == sum(map(len, own[:rounds])), (
                "none twice before all were there"
            )


def test_a_share_of_a_set_without_rows_goes_to_the_others(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found, facts = laid_out({"own": of("x")}, batches={"translations": 3}, batch_size=8, steps=5)
    assert facts["sets"] == {"others": 30} and facts["examples"] == 30 and "'translations'" in caplog.text
    assert [len({*batch["id"]}) for batch in found] == [8] * 5


def test_mixed_batches_of_one_language_each() -> None:
    tables = {code: of(code) for code in "xyz"}
    found, facts = laid_out(tables, epochs=20)
    spoken = [languages(batch) for batch in found]
    assert all(len({*one.ravel()}) == 1 for one in spoken) and facts["examples"] == facts["examples_read"] == 30
    counts = Counter(one[0, 0] for one in spoken)
    assert min(counts.values()) > 140 / 3 * 0.7 and sum(counts.values()) == 20 * 7
    assert any(len({row.partition(":")[0] for row in batch["id"]}) == 2 for batch in found)
    first = [row for batch in found[:7] for row in batch["id"]]
    assert len({*first}) == 28, "a row comes once in an epoch, in one language"


def test_sentences_of_a_row_are_in_different_languages_of_six() -> None:
    tables = {code: of(code) for code in "abcdefghij"}
    found, _ = laid_out(tables, crosslingual=True, batch_size=10, epochs=20)
    spoken = [languages(batch) for batch in found]
    assert {len({*row}) for one in spoken for row in one} == {3}
    assert max(len({*one.ravel()}) for one in spoken) == 6
    assert {language for one in spoken for language in one.ravel()} == {*"abcdefghij"}


def test_a_row_comes_in_languages_that_have_it(caplog: pytest.LogCaptureFixture) -> None:
    """Two parallel corpora without a language in common but one, and rows that one language lost."""
    tables = {"x": of("x"), "y": of("y", ID[:19]), "z": of("z", ID[21:]), "lost": of("lost", ID[2:21])}
    with caplog.at_level(logging.WARNING):
        found, facts = laid_out(tables, epochs=8)
    assert facts["missing"] == {"y": 11, "z": 21, "lost": 11} and "languages lack: y 11, z 21, lost 11" in caplog.text
    has = {code: {*table["id"]} for code, table in tables.items()}
    spoken = Counter()
    for batch in found:
        (code,) = {*languages(batch).ravel()}
        assert {*batch["id"]} <= has[code]
        spoken[code] += 1
    assert {*spoken} == {*tables}
    crossing, facts = laid_out(tables, crosslingual=True, epochs=8)
    assert facts["examples"] == 30
    for batch in crossing:
        for row, codes in zip(batch["id"], languages(batch), strict=True):
            assert all(row in has[code] for code in codes) and len({*codes}) >= 2
    spoken = Counter(code for batch in crossing for code in languages(batch).ravel())
    assert {*spoken} == {*tables}


def test_the_order_comes_from_the_seed_alone() -> None:
    tables = {code: of(code) for code in "xyz"}
    for settings in ({"batches": "sets"}, {"batches": {"short": 2}}, {"crosslingual": True}, {}):
        one, two, other = (pd.concat(laid_out(tables, seed, **settings)[0]) for seed in (1, 1, 2))
        assert one.equals(two) and not one.equals(other)


def test_texts_that_a_language_lacks_are_empty_and_other_columns_come_along() -> None:
    short = of("y", columns=("anchor", "positive"))
    (found, _) = laid_out({"x": of("x").assign(score="1"), "y": short.assign(score="2")}, epochs=4)
    rows = pd.concat(found)
    assert {*rows["negative"][rows["anchor"].str.startswith("y")]} == {""}
    assert (rows["score"] == rows["anchor"].str[0].map({"x": "1", "y": "2"})).all()


@pytest.mark.parametrize(
    ("settings", "tables", "message"),
    [
        ({"batches": "sets", "batch_size": 10}, {"x": of("x")},
         "batch_size: 10 ... 'short' has 9 rows ... `batches: mixed`"),
        ({"batches": {"short": 10}, "batch_size": 12}, {"x": of("x"), "y": of("y", ID[:25])},
         "batches: 10 rows of set 'short' ... there are 9; give 'short' fewer of `training.batches`, or more rows"),
        ({"batches": {"short": 2}, "batch_size": 24}, {"x": of("x")},
         "batches: 22 rows of the other sets ... 21; give a smaller `training.batch_size`, or more rows"),
        ({"batch_size": 31}, {"x": of("x")}, "batch_size: 31 ... 30; give fewer"),
        ({"crosslingual": True}, {"x": of("x")}, "crosslingual: ... one language alone"),
        ({"crosslingual": True}, {"x": of("x", ID[:9]), "y": of("y", ID[6:12]), "z": of("z", ID[:3])},
         "two languages ... 4 rows"),
        ({"crosslingual": True}, {c: of(c, columns=("anchor",)) for c in "xy"}, "columns: 1; a row has an anchor and"),
    ],
)  # fmt: skip
def test_what_makes_no_batch_is_one_line(settings: dict, tables: dict[str, pd.DataFrame], message: str) -> None:
    with pytest.raises(UserError) as fault:
        laid_out(tables, **settings)
    assert tells(str(fault.value), message) and "\n" not in str(fault.value)


def test_files_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    for code in "xy":
        write_table(of(code), tmp_path / f"{code}.tsv")
    files = batches.LanguageTables({code: tmp_path / f"{code}.tsv" for code in "xy"}, rows=12)
    assert len(files) == 2 and [len(files[code]) for code in files] == [12, 12]
    assert files["x"]["id"].tolist() == files["y"]["id"].tolist(), "the same rows of each"
    settings = Training(batch_size=4, epochs=1, crosslingual=True)
    rows, _ = batches.lay_out(files, TEXTS, settings, 1)
    assert {*rows["id"]} == {*files["x"]["id"]}


@pytest.fixture
def run(weights: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    def run(name: str, tables: Any, **changes: Any) -> dict[str, Any]:
        settings = Training(batch_size=4, epochs=2, learning_rate=1e-3, max_length=16, precision="float32")
        return trainings.train(
            weights, tables, settings.updated(changes), objective=objectives.load("ranking"), prefix="", seed=1,
            output=tmp_path / name, state=tmp_path / "state", minutes=0,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("changes", [{"batches": "sets"}, {"batches": {"short": 2}}, {"crosslingual": True}])
def test_a_killed_training_goes_on_with_the_batches_it_would_have_had(
    run: Callable[..., dict[str, Any]], changes: dict, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables: Any = {"x": of("x"), "y": of("y")} if "crosslingual" in changes else of("x")
    whole = run("whole", tables, **changes)
    assert whole["steps"] == 2 * (30 // 4) and whole["examples"] == 30
    step, steps = train._Trainer.training_step, 0

    def killed(*args: Any, **options: Any) -> torch.Tensor:
        nonlocal steps
        steps += 1
        if steps == 6:
            raise KeyboardInterrupt
        return step(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(train._Trainer, "training_step", killed)
        with pytest.raises(KeyboardInterrupt):
            run("killed", tables, **changes)
    assert run("killed", tables, **changes) == whole
    assert sha256(tmp_path / "killed") == sha256(tmp_path / "whole")
