"""Settings of classifiers. A module of its own: encoders need nothing of the generators' settings."""

from __future__ import annotations

from typing import Annotated, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from seedbed.encoders.tuning_settings import FineTuning
from seedbed.generators.icl_settings import Answering
from seedbed.generators.settings import Composition, Lora
from seedbed.precision import Precision
from seedbed.settings import Once, Settings

Variant = Literal["base", "task-target", "task-pivot", "composition"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
"""What a table can show of a classifier: untrained; with the task adapter of the test language, or of the pivot; with
the latter composed for the test language (paper 000, table 7)."""

IN_CONTEXT = ("zero-shot", "one-shot", "few-shot")
"""What a table can show of a classifier that learns in context: without shots, or with its `shots`."""
BESIDE = ("random", "majority", "fine-tuned")
"""What a table can show of classifiers that answer what the nearest training texts do: one variant of each."""


class Retriever(Settings):
    """The encoder that finds shots."""

    backbone: str
    """Of `backbones`."""
    recipe: str
    """Of `recipes`."""


class Shown(Settings):
    """The training texts that a prompt holds, where that is not what the classifier says."""

    shots: int | None = Field(None, gt=0)
    """How many."""
    percentile: int = Field(0, ge=0, lt=100)
    """The nearest from this percentile of the training texts on, by distance (MINERS, figure 4). Only the tasks that a
    table asks for are scored."""
    retriever: Retriever | None = None
    """Another encoder (MINERS, table 16)."""


class InContext(Answering):
    """Learning from the training texts nearest to the one that is to be labelled, shown in the prompt (MINERS)."""

    retriever: Retriever
    """The encoder by whose embeddings they are the nearest."""
    shots: int = Field(1, gt=0)
    """How many are shown; variant one-shot, or few-shot if they are several. Variant zero-shot has none."""
    balance: bool = False
    """So many of each label."""
    variants: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.-]*$")], Shown] = {}
    """What else a table can show of it: farther texts, or another retriever."""

    @model_validator(mode="after")
    def _of_all(self) -> Self:
        if self.balance and (far := [name for name, shown in self.variants.items() if shown.percentile]):
            raise ValueError(f"variants.{far[0]}.percentile: it is of texts of all labels; leave out `balance`")
        return self

    @field_validator("variants")
    @classmethod
    def _own_names(cls, variants: dict[str, Shown]) -> dict[str, Shown]:
        if taken := sorted({*variants} & {*VARIANTS, *IN_CONTEXT, *BESIDE}):
            raise ValueError(f"{taken[0]} is there anyway; give it another name")
        return variants

    def shown(self) -> dict[str, Shown | None]:
        """What a table can show of it, whole; None: nothing is in the prompt."""
        own = {"shots": self.shots, "retriever": self.retriever}
        usual = IN_CONTEXT[1 if self.shots == 1 and not self.balance else 2]
        return {IN_CONTEXT[0]: None, usual: Shown(**own)} | {
            name: variant.model_copy(update={key: getattr(variant, key) or value for key, value in own.items()})
            for name, variant in self.variants.items()
        }

    def answering(self) -> Answering:
        """How it is asked, without what it is shown."""
        return Answering.model_validate(self.model_dump(include={*Answering.model_fields}))


class Classifier(Settings):
    """A model that labels pairs of sentences, with LoRA adapters for the task and for languages (paper 000, table 7).

    Either an encoder with a new head, or a language model that compares the likelihoods of the labels. Or what labels
    texts (MINERS): a language model after a few labelled ones, `in_context`; an encoder after `fine_tuning`; or a
    `baseline` without a model.
    """

    backbone: str = ""
    """The encoder."""
    generator: str = ""
    """The language model; its own `lora`, `language_data`, `composition` and `dtype` hold, and none is given here."""
    paper: str = ""
    """Its name in the papers' tables, if it is there."""
    on_request: bool = False
    """Only in tables that name it."""
    languages: Once[str] | None = None
    """Only for these test languages."""
    tasks: Once[str] | None = None
    """Only on these tasks."""
    lora: Lora = Lora()
    """Training of every adapter of the encoder, and of the head beside the task's."""
    language_data: Literal["instructions", "annotated", "text"] = "instructions"
    """What the encoder's language adapters learn from, by masked language modelling."""
    composition: Composition = Composition()
    """How the encoder's adapters are composed."""
    scales: list[Annotated[float, Field(ge=0)]] = []
    """Other lambdas of its composition: variants `composition-{scale}` (paper 000, figure 10)."""
    dtype: Precision = "auto"
    """bfloat16: autocast in training; the encoder's weights stay float32."""
    in_context: InContext | None = None
    """The generator has no adapters and learns in context; it is scored on tasks of protocol icl, and on no others."""
    fine_tuning: FineTuning | None = None
    """The backbone has no adapters: all its weights learn the training set of a task of protocol knn, a model for each
    training set and seed of the study, and it is scored on those tasks alone."""
    baseline: Literal["", "random", "majority"] = ""
    """Without a model, on tasks of protocol knn. random: each label of the training set with the same probability, once
    for each seed of the study. majority: the most frequent one."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = [name for name in ("in_context", "fine_tuning", "baseline") if getattr(self, name)]
        if len(forms) > 1:
            raise ValueError(f"{forms[1]}: it has {forms[0]} already; make two classifiers")
        own = self.model_fields_set & {"lora", "language_data", "composition", "dtype"}
        if self.baseline and (given := sorted(own | self.model_fields_set & {"backbone", "generator"})):
            raise ValueError(f"{given[0]}: baseline {self.baseline} has no model; leave it out")
        if self.scales and forms:
            raise ValueError(f"scales: of adapters, and {forms[0]} has none; leave it out")
        if self.fine_tuning and (adapted := sorted(own - {"dtype"})):
            raise ValueError(f"{adapted[0]}: of adapters, and fine_tuning has none; leave it out")
        return self

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if bool(self.backbone) == bool(self.generator) and not self.baseline:
            raise ValueError("give either `backbone` or `generator`")
        if self.backbone and self.in_context:
            raise ValueError("in_context: an encoder reads no prompts; give a `generator`")
        if self.generator and self.fine_tuning:
            raise ValueError("fine_tuning: a language model has no head; give a `backbone`")
        own = self.model_fields_set & {"lora", "language_data", "composition", "dtype"}
        if self.generator and own:
            raise ValueError(
                f"{sorted(own)[0]}: a language model has its generator's; leave it out, or change it there"
            )
        return self

    @property
    def composed(self) -> list[str]:
        """The variants of its `scales`."""
        return [f"composition-{scale:g}" for scale in self.scales]

    @property
    def protocol(self) -> Literal["knn", "icl", "classification"]:
        """That of the tasks that it answers."""
        return "knn" if self.beside else "icl" if self.in_context else "classification"

    @property
    def beside(self) -> str:
        """Its one variant of BESIDE; nothing: it has others."""
        return "fine-tuned" if self.fine_tuning else self.baseline
