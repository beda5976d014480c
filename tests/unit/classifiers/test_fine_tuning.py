"""A fine-tuned encoder: it learns, the same each time, stops when it should, and goes on where it was killed."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModel, AutoTokenizer

from seedbed.classifiers import heads, tuning
from seedbed.classifiers.tuning import Fitting, Tuned, split_stratified, train
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading
from seedbed.encoders.settings import Pooling
from seedbed.encoders.tuning_settings import FineTuning
from seedbed.io import UserError
from tests import tiny

TUNING = FineTuning(epochs=5, learning_rate=0.01, held_out=0.25)


def labelled(count: int, seed: int, lang: str = "eng") -> pd.DataFrame:
    """Texts whose label a word tells."""
    rows = pd.DataFrame(tiny.pairs(lang, count, seed))
    return pd.DataFrame({"id": rows["id"], "text": rows["premise"] + " " + rows["hypothesis"], "label": rows["label"]})


TRAIN, TEST = labelled(96, 0), labelled(48, 1)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.backbone(tmp_path_factory.mktemp("base") / "weights")


def tune(
    base: Path,
    state: Path,
    rows: pd.DataFrame = TRAIN,
    *,
    seed: int = 1,
    prefix: str = "",
    minutes: float = 60,
    **changes,
) -> Tuned:
    return train(base, rows, TUNING.updated(changes), Fitting(prefix, seed, "float32", state, minutes))


@pytest.fixture(scope="module")
def tuned(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    return tune(base, tmp_path_factory.mktemp("state"))


def weights(model: Tuned) -> dict[str, torch.Tensor]:
    return {name: tensor.cpu() for name, tensor in model.model.state_dict().items()}


def equal(one: Tuned, other: Tuned) -> bool:
    return all(torch.equal(tensor, weights(other)[name]) for name, tensor in weights(one).items())


def test_it_learns_what_can_be_told_from_a_word(tuned: Tuned) -> None:
    assert tuned.answers(TEST) == list(TEST["label"])
    report = tuned.report
    assert report["examples"] == {"trained": 72, "held_out": 24} and report["labels"] == sorted({*TRAIN["label"]})
    assert report["accuracies"][report["kept_epoch"] - 1] == max(report["accuracies"]) == 1
    assert report["losses"][-1] < report["losses"][0]


def test_a_bar_shows_loss_rate_and_time_left(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tune(base, tmp_path, epochs=1)
    said = capsys.readouterr().err
    assert re.search(r" (\d+)/\1 \[\d+:\d\d<\d+:\d\d, .*(it/s|s/it), loss=\d", said) and "{'loss'" not in said, said


def test_one_seed_is_one_model_and_another_another(base: Path, tuned: Tuned, tmp_path: Path) -> None:
    again, other = tune(base, tmp_path), tune(base, tmp_path, seed=2)
    assert equal(again, tuned) and again.report == tuned.report
    assert not equal(other, tuned)


@pytest.mark.parametrize("pooling", ["mean", "last_weighted"])
def test_the_encoder_of_a_recipe_is_tuned_like_the_weights_in_it(
    base: Path, tuned: Tuned, tmp_path: Path, pooling: Pooling
) -> None:
    encoder = loading.load(base, pooling=pooling, layers=2, prefix="", seed=1)
    save(encoder, tmp_path / "encoder", {}, {})
    assert equal(tune(tmp_path / "encoder", tmp_path), tuned)


@pytest.mark.parametrize(("asked", "read"), [(6, 6), (4096, 64)])
def test_of_a_text_it_reads_as_much_as_is_asked_for_and_the_model_can(
    base: Path, tmp_path: Path, asked: int, read: int
) -> None:
    model = tune(base, tmp_path, TRAIN.head(24), epochs=1, max_length=asked)
    (tokens,) = model.encoded(["water " * 500])
    assert len(tokens["input_ids"]) == read


def test_neither_batches_nor_their_order_nor_padding_change_a_label(
    tuned: Tuned, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = pd.DataFrame({"text": [*TEST["text"][:20], "water " * 80, "food"]})
    found, labels = tuning.logits(tuned.model, tuned.tokenizer, tuned.encoded(test["text"])), tuned.answers(test)
    for size in (1, 5, 7):
        monkeypatch.setattr(heads, "SCORED_AT_ONCE", size)
        again = tuning.logits(tuned.model, tuned.tokenizer, tuned.encoded(test["text"]))
        np.testing.assert_allclose(again, found, atol=1e-5)
    assert tuned.answers(test[::-1])[::-1] == labels


def test_its_scores_are_those_of_the_head_on_the_first_token(tuned: Tuned, base: Path) -> None:
    """By matrix products on a plain transformer with the trained weights; the prefix stands before the text."""
    state = weights(tuned)
    model = AutoModel.from_pretrained(base, add_pooling_layer=False).eval()
    model.load_state_dict({name.removeprefix("bert."): state[name] for name in state if "bert." in name}, strict=False)
    tokens = AutoTokenizer.from_pretrained(base)("query: read the market", return_tensors="pt")
    with torch.no_grad():
        first = model(**tokens).last_hidden_state[0, 0]
    pooled = torch.tanh(state["bert.pooler.dense.weight"] @ first + state["bert.pooler.dense.bias"])
    wanted = state["classifier.weight"] @ pooled + state["classifier.bias"]
    put = Tuned(tuned.model, tuned.tokenizer, tuned.labels, "query: ", tuned.limit, {})
    found = tuning.logits(put.model, put.tokenizer, put.encoded(["read the market"]))[0]
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5)


def test_it_stops_after_so_many_epochs_without_a_gain_and_keeps_the_first_best(base: Path, tmp_path: Path) -> None:
    """A rate that changes nothing: every epoch is as good as the first."""
    for patience in (1, 3):
        idle = tune(base, tmp_path, epochs=9, patience=patience, learning_rate=1e-12)
        assert len(idle.report["accuracies"]) == 1 + patience and idle.report["kept_epoch"] == 1


def test_the_best_epoch_is_kept_not_the_last(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter([0.2, 0.9, 0.4, 0.5])
    monkeypatch.setattr(tuning, "_accuracy", lambda found: {"accuracy": next(told)})
    four = tune(base, tmp_path / "four", epochs=8)
    assert four.report["accuracies"] == [0.2, 0.9, 0.4, 0.5] and four.report["kept_epoch"] == 2
    kept = []
    evaluate = tuning._Trainer.evaluate

    def watched(self, *args, **kwargs):
        kept.append({name: tensor.clone() for name, tensor in self.model.state_dict().items()})
        return evaluate(self, *args, **kwargs)

    told = iter([0.2, 0.9, 0.4, 0.5])
    monkeypatch.setattr(tuning._Trainer, "evaluate", watched)
    again = tune(base, tmp_path / "again", epochs=8)
    assert equal(again, four) and all(torch.equal(kept[1][name], tensor) for name, tensor in weights(four).items())


THREE = {"epochs": 3, "learning_rate": 1e-3, "patience": 3}
TOLD = [0.9, 0.2, 0.4]
"""Accuracies: the first epoch is the best."""


@pytest.fixture(scope="module")
def whole(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Tuned:
    """Three epochs that nobody killed."""
    state, said = tmp_path_factory.mktemp("whole"), iter(TOLD)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "_accuracy", lambda found: {"accuracy": next(said)})
        found = tune(base, state, **THREE)
    assert not [*state.rglob("checkpoint-*")], "a short training has no checkpoint"
    return found


@pytest.mark.parametrize("after", [9, 10, 20])
def test_a_killed_training_goes_on_with_its_best_epoch(
    base: Path, whole: Tuned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Killed between the first two epochs, within the second and within the third."""
    steps: list[int] = []
    step = tuning._Trainer.compute_loss

    def killed(self, *args, **kwargs):
        if self.model.training:
            steps.append(self.state.global_step)
            if steps.count(after) == 1 and steps[-1] == after:
                raise KeyboardInterrupt
        return step(self, *args, **kwargs)

    monkeypatch.setattr(tuning._Trainer, "compute_loss", killed)
    said = iter(TOLD)
    monkeypatch.setattr(tuning, "_accuracy", lambda found: {"accuracy": next(said)})
    with pytest.raises(KeyboardInterrupt):
        tune(base, tmp_path, minutes=0, **THREE)
    resumed = tune(base, tmp_path, minutes=0, **THREE)
    assert steps == [*range(after + 1), *range(after, 27)]
    assert equal(resumed, whole) and resumed.report == whole.report and whole.report["kept_epoch"] == 1


