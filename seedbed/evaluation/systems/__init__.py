"""Systems: encoders and classifiers that protocols score. One file for each kind; the folder is the list of kinds.

A system is a folder whose manifest names its kind under `system`; an encoder's manifest names none. The file of each
kind has

    LIBRARIES                                  the libraries that its scores depend on
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
from seedbed.corpora.settings import COLUMNS
from seedbed.evaluation.files import Set
from seedbed.evaluation.protocols import declared
from seedbed.evaluation.scores import System
from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.precision import precision

if TYPE_CHECKING:
    from seedbed.encoders.translations.files import ChosenEnglish

Opened = TypeVar("Opened")

ENCODER = "encoder"
"""The kind of a folder whose manifest names none."""
MODEL, BESIDE = "model", "beside"
"""Slots of what systems of a job share: a language model, and an encoder that it needs."""


@dataclass(frozen=True)
class Opening:
    """The sets and options for which systems are opened."""

    sets: Sequence[Set]
    language: str
    """Language of the test sets."""
    language_name: str
    """Name of that language, as used in prompts."""
    state: Path | None
    """Folder of cached embeddings and answers, shared by jobs; None: no caching."""
    adapters: bool = True
    """Whether parallel adapters of encoders are on."""
    english: Mapping[str, str] = field(default_factory=dict)
    """Text -> its English translation, for systems that use both."""
    choices: Mapping[str, ChosenEnglish] = field(default_factory=dict)
    """Text -> which translation was chosen."""
    second: Path | None = None
    """Folder of the second language's system in a two-language test; None: one language is tested."""
    held: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """Models that are shared by the systems of a job: slot -> (key, model)."""

    def hold(self, slot: str, key: Any, make: Callable[[], Opened]) -> Opened:
        """Return the model in a slot if it was made with an equal key; else replace it by `make()`, and return that."""
        if slot not in self.held or self.held[slot][0] != key:
            self.held.pop(slot, None)  # before the other is in memory
            self.held[slot] = key, make()
        return self.held[slot][1]

    def require_one_language(self) -> None:
        """Check that no set has texts in two languages: an encoder with a prompt by language gives all texts one.

        Raises:
            UserError: one has; a test of a pair of languages opens an encoder for each.
        """
        for each in self.sets:
            kind, train_language = declared(each.task.protocol).kind, each.task.train_language
            if "pivot" in COLUMNS[kind] or train_language not in ("", self.language):
                raise UserError(
                    f"score: {each.name} has texts in two languages, and this encoder has another prompt for each "
                    "language; take a protocol with `pairs`, or another backbone"
                )

    @property
    def rows(self) -> int:
        """The maximum number of texts in a batch: the lowest of the tasks' settings."""
        return min(each.task.batch_size for each in self.sets)

    @property
    def texts(self) -> list[str]:
        """All texts that must be encoded for the tasks."""
        return [text for each in self.sets for text in each.texts()]


def facts_of(generator: Generator) -> dict[str, Any]:
    """Facts about a language model for score files: its origin, its back end, its prompts and its precision."""
    return {
        "generator": generator.origin | {"backend": generator.backend, "prompts": generator.prompts},
        "dtype": precision(generator.dtype) if generator.source else None,
    }


def load(kind: str) -> ModuleType:
    """Import the module of systems of this kind."""
    return importlib.import_module(f"{__name__}.{kind.replace('-', '_')}")


def module_of(kind: str) -> str:
    """Path of the file for systems of this kind, from the project's folder."""
    return f"{__name__.replace('.', '/')}/{kind.replace('-', '_')}.py"


def gives_labels(folder: Path) -> bool:
    """Whether the system in a folder labels texts itself, as every kind but encoders does; False without a manifest."""
    return (folder / manifests.MANIFEST).is_file() and _kind(manifests.of(folder)) != ENCODER


def _kind(manifest: Mapping[str, Any]) -> str:
    return manifest.get("system", {}).get("kind", ENCODER)


def open_system(folder: Path, opening: Opening) -> System:
    """Open the system in a folder.

    Raises:
        UserError: no manifest, or the system cannot be opened.
    """
    manifest = manifests.of(folder)
    kind = load(_kind(manifest))
    return replace(kind.open(folder, manifest, opening), libraries=kind.LIBRARIES)
