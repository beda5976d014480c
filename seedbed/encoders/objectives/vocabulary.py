"""Vocabulary replacement: a tokenizer of one language, and word embeddings for it."""

from typing import Literal

from pydantic import Field

from seedbed.encoders.objectives import Objective
from seedbed.settings import Seed


class Vocabulary(Objective):
    """A tokenizer of the backbone's type trained on sentences, and new word embeddings for its tokens; all other
    weights are unchanged.

    Source: paper 004, section 3, and appendix B.2 for the defaults.

        recipes:
          vocabulary: {data: {corpus: running}, objective: {vocabulary: {size: 8000, initialisation: pieces}}}
    """

    shapes = (("text",),)
    rule = "train_vocabulary"
    own_seed = True

    size: int = Field(50_048, gt=0)
    """Tokens, special ones included; a text with too few distinct tokens is an error."""
    initialisation: Literal["focus", "pieces"] = "focus"
    """How a new token gets its word embedding. focus: from the rows of tokens with similar fastText vectors (FOCUS).
    pieces: the mean of the rows of the backbone's tokens for it; for small texts."""
    dimensions: int = Field(300, gt=0)
    """Width of fastText's vectors."""
    epochs: int = Field(3, gt=0)
    """fastText's passes over the text."""
    min_count: int = Field(10, gt=0)
    """Minimum count of a token in the text; the row of a rarer token is sampled, without fastText."""
    negatives: int = Field(10, gt=0)
    """Negative samples of fastText for each predicted word."""
    bucket: int = Field(2_000_000, gt=0)
    """Rows of fastText's table of character n-grams, at 4 x `dimensions` bytes each: 2.4 GB; fewer do for a small
    text."""
    threads: int = Field(16, gt=0)
    """Threads of SentencePiece, whatever the machine has: another number makes another tokenizer."""
    mask_token: str = ""
    """The piece that is to be the mask, where the backbone's tokenizer names none, like `<mask>`."""
    unknown: float = Field(0.01, ge=0, le=1)
    """The greatest share of unknown tokens among those of held-out sentences."""
    seed: Seed = 42
    """Seed of sampled rows."""
