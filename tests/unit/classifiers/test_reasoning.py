"""A language model without examples: what it is asked, letters against a plain loop, its English, its limits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from seedbed import manifests
from seedbed.classifiers.in_context import request_key
from seedbed.classifiers.manifest import describe
from seedbed.classifiers.reasoning import Problem, first_letter, generate_answers
from seedbed.classifiers.settings import Classifier, Reasoning
from seedbed.evaluation.files import Set
from seedbed.evaluation.scores import Scores
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems import Opening, open_system, reasoning
from seedbed.generators.settings import Generator
from seedbed.generators.writing import prompts
from seedbed.generators.writing.backends import Completion, Request, open_backend
from seedbed.generators.writing.journal import answers
from seedbed.io import UserError, fingerprint
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


def test_a_question_that_stands_twice_is_asked_once(base: Path) -> None:
    asked, generator, how = (
        [Problem("a", "1 + 1 is"), Problem("b", "2 is"), Problem("c", "1 + 1 is")],
        settings(base),
        Reasoning(),
    )
    model, read = open_backend(generator.greedy(max_new_tokens=3), base), []
    encode, model.encode = model.encode, lambda text, **options: read.append(text) or encode(text, **options)
    found = generate_answers(generator, lambda: model, asked, LETTERS, how)
    assert read == ["1 + 1 is", "2 is"]
    assert np.array_equal(found.probabilities[0], found.probabilities[2])


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
        ("B\n\nExplanation: A is wrong.", "B"),
        ("B\n\nMaelezo: A si sahihi", "B"),
        ("Answer: B\n\nExplanation: option A is a river.", "B"),
        ("B \nReason: dogs bark", "B"),
        ("C\n1. It swims", "C"),
        ("A and B are both right", ""),
        ("A or B", ""),
        ("a or b", ""),
        ("A/B", ""),
        ("A,B", ""),
        ("A, B and C", ""),
        ("(A) & (B)", ""),
        ("Both A and B are right.", ""),
        ("The answer is A or B.", ""),
        ("B, A is a river", "B"),
        ("B, A неверно", "B"),
        ("B and not A", "B"),
        ("B) because A and C are fish", "B"),
        ("The answer is A? No: the answer is B.", "B"),
        ("Answer: B. The answer A is wrong.", "B"),
        ("The answer is not A. It is B.", ""),
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


def thinking(base: Path, folder: Path) -> tuple[Generator, Path]:
    """A generator whose chat template itself begins the thoughts, as DeepSeek-R1's does."""
    shutil.copytree(base, folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template += "{% if add_generation_prompt %}<think>\n{% endif %}"
    tokenizer.save_pretrained(folder)
    return settings(folder).model_copy(update={"prompts": "chat"}), folder


def test_a_letter_does_not_follow_thoughts_that_the_template_begins(tiny_chat_generator: Path, tmp_path: Path) -> None:
    generator, folder = thinking(tiny_chat_generator, tmp_path / "thinks")
    asked, how = [Problem("a", "2 + 2 is")], Reasoning(max_new_tokens=3)
    model = open_backend(generator.greedy(max_new_tokens=how.max_new_tokens), folder)
    with pytest.raises(UserError, match=r"chat template.*<think>.*no letter.*set `answer: generation`"):
        generate_answers(generator, lambda: model, asked, LETTERS, how)
    assert len(generate_answers(generator, lambda: model, asked, (), how).labels) == 1, "a problem has no letters"


def test_thoughts_that_the_template_begins_and_the_limit_cuts_name_no_letter(
    tiny_chat_generator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator, folder = thinking(tiny_chat_generator, tmp_path / "thinks")
    how = Reasoning(answer="generation", max_new_tokens=3)
    model = open_backend(generator.greedy(max_new_tokens=how.max_new_tokens), folder)
    said = [("At first sight the answer is B, but", False), ("The answer is B? No. </think>\n\nA", True)]

    def write(requests: Sequence[Request], adapter: Path | None) -> Iterator[Completion]:
        for one, (text, finished) in zip(requests, said, strict=True):
            yield Completion(one.id, text, finished)

    monkeypatch.setattr(model, "write", write)
    asked = [Problem("a", "2 + 2 is"), Problem("b", "3 + 4 is")]
    assert generate_answers(generator, lambda: model, asked, LETTERS, how).labels == ["", "A"]
    model.tokenizer = AutoTokenizer.from_pretrained(folder)
    model.tokenizer.add_special_tokens({"additional_special_tokens": ["</think>"]})
    with pytest.raises(UserError, match=r"</think> is a special token"):
        generate_answers(generator, lambda: model, asked, LETTERS, how)


def test_letters_that_were_kept_without_the_mark_of_thoughts_are_asked_for_again(
    tiny_chat_generator: Path, tmp_path: Path
) -> None:
    base, how = tmp_path / "base", Reasoning(answer="generation", max_new_tokens=3)
    shutil.copytree(tiny_chat_generator, base)
    manifests.write(base, {"kind": "weights"})
    generator = settings(base).model_copy(update={"prompts": "chat"})
    system = {"kind": "reasoning", "generator": json.loads(generator.recorded()), "variant": "source"}
    describe(tmp_path / "it", {"name": "tiny"}, system | {"reasoning": how.model_dump(mode="json")}, {"base": base})
    task = Task(protocol="multiple_choice")
    opening = Opening([Set("t", task, TEST, None, {})], "swh", "Swahili", tmp_path / "state")
    key = request_key(generator, manifests.digest_of(base), LETTERS, how, "swh")
    texts = reasoning.prompts(TEST, str, "chat")
    with answers(opening.state, key) as journal:
        journal.commit(Completion(fingerprint([text])[:32], "so the answer is C", False) for text in texts)
    found = score(task, TEST, open_system(tmp_path / "it", opening))
    assert list(found.items["predicted"]) == ["", ""]


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
    return score(task, test, open_system(folder, opening))


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
