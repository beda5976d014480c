"""What labels cost: formulae by hand, counts against closed forms on tiny models, the same counts in every run."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

from seedbed.classifiers.settings import InContext
from seedbed.encoders.models import loading
from seedbed.encoders.models.inference import Opened, batched
from seedbed.encoders.prompts import CONFIG
from seedbed.evaluation.compute import formulae, page
from seedbed.evaluation.compute.context import in_context, read_whole, require_decoder
from seedbed.evaluation.compute.cost import Cost, questions
from seedbed.evaluation.compute.formulae import Sizes, dearer
from seedbed.evaluation.compute.measuring import Span, flops, reading, seconds
from seedbed.evaluation.compute.nearest import retrieval
from seedbed.evaluation.compute.settings import Compute, Learner
from seedbed.evaluation.compute.tuning import batches_of, fine_tuning, passes
from seedbed.evaluation.settings import Task
from seedbed.generators.settings import Generator
from seedbed.generators.writing.likelihood import log_likelihoods
from seedbed.io import UserError, write_json
from tests import tiny

SIZES = Sizes(train=5, dev=2, test=3)
WIDTH, INNER, LAYERS = 32, 64, 2
"""Of the tiny models; the language model has two heads of 16, and one of keys and values."""


def test_the_formulae_by_hand() -> None:
    assert formulae.fine_tuning(SIZES, epochs=10, forward=7, backward=14) == 10 * (5 * 21 + 2 * 7) + 3 * 7
    found = formulae.retrieval(SIZES, dimensions=4, forward=7)
    assert found == 8 * 7 + 5 * 3 * (4 * 3 + 1)
    for labels in (3, 1):
        expected = found + 3 * labels * 150
        assert formulae.in_context(SIZES, retrieval=found, labels=labels, length=1.5, forward=100) == expected


def test_where_one_line_passes_another() -> None:
    assert dearer(lambda n: 3 * n, lambda n: n + 10) == (5, math.inf)
    assert dearer(lambda n: 3 * n, lambda n: n + 9) == (4.5, math.inf)  # a page says: from 5 on
    assert dearer(lambda n: 3 * n + 20, lambda n: n + 10) == (0, math.inf)
    assert dearer(lambda n: n + 9, lambda n: 3 * n) == (0, 4.5)  # a page says: up to 4
    assert dearer(lambda n: n + 1, lambda n: n) == (0, math.inf)
    assert dearer(lambda n: n, lambda n: 3 * n + 10) is None
    assert dearer(lambda n: n, lambda n: n) is None


def encoder_passes(tokens: int) -> int:
    """Forward FLOPs of the tiny BERT, without its pooler: 2 for each weight and token, and two products of attention."""
    weights = LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * INNER)
    return 2 * weights * tokens + LAYERS * 2 * 2 * tokens * tokens * WIDTH


def language_passes(read: int, seen: int, logits: int, vocabulary: int) -> int:
    """The same of the tiny Gemma, which reads some tokens after those in its cache and gives logits for a few."""
    weights = LAYERS * (2 * WIDTH * WIDTH + 2 * WIDTH * 16 + 3 * WIDTH * INNER)
    attention = LAYERS * 2 * 2 * read * (seen + read) * WIDTH
    return 2 * weights * read + attention + 2 * logits * WIDTH * vocabulary


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("compute")
    return tiny.backbone(root / "backbone"), tiny.generator(root / "generator")


@pytest.mark.parametrize("gradients", [False, True])
def test_an_encoder_costs_two_operations_for_each_weight_and_token_and_its_attention(
    models: tuple[Path, Path], gradients: bool
) -> None:
    model = AutoModel.from_pretrained(models[0], add_pooling_layer=False)
    ids = torch.randint(5, 100, (3, 20))
    mask = torch.ones_like(ids)
    mask[0, 15:] = 0
    with torch.set_grad_enabled(gradients), reading(model) as read:
        assert flops(lambda: model(input_ids=ids, attention_mask=mask)) == 3 * encoder_passes(20)
    assert (read.tokens, read.filling) == (60, 5)


def test_a_backward_pass_costs_twice_its_forward_pass(models: tuple[Path, Path]) -> None:
    """Each product has two factors, and each factor a gradient; the word embeddings are looked up."""
    model = AutoModelForSequenceClassification.from_pretrained(models[0], num_labels=3)
    batch = {"input_ids": torch.randint(5, 100, (3, 20)), "attention_mask": torch.ones(3, 20).long()}
    forward, backward = passes(model, [batch | {"labels": torch.tensor([0, 1, 2])}])
    head = 3 * 2 * (WIDTH * WIDTH + 3 * WIDTH)
    assert forward == 3 * encoder_passes(20) + head and backward == 2 * forward
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_language_model_costs_as_an_encoder_and_its_output_layer(models: tuple[Path, Path]) -> None:
    model = AutoModelForCausalLM.from_pretrained(models[1]).eval()
    vocabulary = model.config.vocab_size
    prompts = [list(range(10, 40)), list(range(10, 30))]
    for size, lengths in ((1, (30, 20)), (2, (30, 30))):  # two at once are both as long as the longer
        found = flops(lambda size=size: read_whole(model, prompts, size))
        assert found == sum(language_passes(length, 0, length, vocabulary) for length in lengths)


def test_a_prompt_is_read_once_for_all_labels(models: tuple[Path, Path]) -> None:
    """Less than the formula: what the production code does, by hand."""
    model = AutoModelForCausalLM.from_pretrained(models[1]).eval()
    vocabulary, prompt = model.config.vocab_size, list(range(10, 40))
    answers = [[7], [8, 9], [8, 9, 10]]
    once = language_passes(30, 0, 1, vocabulary)
    rest = sum(language_passes(len(more) - 1, 30, len(more) - 1, vocabulary) for more in answers if len(more) > 1)
    assert flops(lambda: log_likelihoods(model, [prompt], answers, 1)) == once + rest
    assert once + rest < len(answers) * language_passes(30, 0, 30, vocabulary)


def data(count: int, seed: int, words: int = 6) -> pd.DataFrame:
    texts = [" ".join(text.split()[:words]) for text in tiny.sentences("hau", count, seed)]
    labels = [("bad", "fair", "good")[number % 3] for number in range(count)]
    return pd.DataFrame({"id": [str(number) for number in range(count)], "text": texts, "label": labels})


TASK = Task(protocol="knn", distance="euclidean", k=[1, 5])
SPEC = Compute(
    task="own-knn", language="hau", encoder={"backbone": "b", "recipe": "published"},
    epochs=2, batch_size=4, dev=6, sample=8, queries=5, repeats=2,
)  # fmt: skip
GENERATOR = {"prompts": "plain", "dtype": "float32", "batch_size": 4, "sampling": {"max_prompt_tokens": 2000}}


def costs(models: tuple[Path, Path], **changes: Any) -> dict[str, Cost]:
    """Of all methods on one small set."""
    weights, base = models
    encoder = loading.load(weights, pooling="mean")
    opened = Opened(batched(encoder, 4), WIDTH, None, encoder, {})
    question, kept = questions(TASK, data(12, 1), data(18, 0), opened)
    spec = SPEC.updated(changes)
    whole, shots = retrieval(opened, "b", question, kept, spec)
    generator = Generator.model_validate(GENERATOR | {"source": {"file": str(base)}})
    found = [fine_tuning(weights, "b", kept, spec), whole]
    for answer in ("likelihood", "generation"):
        how = InContext(retriever=SPEC.encoder, answer=answer, bos=True)
        found.append(in_context(f"g {answer}", Learner(generator=generator, in_context=how), base, kept, shots, spec))
    return {cost.method: cost for cost in found}


@pytest.fixture(scope="module")
def measured(models: tuple[Path, Path]) -> dict[str, Cost]:
    return costs(models)


def test_each_method_is_its_formula_of_what_was_counted(measured: dict[str, Cost]) -> None:
    tuned, near, likely, written = measured.values()
    assert near.method == "retrieval"
    sizes = Sizes(18, 6, 12)
    forward, backward = (one.flops for one in tuned.counted)
    assert backward == 2 * forward
    assert tuned.flops == tuned.done == 2 * (18 * 3 * forward + 6 * forward) + 12 * forward
    encoded, read = near.counted[0].flops, near.counted[0].read
    assert read.tokens > 8 * 6 and 0 <= read.filling < read.tokens
    assert near.flops == pytest.approx(30 * encoded + 18 * 12 * (3 * WIDTH + 1))
    assert near.done == pytest.approx(30 * encoded + 18 * 12 * 2 * (WIDTH + 1))  # all texts are distinct
    passed, length = likely.counted[0].flops, likely.symbols["|l|"]
    assert likely.symbols["|L|"] == 3 and likely.flops == pytest.approx(near.flops + 12 * 3 * length * passed)
    assert likely.done == pytest.approx(near.done + 12 * likely.counted[1].flops) and likely.done < likely.flops
    assert written.flops == pytest.approx(near.flops + 12 * written.symbols["|l|"] * written.counted[0].flops)
    assert all(cost.sizes == sizes for cost in measured.values())


def test_a_step_that_is_timed_learns(models: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward and backward: a step of weights without gradients would take a third of the time, and change nothing."""
    learnt, step = [], torch.optim.AdamW.step

    def watched(optimizer: torch.optim.AdamW, *rest: Any) -> Any:
        learnt.append(any(weight.grad is not None for group in optimizer.param_groups for weight in group["params"]))
        return step(optimizer, *rest)

    monkeypatch.setattr(torch.optim.AdamW, "step", watched)
    encoder = loading.load(models[0], pooling="mean")
    kept = questions(TASK, data(12, 1), data(18, 0), Opened(batched(encoder, 4), WIDTH, None, encoder, {}))[1]
    fine_tuning(models[0], "b", kept, SPEC)
    assert len(learnt) >= SPEC.repeats and all(learnt)


