"""Something of a study that has a name: a recipe, a backbone, an encoder, a table."""

from dataclasses import dataclass, field
from typing import Any, Self

from seedbed.study.model import Study


@dataclass(frozen=True)
class Part:
    """Something of a study; its other fields are the names that tell it from others of its kind."""

    study: Study = field(compare=False, repr=False)

    @classmethod
    def get(cls, study: Study, *names: Any) -> Self:
        """The part of these names, made once: thousands of jobs ask for it."""
        return study.once((cls, names), lambda: cls(study, *names))
