"""Settings of the tables room."""

from typing import Literal, Self

from pydantic import Field, model_validator

from seedbed.names import Name
from seedbed.settings import Once, Seed, Settings


class Statistics(Settings):
    """How uncertainty is stated."""

    resamples: int = Field(2_000, ge=100, le=1_000_000)
    """Bootstrap resamples (seeds, then items)."""
    level: float = Field(0.95, gt=0.5, lt=1)
    """Confidence level of the intervals."""
    baseline: str = ""
    """The recipe that differences are taken from; left out, crosslingual, else base, else the first. Tables name it."""
    baseline_backbone: str = ""
    """The backbone, or classifier, from whose baseline the differences of other backbones' baselines are taken, in
    tables that show it; left out, backbones are not compared."""
    seed: Seed = 42
    """Seed of the resampling."""


class Forecast(Settings):
    """What `snakemake forecast` says of the cost of the study."""

    device: Literal["gpu", "cpu"] = "gpu"
    """Where jobs that ask for a GPU run: cpu on a machine without one."""
    targets: Once[str] = []
    """Files or rules to forecast; empty: all that the study makes."""
    gpu_hour: float = Field(0, ge=0)
    """Price of a GPU for an hour."""
    cpu_hour: float = Field(0, ge=0)
    """Price of a core for an hour."""
    currency: str = ""
    """Printed after prices."""


class Best(Settings):
    """Which encoder of a language is the best one: one task chooses it, and another says how good it is."""

    dev: Name | None = None
    """The task that chooses, by its main score; no test may have its texts."""
    recipe: Name | None = None
    """Where no task can choose: the recipe that is recommended; of several seeds the first is taken."""
    test: Name | None = None
    """The task that says how good it is; left out, the first other one that tests the language and could choose, graded
    pairs before others."""
    also: Once[Name] = []
    """Further tasks whose scores of all encoders the answer shows."""
    why: str = ""
    """Why the recipe is recommended, in a sentence; the answer repeats it."""
    limits: str = ""
    """What the scores do not say, in a sentence or two; the answer repeats it."""

    @model_validator(mode="after")
    def _one_chooses(self) -> Self:
        if bool(self.dev) == bool(self.recipe):
            raise ValueError("give either `dev`, the task that chooses, or `recipe`, the one that is recommended")
        return self
