"""What adapters learn from: how many examples, of which rows, in which tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from seedbed.generators.lora import data as subject
from seedbed.generators.settings import POLARITIES, Lora
from seedbed.generators.writing.prompts import zero_shot
from tests import tiny

TRIPLETS = [{"anchor": f"a{n}", "positive": f"p{n}", "negative": f"n{n}"} for n in range(20)]
ENGLISH = {"language": "English", "style": "plain"}


@pytest.fixture(scope="module")
def tokenizer(tiny_generator: Path) -> AutoTokenizer:
    return AutoTokenizer.from_pretrained(tiny_generator)


def texts(tokenizer: AutoTokenizer, examples: list[subject.Example]) -> list[tuple[str, str]]:
    return [(tokenizer.decode(one.prompt), tokenizer.decode(one.completion)) for one in examples]


def test_examples_from_texts(tokenizer: AutoTokenizer, tiny_chat_generator: Path) -> None:
    chat = AutoTokenizer.from_pretrained(tiny_chat_generator)
    (text,) = subject.from_texts(tokenizer, ["abc"])
    assert text.prompt == [2]
    assert tokenizer.decode(text.completion) == "abc<eos>"
    (pair,) = subject.from_pairs(chat, [("ask", "answer")], "chat")
    assert chat.decode(pair.prompt) == "<bos><start_of_turn>user\nask<end_of_turn>\n<start_of_turn>model\n"
    assert chat.decode(pair.completion) == "answer<end_of_turn>"


def test_sample_is_seeded_and_bounded() -> None:
    chosen = subject.sample(range(100), Lora(examples=10))
    assert chosen == subject.sample(range(100), Lora(examples=10))
    assert chosen != subject.sample(range(100), Lora(examples=10, seed=7))
    assert len(set(chosen)) == 10
    assert chosen == subject.sample(range(100), Lora(examples=20))[:10]


@pytest.mark.parametrize("polarity", POLARITIES)
def test_a_task_adapter_of_one_polarity_sees_a_row_once(tokenizer: AutoTokenizer, polarity: str) -> None:
    found = subject.for_task(tokenizer, TRIPLETS, [polarity], Lora(examples=7), **ENGLISH)
    rows = subject.sample(TRIPLETS, Lora(examples=7))
    assert texts(tokenizer, found) == [
        ("<bos>" + zero_shot(row["anchor"], polarity, "English", "plain"), f" {row[polarity]}<eos>") for row in rows
    ]


@pytest.mark.parametrize("count", [8, 9])
def test_a_task_adapter_of_both_polarities_sees_a_row_twice_and_has_no_more_examples(
    tokenizer: AutoTokenizer, count: int
) -> None:
    found = subject.for_task(tokenizer, TRIPLETS, POLARITIES, Lora(examples=count), **ENGLISH)
    parts = {
        polarity: subject.for_task(tokenizer, TRIPLETS, [polarity], Lora(examples=count), **ENGLISH)
        for polarity in POLARITIES
    }
    assert len(found) == count
    assert found[::2] == parts["positive"][: -(-count // 2)]
    assert found[1::2] == parts["negative"][: count // 2]


def test_annotated_rows_are_read_as_instructions(tokenizer: AutoTokenizer) -> None:
    rows = [{"prompt": f"q{n}", "response": f"r{n}"} for n in range(9)]
    hausa = {"language": "Hausa", "style": "plain"}
    found = subject.for_language(tokenizer, rows, "annotated", Lora(examples=5), loss="response", **hausa)
    assert found == subject.for_language(tokenizer, rows, "instructions", Lora(examples=5), loss="response", **hausa)
    assert len(found) == 5
    assert all(prompt == "<bos>Hausa:" for prompt, _ in texts(tokenizer, found))


def test_a_language_is_learnt_from_prompt_and_response_alike(tiny_chat_generator: Path) -> None:
    chat, rows = AutoTokenizer.from_pretrained(tiny_chat_generator), [{"prompt": "q", "response": "r"}]
    facts = {"language": "Hausa", "style": "chat"}
    (whole,) = subject.for_language(chat, rows, "instructions", Lora(), **facts)
    (response,) = subject.for_language(chat, rows, "instructions", Lora(), loss="response", **facts)
    assert whole.prompt == response.prompt[:1] == [chat.bos_token_id]
    assert whole.prompt + whole.completion == response.prompt + response.completion
    assert chat.decode(response.completion) == "r<end_of_turn>"


def test_rows_too_long_to_learn_take_the_place_of_none(tokenizer: AutoTokenizer) -> None:
    rows = [{"id": f"{n}", "text": "a " * (200 if n % 2 else 2)} for n in range(40)]
    found = subject.for_language(tokenizer, rows, "text", Lora(examples=15, max_length=50), language="", style="plain")
    assert sum(len(one) <= 50 for one in found) == 15 < len(found)


def test_rows_of_a_top_up_are_learnt_after_all_others() -> None:
    rows = [{"id": f"+{n}"} for n in range(50)] + [{"id": f"{n}"} for n in range(5)]
    chosen = [row["id"] for row in subject.sample(rows, Lora(examples=8))]
    assert sorted(chosen[:5]) == ["0", "1", "2", "3", "4"] and all(row.startswith("+") for row in chosen[5:])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 12), min_size=1, max_size=30), st.integers(9, 90))
def test_passages_hold_each_sentence_once_and_no_more_fits(
    tokenizer: AutoTokenizer, lengths: list[int], limit: int
) -> None:
    words = tiny.WORDS["hau"].split()
    sentences = [" ".join(words[n : n + length]) for n, length in enumerate(lengths)]
    found = list(subject.passages(tokenizer, sentences, limit))
    lines = [tokenizer.decode(one.completion).removesuffix("<eos>").split("\n") for one in found]
    assert [line for passage in lines for line in passage] == sentences
    for one, passage, following in zip(found, lines, [*lines[1:], None], strict=True):
        assert one.prompt == [2] and one.completion[-1] == 1
        assert len(one) <= limit or len(passage) == 1
        if following:
            (line,) = subject.from_texts(tokenizer, ["\n" + following[0]])
            assert len(one) + len(line.completion) - 1 > limit


def test_a_passage_and_its_end_fit_exactly_or_are_two(tokenizer: AutoTokenizer) -> None:
    sentences = ["one", "two"]
    (both,) = subject.passages(tokenizer, sentences, 1000)
    assert len([*subject.passages(tokenizer, sentences, len(both))]) == 1
    assert len([*subject.passages(tokenizer, sentences, len(both) - 1)]) == 2


def test_passages_draw_on_all_sentences_and_count_as_examples(tokenizer: AutoTokenizer) -> None:
    rows = [{"text": text} for text in tiny.sentences("hau", 60)]
    one, two, every = (
        subject.for_language(
            tokenizer, rows, "passages", Lora(examples=count, max_length=80), language="", style="plain"
        )
        for count in (1, 2, 1000)
    )
    assert (len(one), len(two)) == (1, 2)
    assert one == two[:1] and two == every[:2]
    lines = "\n".join(tokenizer.decode(found.completion).removesuffix("<eos>") for found in every).split("\n")
    assert sorted(lines) == sorted(row["text"] for row in rows)
