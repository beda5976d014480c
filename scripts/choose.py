"""Choose on a development task: the candidate whose encoders score best."""

import math
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from scripts import cli


class Job(cli.Job):
    what: Literal["prefix", "scale"]
    """what is chosen, of which each candidate has one"""
    dev: str
    """name of the task"""
    values: dict[str, str | float | None] = Field(min_length=1)
    """candidate -> its scale, or its prefix (null: that of the weights' own file)"""
    scores: dict[str, Path]
    """CANDIDATE/LANGUAGE -> the list of `score`"""
    output: Path

    @field_validator("values")
    @classmethod
    def _of_its_type(cls, values: dict[str, Any], known: ValidationInfo) -> dict[str, Any]:
        """A scale is a finite number, though flags give texts."""
        if known.data["what"] != "scale":
            return values
        scales = {name: float(value) for name, value in values.items()}
        if wrong := [name for name, scale in scales.items() if not math.isfinite(scale)]:
            raise ValueError(f"{wrong[0]}: {values[wrong[0]]} is not finite; give a number")
        return scales


def main(job: Job) -> None:
    from seedbed.choices import choose_candidate
    from seedbed.io import write_json

    lists: dict[str, dict[str, Path]] = {}
    for key, file in job.scores.items():
        candidate, _, language = key.partition("/")
        lists.setdefault(candidate, {})[language] = file
    write_json(choose_candidate(job.what, job.dev, job.values, lists), job.output)


if __name__ == "__main__":
    cli.run(Job, main)