def test_a_training_that_has_ended_has_no_checkpoint_to_take_one_step_more_from(base: Path, tmp_path: Path) -> None:
    for ends in ({"epochs": 2}, {"epochs": 9, "patience": 1, "learning_rate": 1e-12}):
        tune(base, tmp_path, minutes=0, **ends)
        tune(base, tmp_path, minutes=0, **ends)  # goes on from there
        (left,) = tmp_path.glob("*/checkpoint-*")
        assert left.name == "checkpoint-17", "the last step but one"
        shutil.rmtree(left.parent)


@pytest.mark.parametrize("architecture", ["xlm-roberta", "modernbert"])
def test_other_architectures(make_weights: Callable[..., Path], tmp_path: Path, architecture: str) -> None:
    found = tune(make_weights(architecture), tmp_path, epochs=1).answers(TEST)
    assert len(found) == len(TEST) and {*found} <= {*TRAIN["label"]}


@given(st.lists(st.sampled_from("abc"), min_size=4, max_size=60), st.floats(0.1, 0.9), st.integers(0, 5))
def test_the_held_out_share_is_that_of_each_label(labels: list[str], share: float, seed: int) -> None:
    count = int(len(labels) * Fraction(str(share)))
    if not count:
        return
    learnt, held = split_stratified(labels, share, seed)
    assert sorted([*learnt, *held]) == list(range(len(labels))) and len(held) == count
    of_held = Counter(labels[place] for place in held)
    for label, there in Counter(labels).items():
        assert abs(of_held[label] - count * there / len(labels)) < 1


