"""How one translation of each text is chosen."""

from typing import Literal

from seedbed.settings import Settings

TranslationChoice = Literal["actor", "uniform", "first", "judge", "critic", "oracle"]
"""actor: the policy's likeliest. uniform: at random, by the text and a seed. first: of the first translator. judge:
whom a judge scores best. critic: the most similar. oracle: what a human wrote. Of equals, the first in the list."""


WEIGHTS = (0.4, 0.3, 0.3)
"""How much each of a judge's scores counts: of meaning, feeling and use (paper 002, table 13)."""


class Chosen(Settings):
    """How one translation of each text is chosen."""

    choose: TranslationChoice
    similarity: bool = True
    """Whether a policy knows how like its text each candidate is."""
    weights: tuple[float, float, float] = WEIGHTS
    """How much each of a judge's scores counts."""
