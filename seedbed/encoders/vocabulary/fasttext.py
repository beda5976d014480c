"""fastText vectors of tokens, which measure the similarity of tokens within one vocabulary."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import fasttext
import numpy as np

from seedbed.encoders.objectives.vocabulary import Vocabulary
from seedbed.io import UserError


def vectors(texts: Iterable[list[str]], settings: Vocabulary) -> dict[str, np.ndarray]:
    """Train fastText's CBOW on tokenised texts, in one thread, so that equal texts and settings give equal vectors.

    Other options are fastText's defaults: character n-grams of 3 to 6 within a token, seed 0. Source: deepfocus 1.0.1,
    of Dobler and de Melo (2023).

    Args:
        texts: the tokens of each text.
        settings: dimensions, negatives, epochs, min_count and bucket are used.

    Returns:
        Token -> vector (dimensions,), of the tokens that occur min_count times or more, and of `</s>`, which fastText
        adds at the end of each text.

    Raises:
        UserError: no token occurs often enough.
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
