"""The losses against their closed forms, and against sentence-transformers' own."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from torch import Tensor, nn

from seedbed.encoders.losses.contrastive import SimCSELoss, additive_margin, neighbour_contrast, queue_contrast, simcse
from seedbed.encoders.losses.rows import with_negatives
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


@pytest.mark.parametrize("there", [[], [0], [1, 4, 6], range(7)])
def test_rows_without_a_negative_add_no_candidate(there: list[int]) -> None:
    """By loops over the candidates that there are, in float64; with all or none as sentence-transformers has it."""
    anchor, positive, negative = vectors(3)
    keep = torch.tensor([row in there for row in range(7)])
    loss = simcse(anchor, positive, negative, temperature=0.05, keep=keep)
    expected = closed_form(anchor, positive, *(negative[row : row + 1] for row in there), temperature=0.05)
    assert loss.item() == pytest.approx(expected, rel=1e-12)
    loss.backward()
    assert [row for row in range(7) if negative.grad[row].any()] == [*there]
    if len(there) in (0, 7):
        columns = [column.detach() for column in (anchor, positive, negative)][: 3 if there else 2]
        theirs = MultipleNegativesRankingLoss(nn.Identity(), scale=20).compute_loss_from_embeddings(columns, None)
        assert loss.item() == pytest.approx(theirs.item(), rel=1e-12)


@pytest.mark.parametrize(("rows", "columns"), [([0, 1, 2], 3), ([3, 4], 2), ([2, 3], 3)])
def test_a_batch_reads_no_column_of_blank_negatives(rows: list[int], columns: int) -> None:
    """The loss as training calls it: texts are vectors here, and those of blank negatives are not a number."""
    table = pd.DataFrame({"negative": ["a", "b", "c", "", ""]})
    read = []

    class Model(nn.Module):
        def forward(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
            read.append(len(features["vectors"]))
            return {"sentence_embedding": features["vectors"]}

    batch = vectors(3, 5)
    with torch.no_grad():
        batch[2][3:] = torch.nan
    loss = SimCSELoss(Model(), 0.05, with_negatives(table))(
        [{"vectors": one[rows]} for one in batch], torch.tensor(rows)
    )
    there = [row for row in rows if row < 3]
    expected = closed_form(
        batch[0][rows], batch[1][rows], *(batch[2][row : row + 1] for row in there), temperature=0.05
    )
    assert loss.item() == pytest.approx(expected, rel=1e-12)
    assert len(read) == columns


def test_which_rows_have_a_negative() -> None:
    table = pd.DataFrame({"negative": ["a", "", "c"], "pivot_negative": ["a", "b", ""], "anchor": ["", "", ""]})
    assert with_negatives(table).tolist() == [True, False, True]
    assert with_negatives(table, "negative", "pivot_negative").tolist() == [True, False, False]
    assert with_negatives(table[:1]) is with_negatives(table[["anchor"]]) is None


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


def softmaxed(scores: np.ndarray, gold: int) -> float:
    """-log of the share that the gold score has."""
    return -math.log(math.exp(scores[gold]) / sum(math.exp(score) for score in scores))


def cosines(x: Tensor, y: Tensor) -> np.ndarray:
    """All cosines, one by one."""
    one, two = x.detach().double().numpy(), y.detach().double().numpy()
    return np.array([[a @ b / np.linalg.norm(a) / np.linalg.norm(b) for b in two] for a in one])


def margin_by_hand(x: Tensor, y: Tensor, t: float, m: float, keep: np.ndarray | None = None) -> float:
    """Paper 001, equations 1 to 3, term by term."""
    given, n = cosines(x, y), len(x)
    total = 0.0
    for rows, kept in ((given, keep), (given.T, None if keep is None else keep.T)):
        for i in range(n):
            others = [j for j in range(n) if j != i and (kept is None or kept[i, j])]
            total += softmaxed(np.array([(rows[i, i] - m) / t, *(rows[i, j] / t for j in others)]), 0) / n
    return total


masks = st.integers(0, 2**49 - 1).map(lambda bits: np.array([bits >> n & 1 for n in range(49)], bool).reshape(7, 7))


@settings(max_examples=25)
@given(st.sampled_from([0.05, 0.5]), st.sampled_from([0.0, 0.3]), st.none() | masks)
def test_margin_is_the_closed_form(temperature: float, margin: float, keep: np.ndarray | None) -> None:
    x, y = vectors(2)
    mask = None if keep is None else torch.from_numpy(keep)
    found = additive_margin(x, y, temperature=temperature, margin=margin, keep=mask)
    assert found.item() == pytest.approx(margin_by_hand(x, y, temperature, margin, keep), rel=1e-12)
    assert torch.autograd.gradcheck(
        lambda x, y: additive_margin(x, y, temperature=temperature, margin=margin, keep=mask), (x, y)
    )


def test_two_orthogonal_pairs_have_a_value_that_one_can_write_down() -> None:
    pairs = torch.eye(2, dtype=torch.float64)
    found = additive_margin(pairs, pairs, temperature=0.05, margin=0.3).item()
    assert found == pytest.approx(2 * math.log1p(math.exp(-0.7 / 0.05)))
    assert additive_margin(pairs, pairs.flip(0), temperature=0.05, margin=0.3).item() == pytest.approx(52, rel=1e-7)


def test_without_a_margin_it_is_simcse_both_ways() -> None:
    x, y = vectors(2)
    expected = simcse(x, y, temperature=0.05) + simcse(y, x, temperature=0.05)
    torch.testing.assert_close(additive_margin(x, y, temperature=0.05), expected)


@given(st.integers(0, 3), st.none() | st.lists(st.integers(0, 2), min_size=21, max_size=21))
def test_neighbours_count_by_their_rank(k: int, ids: list[int] | None) -> None:
    anchor, *ranks = vectors(1 + k)
    near = torch.stack(ranks, dim=1) if ranks else anchor.new_zeros(7, 0, 5)
    given_ids = None if ids is None else np.array(ids[: 7 * k]).reshape(7, k)
    expected = sum(
        margin_by_hand(anchor, column, 0.05, 0, None if ids is None else np.not_equal.outer(*[given_ids[:, r]] * 2))
        / (r + 1)
        for r, column in enumerate(ranks)
    )
    tensor = None if ids is None else torch.from_numpy(given_ids)
    assert neighbour_contrast(anchor, near, temperature=0.05, ids=tensor).item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("temperature", [0.05, 1.0])
@pytest.mark.parametrize("m", [0, 1, 9])
@pytest.mark.parametrize("masked", [False, True])
def test_queue_is_the_closed_form_and_gets_no_gradient(temperature: float, m: int, masked: bool) -> None:
    (anchor, positive), (queue,) = vectors(2), vectors(1, max(m, 1), seed=1)
    held = queue[:m]
    keep = torch.from_numpy(np.random.default_rng(2).random((7, m)) < 0.5) if masked else None
    found = queue_contrast(anchor, positive, held, temperature=temperature, keep=keep)
    negatives = cosines(anchor, held) if m else np.zeros((7, 0))
    expected = [
        softmaxed(
            np.array([cosines(anchor, positive)[i, i], *negatives[i][keep[i].numpy() if masked else ...]])
            / temperature,
            0,
        )
        for i in range(7)
    ]
    assert found.item() == pytest.approx(np.mean(expected), rel=1e-12, abs=1e-15)
    found.backward()
    assert queue.grad is None
    if not m:
        assert found.item() == 0 and not anchor.grad.any() and not positive.grad.any()
    elif not masked:
        assert anchor.grad.any() and positive.grad.any()


def test_the_three_losses_are_single_under_autocast() -> None:
    x, y, z = vectors(3, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        found = [
            additive_margin(x, y, temperature=0.05, margin=0.3),
            neighbour_contrast(x, y[:, None], temperature=0.05),
            queue_contrast(x, y, z.float(), temperature=0.05),
        ]
    x, y, z = (column.detach().float() for column in (x, y, z))
    expected = [
        additive_margin(x, y, temperature=0.05, margin=0.3),
        neighbour_contrast(x, y[:, None], temperature=0.05),
        queue_contrast(x, y, z, temperature=0.05),
    ]
    assert {one.dtype for one in found} == {torch.float32}
    torch.testing.assert_close(torch.stack(found), torch.stack(expected), rtol=1e-5, atol=0)


FOUR, FIVE = torch.ones(4, 5), torch.ones(5, 5)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: additive_margin(FOUR, FIVE, temperature=1), r"^additive_margin: shapes \(4, 5\), \(5, 5\); all must"),
        (lambda: additive_margin(FOUR[:0], FOUR[:0], temperature=1), r"^additive_margin: shapes \(0, 5\), \(0, 5\)"),
        (
            lambda: additive_margin(FOUR, FOUR, temperature=1, keep=torch.ones(4, 5, dtype=torch.bool)),
            r"keep is torch.bool \(4, 5\); expected torch.bool \(4, 4\)",
        ),
        (lambda: additive_margin(FOUR, FOUR, temperature=1, keep=torch.ones(4, 4)), "keep is torch.float32"),
        (lambda: neighbour_contrast(FOUR, FOUR, temperature=1), r"neighbours \(4, 5\); expected \(batch, k, width\)"),
        (lambda: neighbour_contrast(FOUR, FIVE[:, None], temperature=1), r"shapes \(4, 5\), \(5, 5\)"),
        (
            lambda: neighbour_contrast(FOUR, FOUR[:, None], temperature=1, ids=torch.ones(4)),
            r"neighbours \(4, 1, 5\) and ids \(4,\)",
        ),
        (lambda: queue_contrast(FOUR, FIVE, FIVE, temperature=1), r"^queue_contrast: shapes"),
        (lambda: queue_contrast(FOUR, FOUR, torch.ones(3, 6), temperature=1), r"a queue \(3, 6\) for vectors \(4, 5\)"),
        (
            lambda: queue_contrast(FOUR, FOUR, FIVE, temperature=1, keep=torch.ones(5, 4, dtype=torch.bool)),
            r"keep is torch.bool \(5, 4\); expected torch.bool \(4, 5\)",
        ),
    ],
)
def test_losses_tell_shapes_that_do_not_fit_in_one_line(call: Callable[[], Tensor], told: str) -> None:
    with pytest.raises(UserError, match=told) as error:
        call()
    assert "\n" not in str(error.value)


def test_hard_negatives_join_the_sum_from_anchors_alone() -> None:
    x, y, hard = (
        torch.randn(4, 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) for seed in (1, 2, 3)
    )
    cos = lambda a, b: float(a @ b / a.norm() / b.norm())  # noqa: E731
    total = 0.0
    for i in range(4):
        own = np.exp((cos(x[i], y[i]) - 0.3) / 0.5)
        rest = sum(np.exp(cos(x[i], y[j]) / 0.5) for j in range(4) if j != i)
        back = sum(np.exp(cos(x[j], y[i]) / 0.5) for j in range(4) if j != i)
        wrong = sum(np.exp(cos(x[i], one) / 0.5) for one in hard)
        total -= (np.log(own / (own + rest + wrong)) + np.log(own / (own + back))) / 4
    found = additive_margin(x, y, temperature=0.5, margin=0.3, negatives=hard)
    assert found.item() == pytest.approx(total, rel=1e-12)
