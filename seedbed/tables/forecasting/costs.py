"""What seedbed/resources/forecast.yaml says of cost before anything has been measured, checked."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from seedbed.corpora.settings import Source
from seedbed.settings import Settings
from seedbed.tables.specs import Spec

Device = Literal["gpu", "cpu"]
Positive = Annotated[float, Field(gt=0)]


class Processor(Settings):
    """A reference device."""

    name: str
    """As a person knows it."""
    flops: Positive
    """Floating-point operations in a second at its peak; of a CPU, one core's."""
    source: str
    """Where the figure is from."""


class Model(Settings):
    """Size of a model."""

    parameters: Positive
    """All of them."""
    body: Positive
    """Without input embeddings."""
    source: str = ""
    """Where the figures are from."""


class Tokens(Settings):
    """Lengths."""

    sentence: Positive
    """Of a corpus."""
    instruction: Positive
    """Prompt and response of an instruction."""
    chat: Positive
    """A chat prompt without its sentence."""
    plain: Positive
    """A plain prompt without its sentence and examples."""


class RuleCost(Settings):
    """One rule's jobs."""

    start: Positive
    """Seconds before any work."""
    utilisation: dict[Device, Annotated[float, Field(gt=0, le=1)]] = {}
    """Share of the peak that reading and training reach."""
    rows_per_s: Positive | None = None
    """Of a job without a model."""
    memory_mb: Positive
    """Peak resident memory without weights."""
    weights: float = Field(0, ge=0)
    """Bytes of resident memory for each parameter."""
    row_bytes: float = Field(0, ge=0)
    """Bytes written for each row."""
    spread: float = Field(gt=1)
    """Actual and forecast differ by no more than this factor in nine cases of ten."""


class CostSpec(Spec):
    """Cost of a study."""

    devices: dict[Device, Processor]
    """The reference devices."""
    disk: Positive
    """Bytes read in a second."""
    network: Positive
    """Bytes downloaded in a second."""
    downloads: dict[str, Positive]
    """Bytes of what a corpus is read from, by the beginning of `hub/config` or of a URL; `default` for the rest."""
    models: dict[str, Model]
    """Sizes by what names a model in its source."""
    unknown_model: Model
    """The size of any other."""
    rows: dict[str, Positive]
    """Rows of a corpus that is not there yet; `default` for those not named."""
    kept: float = Field(gt=0, le=1)
    """Share of the triplets that the audit keeps."""
    tokens: Tokens
    """Lengths."""
    drawing: dict[Literal["vllm", "openai", "openai-chat", "transformers", "cpu"], Positive]
    """Cost of a drawn token in read tokens."""
    rules: dict[str, RuleCost]
    """By rule."""

    def download(self, source: Source) -> tuple[str, float]:
        """What a source is read from, if it is not here, and how many bytes that has; the longest name counts."""
        name = "/".join(filter(None, (source.hub, source.config))) or source.archive or " ".join(source.package or ())
        if source.file or not name:
            return "", 0
        known = [key for key in self.downloads if name.startswith(key)]
        return name, self.downloads[max(known, key=len, default="default")]

    def size(self, name: str, source: str) -> Model:
        """The size of a model, by its source, else by a figure in its name (`gemma-3-27b`), else unknown."""
        for key, model in self.models.items():
            if key in source:
                return model
        if found := re.search(r"(?<![\w.])(\d+(?:\.\d+)?)([bm])(?![a-z])", name.lower()):
            count = float(found[1]) * (1e9 if found[2] == "b" else 1e6)
            return Model(parameters=count, body=count)
        return self.unknown_model
