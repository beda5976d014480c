"""What an encoder learns by: each file of this folder is one objective, and the folder is the list of them.

A file `name.py` has one class, a sub-class of `Objective`, called `Name`. It is imported only where it is used: a file
that imports PyTorch inside its methods alone does not slow down the planning of a study.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, PlainSerializer, ValidationError

from seedbed.encoders.settings import Reference, Training
from seedbed.io import UserError, compact
from seedbed.settings import Settings, explain, suggest

if TYPE_CHECKING:
    import pandas as pd
    from sentence_transformers import SentenceTransformer
    from torch import nn

LANGUAGE = "language of "
"""What the columns begin with that name the language of each text of another column, where data are in several."""


class Objective(Settings):
    """The settings of an objective, and what follows from them."""

    shapes: ClassVar[tuple[tuple[str, ...], ...]]
    """The columns of texts that it can learn from, in the order in which the loss gets them; of several sets the first
    that a table has is taken. Where they depend on the settings, a property."""
    values: ClassVar[tuple[str, ...]] = ()
    """Other columns that it needs; the loss finds them by row."""
    optional: ClassVar[tuple[str, ...]] = ()
    """Other columns that it reads where the data has them."""
    reread: ClassVar[int] = 0
    """Texts of a row that are read once more, without a gradient; a property where settings tell."""
    partial: ClassVar[bool] = False
    """Whether some rows, or all, may have no negative; it is an empty text there."""
    together: ClassVar[bool] = False
    """Whether it is learnt by adapters of all of a recipe's encoders at once, see `joint`, and not by `loss`."""
    rule: ClassVar[str] = "train_encoder"
    """The rule whose program learns by it."""
    own_seed: ClassVar[bool] = False
    """Whether its settings have the seed: one encoder comes of each that it starts from."""
    least: ClassVar[int] = 1
    """Rows of a batch; a last batch with fewer is left out. A property where settings tell."""

    def columns(self, table: pd.DataFrame) -> dict[str, list[str]]:
        """The texts by column.

        Raises:
            UserError: the table has none of the sets of columns, or no column of values, or lacks negatives.
        """
        for shape in self.shapes:
            if {*shape, *self.values} <= {*table.columns}:
                if "negative" in shape and not self.partial and (table["negative"] == "").any():
                    raise UserError(f"{name_of(self)}: rows without a negative; give each one, or take ranking")
                return {name: table[name].tolist() for name in shape}
        sets = " or ".join(", ".join((*shape, *self.values)) for shape in self.shapes)
        raise UserError(f"{name_of(self)}: no columns {sets}; the data has {', '.join(table.columns)}")

    def loss(
        self, encoder: SentenceTransformer, table: pd.DataFrame, training: Training, folders: Mapping[str, Path]
    ) -> nn.Module:
        """A module `loss(features, rows)` with the encoder as its attribute `model`.

        It is called with the tokenised texts of a batch by column and the rows' positions (batch,) in the table, and
        gives a scalar. Its state is in parameters and in buffers: a checkpoint has all of them, the saved encoder none.
        If it has a method `after_step`, that is called after each step of the optimiser; `findings` gives what the
        manifest says when training has ended, and `write_beside(folder)` writes files of its own into the encoder's.
        What it draws at random follows the run's seed: torch's generator has it when this is called.

        Args:
            encoder: in training.
            table: all rows; `id` names them.
            folders: `weights`, which the encoder started from, and one for each of `references`: an encoder, or for a
                `Pivot` the vectors of the table's texts of the pivot language.
        """
        raise NotImplementedError

    def prepared(self, encoder: SentenceTransformer, folders: Mapping[str, Path], seed: int) -> SentenceTransformer:
        """The encoder that is trained, from the one that training starts from.

        Args:
            folders: as of `loss`.
            seed: of weights that are new.
        """
        return encoder

    def rates(self, training: Training) -> dict[str, float]:
        """Pattern of the names of a loss's weights -> their learning rate, where it is not `training.learning_rate`."""
        return {}

    def remarks(
        self, encoder: SentenceTransformer, columns: Mapping[str, list[str]], folders: Mapping[str, Path]
    ) -> dict[str, Any]:
        """What the manifest should say of a training beyond its settings and losses."""
        return {}

    def kept_bytes(self, texts: float, translations: float, source: float, width: float) -> float:
        """Bytes that a training keeps of its data beside the weights.

        Args:
            translations: of all texts, each once.
            source, width: numbers of a token's state of a text, and of a translation.
        """
        return 0

    def references(self) -> dict[str, Reference]:
        """The encoders of the study that it needs, by the names of the settings that name them."""
        return {name: value for name, value in self if isinstance(value, Reference)}


class Queued(Objective):
    """An objective with a queue of earlier rows, which stand beside those of the batch."""

    queue_size: int
    """How many earlier rows; 0: none."""

    @property
    def least(self) -> int:
        """A single row has others in the queue alone."""
        return 1 if self.queue_size else 2


@cache
def known() -> tuple[str, ...]:
    """The names of all objectives, in order; the folder is read once."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))


def module_of(name: str) -> str:
    """The file of an objective, from the project's folder: its code counts for what is trained by it."""
    return f"seedbed/encoders/objectives/{name}.py"


def load(name: str, settings: Mapping[str, Any] | None = None) -> Objective:
    """An objective by its name; UserError: no such objective, or settings that it does not have."""
    if name not in (names := known()):
        raise UserError(f"objective: no {name!r}; {suggest(name, [*names])}")
    kind = getattr(importlib.import_module(f"{__name__}.{name}"), name.capitalize())
    try:
        return kind.model_validate(dict(settings or {}))
    except ValidationError as error:
        raise UserError(explain(error, kind, where=f"objective.{name}")) from None


def parsed(text: str) -> Objective:
    """The inverse of `dump`; UserError: not JSON, or as `loaded`."""
    try:
        return loaded(json.loads(text))
    except json.JSONDecodeError as error:
        raise UserError(f"objective: not JSON ({error})") from None


def loaded(given: Objective | Mapping[str, Any]) -> Objective:
    """An objective from its name and settings; UserError: not one name with its settings, or as `load`."""
    if isinstance(given, Objective):
        return given
    if not (isinstance(given, Mapping) and len(given) == 1):
        raise UserError(f'objective: {given!r} is not one name with its settings, like {{"contrast": {{}}}}')
    return load(*next(iter(given.items())))


def named(objective: Objective) -> dict[str, Any]:
    """The inverse of `loaded`."""
    return {name_of(objective): json.loads(objective.dump())}


def dump(objective: Objective) -> str:
    """JSON of an objective's name and settings."""
    return compact(named(objective))


Named = Annotated[Objective, BeforeValidator(loaded), PlainSerializer(named)]
"""The type of an objective among a program's arguments: its name with its settings."""


def name_of(objective: Objective) -> str:
    """The name by which `load` finds it."""
    return type(objective).__module__.rpartition(".")[2]
