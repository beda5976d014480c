"""Settings of the generators room: the language model, its adapters, its prompts and its sampling."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from seedbed import yamls
from seedbed.corpora.settings import Source
from seedbed.precision import Precision
from seedbed.resources import resource
from seedbed.settings import EACH_ONCE, BaseUrl, NoResult, Once, Seed, Settings, Variable, explain


class Writing(Settings):
    """One way in which a generator writes triplets."""

    adapters: Literal["none", "composed", "cross-lingual"]
    """Adapters that write positives and negatives."""
    prompt: Literal["syncse", "nli", "questions", "none"]
    """The file of resources/prompts with the words by which it asks; none: a translator reads the text alone."""
    output: Literal["own", "pivot"]
    """The language that is written: the anchor's, or the pivot."""


WRITING = {name: Writing.model_validate(record) for name, record in yamls.read(resource("writing.yaml")).items()}
"""The ways by the names that seedbed/resources/writing.yaml gives them."""
METHODS = tuple(WRITING)
"""The names of the ways."""


def by_adapters(adapters: str) -> str:
    """The way that writes with such adapters."""
    return next(name for name, writing in WRITING.items() if writing.adapters == adapters)


TRANSLATION = next(name for name, writing in WRITING.items() if writing.prompt == "none")
"""The way in which rows are no triplets of new sentences, but those of a corpus in another language."""


Polarity = Literal["positive", "negative"]
POLARITIES: tuple[Polarity, ...] = ("positive", "negative")
"""What is written of each anchor."""
Method = Literal[METHODS]
"""How it is asked for."""
BOTH = "both"
"""In a polarity's place: an adapter that writes positives and negatives alike."""

