"""What a study offers to tables: systems, tasks, backbones and classifiers."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from seedbed.names import languages_of
from seedbed.settings import Settings


class System(Settings):
    """The encoders that one recipe offers."""

    recipe: str
    """The recipe's name in the study."""
    language: str
    """Language folder of its encoders; `*`: each test language has its own."""
    seeds: Annotated[list[int], Field(min_length=1)]
    """One encoder per seed."""
    heads: list[int] = []
    """One of what is fine-tuned on them per seed."""
    on_request: bool = False
    """Only in tables that name it."""
    languages: list[str] | None = None
    """Only for these test languages."""
    backbones: list[str] | None = None
    """Only of these backbones."""
    chosen_on: str = ""
    """The task that chose how they were made: no column shows them on it."""
    triplets: str = ""
    """The file of triplets that they learn from, in the folder of results, with {lang}; empty: none, or their targets
    are in another language."""
    gives: list[str] = []
    """What encoders that read translations give beyond vectors: paths, choices."""

    def has(self, backbone: str, language: str) -> bool:
        """Whether it offers an encoder of a backbone to a language; without a backbone, what they all learn from."""
        of_backbone = not backbone or self.backbones is None or backbone in self.backbones
        return of_backbone and (self.languages is None or {*languages_of(language)} <= {*self.languages})

    def folder(self, language: str) -> str:
        """The language folder of what it offers to a language; of a pair, to the first."""
        return languages_of(language)[0] if self.language == "*" else self.language


class Scored(Settings):
    """A task of the study and the languages that are scored on it."""

    protocol: str
    """How it is scored."""
    languages: list[str]
    """ISO 639-3, in any order."""
    pairs: list[str] = []
    """Likewise, pairs of languages."""
    on_request: bool = False
    """Only in tables that name it."""
    k: list[int] = []
    """How many of the nearest its scores are of."""


class Offered(Settings):
    """A backbone or classifier of the study."""

    paper: str = ""
    """The backbone's or classifier's name in the papers."""
    on_request: bool = False
    """Only in tables that name it."""
    fused: bool = False
    """It has distances alone."""
    tasks: list[str] | None = None
    """Only these tasks are scored on it."""
    languages: list[str] | None = None
    """Only in these."""

    def tests(self, tests: Mapping[str, str]) -> dict[str, str]:
        """The tests (language -> task) on which it is scored, of some."""
        return {
            code: task
            for code, task in tests.items()
            if (self.tasks is None or task in self.tasks) and (self.languages is None or code in self.languages)
        }