def test_a_prefix_is_read_with_every_text_that_is_learnt(models: tuple[Path, Path], tmp_path: Path) -> None:
    own = shutil.copytree(models[0], tmp_path / "own")
    write_json({"prompts": {"all": "query: "}, "default_prompt_name": "all"}, own / CONFIG)
    encoder = loading.load(models[0], pooling="mean")
    kept = questions(TASK, data(12, 1), data(18, 0), Opened(batched(encoder, 4), WIDTH, None, encoder, {}))[1]
    texts = [
        cost.counted[0].read.tokens - cost.counted[0].read.filling
        for cost in (fine_tuning(own, "b", kept, SPEC, prefix) for prefix in ("", "query: ", None))
    ]
    added = AutoTokenizer.from_pretrained(models[0])("query:", add_special_tokens=False)["input_ids"]
    assert len(added) > 0 and texts[1] - texts[0] == SPEC.sample * len(added)
    assert texts[2] == texts[1], "what its own file says"


def test_seconds_are_scaled_from_what_was_timed(measured: dict[str, Cost]) -> None:
    tuned, near, likely, _ = measured.values()
    assert [cost.scaled for cost in measured.values()] == [True, False, True, True]
    encoding, search, voting = (timed.span.median for timed in near.timed)
    assert near.span.median == pytest.approx(encoding + search + voting)
    assert likely.span.median == pytest.approx(encoding + search + likely.timed[0].span.median * 12 / 5)
    step, only = (timed.span.lowest / 8 for timed in tuned.timed)
    assert tuned.span.lowest == pytest.approx(2 * (18 * step + 6 * only) + 12 * only)


