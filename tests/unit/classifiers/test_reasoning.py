"""A language model without examples: what it is asked, letters against a plain loop, its English, its limits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from seedbed import manifests
from seedbed.classifiers.manifest import describe
from seedbed.classifiers.reasoning import Problem, first_letter, generate_answers
from seedbed.classifiers.settings import Classifier, Reasoning
from seedbed.evaluation.files import Set
from seedbed.evaluation.scores import Scores
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems import Opening, open_system
from seedbed.generators.settings import Generator
from seedbed.generators.writing import prompts
from seedbed.generators.writing.backends import open_backend
from seedbed.io import UserError
from tests import tiny

LETTERS = ["A", "B", "C"]
TEST = pd.DataFrame(
    {
        "id": ["a", "b"],
        "passage": ["", "Cats sleep."],
        "question": ["Nani?", "Nini?"],
        "answers": ['["paka", "mbwa"]', '["paka", "mbwa", "samaki"]'],
        "correct": ["1", "3"],
    }
)
PROBLEMS = pd.DataFrame({"id": ["a", "b"], "question": ["2 + 2?", "3 + 4?"], "answer": ["4", "7"]})


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny.generator(tmp_path_factory.mktemp("reasoning") / "base")
    manifests.write(folder, {"kind": "weights"})
    return folder


def settings(base: Path) -> Generator:
    sampling = {"max_prompt_tokens": 400, "max_new_tokens": 3}
    return Generator.model_validate(
        {"source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 2, "sampling": sampling}
    )


def test_what_is_asked() -> None:
    assert prompts.problem_prompt("{text} 2?", "plain") == "Question: {text} 2?\nStep-by-Step Answer:"
    options = "A. paka\nB. {x}"
    assert prompts.options_prompt("Nani?", ["paka", "{x}"], "", "plain") == f"Question: Nani?\n{options}\nAnswer:"
    chat = prompts.options_prompt("Nani?", ["paka", "{x}"], "P.", "chat")
    assert chat == f"P.\n\nNani?\n{options}\n\nAnswer with the letter of the right option alone."


def test_letters_are_as_likely_as_a_plain_loop_finds(base: Path) -> None:
    generator, how = settings(base), Reasoning(bos=True, label_prefix=" ")
    model = open_backend(generator.greedy(max_new_tokens=how.max_new_tokens), base)
    asked = [Problem("a", "2 + 2 is"), Problem("b", "a much longer question: 1 + 1")]
    found = generate_answers(generator, lambda: model, asked, LETTERS, how)
    tokenizer, plain = AutoTokenizer.from_pretrained(base), AutoModelForCausalLM.from_pretrained(base)
    for row, one in enumerate(asked):
        start = prompts.encode(tokenizer, one.text, "plain")
        means = []
        for letter in LETTERS:
            tokens = prompts.encode_text(tokenizer, f" {letter}")
            with torch.no_grad():
                chances = plain(torch.tensor([start + tokens])).logits[0].double().log_softmax(-1)
            means.append(np.mean([chances[len(start) - 1 + place, token] for place, token in enumerate(tokens)]))
        wanted = np.exp(means) / np.exp(means).sum()
        assert found.probabilities[row] == pytest.approx(wanted, abs=1e-5)
        assert found.labels[row] == LETTERS[int(np.argmax(means))]


def test_a_prompt_that_is_too_long_and_a_server_without_likelihoods(base: Path) -> None:
    generator, how = settings(base), Reasoning()
    model = open_backend(generator.greedy(max_new_tokens=how.max_new_tokens), base)
    with pytest.raises(UserError, match=r"prompt of 'a'.*raise `sampling.max_prompt_tokens`"):
        generate_answers(generator, lambda: model, [Problem("a", "word " * 500)], LETTERS, how)
    served = generator.model_copy(update={"backend": "openai-chat"})
    with pytest.raises(UserError, match=r"openai-chat.*likelihoods.*set `answer: generation`"):
        generate_answers(served, lambda: model, [Problem("a", "x")], LETTERS, how)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        (" (C) since", "C"),
        ("A. paka", "A"),
        ("**B**", "B"),
        ("\nB", "B"),
        ("b", "B"),
        ("(b) mbwa", "B"),
        ("B) mbwa", "B"),
        ("B - mbwa", "B"),
        ("B because dogs bark", "B"),
        ("A is right.", "A"),
        ("Answer: B", "B"),
        ("The answer is B", "B"),
        ("The correct answer is: **(b)**.", "B"),
        ("Option C is the right one.", "C"),
        ("The answer is $\\boxed{B}$", "B"),
        ("A dog barks, hence the answer is B.", "B"),
        ("<think>The answer is A? No.</think>\n\nB", "B"),
        ("<think>The answer is A", ""),
        ("A. paka\nB. mbwa\nThe answer is B.", "B"),
        ("Jibu ni B.", "B"),
        ("答案是B。", "B"),
        ("Either A or B", ""),
        ("Not A, but B", ""),
        ("A hotel is where people stay.", ""),
        ("The answer is a hotel.", ""),
        ("उत्तर B है।", "B"),
        ("Ответ B верный.", "B"),
        ("答えはCです。", "C"),
        ("答案是B选项", "B"),
        ("الإجابة B هي الصحيحة", "B"),
        ("A", "A"),
        ("a", "A"),
        ("A-frames", ""),
        ("A.M. is the morning", ""),
        ("Bananas", ""),
        ("D", ""),
        ("", ""),
    ],
)
def test_the_letter_that_an_answer_names(text: str, letter: str) -> None:
    assert first_letter(text, LETTERS) == letter


def opened(
    base: Path, folder: Path, test: pd.DataFrame, task: Task, variant: str, english: dict[str, str] | None
) -> Scores:
    """The scores of a described system."""
    system = {
        "kind": "reasoning",
        "generator": json.loads(settings(base).recorded()),
        "reasoning": {"max_new_tokens": 3, "bos": True},
    }
    describe(folder, {"name": "tiny", "variant": variant}, system | {"variant": variant}, {"base": base})
    opening = Opening([Set("t", task, test, None, {})], "swh", "Swahili", None, english=english or {})
    return score(task, test, answer=open_system(folder, opening).answer)


def test_the_translated_variant_is_asked_in_english_alone(base: Path, tmp_path: Path) -> None:
    task = Task(protocol="multiple_choice")
    texts = ["Nani?", "Nini?", "paka", "mbwa", "samaki", "Cats sleep."]
    english = {text: f"said {text}" for text in texts}
    translated = opened(base, tmp_path / "en", TEST, task, "translated", english)
    same = TEST.assign(
        question="said " + TEST["question"],
        passage=["", "said Cats sleep."],
        answers=['["said paka", "said mbwa"]', '["said paka", "said mbwa", "said samaki"]'],
    )
    wanted = opened(base, tmp_path / "xx", same, task, "source", None)
    pd.testing.assert_frame_equal(translated.items, wanted.items)
    with pytest.raises(UserError, match="no English of 'samaki'"):
        opened(base, tmp_path / "less", TEST, task, "translated", english | {"samaki": ""})
    with pytest.raises(UserError, match=r"variant translated.*give `--english`"):
        opened(base, tmp_path / "none", TEST, task, "translated", None)


def test_problems_are_solved_in_any_order_and_batch_alike(base: Path, tmp_path: Path) -> None:
    task = Task(protocol="math")
    found = opened(base, tmp_path / "one", PROBLEMS, task, "source", None).items.set_index("id")
    turned = opened(base, tmp_path / "two", PROBLEMS.iloc[::-1], task, "source", None).items.set_index("id")
    pd.testing.assert_frame_equal(found, turned.loc[found.index])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"backbone": "b", "reasoning": {}}, r"reasoning:.*encoder.*give a `generator`"),
        ({"generator": "g", "reasoning": {}, "in_context": {"retriever": {"backbone": "b", "recipe": "r"}}}, "reasoning: it has in_context already"),
        ({"generator": "g", "reasoning": {}, "scales": [1]}, r"scales:.*adapters.*reasoning"),
    ],
)  # fmt: skip
def test_settings_that_do_not_fit(given: dict, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Classifier.model_validate(given)


def test_it_answers_problems_and_the_questions_that_it_names() -> None:
    spec = Classifier.model_validate({"generator": "g", "reasoning": {}})
    assert (spec.protocol, spec.protocols) == ("math", ("math", "multiple_choice"))
