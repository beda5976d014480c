"""Vectors of tokens are those that fastText itself makes with what deepfocus 1.0.1 gives it."""

from __future__ import annotations

from pathlib import Path

import fasttext
import numpy as np

from seedbed.encoders.objectives.vocabulary import Vocabulary
from seedbed.encoders.vocabulary.replace import token_vectors
from tests.tiny import sentences


def test_vectors_are_cbows(tmp_path: Path) -> None:
    texts = [text.lower().split() for text in sentences("hau", 100)]
    (tmp_path / "text").write_text("".join(" ".join(text) + "\n" for text in texts))
    theirs = fasttext.train_unsupervised(
        str(tmp_path / "text"), model="cbow", dim=8, epoch=3, neg=10, minCount=10, bucket=999, thread=1, verbose=0
    )
    found = token_vectors(texts, Vocabulary(dimensions=8, bucket=999))
    assert {*found} == {*theirs.words} and len(found) > 10
    for token, vector in found.items():
        np.testing.assert_array_equal(vector, theirs[token])
