"""The systems, tasks, backbones and classifiers of a study that tables can show."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from seedbed.names import languages_of
from seedbed.settings import Settings


class System(Settings):
    """The encoders of one recipe."""

    recipe: str
    """The recipe's name in the study."""
    language: str
    """Language folder of its encoders; `*`: one for each test language."""
    seeds: Annotated[list[int], Field(min_length=1)]
    """One encoder for each seed."""
    heads: list[int] = []
    """Seeds of classification heads that are fine-tuned on the encoders."""
    on_request: bool = False
    """Whether only tables that name it show it."""
    languages: list[str] | None = None
    """Available test languages; None: all."""
    backbones: list[str] | None = None
    """Available backbones; None: all."""
    chosen_on: str = ""
    """The development task that chose how they were made; tables do not show them on it."""
    triplets: str = ""
    """File of their training triplets in the folder of results, with {lang}; empty: none, or triplets whose positives
    are in another language.
    """
    gives: list[str] = []
    """What encoders that use translations provide in addition to vectors: paths, choices."""
    transformer: bool = True
    """Whether its encoders have layers and can be fine-tuned."""

    def has(self, backbone: str, language: str) -> bool:
        """Whether it has an encoder of a backbone for a language, or for both of a pair.

        If `backbone` is empty, as in a column of triplets, only the language is checked.
        """
        of_backbone = not backbone or self.backbones is None or backbone in self.backbones
        return of_backbone and (self.languages is None or {*languages_of(language)} <= {*self.languages})

    def folder(self, language: str) -> str:
        """The language folder of its encoder for a language; for a pair, of the first."""
        return languages_of(language)[0] if self.language == "*" else self.language


class AvailableTask(Settings):
    """A task of the study and its languages."""

    protocol: str
    """Its protocol."""
    languages: list[str]
    """ISO 639-3, in any order."""
    pairs: list[str] = []
    """Language pairs."""
    on_request: bool = False
    """Whether only tables that name it show it."""
    k: list[int] = []
    """Numbers of neighbours of its scores."""


class AvailableModel(Settings):
    """A backbone or classifier of the study."""

    paper: str = ""
    """Its name in the papers."""
    on_request: bool = False
    """Whether only tables that name it show it."""
    fused: bool = False
    """It provides distances only."""
    tasks: list[str] | None = None
    """Tasks that it is scored on; None: all."""
    languages: list[str] | None = None
    """Its languages; None: all."""

    def tests(self, tests: Mapping[str, str]) -> dict[str, str]:
        """Those of `tests` (language -> task) on which it is scored."""
        return {
            code: task
            for code, task in tests.items()
            if (self.tasks is None or task in self.tasks) and (self.languages is None or code in self.languages)
        }
