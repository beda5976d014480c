"""Systems: whatever answers a protocol. One file of this folder for each kind, and no other list of kinds.

A system is a folder whose manifest names its kind under `system`; an encoder's names none. The file of a kind has

    LIBRARIES                                  those that its scores depend on
    open(folder, manifest, opening) -> System
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from seedbed import manifests
from seedbed.evaluation.files import Set
from seedbed.evaluation.scores import Answer, Scores
from seedbed.vectors.types import Encode, Layers, Search

if TYPE_CHECKING:
    from seedbed.encoders.translations.files import Chooser, ChosenEnglish

Opened = TypeVar("Opened")

ENCODER = "encoder"
"""The kind of a folder that names none."""
MODEL, BESIDE = "model", "beside"
"""Places of what systems of a job share: a language model, and an encoder that it needs."""


@dataclass(frozen=True)
class Opening:
    """What a system is opened for."""

    sets: Sequence[Set]
    language: str
    """Language of the test sets."""
    language_name: str
    """Name of that language, as prompts use it."""
    state: Path | None
    """Where jobs share what encoders and servers answered; None: nothing is kept."""
    adapters: bool = True
    """Whether parallel adapters of encoders are on."""
    english: Mapping[str, str] = field(default_factory=dict)
    """Text -> its English, for what reads both."""
    choices: Mapping[str, ChosenEnglish] = field(default_factory=dict)
    """Text -> whose English that is."""
    second: Path | None = None
    """The system of the second language of a pair; None: one language is tested."""
    held: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """What the systems of a job share: a place -> what was opened there, and as what."""

    def hold(self, place: str, known_by: Any, opening: Callable[[], Opened]) -> Opened:
        """What is open in a place; what is known by something else is let go before it is opened."""
        if place in self.held and self.held[place][0] == known_by:
            return self.held[place][1]
        self.held.pop(place, None)
        found = opening()
        self.held[place] = known_by, found
        return found

    @property
    def rows(self) -> int:
        """Texts that are encoded together at most: the least of the tasks' numbers."""
        return min(each.task.batch_size for each in self.sets)

    @property
    def texts(self) -> list[str]:
        """All texts whose embeddings the tasks need."""
        return [text for each in self.sets for text in each.texts()]


@dataclass(frozen=True)
class System:
    """What a protocol can ask: vectors of `encode`, neighbours of `search`, `layers`, `paths`, `choices`, labels of
    `answer`."""

    about: dict[str, Any]
    """What a score file says of it."""
    encode: Encode | None = None
    second: Encode | None = None
    """The embeddings of the second language of a pair; None: one language is tested."""
    search: Search | None = None
    """None: neighbours are found by the task's distance."""
    layers: Layers | None = None
    paths: Layers | None = None
    choices: Chooser | None = None
    answer: Answer | None = None
    check: Callable[[Set, Scores], None] | None = None
    """Compares scores with another implementation's, and adds what it finds; None: there is none."""
    libraries: tuple[str, ...] = ()
    """Libraries that its scores depend on: `LIBRARIES` of its kind."""


def load(kind: str) -> ModuleType:
    """The file of a kind."""
    return importlib.import_module(f"{__name__}.{kind.replace('-', '_')}")


def module_of(kind: str) -> str:
    """The file of a kind, for `study.code.value`: from the project's folder."""
    return f"{__name__.replace('.', '/')}/{kind.replace('-', '_')}.py"


def open_system(folder: Path, opening: Opening) -> System:
    """Open the system in a folder; UserError: as `manifests.read`, and as the `open` of its kind."""
    manifest = manifests.read(folder / manifests.MANIFEST)
    kind = load(manifest.get("system", {}).get("kind", ENCODER))
    return replace(kind.open(folder, manifest, opening), libraries=kind.LIBRARIES)
