"""Settings of fine-tuning a whole encoder on labelled texts, or on questions.

They have their own module, so that the code digest of fine-tuning does not depend on adapters' settings.
"""

from typing import Self

from pydantic import Field, model_validator

from seedbed.settings import Settings


class FineTuning(Settings):
    """All weights of an encoder and a new head, trained on the labelled texts of a task (MINERS, A.1 and table 9).

    The rate falls linearly to zero over all `epochs`, without warm-up.
    """

    epochs: int = Field(10, gt=0)
    """Passes over the training texts, at most."""
    batch_size: int = Field(8, gt=0)
    """Texts of a step."""
    learning_rate: float = Field(5e-5, gt=0)
    """First rate of AdamW; it falls linearly to zero."""
    weight_decay: float = Field(0.01, ge=0)
    """Weight decay of AdamW."""
    max_length: int = Field(512, gt=1)
    """Maximum tokens of a text; longer ones are truncated."""
    held_out: float = Field(0.1, gt=0, lt=1)
    """Share of the training texts on whose accuracy the epoch is chosen."""
    patience: int = Field(2, gt=0)
    """Number of epochs without improvement after which training stops."""


class Reading(Settings):
    """All weights of an encoder and a new head, trained to find answers in contexts; the defaults are XTREME's.

    Source: Hu et al. (2020, arXiv 2003.11080), scripts/train_qa.sh. The rate rises over `warmup_steps`, then falls
    linearly to zero. A context that is too long is read in windows.
    """

    epochs: int = Field(3, gt=0)
    """Passes over the windows; the weights after the last are saved."""
    batch_size: int = Field(32, gt=0)
    """Windows of a step."""
    learning_rate: float = Field(3e-5, gt=0)
    """Greatest rate of AdamW."""
    weight_decay: float = Field(1e-4, ge=0)
    """Weight decay of AdamW."""
    warmup_steps: int = Field(500, ge=0)
    """Steps in which the rate rises."""
    max_length: int = Field(384, gt=1)
    """Tokens of a question and a window of its context."""
    stride: int = Field(128, gt=0)
    """Tokens that neighbouring windows share."""
    max_question: int = Field(64, gt=0)
    """Maximum tokens of a question; longer ones are truncated."""
    max_answer: int = Field(30, gt=0)
    """Tokens of an answer, at most."""
    candidates: int = Field(20, gt=0)
    """Likeliest first and last tokens of an answer to combine in each window."""

    @model_validator(mode="after")
    def _moves_on(self) -> Self:
        if self.stride + self.max_question >= self.max_length:
            raise ValueError(
                f"stride {self.stride} and max_question {self.max_question} leave nothing new in a window of "
                f"max_length {self.max_length}; lower one"
            )
        return self
