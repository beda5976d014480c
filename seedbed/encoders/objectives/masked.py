"""Masked language modelling of a backbone on sentences of one language."""

from pydantic import Field

from seedbed.encoders.objectives import Objective
from seedbed.precision import Precision
from seedbed.settings import Seed


class Masked(Objective):
    """Cross-entropy of masked tokens; all weights and the head for masked language modelling are trained.

    Source: paper 004, section 3, "Language Adaptation"; defaults: appendix B.2, and the script that it names.

        recipes:
          adapted: {data: {corpus: running, rows: 500000}, objective: {masked: {steps: 20000}}}
          further: {like: adapted, from: ""}  # with the backbone's own vocabulary
    """

    shapes = (("text",),)
    rule = "adapt_backbone"
    own_seed = True

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
