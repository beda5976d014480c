"""Vectors before the tokens of a question: as good as tokens where they are tokens' own, and an adaptor's in use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch
from sentence_transformers import SentenceTransformer

from seedbed import manifests
from seedbed.classifiers.manifest import describe
from seedbed.classifiers.reasoning import Problem, generate_answers, require_width
from seedbed.classifiers.settings import Reasoning
from seedbed.encoders.models import loading
from seedbed.encoders.objectives.anchoring import Anchoring
from seedbed.encoders.translations.policy import features
from seedbed.evaluation.files import Set
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems import Opening, open_system
from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Backend, Request, open_backend
from seedbed.generators.writing.likelihood import log_likelihoods
from seedbed.generators.writing.soft_prompts import Prefixed
from seedbed.io import UserError
from tests import tiny

SAMPLING = {"max_prompt_tokens": 400, "max_new_tokens": 4}
HOW = Reasoning(bos=True, max_new_tokens=4)
LETTERS = ["A", "B", "C"]
PROMPTS = ["2 + 2 is", "a much longer question, 1 + 1", "No?"]
TEST = pd.DataFrame(
    {
        "id": ["a", "b", "c"],
        "passage": "",
        "question": ["Nani?", "Nini?", "Yara suna wasa a filin makaranta."],
        "answers": '["paka", "mbwa", "samaki"]',
        "correct": ["1", "3", "2"],
    }
)
PROBLEMS = pd.DataFrame({"id": ["a", "b"], "question": ["2 + 2?", "Yara 3 + 4?"], "answer": ["4", "7"]})


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny.generator(tmp_path_factory.mktemp("prefixed") / "base")
    manifests.write(folder, {"kind": "weights"})
    return folder


def settings(base: Path) -> Generator:
    given = {"source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 2}
    return Generator.model_validate(given | {"sampling": SAMPLING})


@pytest.fixture(scope="module")
def model(base: Path) -> Backend:
    return open_backend(settings(base).greedy(max_new_tokens=HOW.max_new_tokens), base)


def anchored(make_weights: Callable[..., Path]) -> SentenceTransformer:
    """Whose features have the generator's width, 32."""
    sides = {"source": make_weights("xlm-roberta"), "english": make_weights("bert")}
    source = loading.load(sides["source"], pooling="mean", prefix="query: ")
    return Anchoring(pool_size=3, hidden=16).prepare(source, sides, 1)


def with_tokens(model: Backend, place: int) -> tuple[list[list[int]], list[list[int]]]:
    """Prompts with the embeddings of some tokens in a place of the first two, and the same with the tokens there."""
    vectors, tokens = [], []
    for number, text in enumerate(PROMPTS):
        prompt, more = model.encode(text), [7 + number, 11, 40 + number]
        own = model.model.get_input_embeddings()(torch.tensor(more))
        vectors.append(Prefixed(prompt, own, place) if number < 2 else prompt)
        tokens.append([*prompt[:place], *more, *prompt[place:]] if number < 2 else prompt)
    return vectors, tokens


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_embeddings_of_tokens_are_read_as_the_tokens(model: Backend, place: int, batch_size: int) -> None:
    vectors, tokens = with_tokens(model, place)
    assert [*map(len, vectors)] == [*map(len, tokens)]
    answers = [[5], [9, 12], [9, 13, 14]]
    found, wanted = (log_likelihoods(model.model, rows, answers, batch_size) for rows in (vectors, tokens))
    assert found == pytest.approx(wanted, abs=1e-5)
    plain = log_likelihoods(model.model, [model.encode(text) for text in PROMPTS], answers, batch_size)
    assert abs(found - plain)[:2].max() > 1e-3 and found[2] == pytest.approx(plain[2], abs=1e-5)


def test_what_is_written_after_them_is_what_is_written_after_the_tokens(model: Backend) -> None:
    vectors, tokens = with_tokens(model, 1)
    asked = ([*map(Request, "abc", rows)] for rows in (vectors, tokens))
    texts = [[one.text for one in sorted(model.write(rows, None), key=lambda one: one.id)] for rows in asked]
    assert texts[0] == texts[1] and any(texts[0])


def test_they_stand_after_the_token_of_the_beginning(model: Backend, base: Path) -> None:
    """`generate_answers` with the embeddings of a text's tokens is `generate_answers` of that text before the question."""
    more = model.tokenizer("Sum: ", add_special_tokens=False)["input_ids"]
    vectors = model.model.get_input_embeddings()(torch.tensor(more)).expand(2, -1, -1)
    texts = ["2 + 2 is", "a longer one, 1 + 1"]
    asked = [*map(Problem, "ab", texts)]
    found = generate_answers(settings(base), lambda: model, asked, LETTERS, HOW, vectors=lambda: vectors).probabilities
    tokens = [[model.tokenizer.bos_token_id, *more, *model.encode(text, bos=False)] for text in texts]
    scores = log_likelihoods(
        model.model, tokens, [model.tokenizer(x, add_special_tokens=False)["input_ids"] for x in LETTERS], 2
    )
    assert found == pytest.approx(torch.tensor(scores).softmax(dim=1).numpy(), abs=1e-5)


