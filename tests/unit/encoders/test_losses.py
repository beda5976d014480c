"""The loss against its closed form, and against sentence-transformers' own."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from torch import Tensor, nn

from seedbed.encoders.losses import SimCSELoss, simcse
from seedbed.io import UserError


def vectors(columns: int, rows: int = 7, *, seed: int = 0, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    random = np.random.default_rng(seed)
    return [torch.tensor(random.normal(size=(rows, 5)), dtype=dtype, requires_grad=True) for _ in range(columns)]


def closed_form(anchor: Tensor, *candidates: Tensor, temperature: float) -> float:
    """Paper 000, equation 1, term by term."""

    def cosine(x: np.ndarray, y: np.ndarray) -> float:
        return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))

    anchors, *others = (column.detach().numpy() for column in (anchor, *candidates))
    losses = []
    for i, a in enumerate(anchors):
        denominator = sum(math.exp(cosine(a, c) / temperature) for column in others for c in column)
        losses.append(-math.log(math.exp(cosine(a, others[0][i]) / temperature) / denominator))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("temperature", [0.05, 0.5])
def test_is_the_closed_form(columns: int, temperature: float) -> None:
    batch = vectors(columns)
    expected = closed_form(*batch, temperature=temperature)
    assert simcse(*batch, temperature=temperature).item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("columns", [2, 3])
def test_value_and_gradients_are_those_of_sentence_transformers(columns: int) -> None:
    ours, theirs = vectors(columns), vectors(columns)
    loss = simcse(*ours, temperature=0.05)
    reference = MultipleNegativesRankingLoss(nn.Identity(), scale=20).compute_loss_from_embeddings(theirs, None)
    loss.backward()
    reference.backward()
    assert loss.item() == pytest.approx(reference.item(), rel=1e-12)
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x.grad, y.grad, rtol=0, atol=1e-13)


@given(st.permutations(range(7)))
def test_order_of_the_rows_does_not_matter(order: list[int]) -> None:
    batch = vectors(3)
    turned = [column[list(order)] for column in batch]
    assert simcse(*turned, temperature=0.05).item() == pytest.approx(simcse(*batch, temperature=0.05).item())


@given(st.floats(0.01, 100))
def test_length_of_a_vector_does_not_matter(factor: float) -> None:
    anchor, positive, negative = vectors(3)
    scaled = simcse(anchor * factor, positive, negative / factor, temperature=0.05)
    assert scaled.item() == pytest.approx(simcse(anchor, positive, negative, temperature=0.05).item())


def test_at_a_high_temperature_nothing_is_told_apart() -> None:
    assert simcse(*vectors(3), temperature=1e9).item() == pytest.approx(math.log(14))


def test_half_precision_is_raised_to_single_even_under_autocast() -> None:
    batch = vectors(3, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        loss = simcse(*batch, temperature=0.05)
    assert loss.dtype == torch.float32
    expected = closed_form(*(column.float() for column in batch), temperature=0.05)
    assert loss.item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("rows", [[4, 5], [4, 4, 5]])
def test_shapes_must_agree(rows: list[int]) -> None:
    with pytest.raises(UserError, match=r"shapes \(4, 5\), .*\(5, 5\)"):
        simcse(*(vectors(1, n)[0] for n in rows), temperature=0.05)


def test_a_single_vector_is_no_batch() -> None:
    with pytest.raises(UserError, match="same"):
        simcse(torch.ones(5), torch.ones(5), temperature=0.05)


@pytest.mark.parametrize("temperature", [0.05, 0.5])
def test_module_gives_columns_to_the_loss_in_order(temperature: float) -> None:
    """A model that looks vectors up: what the module encodes is what the function gets, padding and all."""

    class Lookup(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(9, 5)

        def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
            states = self.table(features["input_ids"]) * features["attention_mask"][..., None]
            return {"sentence_embedding": states.sum(1)}

    model = Lookup()
    ids = [torch.tensor(rows) for rows in ([[1, 2], [3, 4]], [[5, 6], [7, 8]], [[2], [1]])]
    features = [{"input_ids": column, "attention_mask": torch.ones_like(column)} for column in ids]
    for width in (2, 3):
        expected = simcse(*(model.table(column).sum(1) for column in ids[:width]), temperature=temperature)
        torch.testing.assert_close(SimCSELoss(model, temperature)(features[:width]), expected)
