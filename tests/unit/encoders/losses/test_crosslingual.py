"""Languages of a batch's sentences, and vectors back in their places, by brute force."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch

from seedbed.encoders.losses.crosslingual import gather, sample_languages
from seedbed.io import UserError


@pytest.mark.parametrize(("columns", "languages"), [(2, 2), (2, 5), (3, 3), (3, 9)])
def test_a_row_is_in_different_languages_each_as_likely(columns: int, languages: int) -> None:
    counts: Counter[tuple[int, ...]] = Counter()
    for seed in range(1000):
        drawn = sample_languages(8, columns, languages, np.random.default_rng(seed))
        assert drawn.shape == (8, columns)
        assert len({*drawn.ravel().tolist()}) <= 6
        counts.update(map(tuple, drawn.tolist()))
    allowed = [*permutations(range(languages), columns)]
    assert {*counts} <= {*allowed}
    if len(allowed) <= 20:
        assert {*counts} == {*allowed}
        assert max(counts.values()) < 1.6 * min(counts.values())
    numbers = Counter(language for row, count in counts.items() for language in row for _ in range(count))
    assert {*numbers} == {*range(languages)} and max(numbers.values()) < 1.6 * min(numbers.values())


def test_a_batch_has_six_languages() -> None:
    """As the code of paper 004."""
    assert {len({*sample_languages(64, 2, 9, np.random.default_rng(seed)).ravel().tolist()}) for seed in range(20)} == {
        6
    }


def test_of_two_languages_the_negative_is_in_either() -> None:
    drawn = sample_languages(4000, 3, 2, np.random.default_rng(0))
    counts = Counter(map(tuple, drawn.tolist()))
    assert {*counts} == {(0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1)}
    assert all(900 < count < 1100 for count in counts.values())


def test_one_state_of_the_generator_gives_one_draw() -> None:
    one, other = (sample_languages(30, 3, 9, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(one, other) and not np.array_equal(one, sample_languages(30, 3, 9, np.random.default_rng(8)))


@pytest.mark.parametrize("columns", [1, 4])
def test_what_cannot_be_drawn(columns: int) -> None:
    with pytest.raises(UserError, match=f"^columns: {columns}; a row has"):
        sample_languages(4, columns, 9, np.random.default_rng(0))


@pytest.mark.parametrize("columns", [2, 3])
def test_vectors_come_back_to_their_places_with_their_gradients(columns: int) -> None:
    rng, rows, width = np.random.default_rng(columns), 7, 4
    languages = sample_languages(rows, columns, 3, rng)
    texts = torch.from_numpy(rng.normal(size=(rows, columns, width))).requires_grad_()
    places = [rng.permutation(np.argwhere(languages == language)) for language in range(3)]
    vectors = [texts[place[:, 0], place[:, 1]] * (language + 1) for language, place in enumerate(places)]
    found = gather(vectors, places)
    assert len(found) == columns
    for row in range(rows):
        for column in range(columns):
            expected = texts[row, column] * (int(languages[row, column]) + 1)
            assert torch.equal(found[column][row], expected)
    sum((column**2).sum() for column in found).backward()
    factors = torch.from_numpy(languages + 1)[..., None]
    assert torch.allclose(texts.grad, 2 * texts.detach() * factors**2)
