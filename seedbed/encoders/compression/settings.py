"""Settings of each way of compression, with the method that makes the compressed encoder.

Modules that take long to import are imported inside methods: planning a study imports this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, model_validator

from seedbed.settings import Settings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

COMPARED = 512
"""The maximum number of texts on which a compressed encoder is compared with its original."""
START = "start"
"""Key in the folders of `Copy.compress` of the start point that all seeds were trained from."""
ORIGINAL = "original"
"""Key there of the original."""


class Copy(Settings):
    """A way of compressing an encoder by the texts that it will be used on."""

    of_seeds: ClassVar[bool] = False
    """Whether it combines the encoders of all seeds of the recipe into one."""

    @property
    def of_start(self) -> bool:
        """Whether it also needs the start point of the encoder's training."""
        return False

    def compress(
        self, encoder: SentenceTransformer, texts: list[str], folders: Mapping[str, Path]
    ) -> SentenceTransformer:
        """Make the compressed encoder; the given encoder may be changed in place.

        Args:
            encoder: the original, whose first module is a plain transformer.
            texts: sentences without prompts.
            folders: ORIGINAL -> the given encoder's folder; with `of_seeds` also a folder for each other seed; with
                `of_start` also START -> the start point's.
        """
        raise NotImplementedError

    def for_saving(self, copy: SentenceTransformer) -> SentenceTransformer:
        """Convert the compressed encoder into the form in which it is saved; loading it gives the same vectors."""
        return copy


class Averaged(Copy):
    """The mean of the weights of a recipe's encoders over all seeds, optionally interpolated with the start point.

    With a `share` it is (1 - share) times that mean plus share times the weights from which training started, which
    preserves more of the start point's abilities. Sources: Wortsman et al. (2022, "Model soups: averaging weights of
    multiple fine-tuned models improves accuracy without increasing inference time"), section 2; for the share Wortsman
    et al. (2022, "Robust fine-tuning of zero-shot models"), section 3.
    """

    of_seeds = True

    share: float = Field(0.0, ge=0, lt=1)
    """Share of the weights before training; then one seed is enough."""

    @property
    def of_start(self) -> bool:
        """True if the start point has a share."""
        return self.share > 0

    def compress(self, encoder, texts, folders):
        """Average the seeds' weights, see `average` and `interpolate`; the texts are not used."""
        from seedbed import manifests
        from seedbed.encoders.compression.average import average, interpolate
        from seedbed.encoders.models.loading import load, open_encoder

        seeds = (folder for name, folder in sorted(folders.items()) if name not in (START, ORIGINAL))
        mean = average(encoder, map(open_encoder, seeds))
        if not self.share:
            return mean
        trained = manifests.of(folders[ORIGINAL])["training"]
        # Only pooling own trains the modules that the start point has after its transformer; others are new.
        pooling = "own" if trained.get("pooling") == "own" else "mean"
        return interpolate(mean, load(folders[START], pooling=pooling), self.share)


class Static(Copy):
    """A static encoder without transformer: one vector for each token, and a text is their mean (Model2Vec).

    The encoder's vectors of single tokens are reduced by principal components and weighted by frequency. Sources:
    Tulkens and van Dongen (2024, "Model2Vec: fast state-of-the-art static embeddings"); the weights are those of Arora
    et al. (2017, "A simple but tough-to-beat baseline for sentence embeddings"), equation 1, from the texts.
    """

    dimensions: int = Field(256, gt=0)
    """Width of a vector."""
    whiten: bool = True
    """Give all components the same variance."""
    smoothing: float = Field(1e-4, gt=0)
    """a of a token's weight a / (a + p), with p its share of all tokens."""
    least_count: int = Field(1, ge=1)
    """Occurrences that a token needs; letters need none."""

    def compress(self, encoder, texts, folders):
        """Make a static encoder, see `condense`."""
        from seedbed.encoders.compression.static import condense

        return condense(encoder, texts, **self.model_dump())


class Bfloat16(Copy):
    """Weights rounded to bfloat16: half the bytes; they are float32 again when loaded."""

    def compress(self, encoder, texts, folders):
        """Round the transformer's weights in place; the texts are not used."""
        for weight in encoder[0].auto_model.parameters():
            weight.data = weight.data.bfloat16().float()
        return encoder

    def for_saving(self, copy):
        """Convert to bfloat16 in place; the saved config makes loading return float32 weights."""
        from seedbed.encoders.models.loading import save_with

        copy[0].auto_model.bfloat16()
        save_with(copy[0], {"dtype": "float32"})
        return copy


class Int8(Copy):
    """Weights as 8-bit integers for onnxruntime: a quarter of the bytes, and faster.

    Activations are quantised too, with a scale for each text.
    """

    def compress(self, encoder, texts, folders):
        """Quantise the transformer, see `quantized`; the texts are not used."""
        from seedbed.encoders.compression.onnx_int8 import quantized

        return quantized(encoder)


class Trimmed(Copy):
    """Tokenizer and word embeddings without the tokens that the texts do not use; the texts' letters remain.

    With a `least_count` of 1 the vectors of the texts equal the original's exactly. A word with a dropped token is
    split into smaller tokens. Source: Abdaoui et al. (2020, "Load what you need: smaller versions of multilingual
    BERT").
    """

    least_count: int = Field(1, ge=1)
    """Occurrences that a token needs."""

    def compress(self, encoder, texts, folders):
        """Trim the vocabulary, see `trim`."""
        from seedbed.encoders.compression.trim import trim

        return trim(encoder, texts, least=self.least_count)


class Copies(Settings):
    """The way of compression of a recipe: exactly one of these."""

    averaged: Averaged | None = None
    """Mean of the seeds' weights."""
    static: Static | None = None
    """A vector per token, without transformer."""
    bfloat16: Bfloat16 | None = None
    """Half the bytes."""
    int8: Int8 | None = None
    """A quarter of the bytes, faster on a CPU."""
    trimmed: Trimmed | None = None
    """Only tokens that the texts use."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        return {given: {}} if isinstance(given, str) and given else given

    @model_validator(mode="after")
    def _one(self) -> Copies:
        if len(given := [name for name, way in self if way]) > 1:
            raise ValueError(f"give one of {', '.join(given)}; a copy can be copied again")
        return self

    def __bool__(self) -> bool:
        """Whether a way is given."""
        return any(way for _, way in self)

    @property
    def name(self) -> str:
        """The name of the given way."""
        return next(name for name, way in self if way)

    @property
    def way(self) -> Copy:
        """The settings of the given way."""
        return getattr(self, self.name)
