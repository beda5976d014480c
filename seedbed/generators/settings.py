"""Settings of generators: the language model, its adapters, its prompts and its sampling."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from seedbed import yamls
from seedbed.corpora.settings import Source
from seedbed.io import UserError
from seedbed.precision import Precision
from seedbed.resources import resource
from seedbed.settings import EACH_ONCE, BaseUrl, NoResult, Once, Seed, Settings, Variable, explain


class Writing(Settings):
    """A method by which a generator makes triplets."""

    adapters: Literal["none", "composed", "cross-lingual"]
    """Adapters that write positives and negatives."""
    prompt: Literal["syncse", "nli", "questions", "none"]
    """The file of resources/prompts with the prompts; none: a translator gets the text alone."""
    output: Literal["own", "pivot"]
    """The language of generated texts: the anchor's, or the pivot."""


WRITING = {name: Writing.model_validate(record) for name, record in yamls.read(resource("writing.yaml")).items()}
"""The methods by their names in seedbed/resources/writing.yaml."""
METHODS = tuple(WRITING)
"""The names of the methods."""


def by_adapters(adapters: str) -> str:
    """The first method whose `Writing.adapters` have this value."""
    return next(name for name, writing in WRITING.items() if writing.adapters == adapters)


TRANSLATION = next(name for name, writing in WRITING.items() if writing.prompt == "none")
"""The method whose rows are those of a corpus in another language, not triplets of new sentences."""


Polarity = Literal["positive", "negative"]
POLARITIES: tuple[Polarity, ...] = ("positive", "negative")
"""The texts that are generated for each anchor."""
Method = Literal[METHODS]
"""Name of a method."""
Style = Literal["chat", "plain"]
"""How prompts are written: in the chat template of a model, or as plain text for a base model."""
BOTH = "both"
"""Instead of a polarity: an adapter that generates positives and negatives."""

LanguageData = Literal["instructions", "annotated", "text", "passages", "translations"]
DATA_KIND: dict[LanguageData, str] = {
    "instructions": "instructions", "annotated": "instructions", "text": "text", "passages": "text",
    "translations": "parallel",
}  # fmt: skip
"""Training data of language adapters -> the kind of their corpus."""

LanguageLoss = Literal["text", "response"]

Part = Literal["human", "synthetic", "machine"]
PART_CORPUS: dict[Part, str] = {"human": "nli_translations", "synthetic": "parallel", "machine": "nli_machine"}
"""The key of `corpora:` behind each part of the XL-LoRA examples."""


def _expression(targets: str) -> str:
    try:
        re.compile(targets)
    except re.error as error:
        raise ValueError(
            f"no regular expression ({error}); expected one, or a keyword of peft like all-linear"
        ) from None
    return targets


