"""Something of a study that has a name: a recipe, a backbone, an encoder, a table."""

from dataclasses import dataclass, field
from typing import Any, Self

from seedbed.study.model import Study


@dataclass(frozen=True)
class Part:
    """An object of a study that is identified by its fields other than the study."""

    study: Study = field(compare=False, repr=False)

    @classmethod
    def get(cls, study: Study, *names: Any) -> Self:
        """The part with these names, cached: thousands of jobs use it."""
        return study.once((cls, names), lambda: cls(study, *names))
