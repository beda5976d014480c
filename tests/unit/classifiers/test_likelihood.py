"""A language model as a classifier: likelihoods against an independent computation, and learning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BloomConfig,
    BloomForCausalLM,
    CohereConfig,
    CohereForCausalLM,
    MT5Config,
    MT5ForConditionalGeneration,
    PreTrainedModel,
    XGLMConfig,
    XGLMForCausalLM,
)

from seedbed.classifiers.likelihood import label_scores
from seedbed.corpora.shape.labels import LABELS
from seedbed.generators.composition import compose_directories
from seedbed.generators.lora.data import for_labels, for_language
from seedbed.generators.settings import Composition, Lora
from seedbed.generators.writing.likelihood import log_likelihoods
from seedbed.generators.writing.prompts import encode, pair_prompt
from tests import tiny, trainings

LORA = Lora(rank=4, alpha=8, dropout=0, epochs=15, batch_size=16, micro_batch_size=16, learning_rate=0.01, examples=96)
PAIRS = tiny.pairs("eng", 96)


PROMPTS = [[2, 10, 11], [2, 30], [2, 12, 13, 14, 15] * 60, [2, 30]]
ANSWERS = [[60], [61, 62, 63], [64, 65], [64]]


def plainly(model: PreTrainedModel, prompt: list[int], answer: list[int]) -> float:
    """One whole sequence at a time, nothing kept."""
    with torch.no_grad():
        chances = model(torch.tensor([prompt + answer])).logits[0].log_softmax(-1)
    return sum(chances[place, token].item() for place, token in enumerate(answer, start=len(prompt) - 1))


FAMILIES = {
    "gemma with a cap": lambda base: AutoModelForCausalLM.from_pretrained(base, final_logit_softcapping=2.0),
    "bloom": lambda base: BloomForCausalLM(BloomConfig(vocab_size=420, hidden_size=32, n_layer=2, n_head=4)),
    "xglm": lambda base: XGLMForCausalLM(
        XGLMConfig(vocab_size=420, d_model=32, ffn_dim=64, num_layers=2, attention_heads=4, pad_token_id=1)
    ),
    "cohere": lambda base: CohereForCausalLM(
        CohereConfig(
            vocab_size=420, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("batch_size", [1, 3])
def test_likelihoods_are_those_of_whole_sequences_one_at_a_time(
    tiny_generator: Path, family: str, batch_size: int
) -> None:
    """Prompts beyond Gemma's window of 128 too; positions by rotation, by a table, and by distance alone."""
    torch.manual_seed(0)
    model = FAMILIES[family](tiny_generator).eval()
    wanted = [[plainly(model, prompt, answer) for answer in ANSWERS] for prompt in PROMPTS]
    found = log_likelihoods(model, PROMPTS, ANSWERS, batch_size)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(log_likelihoods(model, PROMPTS[::-1], ANSWERS[::-1], 2), found[::-1, ::-1], rtol=1e-5)


@pytest.mark.parametrize("family", ["bloom", "mt5"])
def test_likelihoods_of_tokens_add_up_in_float64(family: str) -> None:
    """Where all tokens are equally likely, an answer of n is the n-th power of one of them, to the last digit."""
    sizes = {"vocab_size": 420, "d_model": 32, "d_ff": 64, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
    model = MT5ForConditionalGeneration(MT5Config(**sizes)) if family == "mt5" else FAMILIES[family](None)
    for weights in model.parameters():
        torch.nn.init.zeros_(weights)
    found = log_likelihoods(model.eval(), PROMPTS, [[60], [61, 62, 63], [60, 61] * 7], 2)
    np.testing.assert_allclose(found[:, 0], -np.log(420), rtol=1e-6)
    np.testing.assert_allclose(found, found[:, :1] * [1, 3, 14], rtol=1e-12)


@pytest.mark.parametrize("style", ["plain", "chat"])
def test_scores_are_of_each_labels_number_after_the_prompt(
    tiny_generator: Path, tiny_chat_generator: Path, style: str
) -> None:
    base = tiny_chat_generator if style == "chat" else tiny_generator
    tokenizer = AutoTokenizer.from_pretrained(base)
    scores = label_scores(base, PAIRS[:3], adapter=None, language="English", style=style)
    assert scores.shape == (3, len(LABELS))
    prompt = encode(tokenizer, pair_prompt(PAIRS[1]["premise"], PAIRS[1]["hypothesis"], "English", style), style)
    answer = tokenizer("2" if style == "chat" else " 2", add_special_tokens=False)["input_ids"]
    model = AutoModelForCausalLM.from_pretrained(base)
    np.testing.assert_allclose(scores[1, 2], plainly(model, prompt, answer), rtol=1e-5)


def test_examples_ask_in_the_words_of_scoring_and_answer_with_a_number(tiny_generator: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_generator)
    (one,) = for_labels(tokenizer, PAIRS[:1], LORA, language="English", style="plain")
    pair = PAIRS[0]
    assert one.prompt == encode(
        tokenizer, pair_prompt(pair["premise"], pair["hypothesis"], "English", "plain"), "plain"
    )
    assert tokenizer.decode(one.completion[:-1]).strip() == str(LABELS.index(pair["label"]))
    assert one.completion[-1] == tokenizer.eos_token_id


def test_a_task_adapter_learns_and_composed_with_scale_0_it_is_itself(tiny_generator: Path, tmp_path: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_generator)
    options = {"name": "tiny", "state": tmp_path / "state", "minutes": 60, "dtype": "float32"}
    words = {"language": "English", "style": "plain"}
    trainings.train_lora(
        tiny_generator, for_labels(tokenizer, PAIRS, LORA, **words), LORA, output=tmp_path / "task", **options
    )
    for lang in ("eng", "swh"):
        rows = [{"text": text} for text in tiny.sentences(lang, 32)]
        texts = for_language(tokenizer, rows, "text", LORA, **words)
        trainings.train_lora(tiny_generator, texts, LORA.updated({"epochs": 1}), output=tmp_path / lang, **options)
    adapters = (tmp_path / "task", tmp_path / "swh", tmp_path / "eng")
    test = tiny.pairs("eng", 60, seed=1)
    gold = np.array([LABELS.index(pair["label"]) for pair in test])
    scores = {None: label_scores(tiny_generator, test, adapter=None, **words)}
    for scale in (0.0, 1.0):
        compose_directories(*adapters, Composition(scale=scale), tmp_path / f"{scale}", None)
        scores[scale] = label_scores(tiny_generator, test, adapter=tmp_path / f"{scale}", **words)
    task = label_scores(tiny_generator, test, adapter=tmp_path / "task", **words)
    assert (scores[None].argmax(1) == gold).mean() < 0.7 and (task.argmax(1) == gold).mean() > 0.9
    np.testing.assert_allclose(scores[0.0], task, atol=1e-4)
    assert np.abs(scores[1.0] - task).max() > 0.01
