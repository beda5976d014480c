"""Extractive question answering: spans as transformers finds them, windows, training, resumption, bad input."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer, Trainer

from seedbed.classifiers import questions
from seedbed.classifiers.heads import load, tokenizer_of
from seedbed.classifiers.questions import Reader, train
from seedbed.classifiers.tuning import Fitting
from seedbed.corpora.shape.questions import spans
from seedbed.encoders.tuning_settings import Reading
from seedbed.io import UserError
from tests import tiny

READING = Reading(max_length=48, stride=12, max_question=12, max_answer=8, warmup_steps=4, learning_rate=0.02, epochs=8)


def asked(count: int, seed: int, length: int = 6) -> pd.DataFrame:
    """Contexts in which one word of another language stands: the answer to every question about it."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        words = draw.choices(tiny.WORDS["eng"].split(), k=length)
        words[draw.randrange(1, length)] = answer = draw.choice(["kasuwa", "makaranta"])
        context = " ".join(words)
        place = context.index(answer)
        rows.append((str(number), "read the " + words[0], context, json.dumps([answer]), json.dumps([place])))
    return pd.DataFrame(rows, columns=["id", "question", "context", "answers", "starts"])


TRAIN = asked(96, 0)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.backbone(tmp_path_factory.mktemp("base") / "weights")


def learn(base: Path, state: Path, rows: pd.DataFrame = TRAIN, *, minutes: float = 60, seed: int = 1, **changes):
    return train(base, rows, READING.updated(changes), Fitting("", seed, "float32", state, minutes))


def fixed(base: Path, **changes) -> Reader:
    """A reader with a random head, whose logits hang on every token."""
    torch.manual_seed(3)
    model = load(AutoModelForQuestionAnswering, base)[0]
    torch.nn.init.normal_(model.qa_outputs.weight, std=3.0)
    return Reader(model, tokenizer_of(base), "", READING.updated(changes), {})


def by_hand(reader: Reader, question: str, context: str, settings: Reading) -> str:
    """The answer to one question by the published algorithm, window by window and pair by pair."""
    tokenizer, model = reader.tokenizer, reader.model.eval()
    head = tokenizer(question, add_special_tokens=False)["input_ids"]
    body = tokenizer(context, add_special_tokens=False, return_offsets_mapping=True)
    ids, offsets = body["input_ids"], body["offset_mapping"]
    room = settings.max_length - len(head) - 4
    found, start = [], 0
    while True:
        part = ids[start : start + room]
        before = [tokenizer.cls_token_id, *head, tokenizer.sep_token_id, tokenizer.sep_token_id]
        row = torch.tensor([[*before, *part, tokenizer.sep_token_id]])
        with torch.no_grad():
            said = model(input_ids=row, attention_mask=torch.ones_like(row))
        begins, ends = said.start_logits[0].numpy(), said.end_logits[0].numpy()
        for first in np.argsort(begins)[-1 : -settings.candidates - 1 : -1].tolist():
            for last in np.argsort(ends)[-1 : -settings.candidates - 1 : -1].tolist():
                places = [place - len(before) for place in (first, last)]
                if any(not 0 <= place < len(part) for place in places):
                    continue
                if last < first or last - first + 1 > settings.max_answer:
                    continue
                span = offsets[start + places[0]][0], offsets[start + places[1]][1]
                found.append((begins[first] + ends[last], span))
        if start + room >= len(ids):
            break
        start += room - settings.stride
    best = sorted(found, key=lambda one: one[0], reverse=True)
    return context[slice(*best[0][1])] if best else ""


def test_spans_are_those_of_the_published_algorithm_on_long_contexts(base: Path) -> None:
    reader, rows = fixed(base), asked(20, 5, length=90)
    windows = reader.windows(list(rows["question"]), list(rows["context"]))
    assert len(windows) > 4 * len(rows) and {window.question for window in windows} == {*range(20)}
    found = reader.answers(rows)
    pairs = [*zip(rows["question"], rows["context"], strict=True)]
    assert found == [by_hand(reader, *pair, READING) for pair in pairs] and len({*found}) > 6 and all(found)
    # The limits count: other ones give other spans.
    few = rows[:10]
    for change in ({"max_answer": 1}, {"candidates": 1}, {"stride": 4}):
        other = fixed(base, **change)
        assert other.answers(few) == [by_hand(other, *pair, other.reading) for pair in pairs[:10]] != found[:10]


