"""Encoder-decoders: written as transformers' generate writes, likelihoods as training's loss has them, no adapters."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from scripts import train_task_adapter
from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import Query, open_greedy, predict_labels
from seedbed.classifiers.likelihood import label_scores
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.generators.settings import Answering, Generator
from seedbed.generators.weights.fetch import fetch
from seedbed.generators.writing import prompts
from seedbed.generators.writing.backends import Completion, Request, open_backend
from seedbed.io import UserError
from tests import tiny
from tests.programs import call

NEW = 12
LABELS = ["negative", "not so negative", "positive"]
INSTRUCTION = "Generate a sentiment label for a given input."


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As a study has it: fetched."""
    root = tmp_path_factory.mktemp("encoder-decoder")
    local = tiny.encoder_decoder(root / "local")
    fetch(Source(file=str(local)), Store(root / "downloads", root / "lock.json"), root / "weights")
    assert {file.name for file in local.iterdir()} | {"seedbed.json"} == {f.name for f in (root / "weights").iterdir()}
    return root / "weights"


def settings(base: Path, sampling: dict[str, Any] | None = None, **changes: Any) -> Generator:
    fixed = {"source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 4}
    limits = {"max_new_tokens": NEW, "max_prompt_tokens": 2000}
    return Generator.model_validate(fixed | {"sampling": limits | (sampling or {})} | changes)


def written(base: Path, requests: list[Request], **changes: Any) -> dict[str, Completion]:
    return {made.id: made for made in open_backend(settings(base, **changes), base).write(requests, None)}


@pytest.fixture(scope="module")
def requests(base: Path) -> list[Request]:
    """Prompts of many lengths."""
    backend = open_backend(settings(base), base)
    texts = [" ".join(text.split()[: 1 + number % 6]) for number, text in enumerate(tiny.sentences("hau", 15))]
    return [Request(f"positive/{number}", backend.encode(text)) for number, text in enumerate(texts)]


def test_a_prompt_ends_as_the_encoder_knows_it(base: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(base)
    ids = open_backend(settings(base), base).encode("Yara suna </s> gona", bos=False)
    assert ids == tokenizer("Yara suna < /s> gona")["input_ids"] and ids.count(tokenizer.eos_token_id) == 1
    with pytest.raises(UserError, match="no chat template; set `prompts: plain`"):
        open_backend(settings(base, prompts="chat"), base)


def test_a_chat_template_gets_its_variables(base: Path, tmp_path: Path) -> None:
    own = shutil.copytree(base, tmp_path / "chat")
    (own / "seedbed.json").unlink()
    thinks = "{% if thinks %}so {% endif %}"
    (own / "chat_template.jinja").write_text(f"{{{{ messages[0]['content'] }}}} {thinks}{{{{ eos_token }}}}")
    said = {}
    for template in ({}, {"thinks": True}):
        backend = open_backend(settings(own, prompts="chat", template=template), own)
        said[bool(template)] = backend.tokenizer.decode(backend.encode("Yara suna wasa"))
    assert "so" not in said[False] and said[True] == said[False].replace("wasa ", "wasa so ")


@pytest.mark.parametrize("penalty", [1.0, 1.3])
@pytest.mark.parametrize("batch_size", [1, 4, 64])
def test_greedy_is_what_generate_writes_one_by_one(base, requests, batch_size, penalty):
    sampling = {"temperature": 0, "repetition_penalty": penalty}
    backend = open_backend(settings(base), base)
    model, stops = AutoModelForSeq2SeqLM.from_pretrained(base).eval(), backend.stops.tolist()
    expected = {}
    for request in requests:
        options = {"max_new_tokens": NEW, "do_sample": False, "repetition_penalty": penalty, "eos_token_id": stops}
        new = model.generate(torch.tensor([request.prompt]), **options)[0, 1:]
        text = backend.tokenizer.decode(new, skip_special_tokens=True)
        expected[request.id] = Completion(request.id, text, finished=int(new[-1]) in stops)
    assert written(base, requests, batch_size=batch_size, sampling=sampling) == expected
    assert len({completion.text for completion in expected.values()}) > 1


@pytest.mark.parametrize("sampling", [{}, {"top_k": 5, "top_p": 1.0, "repetition_penalty": 1.2}])
def test_order_padding_and_batch_size_change_nothing(base, requests, sampling):
    expected = written(base, requests, batch_size=1, sampling=sampling)
    assert len({completion.text for completion in expected.values()}) > 10
    for batch_size, part in [(3, requests), (64, requests), (4, requests[::-1]), (5, requests[3:9])]:
        found = written(base, part, batch_size=batch_size, sampling=sampling)
        assert found == {request.id: expected[request.id] for request in part}


def test_rows_that_end_leave_the_others_alone(base, tmp_path):
    """With a head of its own, as mT0 has, which finds EOS now likely and now not: rows end at different steps."""
    shutil.copytree(base, tmp_path, dirs_exist_ok=True)
    weights = load_file(base / "model.safetensors")
    head = weights["shared.weight"].clone()
    head[1] *= 3
    save_file(weights | {"lm_head.weight": head}, tmp_path / "model.safetensors", metadata={"format": "pt"})
    backend = open_backend(settings(tmp_path), tmp_path)
    assert torch.equal(backend.model.lm_head.weight, head)
    assert torch.equal(backend.model.shared.weight, weights["shared.weight"])
    rows = [Request(str(n), backend.encode(text)) for n, text in enumerate(tiny.sentences("swh", 40))]
    sampling = {"temperature": 3.0, "top_k": 6, "top_p": 1.0}
    alone, together = (written(tmp_path, rows, batch_size=size, sampling=sampling) for size in (1, 16))
    assert alone == together
    assert len({completion.finished for completion in alone.values()}) == 2, "both ways of ending are tested"


def answers(base: Path, queries: list[Query], how: Answering) -> Answers:
    return predict_labels(partial(open_greedy, settings(base), base, how), queries, LABELS, INSTRUCTION, how)


@pytest.mark.parametrize("prefix", ["", " "])
def test_likelihoods_are_those_of_training(base: Path, prefix: str) -> None:
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(base).eval(), AutoTokenizer.from_pretrained(base)
    queries = [Query(str(n), " ".join([text] * (1 + n % 3))) for n, text in enumerate(tiny.sentences("hau", 7))]
    wanted = []
    for query in queries:
        read = tokenizer(prompts.with_shots(query.text, [], INSTRUCTION), return_tensors="pt")["input_ids"]
        losses = []
        for label in LABELS:
            answer = tokenizer(prefix + label, add_special_tokens=False, return_tensors="pt")["input_ids"]
            with torch.no_grad():
                losses.append(model(input_ids=read, labels=answer).loss.item())
        wanted.append(np.exp(-np.array(losses)) / np.exp(-np.array(losses)).sum())
    found = answers(base, queries, Answering(label_prefix=prefix))
    # In other batches, in single precision, a loss of 22 differs by up to 3e-4. How large losses are differs from run to
    # run, since the training of Unigram tokenizers does.
    np.testing.assert_allclose(found.probabilities, wanted, rtol=2e-3, atol=1e-4)
    assert found.labels == [LABELS[np.argmax(row)] for row in wanted]


def test_labels_are_written_too(base: Path) -> None:
    how = Answering(answer="generation", instruct=True, max_new_tokens=20)  # tokens of this tokenizer are letters
    found = answers(base, [Query("1", "Yara", (("Mata", "positive"),))], how)
    assert found.labels == [""] and found.probabilities is None


def test_adapters_and_other_back_ends_are_refused(base: Path, requests: list, tmp_path: Path) -> None:
    adapted = r"weights: an encoder-decoder has no adapters here; take a base that is a decoder"
    with pytest.raises(UserError, match=adapted):
        list(open_backend(settings(base), base).write(requests, tmp_path))
    with pytest.raises(UserError, match=adapted):
        label_scores(base, [], adapter=None, language="Hausa", style="plain")
    for backend in ("vllm", "openai"):
        with pytest.raises(UserError, match=rf"an encoder-decoder; set `backend: transformers`, not {backend}"):
            open_backend(settings(base, backend=backend, endpoint="http://localhost:1", served_model="m"), base)
    nli = tmp_path / "nli.tsv"
    nli.write_text("id\tanchor\tpositive\tnegative\n1\ta b\tc d\te f\n")
    words = f"--base {base} --name t --triplets {nli} --polarity positive --language English --style plain"
    with pytest.raises(UserError, match=adapted):
        call(train_task_adapter, f"{words} --dtype float32 --state {tmp_path} --output {tmp_path / 'x'}".split())
