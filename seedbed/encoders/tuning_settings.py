"""Settings of the fine-tuning of a whole encoder. A module of its own: no adapter's settings change what it learns."""

from __future__ import annotations

from pydantic import Field

from seedbed.settings import Settings


class FineTuning(Settings):
    """All weights of an encoder and a new head, trained on the labelled texts of a task (MINERS, A.1 and table 9).

    The rate falls linearly to zero over all `epochs`, without warm-up.
    """

    epochs: int = Field(10, gt=0)
    """At most."""
    batch_size: int = Field(8, gt=0)
    """Texts of a step."""
    learning_rate: float = Field(5e-5, gt=0)
    """At the first step."""
    weight_decay: float = Field(0.01, ge=0)
    """AdamW's."""
    max_length: int = Field(512, gt=1)
    """Tokens of a text, or as many as the encoder can read; longer texts are cut."""
    held_out: float = Field(0.1, gt=0, lt=1)
    """Share of the training texts, of each label alike, on whose accuracy the epoch is chosen."""
    patience: int = Field(2, gt=0)
    """Stop after so many epochs in a row that were no better than the best; its weights are kept."""
