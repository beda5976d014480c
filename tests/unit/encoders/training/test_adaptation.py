"""Masked language modelling: its loss against the whole model's, its blocks, a new head, and that a killed one goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, PreTrainedTokenizerFast

from seedbed.encoders.models import loading, memory
from seedbed.encoders.objectives.masked import Masked
from seedbed.encoders.training import mlm
from seedbed.encoders.training.mlm import Predicting, blocks
from seedbed.encoders.vocabulary.corpus import CorpusSentences
from seedbed.io import UserError, read_json, sha256, write_json
from seedbed.trainers import Finite
from tests import trainings

SETTINGS = Masked(steps=6, batch_size=3, length=8, learning_rate=1e-2, precision="float32", max_grad_norm=1.0)


@pytest.fixture
def texts(sentences: list[str], tmp_path: Path) -> CorpusSentences:
    table = pd.DataFrame({"id": range(len(sentences)), "text": sentences})
    table.to_csv(tmp_path / "text.tsv", sep="\t", index=False)
    return CorpusSentences(tmp_path / "text.tsv", 100)


@pytest.fixture
def make(texts: CorpusSentences, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Adapt weights, into `out`."""

    def make(weights: Path, out: str = "out", **changes: Any) -> dict[str, Any]:
        options = {"output": tmp_path / out, "state": tmp_path / "state", "minutes": 10, "about": {"language": "hau"}}
        return trainings.adapt(weights, texts, SETTINGS.updated(changes), **options)

    return make


@pytest.mark.parametrize("architecture", ["bert", "xlm-roberta", "modernbert"])
def test_the_head_of_masked_tokens_alone_gives_the_whole_models_loss_and_gradients(make_weights, architecture):
    weights = make_weights(architecture, head=True)
    tokenizer = AutoTokenizer.from_pretrained(weights)
    model = AutoModelForMaskedLM.from_pretrained(weights).eval()
    torch.manual_seed(0)
    ids = torch.randint(5, len(tokenizer), (4, 12))
    targets = torch.where(torch.rand(4, 12) < 0.3, ids, -100)
    masked = torch.where(targets == -100, ids, tokenizer.mask_token_id)
    gradients, values = [], []
    for loss in (
        lambda: model(input_ids=masked, labels=targets).loss,
        lambda: Predicting(model, tokenizer, 0.15).loss(masked, targets),
    ):
        model.zero_grad()
        values.append(loss())
        values[-1].backward()
        gradients.append({name: weight.grad.clone() for name, weight in model.named_parameters()})
    assert values[0].item() == pytest.approx(values[1].item(), abs=1e-6)
    for name in gradients[0]:
        torch.testing.assert_close(gradients[0][name], gradients[1][name], atol=1e-6, rtol=1e-4)
    nothing = Predicting(model, tokenizer, 0.15).loss(ids, torch.full_like(ids, -100))
    assert nothing.item() == 0 and nothing.requires_grad


def test_special_tokens_are_never_masked_and_shares_are_those_of_bert(make_weights):
    weights = make_weights("bert", head=True)
    tokenizer = AutoTokenizer.from_pretrained(weights)
    predicting = Predicting(AutoModelForMaskedLM.from_pretrained(weights), tokenizer, 0.15)
    seen = []
    predicting.loss = lambda masked, targets: seen.append((masked, targets))
    ids = torch.randint(0, len(tokenizer), (400, 50))
    torch.manual_seed(0)
    predicting(ids)
    [(masked, targets)] = seen
    chosen, special = targets != -100, torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    assert not (chosen & special).any() and torch.equal(masked[~chosen], ids[~chosen])
    assert torch.equal(targets[chosen], ids[chosen])
    assert chosen[~special].float().mean().item() == pytest.approx(0.15, abs=0.01)
    hidden = (masked == tokenizer.mask_token_id)[chosen].float().mean().item()
    same = (masked == ids)[chosen].float().mean().item()
    assert hidden == pytest.approx(0.8, abs=0.03) and same == pytest.approx(0.1, abs=0.02)


