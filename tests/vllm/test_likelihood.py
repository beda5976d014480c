"""vLLM finds answers as likely as transformers does, and a judge on vLLM scores as one on transformers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seedbed.generators.writing.backends import Backend
from seedbed.generators.writing.judge import judgements
from seedbed.generators.writing.likelihood import answer_log_likelihoods
from seedbed.generators.writing.translate import Tongue, Writer
from seedbed.generators.writing.translation_settings import ASPECTS
from seedbed.generators.writing.translations import text_id
from seedbed.io import UserError
from tests import tiny
from tests.vllm import MARKS
from tests.vllm.models import LIMIT, NEW, requests, settings

pytestmark = MARKS


def test_answers_are_as_likely_as_under_transformers(engine: Backend, local: Backend) -> None:
    """Of one token and of several, some of which begin alike or are the beginning of another."""
    prompts = [request.prompt for request in requests(local, 12)]
    answers = [[5, 60], [5, 61], [5, 60, 62], [7], [5], [*range(100, 104)]]
    rows: list[int] = []
    found = answer_log_likelihoods(engine, prompts, answers, lambda some, _: rows.extend(some))
    np.testing.assert_allclose(found, answer_log_likelihoods(local, prompts, answers), atol=1e-4, rtol=0)
    np.testing.assert_allclose(found, answer_log_likelihoods(local, prompts, answers, alike=True), atol=1e-4, rtol=0)
    assert rows == [*range(12)]


def test_more_answers_than_vllm_tells_of_at_a_time(engine: Backend, local: Backend) -> None:
    prompts, answers = [requests(local, 1)[0].prompt], [[token] for token in range(10, 310)]
    found, wanted = (answer_log_likelihoods(backend, prompts, answers) for backend in (engine, local))
    np.testing.assert_allclose(found, wanted, atol=1e-4, rtol=0)


def test_they_are_of_the_model_as_it_is(engine: Backend, local: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever changes what is written: temperature, top_k, penalties."""
    prompts, answers = [requests(local, 1)[0].prompt], [[5, 60], [7]]
    plain = answer_log_likelihoods(engine, prompts, answers)
    changes = {"temperature": 0.5, "top_k": 1, "repetition_penalty": 2.0}
    monkeypatch.setattr(engine, "sampling", engine.sampling.updated(changes))
    np.testing.assert_array_equal(answer_log_likelihoods(engine, prompts, answers), plain)


def test_an_answer_beyond_the_room_for_it_is_refused(engine: Backend) -> None:
    with pytest.raises(UserError, match=f"max_new_tokens: {NEW} is less than the {NEW + 1} tokens of an answer"):
        answer_log_likelihoods(engine, [[2, 5]], [[7] * (NEW + 1)])


def test_a_judge_scores_as_one_on_transformers(engine: Backend, local: Backend, base: Path, tmp_path: Path) -> None:
    """The candidates of many texts at a time, one of which is too long."""
    texts = tiny.sentences("hau", 9)
    english = [*tiny.sentences("eng", 8), " ".join(tiny.sentences("eng", LIMIT))]
    table = pd.DataFrame({"id": [*map(text_id, texts)], "text": texts, "english": english, "finish": "stop"})
    tables = {"a": table, "b": table.assign(english=table["english"] + "?")}
    tongues = {"eng": Tongue("English"), "hau": Tongue("Hausa")}
    found = []
    for name, backend in (("vllm", engine), ("transformers", local)):
        generator = settings(base, backend=name)
        judge = Writer(generator, "likelihood", open=lambda one=backend: one, weights="", state=tmp_path / name)
        scores, counts = judgements(tables, dict.fromkeys(texts, "hau"), tongues, "eng", judge)
        assert counts == {"judged": 16, "unscored": 2, "not judged": 0}
        found.append(scores[[*ASPECTS]].to_numpy(dtype=float))
    np.testing.assert_allclose(*found, atol=2e-4, rtol=0)
    assert len({*found[0][:16, 0].round(3)}) > 8
