"""Settings of vocabulary replacement."""

from typing import Literal

from pydantic import Field

from seedbed.settings import Seed, Settings


class Vocabulary(Settings):
    """A tokenizer of one language, and how its tokens get their rows. Defaults: paper 004, appendix B.2."""

    size: int = Field(50_048, gt=0)
    """Tokens, special ones included; a text that cannot fill so many is an error."""
    initialisation: Literal["focus", "pieces"] = "focus"
    """How a token that the backbone lacks gets its row. focus: of the rows of tokens that are alike by vectors of
    fastText. pieces: the mean of the rows of the pieces that the backbone makes of it; the way for little text."""
    dimensions: int = Field(300, gt=0)
    """Width of fastText's vectors."""
    epochs: int = Field(3, gt=0)
    """fastText's passes over the text."""
    min_count: int = Field(10, gt=0)
    """A token that is rarer in the text has no vector of fastText, and its row is drawn."""
    negatives: int = Field(10, gt=0)
    """Words that fastText draws for each word that it is to predict."""
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
    """Seed of rows that are drawn."""
