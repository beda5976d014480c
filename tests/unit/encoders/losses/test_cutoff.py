"""Texts that lose tokens in training: which, how many, and what an encoder makes of the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sentence_transformers import SentenceTransformer

from seedbed.encoders import objectives
from seedbed.encoders.losses.contrastive import SimCSELoss
from seedbed.encoders.losses.token_cutoff import cut_off
from seedbed.encoders.models import loading
from seedbed.encoders.settings import Training

SPECIAL = [0, 2]


def features(rows: int = 400, tokens: int = 50) -> dict[str, Any]:
    """Texts of `tokens` tokens between two special ones, and four of padding."""
    ids = torch.cat([torch.zeros(rows, 1), torch.full((rows, tokens), 7.0), torch.full((rows, 1), 2.0)], dim=1).long()
    ids, mask = (torch.nn.functional.pad(part, (0, 4), value=value) for part, value in ((ids, 1), (ids * 0 + 1, 0)))
    return {"input_ids": ids, "attention_mask": mask}


def test_a_share_of_the_tokens_goes_and_special_ones_and_the_prompt_stay() -> None:
    torch.manual_seed(0)
    whole = features()
    mask = cut_off(whole | {"prompt_length": torch.tensor([4])}, 0.3, SPECIAL)["attention_mask"]
    assert mask[:, :4].all() and mask[:, 51].all() and not mask[:, 52:].any()
    lost = 1 - mask[:, 4:51].float().mean().item()
    assert abs(lost - 0.3) < 4 * np.sqrt(0.3 * 0.7 / (400 * 47)), "four standard errors"
    assert len(mask.unique(dim=0)) == 400, "each text loses others"
    assert whole["attention_mask"].sum() == 400 * 52, "the texts themselves stay as they are"


def test_a_prompt_stays_after_padding_on_the_left() -> None:
    ids = torch.tensor([[1, 1, 7, 8, 21, 22], [7, 8, 21, 22, 23, 24]])
    given = {"input_ids": ids, "attention_mask": (ids != 1).long(), "prompt_length": torch.tensor([2, 2])}
    mask = cut_off(given, 1.0, [1])["attention_mask"]
    assert mask.tolist() == [[0, 0, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]]


@pytest.fixture
def encoder(weights: Path) -> SentenceTransformer:
    return loading.load(weights, pooling="mean").eval()


def test_a_token_that_is_cut_off_changes_nothing_of_the_vector(encoder: SentenceTransformer) -> None:
    torch.manual_seed(0)
    texts = encoder.preprocess(["one two three four five six seven", "eight nine ten"])
    cut = cut_off(texts, 0.5, encoder.tokenizer.all_special_ids)
    gone = (texts["attention_mask"] == 1) & (cut["attention_mask"] == 0)
    assert gone.any()
    other = cut["input_ids"].masked_fill(gone, encoder.tokenizer.unk_token_id)
    with torch.inference_mode():
        expected = encoder(dict(cut))["sentence_embedding"]
        found = encoder(cut | {"input_ids": other})["sentence_embedding"]
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_the_loss_is_simcses_of_what_is_left(encoder: SentenceTransformer, sentences: list[str]) -> None:
    columns = [encoder.preprocess(sentences) for _ in range(2)]
    torch.manual_seed(3)
    found = SimCSELoss(encoder, 0.05, cutoff=0.4)([dict(column) for column in columns])
    torch.manual_seed(3)
    left = [cut_off(column, 0.4, encoder.tokenizer.all_special_ids) for column in columns]
    torch.testing.assert_close(found, SimCSELoss(encoder, 0.05)(left))
    whole = SimCSELoss(encoder, 0.05)([dict(column) for column in columns])
    assert found > whole, "equal texts are told apart at once, cut ones are not"


def test_contrast_cuts_where_it_is_asked_to(encoder: SentenceTransformer, sentences: list[str]) -> None:
    given = (encoder, pd.DataFrame({"text": sentences}), Training(precision="float32", pooling="mean"), {})
    assert objectives.load("contrast").loss(*given).cutoff == 0
    assert objectives.load("contrast", {"cutoff": 0.3}).loss(*given).cutoff == 0.3
