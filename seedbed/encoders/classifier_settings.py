"""Settings of classifiers. A module of its own: encoders need nothing of the generators' settings."""

from __future__ import annotations

from typing import Literal, Self, get_args

from pydantic import model_validator

from seedbed.generators.settings import Composition, Lora
from seedbed.precision import Precision
from seedbed.settings import Settings

Variant = Literal["base", "task-target", "task-pivot", "composition"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
"""What a table can show of a classifier: untrained; with the task adapter of the test language, or of the pivot; with
the latter composed for the test language (paper 000, table 7)."""


class Classifier(Settings):
    """A model that labels pairs of sentences, with LoRA adapters for the task and for languages (paper 000, table 7).

    Either an encoder with a new head, or a language model that compares the likelihoods of the labels.
    """

    backbone: str = ""
    """The encoder."""
    generator: str = ""
    """The language model; its own `lora`, `language_data`, `composition` and `dtype` hold, and none is given here."""
    paper: str = ""
    """Its name in the papers' tables, if it is there."""
    lora: Lora = Lora()
    """Training of every adapter of the encoder, and of the head beside the task's."""
    language_data: Literal["instructions", "annotated", "text"] = "instructions"
    """What the encoder's language adapters learn from, by masked language modelling."""
    composition: Composition = Composition()
    """How the encoder's adapters are composed."""
    dtype: Precision = "auto"
    """bfloat16: autocast in training; the encoder's weights stay float32."""

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if bool(self.backbone) == bool(self.generator):
            raise ValueError("give either `backbone` or `generator`")
        own = self.model_fields_set & {"lora", "language_data", "composition", "dtype"}
        if self.generator and own:
            raise ValueError(
                f"{sorted(own)[0]}: a language model has its generator's; leave it out, or change it there"
            )
        return self
