"""A language model as a classifier: likelihoods against an independent computation, and learning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from seedbed.corpora.labels import LABELS
from seedbed.generators import lora
from seedbed.generators.composition import compose_directories
from seedbed.generators.examples import Example, for_labels, for_language
from seedbed.generators.labels import label_scores, log_likelihoods
from seedbed.generators.prompts import encode, pair_prompt
from seedbed.generators.settings import Composition, Lora
from tests import tiny

LORA = Lora(rank=4, alpha=8, dropout=0, epochs=15, batch_size=16, micro_batch_size=16, learning_rate=0.01, examples=96)
PAIRS = tiny.pairs("eng", 96)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_likelihoods_are_those_of_the_whole_model_one_example_at_a_time(tiny_generator: Path, batch_size: int) -> None:
    model = AutoModelForCausalLM.from_pretrained(tiny_generator, final_logit_softcapping=2.0).eval()
    examples = [Example([2, 10, 11], [60]), Example([2, 30], [61, 62, 63]), Example([2, 12, 13, 14, 15], [64, 65])]
    wanted = []
    for one in examples:
        with torch.no_grad():
            chances = model(torch.tensor([one.prompt + one.completion])).logits[0].log_softmax(-1)
        places = range(len(one.prompt) - 1, len(one) - 1)
        wanted.append(sum(chances[place, token].item() for place, token in zip(places, one.completion, strict=True)))
    np.testing.assert_allclose(log_likelihoods(model, examples, batch_size), wanted, rtol=1e-5)


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
    np.testing.assert_allclose(scores[1, 2], log_likelihoods(model, [Example(prompt, answer)], 1)[0], rtol=1e-5)


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
    options = {"name": "tiny", "state": tmp_path / "state", "dtype": "float32"}
    words = {"language": "English", "style": "plain"}
    lora.train(tiny_generator, for_labels(tokenizer, PAIRS, LORA, **words), LORA, output=tmp_path / "task", **options)
    for lang in ("eng", "swh"):
        rows = [{"text": text} for text in tiny.sentences(lang, 32)]
        texts = for_language(tokenizer, rows, "text", LORA, **words)
        lora.train(tiny_generator, texts, LORA.updated({"epochs": 1}), output=tmp_path / lang, **options)
    adapters = (tmp_path / "task", tmp_path / "swh", tmp_path / "eng")
    test = tiny.pairs("eng", 60, seed=1)
    gold = np.array([LABELS.index(pair["label"]) for pair in test])
    scores = {None: label_scores(tiny_generator, test, adapter=None, **words)}
    for scale in (0.0, 1.0):
        compose_directories(*adapters, Composition(scale=scale), tmp_path / f"{scale}")
        scores[scale] = label_scores(tiny_generator, test, adapter=tmp_path / f"{scale}", **words)
    task = label_scores(tiny_generator, test, adapter=tmp_path / "task", **words)
    assert (scores[None].argmax(1) == gold).mean() < 0.7 and (task.argmax(1) == gold).mean() > 0.9
    np.testing.assert_allclose(scores[0.0], task, atol=1e-4)
    assert np.abs(scores[1.0] - task).max() > 0.01
