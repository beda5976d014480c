"""Settings of classifiers. A module of its own: encoders need nothing of the generators' settings."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, Self, get_args

from pydantic import Field, model_validator

from seedbed.generators.icl_settings import Answering
from seedbed.generators.settings import Composition, Lora
from seedbed.precision import Precision
from seedbed.settings import Settings

Variant = Literal["base", "task-target", "task-pivot", "composition"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
"""What a table can show of a classifier: untrained; with the task adapter of the test language, or of the pivot; with
the latter composed for the test language (paper 000, table 7)."""


class Shown(NamedTuple):
    """The training texts that a prompt of an in-context variant holds."""

    shots: int
    percentile: int = 0


IN_CONTEXT = ("zero-shot", "one-shot", "few-shot")
"""What a table can show of a classifier that learns in context: without shots, or with its `shots`."""


class Retriever(Settings):
    """The encoder that finds shots."""

    backbone: str
    """Of `backbones`."""
    recipe: str
    """Of `recipes`."""


class InContext(Answering):
    """Learning from the training texts nearest to the one that is to be labelled, shown in the prompt (MINERS)."""

    retriever: Retriever
    """The encoder by whose embeddings they are the nearest."""
    shots: int = Field(1, gt=0)
    """How many are shown; variant one-shot, or few-shot if they are several. Variant zero-shot has none."""
    balance: bool = False
    """So many of each label."""
    percentiles: list[Annotated[int, Field(gt=0, lt=100)]] = []
    """More variants, `one-shot-p10` and so on: the nearest from this percentile of the training texts on (figure 4)."""

    @model_validator(mode="after")
    def _of_all(self) -> Self:
        if self.balance and self.percentiles:
            raise ValueError("percentiles: they are of texts of all labels; leave out `balance`")
        return self

    def variants(self) -> dict[str, Shown]:
        """What a table can show of it."""
        name = IN_CONTEXT[1 if self.shots == 1 and not self.balance else 2]
        farther = {f"{name}-p{percentile}": Shown(self.shots, percentile) for percentile in self.percentiles}
        return {IN_CONTEXT[0]: Shown(0), name: Shown(self.shots), **farther}

    def answering(self) -> Answering:
        """How it is asked, without what it is shown."""
        return Answering.model_validate(self.model_dump(include={*Answering.model_fields}))


class Classifier(Settings):
    """A model that labels pairs of sentences, with LoRA adapters for the task and for languages (paper 000, table 7).

    Either an encoder with a new head, or a language model that compares the likelihoods of the labels; or a language
    model that labels texts after a few labelled ones, `in_context` (MINERS).
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
    in_context: InContext | None = None
    """The generator has no adapters and learns in context; it is scored on tasks of protocol icl, and on no others."""

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if bool(self.backbone) == bool(self.generator):
            raise ValueError("give either `backbone` or `generator`")
        if self.backbone and self.in_context:
            raise ValueError("in_context: an encoder reads no prompts; give a `generator`")
        own = self.model_fields_set & {"lora", "language_data", "composition", "dtype"}
        if self.generator and own:
            raise ValueError(
                f"{sorted(own)[0]}: a language model has its generator's; leave it out, or change it there"
            )
        return self
