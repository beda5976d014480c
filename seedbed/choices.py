"""What a development task chooses: of candidates, the one with the best score."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

Candidate = TypeVar("Candidate")


def best(
    what: str, candidates: Sequence[Candidate], scores: Sequence[Mapping[str, float]]
) -> tuple[Candidate, list[dict[str, Any]]]:
    """The candidate with the greatest mean over languages; among equally good ones the first.

    Args:
        what: what a candidate is, in the records.
        scores: of each candidate, language -> main score on the development set.

    Returns:
        The candidate, and of each a record: itself, `score` (the mean) and `by_language`, to six digits.
    """
    means = [float(np.mean(list(found.values()))) for found in scores]
    records = [
        {
            what: candidate,
            "score": round(mean, 6),
            "by_language": {language: round(score, 6) for language, score in found.items()},
        }
        for candidate, found, mean in zip(candidates, scores, means, strict=True)
    ]
    return candidates[int(np.argmax(means))], records
