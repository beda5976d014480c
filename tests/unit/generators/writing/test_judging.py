"""Judges: expectations by hand, beginnings that are shared, numbers that are read, and what cannot be scored."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    Lfm2Config,
    Lfm2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
)

from seedbed.generators.settings import Generator
from seedbed.generators.writing import vllm_likelihood
from seedbed.generators.writing.backends import open_backend
from seedbed.generators.writing.judge import SCALE, expected, numbers, score_tokens, scored, whole_answers
from seedbed.generators.writing.likelihood import answer_log_likelihoods, log_likelihoods, spines
from seedbed.generators.writing.soft_prompts import Prefixed
from seedbed.io import UserError

PROMPTS = [
    [2, 10, 11, 12, 13, 20],
    [2, 10, 11, 12, 14, 15, 20],
    [2, 10, 11, 12, 14, 15, 21],
    [2, 10, 11, 12, 13, 20, 22],
]
ANSWERS = [[5, 60], [5, 61], [5, 60, 62], [7]]


def plainly(model: PreTrainedModel, prompt: list[int], answer: list[int]) -> float:
    """One whole sequence at a time, nothing kept."""
    with torch.no_grad():
        chances = model(torch.tensor([prompt + answer])).logits[0].log_softmax(-1)
    return sum(chances[place, token].item() for place, token in enumerate(answer, start=len(prompt) - 1))


def llama() -> PreTrainedModel:
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=420, **shape)).eval()


@pytest.mark.parametrize("family", ["gemma", "llama"])
def test_beginnings_that_are_read_once_change_no_likelihood(tiny_generator: Path, family: str) -> None:
    """Prompts beyond Gemma's window of 128 too, and one prompt that is the beginning of another."""
    model = AutoModelForCausalLM.from_pretrained(tiny_generator).eval() if family == "gemma" else llama()
    long = [[2, *range(10, 300), *end] for end in ([5], [6, 7] * 70, [6, 7] * 70 + [9])]
    for prompts in (PROMPTS, long):
        wanted = [[plainly(model, prompt, answer) for answer in ANSWERS] for prompt in prompts]
        for alike in (True, False):
            found = log_likelihoods(model, prompts, ANSWERS, 2, alike=alike)
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
    backwards = log_likelihoods(model, PROMPTS[::-1], ANSWERS[::-1], 1, alike=True)[::-1, ::-1]
    np.testing.assert_allclose(backwards, log_likelihoods(model, PROMPTS, ANSWERS, 1, alike=True), rtol=1e-5)


def test_a_model_that_keeps_more_than_keys_and_values_reads_whole_sequences() -> None:
    """A convolution's state could not be cut back."""
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2, "num_key_value_heads": 2}
    config = Lfm2Config(vocab_size=420, **shape, num_hidden_layers=2, layer_types=["conv", "full_attention"])
    model = Lfm2ForCausalLM(config).eval()
    wanted = [[plainly(model, prompt, answer) for answer in ANSWERS] for prompt in PROMPTS]
    for alike in (True, False):
        found = log_likelihoods(model, PROMPTS, ANSWERS, 2, alike=alike)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
    # Vectors of a soft prompt, here those of tokens, are read instead of their placeholders.
    more = [7, 11, 40]
    vectors = model.get_input_embeddings()(torch.tensor(more))
    prefixed = [Prefixed(prompt, vectors, 1) for prompt in PROMPTS]
    wanted = [[plainly(model, [prompt[0], *more, *prompt[1:]], answer) for answer in ANSWERS] for prompt in PROMPTS]
    np.testing.assert_allclose(log_likelihoods(model, prefixed, ANSWERS, 2), wanted, rtol=1e-5)


