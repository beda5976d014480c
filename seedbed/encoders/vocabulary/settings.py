"""Settings of a backbone's adaptation to a language: its vocabulary, then masked language modelling."""

from typing import Literal

from pydantic import Field

from seedbed.precision import Precision
from seedbed.settings import Seed, Settings


class Vocabulary(Settings):
    """A tokenizer of one language, and how its tokens get their rows. Defaults: paper 004, appendix B.2."""

    size: int = Field(50_048, gt=0)
    """Tokens, special ones included; a text that cannot fill so many is an error."""
    sentences: int = Field(5_000_000, gt=1)
    """The tokenizer, its rows and masked language modelling learn from at most so many."""
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


class Masked(Settings):
    """Masked language modelling in one language. Defaults: paper 004, appendix B.2, and the script that it names."""

    steps: int = Field(100_000, gt=0)
    """Steps of the optimiser."""
    batch_size: int = Field(128, gt=0)
    """Blocks of a step."""
    length: int = Field(256, gt=2)
    """Tokens of a block: sentences with their special tokens one after the other, cut where a block is full."""
    learning_rate: float = Field(5.0e-5, gt=0)
    """AdamW, linear decay, no warm-up."""
    weight_decay: float = Field(0.0, ge=0)
    """AdamW."""
    max_grad_norm: float = Field(0.0, ge=0)
    """Gradients are clipped at this norm; 0: they are not."""
    probability: float = Field(0.15, gt=0, lt=1)
    """Share of the tokens that are to be predicted: of these 80 % become the mask, 10 % any token, 10 % stay."""
    precision: Precision = "auto"
    """As `training.precision`; the paper: float32."""
    seed: Seed = 42
    """Seed of a new head, of the order of blocks, of masks and dropout; the study's seeds repeat what comes after."""


class Adaptation(Settings):
    """What a backbone becomes before recipes that start from `vocabulary` or from `adapted` (paper 004)."""

    text: str = ""
    """A name of `corpora.others`, or `text`, whose sentences it learns: `vocabulary.sentences` at most, none of them in
    a test set. Left out, it learns the anchors of `corpora.text`, which are `anchors.count` at most."""
    vocabulary: Vocabulary = Vocabulary()
    """The tokenizer and its rows."""
    masked: Masked = Masked()
    """Masked language modelling."""
