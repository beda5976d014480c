"""Choosing among candidates by their scores on a development task."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from seedbed import manifests
from seedbed.io import AGAIN, UserError, read_json

DECIMALS = 12
"""Of a mean that chooses: beyond them is rounding, and means that differ in it alone are equal."""
Candidate = TypeVar("Candidate")
Chosen = TypeVar("Chosen", float, str | None)


def best(
    candidates: Sequence[Candidate], scores: Sequence[Mapping[str, float]], what: str = "candidate"
) -> tuple[Candidate, list[dict[str, Any]]]:
    """The candidate with the highest mean score over languages; of equals, the first.

    Args:
        scores: for each candidate, language -> main score on the development set.
        what: key of the candidate in the records.

    Returns:
        The candidate, and a record of each: itself, `score` (the mean) and `by_language`, to six digits.
    """
    means = [mean(list(found.values())) for found in scores]
    records = [
        {
            what: candidate,
            "score": round(score, 6),
            "by_language": {language: round(own, 6) for language, own in found.items()},
        }
        for candidate, found, score in zip(candidates, scores, means, strict=True)
    ]
    return candidates[int(np.argmax(means))], records


def mean(scores: Sequence[float]) -> float:
    """The mean of scores, rounded so that equal means are equal: those of 0.7 and 0.1 and of 0.5 and 0.3 are."""
    return round(float(np.mean(scores)), DECIMALS)


def choose_candidate(
    what: str, dev: str, values: Mapping[str, str | float | None], lists: Mapping[str, Mapping[str, Path]]
) -> dict[str, Any]:
    """Choose the candidate whose encoders score best on a development task; of equals, the first.

    Args:
        what: what is chosen, such as `scale`.
        values: candidate -> its value.
        lists: candidate -> language -> the list of scores (`manifests.write_list`) of its encoders.

    Returns:
        `dev`, the value under the key `what`, the `candidate` that has it, and `candidates`, a record of each, see
        `best`, with its value.

    Raises:
        UserError: a list without a score of the task, candidates that are scored in different languages, or values and
            scores of different candidates.
    """
    if {*values} != {*lists}:
        raise UserError(f"{dev}: {what} of {', '.join(values)}, and scores of {', '.join(lists)}; give both of each")
    scores = [
        {code: _mean(dev, code, path) for code, path in sorted(by_language.items())} for by_language in lists.values()
    ]
    if len({tuple(found) for found in scores}) > 1:
        each = "; ".join(f"{candidate}: {', '.join(sorted(given))}" for candidate, given in lists.items())
        raise UserError(f"{dev}: candidates ({what}) are scored in {each}; give each in the same languages")
    candidate, records = best([*lists], scores)
    valued = [{"candidate": record["candidate"], what: values[record["candidate"]]} | record for record in records]
    return {"dev": dev, what: values[candidate], "candidate": candidate, "candidates": valued}


def read_choice(file: Path, what: str, kind: type[Chosen]) -> Chosen:
    """Read the value of a key, of a given type, from a file with the result of a choice.

    Raises:
        UserError: the file has no such value.
    """
    found = read_json(file)
    value = found.get(what, ...) if isinstance(found, dict) else ...
    if not isinstance(value, kind):
        raise UserError(f"{file}: no `{what}` in it; {AGAIN}")
    return value


def main_score(path: Path) -> float:
    """The main score in a score file.

    Raises:
        UserError: the file has none, or one that is not finite.
    """
    found = read_json(path)
    if not isinstance(found, dict) or not isinstance(found.get("main_score"), int | float):
        raise UserError(f"{path}: no main score; {AGAIN}")
    if not math.isfinite(found["main_score"]):  # of numbers with NaN numpy takes it for the greatest
        raise UserError(f"{path}: the main score is {found['main_score']}, and nothing is chosen by it; {AGAIN}")
    return float(found["main_score"])


def _mean(dev: str, code: str, path: Path) -> float:
    """Of the main scores of a list's encoders."""
    files = [path.parent / name for name in manifests.read(path)["files"] if name.endswith(f"/{dev}/{code}.json")]
    if not files:
        raise UserError(f"{path}: no score on {dev} in {code}")
    return mean([main_score(file) for file in files])