class Lora(Settings):
    """LoRA training of one adapter. Defaults: paper 000, appendix A.5.2, and its public code."""

    rank: int = Field(8, gt=0, le=4096)
    """Rank r."""
    alpha: int = Field(16, gt=0)
    """Scale: the update is (alpha / rank) B A."""
    dropout: float = Field(0.05, ge=0, lt=1)
    """Dropout before A."""
    targets: Annotated[str, AfterValidator(_expression)] = "all-linear"
    """Modules with an adapter: a peft keyword or a regular expression."""
    examples: int = Field(10_000, gt=0)
    """Training examples for each adapter."""
    epochs: float = Field(3, gt=0)
    """Passes over the examples."""
    batch_size: int = Field(64, gt=0)
    """Examples in an optimiser step."""
    micro_batch_size: int = Field(16, gt=0)
    """Examples in a forward pass; part of the result, because of dropout."""
    learning_rate: float = Field(2.0e-4, gt=0)
    """AdamW."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """Learning rate schedule, without warm-up."""
    max_grad_norm: float = Field(0.3, gt=0)
    """Gradient clipping."""
    max_length: int = Field(512, gt=8)
    """Tokens of prompt and completion; longer examples are dropped and counted."""
    quantization: Literal["none", "nf4"] = "none"
    """nf4: the base in 4 bits (QLoRA; needs bitsandbytes and a GPU)."""
    seed: Seed = 42
    """Order of examples, dropout, and the initial A; one for all composed adapters."""


class Sampling(Settings):
    """How completions are sampled. Gemma 3 ships top_k 64 and top_p 0.95."""

    temperature: float = Field(1.0, ge=0)
    """Temperature of sampling. 0: greedy."""
    top_p: float = Field(0.95, gt=0, le=1)
    """Nucleus sampling: the likeliest tokens that together have this probability."""
    top_k: int = Field(64, ge=0)
    """Number of likeliest tokens to sample from. 0: no limit."""
    repetition_penalty: float = Field(1.0, ge=1)
    """Penalty of repeated tokens, as in transformers. 1: none."""
    max_new_tokens: int = Field(128, gt=0)
    """Length limit; a truncated completion is marked, and the audit drops it."""
    max_prompt_tokens: int = Field(512, gt=16)
    """A longer prompt is refused and its row marked; not for openai-chat."""
    seed: Seed = 42
    """Each row samples by a hash of this seed, its id and polarity; vllm: each shard."""


class ScaleChoice(Settings):
    """A scale chosen for each language: encoders train on triplets of each scale, and a task chooses the best."""

    dev: str = Field(min_length=1)
    """A task with `on_request`, whose main score chooses; none of its rows may be tested."""
    candidates: Annotated[list[float], Field(min_length=2), EACH_ONCE] = [0.25, 0.5, 0.75, 1.0]
    """Scales; of equally good ones the first."""
    rows: int = Field(50_000, gt=1)
    """Triplets generated with each scale (paper 000's ablations)."""
    backbone: str = ""
    """Backbone of the compared encoders; default: the first that is trained."""
    seed: Seed | None = None
    """Seed of the compared encoders; default: the least."""


def _scale(value: Any) -> Any:
    """Validate a mapping as a choice by itself, so that its errors do not say that it is no number."""
    try:
        return ScaleChoice.model_validate(value) if isinstance(value, Mapping) else value
    except ValidationError as error:
        raise ValueError(explain(error, ScaleChoice, where="choice")) from None


class Composition(Settings):
    """Adapter composition, paper 000 equation 2: task + scale (target - source)."""

    scale: Annotated[float | ScaleChoice, BeforeValidator(_scale)] = 1.0
    """Lambda; the paper prints none. 0: only the task adapter (paper 000, table 8). `{dev: ...}`: chosen per language
    on a development task."""
    space: Literal["factors", "product"] = "product"
    """factors: A and B element-wise, as AdaMergeX's code does. product: exact on B A, rank 3r."""


class XlLora(Settings):
    """Training set of the XL-LoRA adapter (paper 000, section 3, steps 1 and 2)."""

    languages: Once[str] = []
    """Registry codes of the anchors' languages."""
    source: Literal["build", "published"] = "build"
    """build: from `parts`. published: `corpora.published_positive` and `corpora.published_negative`."""
    parts: Annotated[list[Part], Field(min_length=1), EACH_ONCE] = ["human", "synthetic"]
    """Parts of the examples, filled in this order (paper 000, table 12). human: human NLI translations. synthetic:
    parallel text with generated targets. machine: machine-translated NLI."""

    def uses(self, part: Part) -> bool:
        """Whether the examples are built, not published ones, and a part is among them."""
        return self.source == "build" and part in self.parts


class Generator(Settings):
    """A language model that generates positives and negatives."""

    source: Source | None = None
    """Weights: hub, local directory, or a package with `format: gguf`; none for openai-chat."""
    like: str = ""
    """A generator whose settings this one has, but for those given here; it shares all adapters and triplets that they
    do not affect."""
    backend: Literal["transformers", "vllm", "openai", "openai-chat", "published"] = "transformers"
    """What runs the model. openai: a server that takes tokens. openai-chat: one that takes messages, without adapters,
    token limits or likelihoods. published: nothing, see `triplets`."""
    prompts: Style = "chat"
    """chat: zero-shot instructions in the model's chat template. plain: short prompts for a base model."""
    template: dict[str, bool | str] = {}
    """Variables of the chat template, like `{enable_thinking: false}`; for openai-chat sent as `chat_template_kwargs`.
    Not used in training adapters."""
    shots: int = Field(5, ge=0, le=18)
    """Examples in a prompt of method prompting, from a pool of 18."""
    dtype: Precision = "auto"
    """Precision of the weights; auto: bfloat16 on a GPU or a CPU that is faster in it, else float32. Never float16, in
    which Gemma 3 overflows."""
    lora: Lora = Lora()
    """Training of every adapter."""
    quantization: Literal["none", "nf4"] = "none"
    """nf4: the base generates in 4 bits (transformers, bitsandbytes and a GPU). For training see
    `lora.quantization`."""
    sampling: Sampling = Sampling()
    """Sampling of completions."""
    composition: Composition = Composition()
    """How adapters are composed."""
    task_adapters: Literal["two", "one"] = "two"
    """two: one per polarity. one: a single adapter for both, on half as many rows of each (paper 000, table 9). XL-LoRA
    always has two."""
    language_data: LanguageData = "instructions"
    """Training data of language adapters. instructions: `corpora.instructions`. annotated: the same without its
    `top_up`. text: sentences. passages: sentences joined up to `lora.max_length` tokens. translations:
    `corpora.parallel`, into the pivot language, for `translators`."""
    language_text: str = ""
    """A name of `corpora.others` for text and passages, in the pivot too; left out, `corpora.text`."""
    language_loss: LanguageLoss = "text"
    """Tokens of instructions in the loss. text: prompt and response. response: only that."""
    xllora: XlLora = XlLora()
    """Training set of the XL-LoRA adapter."""
    adapters: dict[Method, dict[Polarity, Source]] = {}
    """Published adapters by method and polarity; used if the study starts at `adapters` or later."""
    triplets: dict[Method, Source] = {}
    """Published triplets by method; used if the study starts at `triplets` or later."""
    batch_size: NoResult[int] = Field(64, gt=0)
    """transformers: rows decoded together; servers: concurrent requests."""
    shard_rows: int = Field(10_000, gt=0)
    """Anchors in one synthesis job."""
    endpoint: BaseUrl = ""
    """openai, openai-chat: base URL with the version, before `/completions` or `/chat/completions`. For openai another
    address changes no result."""
    served_model: str = ""
    """openai, openai-chat: the model's name; an adapter's is its path, slashes as dashes."""
    key: NoResult[Variable] = "SEEDBED_API_KEY"
    """openai, openai-chat: the environment variable with the token, never the token."""
    timeout: NoResult[float] = Field(100, gt=0)
    """openai, openai-chat: seconds for one whole answer, queueing included. A server without any answer for so long
    ends the job."""
    retries: NoResult[int] = Field(6, ge=0)
    """openai, openai-chat: further tries if a server is busy or broken, after 1, 2, 4, ... seconds, or as long as it
    says."""
    gpu_memory: NoResult[float] = Field(0.9, gt=0, le=1)
    """vllm: share of the GPU's memory."""
    tensor_parallel: NoResult[int] = Field(1, gt=0)
    """vllm: GPUs that share the model."""

    def greedy(self, **sampling: Any) -> Self:
        """A copy that generates the likeliest token at each step, with the given changes of `sampling` too."""
        changed = self.sampling.updated(
            {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0} | sampling
        )
        return self.updated({"sampling": changed.model_dump()})

    @model_validator(mode="after")
    def _weights_or_messages(self) -> Self:
        if self.quantization != "none" and self.backend != "transformers":
            raise ValueError(f"quantization: none of backend {self.backend}; leave it out, or take transformers")
        if self.backend != "openai-chat":
            if self.source is None:
                raise ValueError(f"source: backend {self.backend} needs one; or take openai-chat, which has no weights")
            return self
        if self.source or self.prompts == "plain":
            lone = "source" if self.source else "prompts"
            raise ValueError(f"{lone}: a server that takes messages has its own weights and template; leave it out")
        if not (self.endpoint and self.served_model):
            raise ValueError("backend openai-chat: give `endpoint` (https://host/v1) and `served_model`")
        return self

    def idle(self) -> frozenset[str]:
        """Names of the fields that change no result, see `Settings`; they include `endpoint` if the weights are known
        (`source`).
        """
        return super().idle() | ({"endpoint"} if self.source else set())

    @property
    def origin(self) -> dict[str, str]:
        """The model's origin, for records: its weights, or the server that has them."""
        if self.source is None:
            return {"endpoint": self.endpoint, "served_model": self.served_model}
        return self.source.model_dump(mode="json", exclude_defaults=True)

    @property
    def language_corpus(self) -> str:
        """The corpus of a language that its language adapter is trained on."""
        fixed = {"passages": "text", "translations": "parallel"}.get(self.language_data, self.language_data)
        return self.language_text or fixed

    def task_adapter(self, polarity: Polarity) -> str:
        """The name of the task adapter that generates a polarity."""
        return BOTH if self.task_adapters == "one" else polarity


class Answering(Settings):
    """The prompt by which a language model labels a text, and the form of its answer (MINERS, sections 2.2, A.5)."""

    answer: Literal["likelihood", "generation"] = "likelihood"
    """likelihood: the label with the greatest mean log-probability (transformers, vllm). generation: what the
    model generates, with the labels named in the prompt."""
    instruct: bool = False
    """Request only the label, as MINERS except for BLOOMZ and Aya-23."""
    bos: bool = False
    """Begin plain prompts with BOS, which a Gemma needs; MINERS does not."""
    label_prefix: str = ""
    """likelihood: text between prompt and label; MINERS: nothing; most tokenizers expect " "."""
    case: Literal["fold", "exact"] = "fold"
    """generation: whether upper and lower case count."""
    max_new_tokens: int = Field(10, gt=0)
    """generation: length limit of an answer."""


_TRAINS = ("origin", "prompts", "dtype", "lora", "task_adapters")
_LANGUAGE = ("language_data", "language_text", "language_loss")
WRITES = ("backend", "served_model", "quantization", "sampling")
_BY_ADAPTERS = {
    "none": ("origin", "prompts", "template", "dtype", "shots", *WRITES),
    "composed": (*_TRAINS, *_LANGUAGE, "composition", *WRITES),
    "cross-lingual": (*_TRAINS, "xllora", *WRITES),
}
MADE_FROM: dict[str, tuple[str, ...]] = {
    "weights": ("origin",),
    "task": _TRAINS,
    "language": (*_TRAINS[:-1], *_LANGUAGE),
    **{name: _BY_ADAPTERS[writing.adapters] for name, writing in WRITING.items()},
    TRANSLATION: ("origin", "dtype", *WRITES),
}
"""What a generator makes (its weights, adapters, and the triplets of each method) -> the settings that decide it."""

WITH_LIKELIHOODS = ("transformers", "vllm")
"""Back ends that say how likely an answer is."""


def require_likelihoods(where: str, backend: str, advice: str, *, of: str = "", what: str = "") -> None:
    """Check that a back end says how likely an answer is.

    Args:
        where: what needs it: the beginning of the message.
        backend: the back end.
        advice: the end of the message; `{backends}` in it are those that do.
        of: the generator that runs on it, if the message names it.
        what: the answers, if the message names them.

    Raises:
        UserError: it does not.
    """
    if backend not in WITH_LIKELIHOODS:
        whose, which, those = of and f" of {of}", what and f" of {what}", " or ".join(WITH_LIKELIHOODS)
        raise UserError(f"{where}: backend {backend}{whose} has no likelihoods{which}; {advice.format(backends=those)}")
