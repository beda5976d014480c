"""Training on pairs that keeps translations where they are: its loss beside numpy's, and what it moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import rel_entr, softmax
from sentence_transformers import SentenceTransformer

from seedbed.encoders import objectives
from seedbed.encoders.losses.contrastive import SimCSELoss
from seedbed.encoders.losses.retention import similarity_distillation
from seedbed.encoders.models import loading
from seedbed.encoders.settings import Training
from seedbed.io import UserError

SETTINGS = Training(precision="float32", pooling="mean")
PLAIN = {"cutoff": 0.0, "scale": 10.0}


def cosines(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x @ y.T / np.linalg.norm(x, axis=1)[:, None] / np.linalg.norm(y, axis=1)


def divergence(target: np.ndarray, scores: np.ndarray, temperature: float) -> float:
    p, q = (softmax(part / temperature, axis=1) for part in (target, scores))
    return rel_entr(p, q).sum(axis=1).mean()


@pytest.mark.parametrize(("temperature", "others"), [(0.02, 0), (0.5, 0), (0.5, 3)])
def test_it_is_the_closed_form(temperature: float, others: int) -> None:
    """Of other sentences the target is 0: similarity to them takes from that to the translations."""
    m, e, x = np.random.default_rng(0).normal(size=(3, 5, 4))
    y = np.random.default_rng(1).normal(size=(others, 4))
    target, apart = cosines(m, m), ~np.eye(5, dtype=bool)
    p, q = softmax(target / temperature, axis=1), softmax(cosines(e, np.concatenate([x, y])) / temperature, axis=1)
    forward = (p * np.log(p / q[:, :5])).sum(axis=1).mean()
    across = (forward + divergence(target, cosines(x, e), temperature)) / 2
    within = divergence(target[apart].reshape(5, 4), cosines(e, e)[apart].reshape(5, 4), temperature)
    m, e, x, y = map(torch.from_numpy, (m, e, x, y))
    found = similarity_distillation(m, e, x, temperature=temperature, others=y if others else None)
    assert float(found) == pytest.approx((across + within) / 2)


def test_sentences_that_are_as_similar_as_the_teacher_says_cost_nothing_and_translations_get_no_gradient() -> None:
    teacher = torch.randn(6, 4, generator=torch.manual_seed(0))
    assert similarity_distillation(teacher, 3 * teacher, teacher, temperature=0.1) == pytest.approx(0, abs=1e-6)
    pivot, text = (torch.randn(6, 4, requires_grad=True) for _ in range(2))
    similarity_distillation(teacher, pivot, text, temperature=0.1).backward()
    assert pivot.grad.abs().sum() > 0 and text.grad is None


def test_one_row_or_other_shapes_are_refused() -> None:
    one, two = torch.ones(1, 3), torch.ones(2, 3)
    for vectors in ((one, one, one), (two, two, one)):
        with pytest.raises(UserError, match="similarity_distillation: "):
            similarity_distillation(*vectors, temperature=1)


@pytest.fixture
def encoder(weights: Path) -> SentenceTransformer:
    return loading.load(weights, pooling="mean").eval()


@pytest.fixture
def table(sentences: list[str]) -> pd.DataFrame:
    """Four pairs and four translations."""
    ids = [f"{'lines' if row < 4 else 'translations'}:{row}" for row in range(8)]
    return pd.DataFrame({"id": ids, "sentence1": sentences, "sentence2": sentences[1:] + sentences[:1]})


def loss_of(encoder: SentenceTransformer, table: pd.DataFrame, rows: list[int], **settings: object) -> torch.Tensor:
    loss = objectives.load("retention", PLAIN | settings).loss(encoder, table, SETTINGS, {})
    texts = [encoder.preprocess(table[name].iloc[rows].tolist()) for name in ("sentence1", "sentence2")]
    return loss(texts, torch.tensor(rows))


def test_a_batch_is_simcse_of_its_pairs_and_a_multiple_for_its_translations(encoder, table) -> None:
    """Whatever the order of its rows."""
    pairs, translations, mixed = [3, 0, 2], [6, 4, 7], [6, 3, 4, 0, 2, 7]
    texts = [encoder.preprocess(table[name].iloc[pairs].tolist()) for name in ("sentence1", "sentence2")]
    torch.testing.assert_close(loss_of(encoder, table, pairs), SimCSELoss(encoder, 0.1)(texts))
    own = torch.from_numpy(encoder.encode(table["sentence1"].tolist()))[translations]
    text = torch.from_numpy(encoder.encode(table["sentence2"].tolist()))[translations]
    distilled = similarity_distillation(own, own, text, temperature=0.02)
    torch.testing.assert_close(loss_of(encoder, table, translations, weight=3), 3 * distilled)
    others = torch.from_numpy(encoder.encode(table["sentence1"].tolist() + table["sentence2"].tolist()))
    others = others[[*pairs, *(row + len(table) for row in pairs)]]
    apart = similarity_distillation(own, own, text, temperature=0.02, others=others)
    torch.testing.assert_close(loss_of(encoder, table, mixed), loss_of(encoder, table, pairs) + 2 * apart)
    assert loss_of(encoder, table, [0, 4]) == 0, "a pair alone, and a translation alone, have nothing to compare with"


def test_pairs_lose_tokens_and_translations_none(encoder, table) -> None:
    whole, cut = (loss_of(encoder, table, [4, 5, 6], cutoff=share) for share in (0.0, 0.5))
    torch.testing.assert_close(whole, cut)
    torch.manual_seed(0)
    assert loss_of(encoder, table, [0, 1, 2], cutoff=0.5) != loss_of(encoder, table, [0, 1, 2])


def test_without_translations_it_is_ranking_and_without_pairs_it_is_refused(encoder, table) -> None:
    alone = table[:4]
    ranking = objectives.load("ranking", PLAIN).loss(encoder, alone, SETTINGS, {})
    texts = [encoder.preprocess(alone[name].tolist()) for name in ("sentence1", "sentence2")]
    torch.testing.assert_close(loss_of(encoder, alone, [0, 1, 2, 3]), ranking(texts, torch.arange(4)))
    with pytest.raises(UserError, match="retention: every row is of set 'translations'"):
        objectives.load("retention").loss(encoder, table[4:], SETTINGS, {})
