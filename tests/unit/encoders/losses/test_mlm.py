"""Masked language modelling beside the contrast, against transformers' own model with a head."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor
from torch.nn.functional import cross_entropy, pad
from transformers import AutoModelForMaskedLM, AutoTokenizer

from seedbed.encoders.losses.contrastive import SimCSELoss
from seedbed.encoders.losses.mlm import WithMaskedLM
from seedbed.encoders.models import loading, mlm_head
from seedbed.io import UserError

WEIGHT = 0.1


@pytest.fixture(params=["bert", "xlm-roberta", "modernbert"])
def directory(request: pytest.FixtureRequest, make_weights: Callable[..., Path]) -> Path:
    return make_weights(request.param, head=True)


@pytest.fixture
def encoder(directory: Path) -> SentenceTransformer:
    """Without dropout, so that two passes agree."""
    return loading.load(directory, pooling="first_last_average").eval()


def module(directory: Path, encoder: SentenceTransformer, probability: float = 0.3, **options: Any) -> WithMaskedLM:
    head = mlm_head.load_head(directory, encoder)
    return WithMaskedLM(SimCSELoss(encoder, 0.05), head, weight=WEIGHT, probability=probability, **options)


def columns(encoder: SentenceTransformer, sentences: list[str]) -> list[dict[str, Any]]:
    """Three columns of different widths."""
    return [encoder.preprocess(texts) for texts in (sentences[:3], sentences[3:6], sentences[:5:2])]


def spied(loss: WithMaskedLM) -> list[tuple[Tensor, Tensor]]:
    """The masked ids and the targets of every pass to come."""
    seen: list[tuple[Tensor, Tensor]] = []
    mask = loss.mask
    loss.mask = lambda *args: seen.append(mask(*args)) or seen[-1]
    return seen


def test_is_transformers_loss_and_gradient(directory: Path, encoder: SentenceTransformer, sentences: list[str]) -> None:
    """Of all columns in one batch; the word embeddings get the gradient of the tied decoder too."""
    # In double precision: the contrast's gradient is far larger, and is subtracted.
    loss = module(directory, encoder).double()
    reference = AutoModelForMaskedLM.from_pretrained(directory).double().eval()
    seen = spied(loss)
    value = loss(columns(encoder, sentences))
    ((ids, targets),) = seen
    masks = [column["attention_mask"] for column in columns(encoder, sentences)]
    attention = torch.cat([pad(mask, (0, ids.shape[1] - mask.shape[1])) for mask in masks])
    scores = reference(input_ids=ids, attention_mask=attention).logits
    expected = cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=-100)
    contrast = loss.contrast(columns(encoder, sentences))
    assert (value - contrast).item() == pytest.approx(WEIGHT * expected.item(), rel=1e-9)

    (value - contrast).backward()
    expected.backward()
    table = encoder[0].auto_model.get_input_embeddings().weight
    wanted = reference.get_input_embeddings().weight.grad
    torch.testing.assert_close(table.grad, WEIGHT * wanted, rtol=0, atol=1e-10)
    never_read = [token for token in range(len(wanted)) if token not in ids]
    assert wanted[never_read].abs().min(0).values.max() > 0, "only the decoder reaches these"
    theirs = {name: parameter.grad for name, parameter in reference.named_parameters(remove_duplicate=False)}
    for name, parameter in loss.head.named_parameters():
        torch.testing.assert_close(parameter.grad, WEIGHT * theirs[name], rtol=0, atol=1e-10)


def test_columns_that_cannot_be_read_together_have_the_same_loss(
    directory: Path, encoder: SentenceTransformer, sentences: list[str]
) -> None:
    loss, batch = module(directory, encoder, 0.999), columns(encoder, sentences)
    special = loss.mask.special
    loss.mask = lambda ids, there: (ids, torch.where(torch.isin(ids, special) | (there == 0), -100, ids))
    together = loss(batch)
    batch[1]["one_more"] = 1
    torch.testing.assert_close(loss(batch), together)


def test_head_is_the_backbones_without_its_transformer(directory: Path, encoder: SentenceTransformer) -> None:
    loss, reference = module(directory, encoder), AutoModelForMaskedLM.from_pretrained(directory)
    assert loss.head.get_output_embeddings().weight is encoder[0].auto_model.get_input_embeddings().weight
    own = {name: p for name, p in loss.named_parameters() if name.startswith("head.")}
    assert 0 < sum(p.numel() for p in own.values()) < 2000, "the transformer or the decoder is there twice"
    states = torch.randn(1, 5, 32)
    whole = reference.get_output_embeddings().weight
    assert torch.equal(loss.head.get_output_embeddings().weight, whole)
    assert loss.head(inputs_embeds=states).logits.shape == (1, 5, len(whole))


def test_a_decoder_of_its_own_stays_so(make_weights: Callable[..., Path], tmp_path: Path) -> None:
    shutil.copytree(make_weights("bert", head=True), tmp_path, dirs_exist_ok=True)
    config = json.loads((tmp_path / "config.json").read_text()) | {"tie_word_embeddings": False}
    (tmp_path / "config.json").write_text(json.dumps(config))
    untied = AutoModelForMaskedLM.from_pretrained(tmp_path)
    untied.get_output_embeddings().weight.data.fill_(0.5)
    untied.save_pretrained(tmp_path)
    encoder = loading.load(tmp_path, pooling="mean")
    decoder = mlm_head.load_head(tmp_path, encoder).get_output_embeddings().weight
    assert torch.equal(decoder, torch.full_like(decoder, 0.5))


def test_masks_as_bert_does(make_weights: Callable[..., Path], sentences: list[str]) -> None:
    weights = make_weights("bert", head=True)
    encoder = loading.load(weights, pooling="mean").eval()
    loss = module(weights, encoder, 0.15)
    seen = spied(loss)
    torch.manual_seed(3)
    batch = [encoder.preprocess(sentences * 50) for _ in range(3)]
    loss(batch)
    ids = torch.cat([column["input_ids"] for column in batch])
    ((masked, targets),) = seen
    chosen, tokenizer = targets != -100, encoder.tokenizer
    ordinary = ~torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    assert not (chosen & ~ordinary).any(), "special tokens and padding are never chosen"
    assert torch.equal(targets[chosen], ids[chosen]) and torch.equal(masked[~chosen], ids[~chosen])
    assert chosen[ordinary].float().mean().item() == pytest.approx(0.15, abs=0.01)
    assert (masked[chosen] == tokenizer.mask_token_id).float().mean().item() == pytest.approx(0.8, abs=0.03)
    assert (masked[chosen] == ids[chosen]).float().mean().item() == pytest.approx(0.1, abs=0.03)


def test_padding_of_the_merged_columns_is_no_token(make_weights: Callable[..., Path], sentences: list[str]) -> None:
    """Narrow columns are filled up with id 0, which is an ordinary token elsewhere."""
    weights = make_weights("bert", head=True)
    encoder = loading.load(weights, pooling="mean").eval()
    loss = module(weights, encoder, 0.999)
    loss.mask.special = torch.tensor([1])
    seen = spied(loss)
    batch = columns(encoder, sentences)
    loss(batch)
    assert (seen[0][1] != -100).sum() == sum(column["attention_mask"].sum() for column in batch)


def test_without_a_masked_token_the_contrast_is_left(
    directory: Path, encoder: SentenceTransformer, sentences: list[str]
) -> None:
    loss = module(directory, encoder, 1e-9)
    assert torch.equal(loss(columns(encoder, sentences)), loss.contrast(columns(encoder, sentences)))


def test_half_precision_of_the_head_is_near(
    directory: Path, encoder: SentenceTransformer, sentences: list[str]
) -> None:
    """Of new weights, whose logits are near 0, the two losses may be equal by chance: the type of the logits tells."""
    single, half = module(directory, encoder), module(directory, encoder, half=True)
    values, types = [], []
    for loss in (single, half):
        loss.head.register_forward_hook(lambda head, given, output: types.append(output.logits.dtype))
        torch.manual_seed(0)
        values.append(loss(columns(encoder, sentences)))
    assert types == [torch.float32, torch.bfloat16] and values[1].dtype == torch.float32
    assert values[1].item() == pytest.approx(values[0].item(), rel=1e-2)


def no_mask_token(directory: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(directory)
    tokenizer.mask_token = None
    tokenizer.save_pretrained(directory)


def another_kind(directory: Path) -> None:
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps(config | {"model_type": "gpt2"}))


@pytest.mark.parametrize(
    ("head", "damage", "message"),
    [
        (False, None, r"head.*cls\.predictions\..*set training\.mlm_weight"),
        (True, no_mask_token, r"no mask token; set training\.mlm_weight"),
        (True, another_kind, r"no masked language modelling; set training\.mlm_weight"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_so_is_told_in_one_line(
    make_weights: Callable[..., Path], tmp_path: Path, head: bool, damage: Any, message: str
) -> None:
    shutil.copytree(make_weights("bert", head=head), tmp_path, dirs_exist_ok=True)
    encoder = loading.load(tmp_path, pooling="mean")
    if damage:
        damage(tmp_path)
        encoder.tokenizer.mask_token = AutoTokenizer.from_pretrained(tmp_path).mask_token if head else None
    with pytest.raises(UserError, match=message) as error:
        mlm_head.load_head(tmp_path, encoder)
    assert "\n" not in str(error.value)
