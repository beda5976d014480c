"""Vectors of tokens by fastText, which says how alike two tokens of one vocabulary are in a text."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import fasttext
import numpy as np

from seedbed.encoders.vocabulary.settings import Vocabulary
from seedbed.io import UserError


def vectors(texts: Iterable[list[str]], settings: Vocabulary) -> dict[str, np.ndarray]:
    """Train fastText's CBOW on tokenised texts, in one thread: one text and one setting give one result.

    All else is as fastText has it: character n-grams of 3 to 6 inside a token, its seed 0. Source: deepfocus 1.0.1, of
    Dobler and de Melo (2023).

    Args:
        texts: the tokens of each.

    Returns:
        Token -> vector (dimensions,), of those that are often enough in the texts.

    Raises:
        UserError: no token is.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "tokens.txt")
        with file.open("w", encoding="utf-8") as stream:
            stream.writelines(" ".join(tokens) + "\n" for tokens in texts)
        try:
            model = fasttext.train_unsupervised(
                str(file), model="cbow", dim=settings.dimensions, neg=settings.negatives, epoch=settings.epochs,
                minCount=settings.min_count, bucket=settings.bucket, thread=1, verbose=0,
            )  # fmt: skip
        except (RuntimeError, ValueError):  # "Empty vocabulary. Try a smaller -minCount value."
            raise UserError(
                f"vocabulary.min_count: no token is {settings.min_count} times in the text; give a smaller number, or "
                "take `initialisation: pieces`"
            ) from None
    return {token: model.get_word_vector(token) for token in model.get_words()}