def test_a_share_is_of_its_decimals_not_of_a_float_below_them() -> None:
    assert len(split_stratified(["a", "b"] * 50, 0.29, 0)[1]) == 29, "100 * 0.29 is 28.999999999999996"


FAULTS = [
    (TRAIN.assign(label="yes"), {}, "label is 'yes'.*two labels"),
    (TRAIN[:9], {"held_out": 0.1}, "held_out 0.1 of 9.*at least one"),
    (TRAIN, {"learning_rate": 1e30}, "loss is nan.*step 2"),
    (TRAIN, {"learning_rate": 1e30, "epochs": 1, "batch_size": len(TRAIN)}, "fine_tuning: the model gives scores that"),
]


@pytest.mark.parametrize(
    ("rows", "changes", "told"), FAULTS, ids=["one label", "too few", "diverged", "diverged at last"]
)
def test_what_cannot_be_learnt(base: Path, tmp_path: Path, rows: pd.DataFrame, changes: dict, told: str) -> None:
    with pytest.raises(UserError, match=told):
        tune(base, tmp_path, rows, **changes)


def test_the_trainer_is_told_the_settings_and_linear_decay(tmp_path: Path) -> None:
    settings = FineTuning(epochs=2, batch_size=6, learning_rate=0.25, weight_decay=0.5)
    told = tuning.arguments(settings, "float32", 1, tmp_path)
    assert (told.num_train_epochs, told.per_device_train_batch_size) == (2, 6)
    assert (told.learning_rate, told.weight_decay, told.lr_scheduler_type, told.warmup_steps) == (
        0.25,
        0.5,
        "linear",
        0,
    )
    assert told.seed != tuning.arguments(settings, "float32", 2, tmp_path).seed
