"""Default costs from seedbed/resources/forecast.yaml, validated."""

import math
import re
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat

from seedbed.corpora.settings import Source
from seedbed.settings import Settings
from seedbed.tables.specs import Spec
from seedbed.urls import without_secrets

Device = Literal["gpu", "cpu"]

HEADROOM = 1.5
"""Factor on the forecast memory and time that a job requests; a job that is killed requests more."""


class Processor(Settings):
    """A reference device."""

    name: str
    """The device's name, as a person knows it."""
    flops: PositiveFloat
    """Floating-point operations in a second at its peak; of a CPU, one core's."""
    source: str
    """Where the figure is from."""


class Model(Settings):
    """Size of a model."""

    parameters: PositiveFloat
    """Number of parameters."""
    body: PositiveFloat
    """Number of parameters without input embeddings."""
    source: str = ""
    """Where the figures are from."""


class Tokens(Settings):
    """Typical lengths of texts, in tokens."""

    sentence: PositiveFloat
    """Tokens of a sentence of a corpus."""
    instruction: PositiveFloat
    """Prompt and response of an instruction."""
    chat: PositiveFloat
    """A chat prompt without its sentence."""
    plain: PositiveFloat
    """A plain prompt without its sentence and examples."""


class RuleCost(Settings):
    """Default costs of one rule's jobs."""

    threads: int = Field(1, gt=0)
    """Threads of a job, where a profile does not give fewer."""
    minutes: int = Field(gt=0)
    """Least time limit of the first attempt; a job that is forecast to take longer gets longer."""
    start: PositiveFloat
    """Seconds before any work."""
    utilisation: dict[Device, Annotated[float, Field(gt=0, le=1)]] = {}
    """Share of the peak that reading and training reach."""
    rows_per_s: PositiveFloat | None = None
    """Rows in a second, in a job without a model."""
    memory_mb: PositiveFloat
    """Peak resident memory without weights."""
    weights: float = Field(0, ge=0)
    """Bytes of resident memory for each parameter."""
    trains: bool = False
    """Without a GPU the main memory holds what a step of training takes, too."""
    row_bytes: float = Field(0, ge=0)
    """Bytes of output for each row."""
    spread: float = Field(gt=1)
    """Actual and forecast differ by no more than this factor in nine cases of ten."""

    def limit(self, seconds: float) -> int:
        """Minutes of the first attempt: the forecast with headroom, rounded up to tens; at least the rule's."""
        return max(self.minutes, math.ceil(HEADROOM * seconds / 600) * 10)


class CostSpec(Spec):
    """Default costs from which a study's cost is forecast."""

    devices: dict[Device, Processor]
    """The reference devices."""
    disk: PositiveFloat
    """Bytes read in a second."""
    network: PositiveFloat
    """Bytes downloaded in a second."""
    downloads: dict[str, PositiveFloat]
    """Prefix of `hub/config` or of a URL -> bytes of the corpus there; `default` for all others."""
    models: dict[str, Model]
    """Part of a model's source, such as its name on the hub -> its size."""
    unknown_model: Model
    """The size of a model that neither `models` nor its name gives."""
    rows: dict[str, PositiveFloat]
    """Rows of a corpus that is not there yet; `default` for those not named."""
    kept: float = Field(gt=0, le=1)
    """Share of the triplets that the audit keeps."""
    tokens: Tokens
    """Typical lengths of texts, in tokens."""
    lengths: dict[str, PositiveFloat]
    """Tokens of a text of a corpus or test set that is translated, by its name; `tokens.sentence` for the rest."""
    drawing: dict[Literal["vllm", "openai", "openai-chat", "transformers", "cpu"], PositiveFloat]
    """Cost of a generated token, in tokens of a prompt."""
    rules: dict[str, RuleCost]
    """Rule -> the costs of its jobs."""

    def download(self, source: Source) -> tuple[str, float]:
        """The name of what a source downloads, and its bytes, by the longest matching name in `downloads`; empty and 0
        for a local file.
        """
        name = (
            "/".join(filter(None, (source.hub, source.config)))
            or without_secrets(source.archive or "")
            or " ".join(source.package or ())
        )
        if source.file or not name:
            return "", 0
        known = [key for key in self.downloads if name.startswith(key)]
        return name, self.downloads[max(known, key=len, default="default")]

    def size(self, name: str, source: str) -> Model:
        """The size of a model by its source, else by a number in its name (`gemma-3-27b`), else unknown."""
        for key, model in self.models.items():
            if key in source:
                return model
        if found := re.search(r"(?<![\w.])(\d+(?:\.\d+)?)([bm])(?![a-z])", name.lower()):
            count = float(found[1]) * (1e9 if found[2] == "b" else 1e6)
            return Model(parameters=count, body=count)
        return self.unknown_model