def test_vllm_is_asked_for_the_tokens_of_answers_alone(tiny_generator: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins of its classes, around a model; the real one is met in tests/vllm."""
    model = AutoModelForCausalLM.from_pretrained(tiny_generator).eval()
    calls = []

    class LLM:
        def __init__(self, max_model_len: int, **_: Any) -> None:
            self.room = max_model_len

        def generate(self, prompts: list[dict], params: list[dict], use_tqdm: bool) -> Iterator[Any]:
            calls.append(len(prompts))
            for prompt, one in zip(prompts, params, strict=True):
                ids, wanted = prompt["prompt_token_ids"], one["logprob_token_ids"]
                assert len(ids) + one["max_tokens"] <= self.room and len(wanted) <= 128
                with torch.no_grad():
                    chances = model(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
                told = {token: SimpleNamespace(logprob=chances[token].item()) for token in (*wanted, 9)}
                yield SimpleNamespace(outputs=[SimpleNamespace(logprobs=[told])])

    module = SimpleNamespace(LLM=LLM, SamplingParams=dict, TokensPrompt=dict)
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setattr(vllm_likelihood, "CHUNK", 7)
    source = {"source": {"file": str(tiny_generator)}, "prompts": "plain", "dtype": "float32", "backend": "vllm"}
    limits = {"max_prompt_tokens": 17, "max_new_tokens": 3}
    backend = open_backend(Generator.model_validate(source | {"sampling": limits}), tiny_generator)
    rows: list[int] = []
    found = answer_log_likelihoods(backend, PROMPTS, ANSWERS, lambda some, _: rows.extend(some))
    np.testing.assert_allclose(found, log_likelihoods(model, PROMPTS, ANSWERS, 2), rtol=1e-5)
    assert rows == [0, 1, 2, 3] and calls == [6, 6], "after nothing, 5, and 5 and 60; two prompts at a time"
    many = [[token] for token in range(10, 310)]
    found = answer_log_likelihoods(backend, PROMPTS[:1], many)
    np.testing.assert_allclose(found, log_likelihoods(model, PROMPTS[:1], many, 1), rtol=1e-5)
    with pytest.raises(UserError, match="max_new_tokens: 3 is less than the 4 tokens of an answer"):
        answer_log_likelihoods(backend, PROMPTS, [[1, 2, 3, 4]])


def test_what_must_be_read_of_answers() -> None:
    digits = [[token] for token in range(1, 10)] + [[1, 0]]
    assert spines(digits) == [(1,)]
    assert spines([[30, *one] for one in digits]) == [(30, 1)]
    assert spines([[1], [2]]) == [()] and spines([[1, 2, 3], [1, 4, 5], [6, 7]]) == [(1, 2), (1, 4), (6,)]


def test_the_expectation_is_the_mean_by_probabilities() -> None:
    chances = np.array([[0.1] * 10, [0] * 9 + [0.3], [0.02, 0.06] + [0] * 8])
    with np.errstate(divide="ignore"):
        found = expected(np.log(chances), SCALE)
    np.testing.assert_allclose(found, [5.5, 10, 1.75], rtol=1e-12)
    odd = np.array([[-np.inf] * 10, [np.nan] + [0.0] * 9])
    assert np.isnan(expected(odd, SCALE)).all() and expected(np.zeros((0, 10)), SCALE).shape == (0,)


def test_a_one_that_goes_on_to_ten_is_no_one() -> None:
    """P(1) = 0.5, of which 0.4 goes on by 0: what is left is 0.1."""
    answers = [[token] for token in range(1, 10)] + [[1, 0]]
    logs = np.log([[0.5, *[0.0125] * 8, 0.4]])
    found = np.exp(whole_answers(logs, answers))
    np.testing.assert_allclose(found, [[0.1, *[0.0125] * 8, 0.4]], rtol=1e-9)
    np.testing.assert_allclose(expected(np.log(found), SCALE), [(0.1 + 0.0125 * 44 + 4) / 0.6], rtol=1e-9)
    apart = [[token] for token in range(1, 11)]
    np.testing.assert_array_equal(whole_answers(logs, apart), logs)


def test_a_certain_ten_leaves_no_one() -> None:
    answers, logs = [[1], [1, 0]], np.log([[0.7, 0.7]])
    assert np.exp(whole_answers(logs, answers)).tolist() == [[0.0, pytest.approx(0.7)]]


class Unknown:
    """A tokenizer that knows some digits, and reads the first of a score alone."""

    name_or_path = "few"
    added_tokens_decoder: dict = {}

    def __init__(self, digits: str) -> None:
        self.digits = digits

    def __call__(self, text: str, add_special_tokens: bool) -> dict:
        return {"input_ids": [self.digits.find(letter) + 1 for letter in text.strip()][:1]}


def test_a_tokenizer_that_cannot_tell_ten_from_one_is_refused(tiny_generator: Path) -> None:
    tokens = score_tokens(AutoTokenizer.from_pretrained(tiny_generator), "")
    assert len({*map(tuple, tokens)}) == 10 and tokens[9][:1] in (tokens[0], tokens[9])
    with pytest.raises(UserError, match=r"^few:.*3.*2; take another judge"):
        score_tokens(Unknown("1"), "")
    with pytest.raises(UserError, match=r"tokens of 10.*those of 1;"):
        score_tokens(Unknown("123456789"), "")


def test_a_score_is_the_expectation_of_whole_answers(tiny_generator: Path) -> None:
    source = {"source": {"file": str(tiny_generator)}, "prompts": "plain", "dtype": "float32"}
    backend = open_backend(Generator.model_validate(source), tiny_generator)
    model, digits = backend.model, score_tokens(backend.tokenizer, " ")
    found = scored(backend, PROMPTS, digits)
    for prompt, score in zip(PROMPTS, found, strict=True):
        chances = [np.exp(plainly(model, prompt, answer)) for answer in digits]
        if digits[9][: len(digits[0])] == digits[0]:
            chances[0] -= chances[9]
        by_hand = sum(p * s for p, s in zip(chances, SCALE, strict=True)) / sum(chances)
        assert score == pytest.approx(by_hand, rel=1e-5) and 1 <= score <= 10


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ("8, 7, 10", (8, 7, 10)),
        ("<think>maybe 3, or 4</think>\n9,9,9", (9, 9, 9)),
        ("8/10, 7/10 and 6 out of 10.", (8, 7, 6)),
        ("1. Meaning: 8\n2. Emotion: 7\n3. Tone: 6", (8, 7, 6)), ("8-7-6", (8, 7, 6)), ("- 8\n- 7\n- 6", (8, 7, 6)),
        ("Scores:\n 1) **Meaning**: 8/10\n\n 2) **Emotion**: 7/10\n 3) **Tone**: 6/10\n", (8, 7, 6)),
        ("Meaning (1-10): 8; Emotion (1-10): 7; Tone (1-10): 6", (8, 7, 6)), ("1-10: 8, 7, 10", (8, 7, 10)),
        ("Scores from 1 to 10: 8, 7, 9", (8, 7, 9)), ("From 1 (worst) to 10 (best): 1, 10, 1", (1, 10, 1)),
        ("1. Meaning (1\u201310): 8\n2. Emotion (1\u201310): 7\n3. Tone (1\u201310): 6", (8, 7, 6)),
        ("On a 10-point scale: 8, 7, 9", (8, 7, 9)), ("Between 1 and 10: 8, 1 and 10", (8, 1, 10)),
        ("8, 1 and 10", (8, 1, 10)), ("1-10-8", (1, 10, 8)), ("8-1-10", (8, 1, 10)), ("1 to 10", None),
        ("From 1 to 100: 8, 7, 9", None), ("-8, 7, 6", None), ("8, \u22127, 6", None), ("1. Meaning: 8\n2. Emotion: 7", None),
        ("2. Meaning: 8\n3. Emotion: 7\n4. Tone: 6", None), ("1. 8\n2. 7\n3. 6", None),
        ("8, 7", None), ("8, 7, 11", None), ("0, 7, 5", None), ("8, 7, 6, 5", None), ("7.5, 8, 9", None),
        ("I cannot judge this.", None), ("", None), ("<think>8, 7, 6", None),
    ],
)  # fmt: skip
def test_numbers_are_read_or_there_are_none(text: str, scores: tuple | None) -> None:
    found = numbers(text)
    assert len(found) == 3 and (np.isnan(found).all() if scores is None else found == scores)
