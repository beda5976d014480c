"""Ways of copying an encoder: settings, each with what makes the copy.

What takes long to import is imported where it is used: a study is read with this file.
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
"""So many texts at most say how near a copy is to what it was made from."""
START = "start"
"""How `Copy.copied` knows what the training of the seeds started from."""


class Copy(Settings):
    """A way of copying an encoder by looking at texts."""

    of_seeds: ClassVar[bool] = False
    """Whether it reads the encoders of all seeds of the recipe that it starts from; there is one copy then."""

    @property
    def of_start(self) -> bool:
        """Whether it also reads what the training of these started from, as START."""
        return False

    def copied(
        self, encoder: SentenceTransformer, texts: list[str], folders: Mapping[str, Path]
    ) -> SentenceTransformer:
        """The copy; the encoder itself may be changed, and the copy be it.

        Args:
            texts: without what stands before them.
            folders: with `of_seeds` one for each other seed; with `of_start` START.
        """
        raise NotImplementedError

    def stored(self, copy: SentenceTransformer) -> SentenceTransformer:
        """The copy as it is saved, which gives the same vectors when it is opened."""
        return copy


class Averaged(Copy):
    """The mean of the weights of a recipe's encoders over all of its seeds, perhaps with a share of those before.

    With a `share` it is (1 - share) times that mean plus share times the weights from which training started, which
    keeps more of what the encoder could do before. Sources: Wortsman et al. (2022, "Model soups: averaging weights of
    multiple fine-tuned models improves accuracy without increasing inference time"), section 2; of the share Wortsman
    et al. (2022, "Robust fine-tuning of zero-shot models"), section 3.
    """

    of_seeds = True

    share: float = Field(0.0, ge=0, lt=1)
    """Share of the weights before training; then one seed is enough."""

    @property
    def of_start(self) -> bool:
        """The weights before training have a share."""
        return self.share > 0

    def copied(self, encoder, texts, folders):
        """See `average`; the texts only say how far the mean is from the first seed's encoder."""
        from seedbed.encoders.compression.average import average, interpolate
        from seedbed.encoders.models.loading import load, open_encoder

        mean = average(encoder, (open_encoder(folder) for name, folder in sorted(folders.items()) if name != START))
        return interpolate(mean, load(folders[START], pooling="mean"), self.share) if self.share else mean


class Static(Copy):
    """No transformer: a vector for each token, and a text is their mean.

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

    def copied(self, encoder, texts, folders):
        """See `condense`."""
        from seedbed.encoders.compression.static import condense

        given = {
            "dimensions": self.dimensions,
            "smoothing": self.smoothing,
            "whiten": self.whiten,
            "least": self.least_count,
        }
        return condense(encoder, texts, **given)


class Bfloat16(Copy):
    """Weights rounded to bfloat16: half the bytes; they are float32 again when loaded."""

    def copied(self, encoder, texts, folders):
        """See `round_weights`."""
        from seedbed.encoders.compression.bfloat16 import round_weights

        return round_weights(encoder)

    def stored(self, copy):
        """See `bfloat16.stored`."""
        from seedbed.encoders.compression import bfloat16

        return bfloat16.stored(copy)


class Int8(Copy):
    """Weights as 8-bit integers for onnxruntime: a quarter of the bytes, and faster.

    What they are multiplied with is so too, with a scale for each text.
    """

    def copied(self, encoder, texts, folders):
        """See `quantized`; the texts only say what is lost."""
        from seedbed.encoders.compression.onnx_int8 import quantized
        from seedbed.encoders.compression.trim import require_plain

        require_plain(encoder)
        return quantized(encoder)


class Trimmed(Copy):
    """Tokenizer and word embeddings without tokens that the texts do not use; letters of the texts remain.

    On the texts themselves the vectors are the encoder's to the last bit. A word of a dropped token is split into
    smaller ones. Source: Abdaoui et al. (2020, "Load what you need: smaller versions of multilingual BERT").
    """

    least_count: int = Field(1, ge=1)
    """Occurrences that a token needs."""

    def copied(self, encoder, texts, folders):
        """See `trim`."""
        from seedbed.encoders.compression.trim import trim

        return trim(encoder, texts, least=self.least_count)


class Copies(Settings):
    """One way of building an encoder from finished ones."""

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
        """The way that is given, by its name."""
        return next(name for name, way in self if way)

    @property
    def way(self) -> Copy:
        """The way that is given."""
        return getattr(self, self.name)
