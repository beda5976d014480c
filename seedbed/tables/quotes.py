"""Scores that others report, which tables and the answer show next to ours."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from seedbed.io import UserError, read_json
from seedbed.settings import Settings, validated

NO_INTERVAL = "no interval"
"""Remark next to each: only the number is reported, so that nothing can be tested."""


class Quote(Settings):
    """A score that others report of a system in one language."""

    system: str
    language: str
    value: float
    """The score as tables print it."""
    source: str

    @property
    def name(self) -> str:
        """The label of its row."""
        return f"{self.system}, quoted"


def by_system(quotes: Iterable[Quote]) -> dict[str, list[Quote]]:
    """Label of a row -> its quotes, in their order."""
    found: dict[str, list[Quote]] = {}
    for quote in quotes:
        found.setdefault(quote.name, []).append(quote)
    return found


class _Subset(BaseModel):
    """Scores in one subset of a task; further keys are metrics."""

    model_config = ConfigDict(extra="allow")
    hf_subset: str
    languages: list[str]


class _Result(BaseModel):
    """A result as mteb files it (mteb's class TaskResult); its other keys are not read."""

    task_name: str
    dataset_revision: str
    mteb_version: str | None
    scores: dict[str, list[_Subset]]


def of_mteb(
    file: Path, task: str, split: str, metric: str, languages: Mapping[str, str], subsets: Mapping[str, str]
) -> dict[str, float]:
    """Scores by language, as fractions, from a result file of mteb; languages without a score are left out.

    Args:
        task: mteb's name of the task; empty: any.
        languages: language -> mteb's name of it, like `hau-Latn`.
        subsets: language -> mteb's subset with its scores; of others it is the one that has no further language.

    Raises:
        UserError: not a result file, or one of mteb before 1.11; another task; no such split, metric or language; or a
            language with several subsets.
    """
    result = _read(file)
    if task and result.task_name != task:
        raise UserError(f"{file}: of mteb's {result.task_name}; expected {task}")
    if split not in result.scores:
        raise UserError(f"{file}: no split {split!r}; it has {', '.join(result.scores)}")
    found: dict[str, float] = {}
    for language, called in languages.items():
        subset = subsets.get(language)
        own = [
            one for one in result.scores[split] if (one.hf_subset == subset if subset else {*one.languages} == {called})
        ]
        if len(own) > 1:
            named = ", ".join(one.hf_subset for one in own)
            raise UserError(f"{file}: several subsets of {language}: {named}; give the number by `values`")
        for one in own:
            value = (one.model_extra or {}).get(metric)
            if type(value) not in (int, float) or not math.isfinite(value):
                raise UserError(f"{file}: no number {metric!r} in {one.hf_subset}; give it by `values`")
            found[language] = value
    if not found:
        known = sorted({code for one in result.scores[split] for code in one.languages})
        raise UserError(f"{file}: none of {', '.join(languages)}; it has {', '.join(known)}")
    return found


def source_of(file: Path) -> str:
    """The source of a number from a result file of mteb, in words."""
    result = _read(file)
    model, revision = (part[:60] for part in [*file.parts[-3:-1], "", ""][:2])
    version = f"mteb {result.mteb_version}, " if result.mteb_version else ""
    place = "/".join(filter(None, (model, revision[:10], file.name)))
    return f"mteb's results, {place} ({version}data {result.dataset_revision[:10]})"


def _read(file: Path) -> _Result:
    if isinstance(content := read_json(file), dict) and "mteb_dataset_name" in content:
        raise UserError(f"{file}: written by mteb before 1.11, without languages; give the numbers by `values`")
    return validated(_Result, content, file, "a result file of mteb")