LanguageData = Literal["instructions", "annotated", "text", "passages", "translations"]
DATA_KIND: dict[LanguageData, str] = {
    "instructions": "instructions", "annotated": "instructions", "text": "text", "passages": "text",
    "translations": "parallel",
}  # fmt: skip
"""The kind of corpus behind each."""

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
    """Modules that get an adapter: a peft keyword or a regular expression."""
    examples: int = Field(10_000, gt=0)
    """Training examples for each adapter."""
    epochs: float = Field(3, gt=0)
    """Passes over the examples."""
    batch_size: int = Field(64, gt=0)
    """Examples in an optimiser step."""
    micro_batch_size: int = Field(16, gt=0)
    """Examples in a forward pass. Another number draws other dropout, so it is part of the result."""
    learning_rate: float = Field(2.0e-4, gt=0)
    """AdamW."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """Learning rate schedule, without warm-up."""
    max_grad_norm: float = Field(0.3, gt=0)
    """Gradient clipping."""
    max_length: int = Field(512, gt=8)
    """Tokens of prompt and completion; longer examples are dropped and counted, never cut."""
    quantization: Literal["none", "nf4"] = "none"
    """nf4: the base in 4 bits (QLoRA; needs bitsandbytes and a GPU)."""
    seed: Seed = 42
    """Order of examples, dropout, and the initial A: one seed for all adapters that are composed."""


class Sampling(Settings):
    """How a completion is drawn. Gemma 3 ships top_k 64 and top_p 0.95."""

    temperature: float = Field(1.0, ge=0)
    """Temperature of sampling. 0: greedy."""
    top_p: float = Field(0.95, gt=0, le=1)
    """Nucleus sampling: the likeliest tokens that together have this probability."""
    top_k: int = Field(64, ge=0)
    """Only so many of the likeliest tokens are drawn. 0: no limit."""
    repetition_penalty: float = Field(1.0, ge=1)
    """Penalty of tokens that are there already, as in transformers. 1: none."""
    max_new_tokens: int = Field(128, gt=0)
    """Length limit; a completion that it cuts is marked, and the audit drops it."""
    max_prompt_tokens: int = Field(512, gt=16)
    """A longer prompt is refused and its row marked, never cut. openai-chat: only the server can count."""
    seed: Seed = 42
    """Each row draws from its own stream, a hash of this seed, the row id and the polarity. vllm: a shard has one."""


class Choice(Settings):
    """A scale chosen for each language: encoders learn from triplets written with each scale, and the best on a task
    wins."""

    dev: str = Field(min_length=1)
    """A task on request, whose main score chooses; none of its rows may test anything."""
    candidates: Annotated[list[float], Field(min_length=2), EACH_ONCE] = [0.25, 0.5, 0.75, 1.0]
    """Scales to choose from; among equally good ones the first is taken."""
    rows: int = Field(50_000, gt=1)
    """Triplets that are written with each scale (paper 000's ablations), or fewer where the recipe has fewer."""
    backbone: str = ""
    """Backbone of the encoders that are compared; left out, the first that is trained."""
    seed: Seed | None = None
    """Seed of the encoders that are compared, one of the study's; left out, the least."""


def _scale(value: Any) -> Any:
    """A group of settings is a choice: of its faults none is that it is no number."""
    try:
        return Choice.model_validate(value) if isinstance(value, Mapping) else value
    except ValidationError as error:
        raise ValueError(explain(error, Choice, where="choice")) from None


class Composition(Settings):
    """Adapter composition, paper 000 equation 2: task + scale (target - source)."""

    scale: Annotated[float | Choice, BeforeValidator(_scale)] = 1.0
    """Lambda. The paper plots it and prints no value. 0: the task adapter as it is (paper 000, table 8); no language
    adapter is trained. A generator may also say `{dev: ...}`: chosen for each language on a development task."""
    space: Literal["factors", "product"] = "product"
    """factors: A and B element-wise, as AdaMergeX's code does. product: exact on B A, rank 3r."""


class XlLora(Settings):
    """Training set of the XL-LoRA adapter (paper 000, section 3, steps 1 and 2)."""

    languages: Once[str] = []
    """Registry codes of the anchors' languages."""
    source: Literal["build", "published"] = "build"
    """build: from `parts`. published: `corpora.published_positive` and `corpora.published_negative`."""
    parts: Annotated[list[Part], Field(min_length=1), EACH_ONCE] = ["human", "synthetic"]
    """What examples are built of (paper 000, table 12); each fills up what those before it left open. human: human NLI
    translations with the pivot anchor swapped out. synthetic: parallel text whose targets the task adapters generate.
    machine: machine-translated NLI in the place of human."""

    def uses(self, part: Part) -> bool:
        """Whether examples are built, and of this part too."""
        return self.source == "build" and part in self.parts


class Generator(Settings):
    """A language model that writes positives and negatives."""

    source: Source | None = None
    """Weights: hub, a local directory, or a package with `format: gguf`; backend openai-chat alone has none."""
    like: str = ""
    """A generator that this one varies: it has all its settings but those given here, and shares with it all adapters
    and triplets that do not depend on them."""
    backend: Literal["transformers", "vllm", "openai", "openai-chat", "published"] = "transformers"
    """What runs the model; all but the last give the same interface and the same files. openai: a server that takes
    tokens. openai-chat: one that takes messages; its weights are not here, so there are no adapters, limits in tokens
    or likelihoods. published: nothing runs, see `triplets`."""
    prompts: Literal["chat", "plain"] = "chat"
    """chat: zero-shot instructions in the model's chat template. plain: short prompts for a base model."""
    template: dict[str, bool | str] = {}
    """What the chat template is told besides, like `{enable_thinking: false}` of Qwen3; openai-chat: sent as
    `chat_template_kwargs`. Adapters learn without."""
    shots: int = Field(5, ge=0, le=18)
    """Examples in a prompt of method prompting, of a pool of 18."""
    dtype: Precision = "auto"
    """Precision of the weights; auto: bfloat16 on a GPU or a CPU that is faster in it (AMX, AMD's AVX-512), else
    float32. Never float16: Gemma 3 overflows."""
    lora: Lora = Lora()
    """Training of every adapter."""
    quantisation: Literal["none", "nf4"] = "none"
    """How the base is loaded to write. nf4: in 4 bits, as paper 000's code does (backend transformers alone; needs
    bitsandbytes and a GPU). In training it is `lora.quantization`."""
    sampling: Sampling = Sampling()
    """Drawing of completions."""
    composition: Composition = Composition()
    """How adapters are composed."""
    task_adapters: Literal["two", "one"] = "two"
    """two: one for each polarity. one: a single adapter, trained on both polarities of half as many rows (paper 000,
    table 9). XL-LoRA adapters are always two."""
    language_data: LanguageData = "instructions"
    """What language adapters learn from (paper 000, tables 9 and 10). instructions: `corpora.instructions`. annotated:
    the same without its `top_up`. text: sentences. passages: sentences put together, up to `lora.max_length` tokens.
    translations: `corpora.parallel`, into the pivot language, for `translators`."""
    language_text: str = ""
    """A name of `corpora.others`, whose sentences text and passages are, in the pivot too; left out, `corpora.text`."""
    language_loss: LanguageLoss = "text"
    """Which tokens of instructions language adapters learn. text: prompt and response alike. response: that alone."""
    xllora: XlLora = XlLora()
    """Training set of the XL-LoRA adapter."""
    adapters: dict[Method, dict[Polarity, Source]] = {}
    """Published adapters by method and polarity, templates over the registry; used where the study starts at `adapters`
    or later."""
    triplets: dict[Method, Source] = {}
    """Published triplets by method, templates over the registry; used where the study starts at `triplets` or later."""
    batch_size: NoResult[int] = Field(64, gt=0)
    """Rows that the transformers back end decodes together; requests that are under way at a server."""
    shard_rows: int = Field(10_000, gt=0)
    """Anchors in one synthesis job."""
    endpoint: BaseUrl = ""
    """openai, openai-chat: base URL, with the version; requests go to `{endpoint}/completions` or
    `{endpoint}/chat/completions`. For openai another address changes no result; for openai-chat it says whose model it
    is."""
    served_model: str = ""
    """openai, openai-chat: model name for the base; an adapter's name there is its path, slashes as dashes."""
    key: NoResult[Variable] = "SEEDBED_API_KEY"
    """openai, openai-chat: the name of the environment variable that holds the token, never the token."""
    timeout: NoResult[float] = Field(100, gt=0)
    """openai, openai-chat: seconds for one whole answer, queueing on the server included; more for a model that thinks
    long. A server that answers nobody for so long hangs, and the job ends."""
    retries: NoResult[int] = Field(6, ge=0)
    """openai, openai-chat: tries after the first of a server that is busy or broken, with pauses of 1, 2, 4, ...
    seconds, or as long as it says."""
    gpu_memory: NoResult[float] = Field(0.9, gt=0, le=1)
    """vllm: share of the GPU's memory."""
    tensor_parallel: NoResult[int] = Field(1, gt=0)
    """vllm: the number of GPUs that share the model."""

    @model_validator(mode="after")
    def _weights_or_messages(self) -> Self:
        if self.quantisation != "none" and self.backend != "transformers":
            raise ValueError(f"quantisation: none of backend {self.backend}; leave it out, or take transformers")
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
        """Names of the fields that change no result: see `Settings`. Where the weights are known, it is no matter which
        server has them."""
        return super().idle() | ({"endpoint"} if self.source else set())

    @property
    def origin(self) -> dict[str, str]:
        """What a record says of where the model is from: its weights, or the server that has them."""
        if self.source is None:
            return {"endpoint": self.endpoint, "served_model": self.served_model}
        return self.source.model_dump(mode="json", exclude_defaults=True)

    @property
    def language_corpus(self) -> str:
        """The corpus of a language that its adapter learns from."""
        fixed = {"passages": "text", "translations": "parallel"}.get(self.language_data, self.language_data)
        return self.language_text or fixed

    def task_adapter(self, polarity: Polarity) -> str:
        """The name of the task adapter that writes a polarity."""
        return BOTH if self.task_adapters == "one" else polarity


class Answering(Settings):
    """The prompt by which a language model labels a text, and the form of its answer (MINERS, sections 2.2, A.5)."""

    answer: Literal["likelihood", "generation"] = "likelihood"
    """likelihood: the label with the greatest mean log-probability of its tokens; backend transformers alone.
    generation: what the model writes, with the labels named in the prompt."""
    instruct: bool = False
    """Ask for the label alone, as MINERS does of all models but BLOOMZ and Aya-23."""
    bos: bool = False
    """Begin a prompt of `prompts: plain` with BOS. MINERS' have none; a Gemma needs it."""
    label_prefix: str = ""
    """likelihood: what stands between prompt and label. MINERS has nothing; " " is what most tokenizers expect."""
    case: Literal["fold", "exact"] = "fold"
    """generation: whether an answer must have the label's upper and lower case."""
    max_new_tokens: int = Field(10, gt=0)
    """generation: length limit of an answer."""


_TRAINS = ("origin", "prompts", "dtype", "lora", "task_adapters")
_LANGUAGE = ("language_data", "language_text", "language_loss")
WRITES = ("backend", "served_model", "quantisation", "sampling")
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
