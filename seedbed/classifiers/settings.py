"""Settings of classifiers, in their own module because encoders do not depend on generators' settings."""

from collections.abc import Iterable
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from seedbed.encoders.settings import Reference
from seedbed.encoders.tuning_settings import FineTuning
from seedbed.generators.settings import Answering, Composition, Lora
from seedbed.names import TOGETHER, Name
from seedbed.precision import Precision
from seedbed.settings import Once, Settings

Variant = Literal["base", "task-target", "task-pivot", "composition"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
"""What a table can show of a classifier: untrained; with the task adapter of the test language, or of the pivot; with
the latter composed for the test language (paper 000, table 7)."""

IN_CONTEXT = ("zero-shot", "one-shot", "few-shot")
"""Variants of an in-context classifier in tables: without examples, or with one or `shots`."""
BASELINES = ("random", "majority", "fine-tuned")
"""Variants of baseline classifiers in tables; each has one."""


def _require_new(names: Iterable[str], *own: str) -> None:
    """Raise a ValueError where a user's variant has the name of another, such as one of the classifier's `own`."""
    if taken := sorted({*names} & {*VARIANTS, *IN_CONTEXT, *BASELINES, TOGETHER, *own}):
        raise ValueError(f"{taken[0]} is there anyway; give it another name")


class Examples(Settings):
    """The examples in a prompt, where they are not those of the classifier."""

    shots: int | None = Field(None, gt=0)
    """Examples in a prompt; default: the classifier's."""
    percentile: int = Field(0, ge=0, lt=100)
    """Examples from this percentile of distance on (MINERS, figure 4)."""
    retriever: Reference | None = None
    """Another retriever (MINERS, table 16)."""


class InContext(Answering):
    """Learning from examples in the prompt: the training texts nearest to the one that is to be labelled (MINERS)."""

    retriever: Reference
    """The encoder that retrieves examples."""
    shots: int = Field(1, gt=0)
    """Examples in a prompt: variant one-shot, or few-shot."""
    balance: bool = False
    """`shots` examples of each label."""
    variants: dict[Name, Examples] = {}
    """Further variants: farther examples, or another retriever."""

    @model_validator(mode="after")
    def _of_all(self) -> Self:
        if self.balance and (far := [name for name, shown in self.variants.items() if shown.percentile]):
            raise ValueError(f"variants.{far[0]}.percentile: it is of texts of all labels; leave out `balance`")
        return self

    @field_validator("variants")
    @classmethod
    def _own_names(cls, variants: dict[str, Examples]) -> dict[str, Examples]:
        _require_new(variants)
        return variants

    def every_variant(self) -> dict[str, Examples | None]:
        """Variant -> its examples; None: no examples."""
        own = {"shots": self.shots, "retriever": self.retriever}
        usual = IN_CONTEXT[1 if self.shots == 1 and not self.balance else 2]
        return {IN_CONTEXT[0]: None, usual: Examples(**own)} | {
            name: variant.model_copy(update={key: getattr(variant, key) or value for key, value in own.items()})
            for name, variant in self.variants.items()
        }

    def answering(self) -> Answering:
        """These settings without those of the examples."""
        return Answering.model_validate(self.model_dump(include={*Answering.model_fields}))


REASONING = ("source", "translated")
"""Variants of a reasoning language model in tables: prompted in the test's language, or in English (LiRA). See also
`Reasoning.prefixes`.
"""


class Reasoning(Settings):
    """Problems and questions with options, without examples (LiRA, paper 002, section 5)."""

    answer: Literal["likelihood", "generation"] = "likelihood"
    """likelihood: the option with the likeliest letter (transformers, vllm). generation: the letter that the answer
    names."""
    bos: bool = False
    """Begin plain prompts with BOS, which a Gemma needs."""
    label_prefix: str = ""
    """likelihood: text between prompt and letter; most tokenizers expect " "."""
    max_new_tokens: int = Field(512, gt=0)
    """Length limit of an answer."""

    english: str | Reference = ""
    """Whose English variant translated has, options too: a name under `translators`, or `{backbone: PAIR, recipe:
    RECIPE}` for what a recipe chooses."""

    prefixes: dict[Name, Reference] = {}
    """Further variants, like `prefixed: {backbone: PAIR, recipe: translated}`: the anchored encoder's features before
    the question's tokens; widths must be equal (transformers)."""

    @field_validator("prefixes")
    @classmethod
    def _own_names(cls, prefixes: dict[str, Reference]) -> dict[str, Reference]:
        _require_new(prefixes, *REASONING)
        return prefixes

    def every_variant(self) -> list[str]:
        """All variants for tables."""
        return [*(REASONING if self.english else REASONING[:1]), *self.prefixes]


FORMS = ("in_context", "reasoning", "fine_tuning", "baseline")
"""Settings of a classifier of which at most one is given; without any, it has adapters."""
PROTOCOLS = {
    "adapted": ("classification",),
    "in_context": ("icl", "knn"),
    "reasoning": ("math", "multiple_choice"),
    "fine_tuning": ("knn",),
    "baseline": ("knn",),
}
"""Form of a classifier -> the protocols of the tasks that it can answer, the main one first."""


class Classifier(Settings):
    """A model that labels pairs of sentences or texts, or answers questions.

    Pairs are labelled by a model with LoRA adapters for the task and for languages (paper 000, table 7): an encoder
    with a new head, or a language model that compares the likelihoods of the labels. Texts are labelled by a language
    model after a few labelled ones, `in_context`, by an encoder after `fine_tuning`, or by a `baseline` without a model
    (MINERS). Problems and questions are answered by a language model, `reasoning` (LiRA).
    """

    backbone: str = ""
    """The encoder."""
    recipe: str = ""
    """fine_tuning: the recipe whose encoder is fine-tuned; left out, the published backbone."""
    generator: str = ""
    """The language model, with its own `lora`, `language_data`, `composition` and `dtype`."""
    paper: str = ""
    """The classifier's name in the papers' tables."""
    on_request: bool = False
    """Tables show it only if they name it."""
    languages: Once[str] | None = None
    """Test languages; default: all."""
    tasks: Once[str] | None = None
    """Tasks; default: all."""
    lora: Lora = Lora()
    """Training of the encoder's adapters and head."""
    language_data: Literal["instructions", "annotated", "text"] = "instructions"
    """Training data of the encoder's language adapters (masked language modelling)."""
    composition: Composition = Composition()
    """Composition of the encoder's adapters."""
    scales: list[Annotated[float, Field(ge=0)]] = []
    """Further scales: variants `composition-{scale}` (paper 000, figure 10)."""
    dtype: Precision = "auto"
    """bfloat16: autocast in training; the encoder's weights stay float32."""
    in_context: InContext | None = None
    """In-context learning, on tasks of protocol icl, and on knn tasks that `tasks` names."""
    reasoning: Reasoning | None = None
    """Prompts without examples, on tasks of protocol math, and on multiple_choice tasks that `tasks` names."""
    fine_tuning: FineTuning | None = None
    """Fine-tuning of all weights on the training set of each knn task, one model per set and seed."""
    baseline: Literal["", "random", "majority"] = ""
    """No model, on knn tasks. random: a random label for each seed. majority: the most frequent label."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = [name for name in FORMS if getattr(self, name)]
        if len(forms) > 1:
            raise ValueError(f"{forms[1]}: it has {forms[0]} already; make two classifiers")
        own = self._of_encoders
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
        if self.backbone and self.lora.quantization != "none":
            raise ValueError("lora.quantization: of a language model, and this is an encoder; leave it out")
        if self.backbone and self.prompted:
            raise ValueError(f"{self.form}: an encoder reads no prompts; give a `generator`")
        if self.recipe and not self.fine_tuning:
            raise ValueError("recipe: of what is fine-tuned; give `fine_tuning` too")
        if self.generator and self.fine_tuning:
            raise ValueError("fine_tuning: a language model has no head; give a `backbone`")
        if self.generator and (own := sorted(self._of_encoders)):
            raise ValueError(f"{own[0]}: a language model has its generator's; leave it out, or change it there")
        return self

    @property
    def form(self) -> str:
        """What kind of classifier it is: the one of FORMS that is given, or `adapted`."""
        return next((name for name in FORMS if getattr(self, name)), "adapted")

    @property
    def _of_encoders(self) -> set[str]:
        """What is given of the settings that encoders with adapters have."""
        return self.model_fields_set & {"lora", "language_data", "composition", "dtype"}

    @property
    def composed(self) -> list[str]:
        """The variants of its `scales`."""
        return [f"composition-{scale:g}" for scale in self.scales]

    @property
    def protocols(self) -> tuple[str, ...]:
        """Protocols of the tasks that it can answer, the main one first. It answers tasks of the others only if `tasks`
        names them.
        """
        return PROTOCOLS[self.form]

    @property
    def protocol(self) -> str:
        """The main protocol of the tasks that it answers."""
        return self.protocols[0]

    @property
    def prompted(self) -> InContext | Reasoning | None:
        """The settings of a language model that is prompted without adapters; None: it is something else."""
        return self.in_context or self.reasoning

    @property
    def as_baseline(self) -> str:
        """The variant of a baseline classifier, see BASELINES; empty: it is none."""
        return "fine-tuned" if self.fine_tuning else self.baseline
