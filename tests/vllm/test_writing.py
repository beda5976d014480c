"""The back end vllm writes what transformers writes: token by token, with and without adapters, and ends where it does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from seedbed.generators.writing.backends import Backend
from seedbed.generators.writing.prompts import parse
from seedbed.generators.writing.triplets import complete
from seedbed.io import UserError
from tests import tiny
from tests.vllm import MARKS
from tests.vllm.models import DRAWING, LIMIT, NEW, requests, settings, written

pytestmark = MARKS


def test_tokens_and_ends_are_those_of_generate(engine: Backend, local: Backend) -> None:
    """Held against transformers' own `generate`, one prompt at a time."""
    asked = requests(local)
    completions = written(engine, asked)
    options = {"do_sample": False, "max_new_tokens": NEW, "eos_token_id": local.stops.tolist(), "pad_token_id": 0}
    for request, output in zip(asked, engine._generate(asked, None), strict=True):
        wanted = local.model.generate(torch.tensor([request.prompt]), **options)[0, len(request.prompt) :].tolist()
        assert list(output.outputs[0].token_ids) == wanted
        text = local.tokenizer.decode(wanted, skip_special_tokens=True).rstrip("\ufffd")
        assert completions[request.id].text == text
        assert completions[request.id].finished == (wanted[-1] in options["eos_token_id"])
    assert len({completion.finished for completion in completions.values()}) == 2, "both ways of ending are tested"
    sentences = [parse(one.text) for one in completions.values() if one.finished]
    assert sum(sentence.endswith((".", "?", "!")) for sentence in sentences) > 3, "ends of sentences are tested"


@pytest.mark.parametrize("name", ["narrow", "wide"])
def test_an_adapter_writes_what_it_writes_under_transformers(
    engine: Backend, local: Backend, adapters: dict[str, Path], name: str
) -> None:
    asked = requests(local)
    found = written(engine, asked, adapters[name])
    assert found == written(local, asked, adapters[name])
    assert found != written(engine, asked)


def test_an_adapter_without_effect_is_refused(engine: Backend, adapters: dict[str, Path]) -> None:
    with pytest.raises(UserError, match="idle: the adapter has no effect"):
        written(engine, requests(engine), adapters["idle"])


def test_repetitions_are_penalised_alike(engine: Backend, local: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = written(local, requests(local))
    for backend in (engine, local):
        monkeypatch.setattr(backend, "sampling", backend.sampling.updated({"repetition_penalty": 1.5}))
    penalised = written(local, requests(local))
    assert penalised != plain and written(engine, requests(engine)) == penalised


def test_a_prompt_of_the_greatest_length_is_completed(engine: Backend, local: Backend) -> None:
    """The engine has room for it and for all new tokens."""
    (one, *_) = requests(local)
    whole = [replace(one, prompt=[*one.prompt, *[one.prompt[-1]] * LIMIT][:LIMIT])]
    assert written(engine, whole) == written(local, whole)


def test_a_prompt_that_is_too_long_is_not_sent(base: Path, engine: Backend, tmp_path: Path) -> None:
    texts = tiny.sentences("hau", 3)
    anchors = pd.DataFrame({"id": ["a", "b", "c"], "text": [texts[0], " ".join(texts * LIMIT), texts[1]]})
    table = complete(
        engine, anchors, lambda row, text, polarity: f"{polarity}: {text}", {"positive": None, "negative": None},
        generator=settings(base, backend="vllm"), weights="", state=tmp_path,
    )  # fmt: skip
    assert (table["positive"] == "").tolist() == [False, True, False]
    assert table.loc[1, ["positive_finished", "negative_finished"]].tolist() == ["false", "false"]


def test_rows_of_a_shard_are_drawn_apart(engine: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """By temperature, top_k and top_p; equal prompts are completed differently, and never twice alike.

    A second start draws otherwise, from the same seed: when a request joins a step is a matter of time.
    """
    monkeypatch.setattr(engine, "sampling", DRAWING)
    (one, *_) = requests(engine)
    same = [replace(one, id=str(number)) for number in range(16)]
    texts = [[completion.text for completion in written(engine, same).values()] for _ in range(2)]
    assert min(len({*each}) for each in texts) > 8 and texts[0] != texts[1]
    monkeypatch.setattr(engine, "sampling", engine.sampling.updated({"top_k": 1}))
    assert len({completion.text for completion in written(engine, same).values()}) == 1