def test_blocks_are_the_sentences_one_after_the_other(texts, tokenizer, monkeypatch):
    whole = [token for text in texts.all() for token in tokenizer(text)["input_ids"]]
    found = blocks(texts, tokenizer, 16)
    assert found.dtype == np.uint16 and found.ravel().tolist() == whole[: len(whole) // 16 * 16]
    monkeypatch.setattr(mlm, "TOGETHER", 3)
    assert np.array_equal(blocks(texts, tokenizer, 16), found)
    assert len(blocks(texts, tokenizer, len(whole))) == 1
    with pytest.raises(UserError, match=f"{len(whole)} tokens.*block of {len(whole) + 1}"):
        blocks(texts, tokenizer, len(whole) + 1)


def test_a_backbone_keeps_its_head_and_every_weight_learns(make, make_weights, tmp_path):
    weights = make_weights("bert", head=True)
    said = make(weights)
    manifest = read_json(tmp_path / "out/seedbed.json")
    assert said == manifest["training"] and said["head"] == "own" and manifest["about"] == {"language": "hau"}
    assert said["steps"] == len(said["loss"]) == 6
    old, new = (AutoModelForMaskedLM.from_pretrained(folder).state_dict() for folder in (weights, tmp_path / "out"))
    assert not [name for name in old if torch.equal(old[name], new[name]) and "key.bias" not in name]
    encoder, texts = loading.open_encoder(tmp_path / "out"), ["Ruwan sama", "Yara suna gida"]
    np.testing.assert_array_equal(encoder.encode(texts), loading.load(tmp_path / "out", pooling="mean").encode(texts))


def test_a_backbone_without_a_head_gets_a_new_one_that_is_tied(make, make_weights, tmp_path):
    weights = make_weights("bert")
    said = make(weights, learning_rate=1e-12)
    model = AutoModelForMaskedLM.from_pretrained(tmp_path / "out")
    assert said["head"] == "new"
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert model.cls.predictions.bias.abs().max() < 1e-10
    body = AutoModel.from_pretrained(weights, add_pooling_layer=False).state_dict()
    for name, weight in model.bert.state_dict().items():
        torch.testing.assert_close(weight, body[name], atol=1e-9, rtol=0)
    dense = model.cls.predictions.transform.dense.weight
    assert dense.std().item() == pytest.approx(model.config.initializer_range, rel=0.15)
    make(weights, out="again", learning_rate=1e-12)
    assert sha256(tmp_path / "again") == sha256(tmp_path / "out")
    make(weights, out="other", learning_rate=1e-12, seed=1)
    other = AutoModelForMaskedLM.from_pretrained(tmp_path / "other")
    assert not torch.equal(dense, other.cls.predictions.transform.dense.weight)


def test_a_killed_run_ends_with_the_same_bytes(make, make_weights, tmp_path, monkeypatch):
    weights = make_weights("bert")
    whole = make(weights)
    log = Finite.on_log

    def kill(self, args, state, control, logs, **kwargs):
        if state.global_step == 4 and "loss" in logs:
            raise KeyboardInterrupt
        log(self, args, state, control, logs, **kwargs)

    options = {"state": tmp_path / "state", "minutes": 0, "about": {"language": "hau"}}
    lines = CorpusSentences(tmp_path / "text.tsv", 100)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Finite, "on_log", kill)
        trainings.adapt(weights, lines, SETTINGS, output=tmp_path / "killed", **options)
    assert not (tmp_path / "killed").exists() and [*(tmp_path / "state").glob("*/checkpoint-3")]
    begun = []
    monkeypatch.setattr(
        Finite, "on_log", lambda self, args, state, control, logs, **rest: begun.append(state.global_step)
    )
    assert trainings.adapt(weights, lines, SETTINGS, output=tmp_path / "killed", **options) == whole
    assert min(begun) == 4 and sha256(tmp_path / "killed") == sha256(tmp_path / "out")
    assert not [*(tmp_path / "state").iterdir()]


