"""Settings of the tables room."""

from __future__ import annotations

from pydantic import Field

from seedbed.settings import Settings


class Statistics(Settings):
    """How uncertainty is stated."""

    resamples: int = Field(2_000, ge=100)
    """Bootstrap resamples (seeds, then items)."""
    level: float = Field(0.95, gt=0.5, lt=1)
    """Of the intervals."""
    baseline: str = "crosslingual"
    """The recipe that differences are taken from."""
    seed: int = 42
    """Of the resampling."""