def test_batches_and_their_order_change_no_answer(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, rows = fixed(base), asked(20, 6, length=60)
    found = reader.answers(rows)
    assert reader.answers(rows[::-1])[::-1] == found
    for size in (7, 64):
        monkeypatch.setattr(questions, "SCORED_AT_ONCE", size)
        assert reader.answers(rows) == found


def test_every_token_of_a_context_is_in_a_window_and_neighbours_share_the_stride(base: Path) -> None:
    reader, rows = fixed(base), asked(1, 7, length=90)
    windows = reader.windows(list(rows["question"]), list(rows["context"]))
    spans = [[span for span in window.offsets if span] for window in windows]
    every = AutoTokenizer.from_pretrained(base)(rows["context"][0], add_special_tokens=False)["input_ids"]
    assert len({span for part in spans for span in part}) == len(every)
    for one, following in pairwise(spans):
        assert one[-READING.stride :] == following[: READING.stride]


def test_a_window_without_the_whole_answer_learns_its_first_token(base: Path) -> None:
    reader, rows, learnt = fixed(base), asked(6, 8, length=90), set()
    wanted = spans(rows, "x")
    for window in reader.windows(list(rows["question"]), list(rows["context"])):
        (start, end), context = wanted[window.question], rows["context"][window.question]
        told = questions._target(window, (start, end))
        inside = [span for span in window.offsets if span]
        before, after = end > inside[-1][1], start < inside[0][0]
        learnt.add((before, after))
        if before or after:
            assert told == {"start_positions": 0, "end_positions": 0}
        else:
            span = window.offsets[told["start_positions"]][0], window.offsets[told["end_positions"]][1]
            assert context[slice(*span)].strip() == context[start:end]
    assert learnt == {(False, False), (True, False), (False, True)}, "windows with it, before it and after it"


def test_a_long_question_is_cut(base: Path) -> None:
    reader = fixed(base)
    (window,) = reader.windows(["market " * 40], ["farm house"])
    assert sum(span is None for span in window.offsets) == READING.max_question + 4


@pytest.fixture(scope="module")
def reader(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return learn(base, tmp_path_factory.mktemp("state"))


def test_it_learns_what_can_be_told_from_a_word(reader: Reader) -> None:
    test = asked(40, 1, length=40)
    found = reader.answers(test)
    right = [one.strip() == json.loads(gold)[0] for one, gold in zip(found, test["answers"], strict=True)]
    assert np.mean(right) > 0.8
    assert reader.report["losses"][-1] < reader.report["losses"][0]
    assert reader.report["examples"] == {"questions": 96, "windows": 96} and reader.report["steps"] == 24


def weights(reader: Reader) -> dict[str, torch.Tensor]:
    return {name: tensor.cpu() for name, tensor in reader.model.state_dict().items()}


def equal(one: Reader, other: Reader) -> bool:
    return all(torch.equal(tensor, weights(other)[name]) for name, tensor in weights(one).items())


@pytest.mark.parametrize("after", [4, 6, 7])
def test_a_killed_training_goes_on_to_the_same_weights(
    base: Path, reader: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Killed within an epoch, at its end and after it; the windows of a step depend on the seed alone."""
    steps: list[int] = []
    step = Trainer.compute_loss

    def killed(self, *args, **kwargs):
        steps.append(self.state.global_step)
        if steps.count(after) == 1 and steps[-1] == after:
            raise KeyboardInterrupt
        return step(self, *args, **kwargs)

    monkeypatch.setattr(Trainer, "compute_loss", killed)
    with pytest.raises(KeyboardInterrupt):
        learn(base, tmp_path, minutes=0)
    resumed = learn(base, tmp_path, minutes=0)
    assert steps == [*range(after + 1), *range(after, 24)]
    assert equal(resumed, reader) and resumed.report == reader.report


def test_one_seed_is_one_model_and_another_another(base: Path, reader: Reader, tmp_path: Path) -> None:
    assert not equal(learn(base, tmp_path, seed=2), reader)


def test_the_prefix_stands_before_the_question(base: Path) -> None:
    plain = fixed(base)
    prefixed = Reader(plain.model, plain.tokenizer, "query: ", READING, {})
    (window,) = prefixed.windows(["read the market"], ["farm house"])
    assert window.tokens == plain.windows(["query: read the market"], ["farm house"])[0].tokens


@pytest.mark.parametrize("architecture", ["xlm-roberta", "modernbert"])
def test_other_architectures(make_weights: Callable[..., Path], tmp_path: Path, architecture: str) -> None:
    found = learn(make_weights(architecture), tmp_path, TRAIN[:32], epochs=1)
    assert len(found.answers(TRAIN)) == len(TRAIN)


def changed(**columns: str) -> pd.DataFrame:
    """The training set with other cells in its third row."""
    rows = TRAIN.copy()
    for name, cell in columns.items():
        rows.loc[2, name] = cell
    return rows


FAULTS = {
    "no place": (changed(starts="[]"), {}, "id '2' has no `starts`, so it cannot be trained on"),
    "elsewhere": (changed(starts="[0]"), {}, "id '2' has an answer that is not at its place in the context"),
    "no answer": (changed(answers="[]", starts="[]"), {}, "id '2' has no answer; give it one"),
    "no list": (changed(answers="kasuwa"), {}, "id '2' has answers that are no list such as"),
    "no room": (TRAIN, {"max_length": 60, "stride": 47}, "adjacent windows share 47; lower `stride` or `max_question`"),
    "diverged": (TRAIN, {"learning_rate": 1e30, "warmup_steps": 0}, "loss is nan at step 2 of"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_cannot_be_learnt(base: Path, tmp_path: Path, name: str) -> None:
    rows, changes, told = FAULTS[name]
    with pytest.raises(UserError, match=told) as error:
        learn(base, tmp_path, rows, **changes)
    assert "\n" not in str(error.value)
    assert not [*tmp_path.rglob("checkpoint-*")]


def test_windows_that_share_all_they_can_hold_are_refused() -> None:
    with pytest.raises(ValueError, match=r"nothing new.*max_length 100"):
        Reading(max_length=100, stride=50, max_question=50)