def test_counts_are_the_same_in_every_run_and_times_stand_apart(
    models: tuple[Path, Path], measured: dict[str, Cost]
) -> None:
    first, again = (page.counts([*found.values()]) for found in (measured, costs(models)))
    pd.testing.assert_frame_equal(first, again)
    machine = {"device": "d", "threads": "1", "torch": "t"}
    timed = page.times([*measured.values()], machine, 2)
    assert {"median", "lowest", "highest", "scaled", "device", "threads", "dtype"} <= {*timed.columns}
    assert not {*first.columns} & {"median", "lowest", "highest"}
    whole = page.layout([*measured.values()], {"task": "t", "language": "hau", "repeats": 2}, machine)
    assert "18 training, 6 development and 12 test texts" in whole
    assert whole.count("| in context, likelihood |") == 4 and "~" in whole


def test_a_batch_changes_a_count_by_its_filling_alone(models: tuple[Path, Path]) -> None:
    """Texts of one length cost the same in batches of any size; others cost as what they are filled up to."""
    tokenizer = AutoTokenizer.from_pretrained(models[0])
    model = AutoModelForSequenceClassification.from_pretrained(models[0], num_labels=3)
    texts = tiny.sentences("hau", 40)
    lengths = [len(tokenizer(text)["input_ids"]) for text in texts]
    common = max({*lengths}, key=lengths.count)
    alike = [text for text, length in zip(texts, lengths, strict=True) if length == common]
    head = 2 * (WIDTH * WIDTH + 3 * WIDTH)
    for size in (1, 3, len(alike)):
        forward, _ = passes(model, batches_of(models[0], model, alike, [0] * len(alike), size))
        assert forward == len(alike) * (encoder_passes(common) + head)
    forward, _ = passes(model, batches_of(models[0], model, texts, [0] * len(texts), len(texts)))
    assert forward == len(texts) * (encoder_passes(max(lengths)) + head)


def test_what_cannot_be_measured_is_told(models: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"compute.classifiers: mt0.*encoder-decoder"):
        require_decoder("mt0", tiny.encoder_decoder(tmp_path))
    require_decoder("gemma", models[1])
    fused = Opened(lambda texts: np.zeros((len(texts), 2), np.float32), 2, None, None, {})
    question, kept = questions(TASK, data(12, 1), data(18, 0), fused)
    with pytest.raises(UserError, match=r"no pass to count.*weights"):
        retrieval(fused, "b", question, kept, SPEC)
    with pytest.raises(UserError, match="compute: no training set"):
        questions(TASK, data(12, 1), None, fused)


def test_a_span_is_the_median_and_the_ends_of_the_timed_runs() -> None:
    calls = []
    found = seconds(lambda: calls.append(1), 3)
    assert len(calls) == 4 and 0 <= found.lowest <= found.median <= found.highest
    assert Span(2, 1, 4).times(3).plus(Span(1, 1, 1)) == (7, 4, 13)