def test_a_run_is_a_plain_loop_over_blocks_tokens_and_words(make, make_weights, texts, tokenizer, tmp_path):
    """Without dropout: the mean of -log p of each masked token, clipped gradients, AdamW, a rate that falls to zero."""
    weights = make_weights("bert", head=True)
    config = read_json(weights / "config.json") | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    write_json(config, weights / "config.json")
    seen = []
    whole = Predicting.loss
    patch = pytest.MonkeyPatch()
    patch.setattr(Predicting, "loss", lambda self, *given: seen.append(given) or whole(self, *given))
    said = make(weights, learning_rate=1e-3)
    patch.undo()

    steps, rate = SETTINGS.steps, 1e-3
    known = {tuple(block) for block in blocks(texts, tokenizer, SETTINGS.length).tolist()}
    model = AutoModelForMaskedLM.from_pretrained(weights)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    curve = []
    for step, (masked, targets) in enumerate(seen):
        assert masked.shape == (SETTINGS.batch_size, SETTINGS.length)
        terms = []
        for block, wanted in zip(masked, targets, strict=True):
            scores = model(input_ids=block[None]).logits[0]
            original = [int(token) if gold == -100 else int(gold) for token, gold in zip(block, wanted, strict=True)]
            assert tuple(original) in known
            for place, gold in enumerate(wanted.tolist()):
                if gold != -100:
                    terms.append(scores[place].exp().sum().log() - scores[place, gold])
        loss = sum(terms) / len(terms)
        curve.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        norm = sum((weight.grad**2).sum() for weight in model.parameters() if weight.grad is not None) ** 0.5
        for weight in model.parameters():
            if weight.grad is not None:
                weight.grad *= min(1.0, SETTINGS.max_grad_norm / (norm.item() + 1e-6))
        for group in optimizer.param_groups:
            group["lr"] = rate * (1 - step / steps)
        optimizer.step()
    assert len(curve) == steps and said["loss"] == pytest.approx(curve, rel=1e-3)
    begun, found = (AutoModelForMaskedLM.from_pretrained(one).state_dict() for one in (weights, tmp_path / "out"))
    apart = torch.cat([(found[name] - weight).abs().flatten() for name, weight in model.state_dict().items()])
    moved = torch.cat([(found[name] - begun[name]).abs().flatten() for name in model.state_dict()])
    assert apart.mean() < 1e-3 * moved.mean(), "a gradient near zero has no sure sign, so a few weights may differ"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": 65}, r"masked.length:.*65.*64"),
        ({"learning_rate": 1e30}, "loss is nan at step"),
    ],
)
def test_what_cannot_be_trained_is_one_line(make, make_weights, changes, message, tmp_path):
    with pytest.raises(UserError, match=message):
        make(make_weights("bert", head=True), **changes)
    assert not (tmp_path / "out").exists()


def test_a_batch_that_cannot_fit_is_refused_before_its_first_step(make, make_weights, monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(memory, "machine_bytes", lambda: 2**20)
    refused = r"^masked.batch_size: 512 rows of 16 tokens take .* and no GPU; set batch_size to \d+$"
    with pytest.raises(UserError, match=refused):
        make(make_weights("bert", head=True), batch_size=512, length=16)
    assert not (tmp_path / "out").exists()


def test_a_tokenizer_without_a_mask_is_refused(make, make_weights, tokenizer):
    weights = make_weights("bert", head=True)
    names = {name: token for name, token in tokenizer.special_tokens_map.items() if name != "mask_token"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend_tokenizer, **names).save_pretrained(weights)
    with pytest.raises(UserError, match=r"no mask token; give its recipe vocabulary.mask_token"):
        make(weights)
