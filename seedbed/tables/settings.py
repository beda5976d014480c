"""Settings of statistics, cost forecasts, the best encoder, and quoted scores."""

from collections.abc import Container
from typing import Literal, Self

from pydantic import Field, model_validator

from seedbed.names import Name
from seedbed.settings import Once, Place, Seed, Settings, named

Said = named(r"[^|<>`\n]+", "one line of text without | < > and `")
"""Text of a user that a table prints."""


class Statistics(Settings):
    """How uncertainty is stated."""

    resamples: int = Field(2_000, ge=100, le=1_000_000)
    """Bootstrap resamples of the test items, and permutations."""
    level: float = Field(0.95, gt=0.5, lt=1)
    """Confidence level of the intervals."""
    baseline: str = ""
    """The recipe that differences are computed against; left out, crosslingual, else base, else the first."""
    baseline_backbone: str = ""
    """The backbone or classifier that other backbones' baselines are compared with; left out, none."""
    seed: Seed = 42
    """Seed of the resampling."""


class Forecast(Settings):
    """Settings of `snakemake forecast`, which estimates the cost of the study."""

    device: Literal["gpu", "cpu"] = "gpu"
    """Where GPU jobs run: cpu on a machine without one."""
    targets: Once[str] = []
    """Files or rules to forecast; empty: all."""
    gpu_hour: float = Field(0, ge=0)
    """Price of a GPU for an hour."""
    cpu_hour: float = Field(0, ge=0)
    """Price of a core for an hour."""
    currency: str = ""
    """Printed after prices."""


class Best(Settings):
    """Choice of the best encoder of each language: one task chooses it, and another reports its score."""

    dev: Name | None = None
    """The task that chooses, by its main score; no test may share its texts."""
    mean_with: Once[Name] = []
    """Further tasks: the mean of the main scores chooses."""
    recipe: Name | None = None
    """Where no task can choose: the recommended recipe, its first seed."""
    test: Name | None = None
    """The task that reports; left out, the first other one that could choose, graded pairs first."""
    also: Once[Name] = []
    """Further tasks that the answer shows."""
    why: str = ""
    """Why the recipe is recommended, for the answer."""
    limits: str = ""
    """What the scores do not say, for the answer."""

    @model_validator(mode="after")
    def _one_chooses(self) -> Self:
        if bool(self.dev) == bool(self.recipe):
            raise ValueError("give either `dev`, the task that chooses, or `recipe`, the one that is recommended")
        if self.mean_with and not self.dev:
            raise ValueError("mean_with: no mean without `dev`; give it a task that chooses")
        for key, task, others in (("mean_with", self.dev, self.mean_with), ("also", self.test, self.also)):
            if task in others:
                raise ValueError(f"{key}: {task} is `{'dev' if key == 'mean_with' else 'test'}` already; leave it out")
        return self

    def choosing(self, tested: Container[str]) -> list[str]:
        """The tasks whose mean score chooses in a language with these tests; empty: none does."""
        return [self.dev, *(task for task in self.mean_with if task in tested)] if self.dev in tested else []


class Quoted(Settings):
    """Scores that others report of a system, which tables show next to ours: numbers, or a result file of mteb."""

    system: Said
    """Name of the system."""
    task: Name
    """The task on whose test set it was scored."""
    metric: str = ""
    """Name of the number in tables; left out, the one in the answer."""
    values: dict[str, float] = {}
    """Language, or pair of languages -> score as tables print it: 56.5, not 0.565."""
    results: Place | None = None
    """Instead of `values`: a result file of mteb, `results/{model}/{revision}/{task}.json`."""
    source: Said | None = None
    """Where the scores were published; default: which file of mteb."""

    @model_validator(mode="after")
    def _published(self) -> Self:
        if bool(self.values) == bool(self.results):
            raise ValueError("give either `values`, numbers by language, or `results`, a result file of mteb")
        if self.values and not self.source:
            raise ValueError("source: say where the scores were published")
        return self
