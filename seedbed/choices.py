"""What a development task chooses: of candidates, the one with the best score."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from seedbed import manifests
from seedbed.io import UserError, read_json

Candidate = TypeVar("Candidate")
Chosen = TypeVar("Chosen", float, str)


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


def best_listed(
    what: str, dev: str, lists: Mapping[Candidate, Mapping[str, Path]]
) -> tuple[Candidate, list[dict[str, Any]]]:
    """The candidate whose encoders score best on a development task.

    Args:
        what: what a candidate is, in the records and in messages.
        dev: the task.
        lists: candidate -> language -> the list of scores (`manifests.write_list`) of the encoders that try it.

    Returns:
        As `best`.

    Raises:
        UserError: a list that is none, or without a score of the task; candidates that are scored in different
            languages.
    """
    scores = [
        {code: _mean(dev, code, path) for code, path in sorted(by_language.items())} for by_language in lists.values()
    ]
    if len({tuple(found) for found in scores}) > 1:
        each = "; ".join(f"{candidate}: {', '.join(sorted(given))}" for candidate, given in lists.items())
        raise UserError(f"{dev}: {what}s are scored in {each}; give scores in the same languages for each")
    return best(what, list(lists), scores)


def chosen(file: Path, what: str, kind: type[Chosen]) -> Chosen:
    """What a file says under the name `what` that a development task chose, a number or a text.

    Raises:
        UserError: it says no such thing.
    """
    found = read_json(file)
    value = found.get(what) if isinstance(found, dict) else None
    if not isinstance(value, kind):
        raise UserError(f"{file}: no `{what}` in it; delete it and run Snakemake again, which makes it again")
    return value


def _mean(dev: str, code: str, path: Path) -> float:
    """Of the main scores of a list's encoders."""
    files = [path.parent / name for name in manifests.read(path)["files"] if name.endswith(f"/{dev}/{code}.json")]
    if not files:
        raise UserError(f"{path}: no score on {dev} in {code}")
    return float(np.mean([read_json(file)["main_score"] for file in files]))