def test_vectors_of_another_width_are_refused_in_one_line(model: Backend, base: Path) -> None:
    told = "features of width 8, and the generator's input embeddings have 32; anchor them to an English encoder"
    with pytest.raises(UserError, match=told):
        generate_answers(
            settings(base), lambda: model, [Problem("a", "x")], LETTERS, HOW, vectors=lambda: torch.zeros(1, 2, 8)
        )
    with pytest.raises(UserError, match=r"decoder.*backend transformers"):
        require_width(object(), 32)


@pytest.mark.parametrize(("task", "test"), [("multiple_choice", TEST), ("math", PROBLEMS)])
@pytest.mark.parametrize("in_english", [True, False])
def test_the_variant_is_asked_in_english_after_what_the_adaptor_makes_of_the_question(
    base: Path,
    model: Backend,
    make_weights: Callable[..., Path],
    tmp_path: Path,
    task: str,
    test: pd.DataFrame,
    in_english: bool,
) -> None:
    encoder = anchored(make_weights)
    encoder.save_pretrained(str(tmp_path / "arca"), create_model_card=False)
    manifests.write(tmp_path / "arca", {"kind": "encoder"})
    of = {"backbone": "b", "recipe": "r"}
    system = {"kind": "reasoning", "generator": json.loads(settings(base).recorded()), "variant": "prefixed"}
    system["reasoning"] = {"max_new_tokens": 4, "bos": True, "prefixes": {"prefixed": of}}
    parts = {"base": base, "prefix": tmp_path / "arca"}
    describe(tmp_path / "described", {"name": "tiny", "variant": "prefixed"}, system, parts)
    texts = [*test["question"], "paka", "mbwa", "samaki"]
    english = {text: f"said {text}" for text in texts} if in_english else {}
    opening = Opening([Set("t", Task(protocol=task), test, None, {})], "swh", "Swahili", None, english=english)
    found = score(Task(protocol=task), test, open_system(tmp_path / "described", opening))
    said = (
        test.replace(
            {
                "question": english,
                "answers": {TEST["answers"][0]: json.dumps(["said paka", "said mbwa", "said samaki"])},
            }
        )
        if english
        else test
    )

    def answer(trial, labels):
        from seedbed.evaluation.systems.reasoning import prompts

        vectors = features(loading.open_encoder(tmp_path / "arca"), list(test["question"]))
        assert vectors.shape == (len(test), 3, 32)
        asked = [*map(Problem, test["id"], prompts(said, str, "plain"), test["question"])]
        return generate_answers(settings(base), lambda: model, asked, labels, HOW, vectors=lambda: vectors)

    pd.testing.assert_frame_equal(found.items, score(Task(protocol=task), test, System(answer=answer)).items)
    plain = score(Task(protocol=task), test, System(answer=lambda trial, labels: _without(base, model, said, labels)))
    assert len(plain.items) == len(found.items)


def _without(base, model, said, labels):
    from seedbed.evaluation.systems.reasoning import prompts

    return generate_answers(
        settings(base), lambda: model, [*map(Problem, said["id"], prompts(said, str, "plain"))], labels, HOW
    )


def test_features_are_of_anchored_encoders_and_no_order_changes_them(make_weights: Callable[..., Path]) -> None:
    encoder, texts = anchored(make_weights), [*TEST["question"], "Kasuwa ta cika da mutane."]
    alone = torch.cat([features(encoder, [text]) for text in texts])
    torch.testing.assert_close(features(encoder, texts), alone, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(alone.mean(dim=1), torch.from_numpy(encoder.encode(texts)), atol=1e-5, rtol=1e-4)
    with pytest.raises(UserError, match="was anchored to no English one"):
        features(loading.load(make_weights("bert"), pooling="mean"), texts)


def test_a_variants_name_is_not_taken() -> None:
    with pytest.raises(ValueError, match=r"translated.*anyway; give.*another"):
        Reasoning.model_validate({"prefixes": {"translated": {"backbone": "b", "recipe": "r"}}})
    made = Reasoning.model_validate({"prefixes": {"prefixed": {"backbone": "b", "recipe": "r"}}})
    assert made.every_variant() == ["source", "prefixed"]
