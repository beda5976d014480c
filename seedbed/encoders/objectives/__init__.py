"""Objectives: what training minimises. Each file of this folder is one, and the folder is the list of them.

A file `name.py` has one class `Name`, a sub-class of `Objective`, which has the types of its methods. It is imported
when it is first used; import PyTorch inside methods only, so that planning a study stays fast.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, PlainSerializer, ValidationError

from seedbed.encoders.settings import LEARNT, Reference, Training
from seedbed.io import UserError
from seedbed.settings import Settings, explain, suggest

if TYPE_CHECKING:
    import pandas as pd
    from sentence_transformers import SentenceTransformer
    from torch import nn

LANGUAGE = "language of "
"""Prefix of the columns that give the language of each text of another column, if the data are in several languages."""


class Objective(Settings):
    """Base class of an objective: its settings are the class's fields, and its methods build the loss."""

    shapes: ClassVar[tuple[tuple[str, ...], ...]]
    """Sets of text columns that it can be trained on, in the order in which the loss takes them. The first set that the
    data has is used. A property if it depends on the settings.
    """
    values: ClassVar[tuple[str, ...]] = ()
    """Other columns that it requires, such as gold scores; the loss looks them up by row."""
    optional: ClassVar[tuple[str, ...]] = ()
    """Other columns that it uses if the data has them."""
    reread: ClassVar[int] = 0
    """Texts of a row that a copy of the encoder encodes once more, without a gradient, for forecasts of time and
    memory. A property if it depends on the settings.
    """
    partial: ClassVar[bool] = False
    """Whether rows may lack a negative, which is then an empty text."""
    together: ClassVar[bool] = False
    """Whether `joint_adapters` trains the encoders of all languages at once; `loss` is then not used."""
    masks_words: ClassVar[bool] = False
    """Whether `training.mlm_weight` adds masked language modelling to its loss."""
    adds_weights: ClassVar[bool] = False
    """Whether `prepare` adds modules with weights."""
    uses_temperature: ClassVar[bool] = False
    """Whether its loss divides similarities by `training.temperature`."""
    rule: ClassVar[str] = "train_encoder"
    """The Snakemake rule whose program trains with it."""
    mixed: ClassVar[bool] = False
    """Whether a column has texts of the language and of the pivot, so that no prompt can depend on the language."""
    own_seed: ClassVar[bool] = False
    """Whether the seed is one of its settings; training then gives one encoder for each start point, instead of one for
    each of the study's seeds.
    """
    least: ClassVar[int] = 1
    """The minimum number of rows in a batch; a smaller last batch is left out. A property if it depends on the
    settings.
    """

    def columns(self, table: pd.DataFrame) -> dict[str, list[str]]:
        """Select the text columns of the training data that the loss takes.

        Returns:
            Column name -> its texts, in the order of `shapes`.

        Raises:
            UserError: the table has none of the sets of columns, lacks a required column, or lacks negatives.
        """
        for shape in self.shapes:
            if {*shape, *self.values} <= {*table.columns}:
                if "negative" in shape and not self.partial and (table["negative"] == "").any():
                    raise UserError(f"{name_of(self)}: rows without a negative; give each one, or take ranking")
                return {name: table[name].tolist() for name in shape}
        sets = " or ".join(", ".join((*shape, *self.values)) for shape in self.shapes)
        raise UserError(f"{name_of(self)}: no columns {sets}; the data has {', '.join(table.columns)}")

    def read_as(self, columns: Sequence[str]) -> dict[str, str]:
        """Column that the loss takes -> the column whose prompt its texts have: itself (`corpora.settings.READ_AS`)."""
        return {name: name for name in columns}

    def loss(
        self, encoder: SentenceTransformer, table: pd.DataFrame, training: Training, folders: Mapping[str, Path]
    ) -> nn.Module:
        """Build the loss: a module `loss(features, rows)` that returns a scalar and has the encoder as attribute
        `model`.

        `features` are the tokenised texts of a batch by column, `rows` the rows' positions (batch,) in the table.
        Checkpoints contain the module's parameters and buffers, the saved encoder does not. Optional methods of the
        module: `after_step()` is called after each optimiser step; `findings()` returns facts for the manifest at the
        end of training; `write_files(folder)` writes files into the encoder's folder. Torch's generator is seeded with
        the run's seed before this is called.

        Args:
            encoder: the encoder in training.
            table: all rows; `id` names them.
            training: the training settings.
            folders: `weights`, the start point; and a folder for each of `references`: an encoder, or for a `Pivot` the
                vectors of the table's pivot sentences.
        """
        raise NotImplementedError

    def prepare(self, encoder: SentenceTransformer, folders: Mapping[str, Path], seed: int) -> SentenceTransformer:
        """Change the encoder before training, for example by adding modules with weights by `seed`, and return the
        encoder that is trained; `folders` are those of `loss`.
        """
        return encoder

    def whole_batch_reason(self, training: Training) -> str:
        """Why its batches must be encoded whole, in words that follow "this training".

        Empty if its loss reads no more of texts than `model(features)["sentence_embedding"]`, once for each column or
        for all: a batch can then be encoded in parts, one after the other (`training.mini_batch`) or by several
        processes, and the loss sees the vectors of all its texts.
        """
        return ""

    def misfit(self, training: Training, *, several: bool = False, two_texts: bool = False) -> str:
        """A setting that training by it cannot have, why, and what would be right; empty: it can have all.

        Args:
            training: the training settings.
            several: rows of several languages are laid out.
            two_texts: the encoder reads a text and its translation.
        """
        name = name_of(self)
        if training.mlm_weight and not self.masks_words:
            return f"mlm_weight: {name} predicts no masked words; set it to 0, or train by contrast"
        whole = "reads two texts" if two_texts else self.whole_batch_reason(training)
        if training.mini_batch and whole:
            return f"mini_batch: this training {whole}, of whole batches; set it to 0"
        if training.distinct and several:
            return "distinct: rows of several languages are laid out by them; set it to false"
        if two_texts and (training.part, training.adapter) == ("adapter", "parallel"):
            return "adapter: an encoder of two texts takes no parallel ones; take low_rank, or another part"
        plain = training.pooling not in (*LEARNT, "own")
        if training.part == "head" and plain and not (two_texts or self.adds_weights):
            return f"part: head, and pooling {training.pooling} has no weights to train; take cls_mlp, or part all"
        return ""

    def rates(self, training: Training) -> dict[str, float]:
        """Learning rates that differ from `training.learning_rate`: regular expression of weights' names -> rate."""
        return {}

    def remarks(
        self, encoder: SentenceTransformer, columns: Mapping[str, list[str]], folders: Mapping[str, Path]
    ) -> dict[str, Any]:
        """Facts for the encoder's manifest in addition to settings and losses."""
        return {}

    def cached_bytes(self, texts: float, translations: float, source: float, width: float) -> float:
        """Bytes of data that training caches in addition to the weights; used to forecast memory.

        Args:
            texts: the number of texts.
            translations: the number of distinct translations of all texts.
            source: dimensions of a token's state in the encoder of the texts.
            width: dimensions of a token's state in the encoder of the translations.
        """
        return 0

    def references(self) -> dict[str, Reference]:
        """Encoders of the study that it requires: name of the setting -> the reference."""
        return {name: value for name, value in self if isinstance(value, Reference)}


class Queued(Objective):
    """An objective with a queue of earlier rows, which the loss uses in addition to the batch."""

    queue_size: int
    """How many earlier rows; 0: none."""

    @property
    def least(self) -> int:
        """2 without a queue: a single row has nothing to be compared with."""
        return 1 if self.queue_size else 2


@cache
def known() -> tuple[str, ...]:
    """The names of all objectives, sorted."""
    return tuple(sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py")))


def module_of(name: str) -> str:
    """The path of an objective's file from the project's folder; its code is part of the code of jobs that train with
    it.
    """
    return f"seedbed/encoders/objectives/{name}.py"


def load(name: str, settings: Mapping[str, Any] | None = None) -> Objective:
    """Make an objective from its name, that of its file, and values of its fields; None: the defaults.

    Raises:
        UserError: no such objective, or settings that it does not have.
    """
    if name not in (names := known()):
        raise UserError(f"objective: no {name!r}; {suggest(name, [*names])}")
    kind = getattr(importlib.import_module(f"{__name__}.{name}"), name.capitalize())
    try:
        return kind.model_validate(dict(settings or {}))
    except ValidationError as error:
        raise UserError(explain(error, kind, where=f"objective.{name}")) from None


def loaded(given: Objective | Mapping[str, Any]) -> Objective:
    """Make an objective from a mapping of one name to its settings, like {"contrast": {"cutoff": 0.3}}; an objective is
    returned unchanged.

    Raises:
        UserError: not one name with its settings, no such objective, or settings that it does not have.
    """
    if isinstance(given, Objective):
        return given
    if not (isinstance(given, Mapping) and len(given) == 1):
        raise UserError(f'objective: {given!r} is not one name with its settings, like {{"contrast": {{}}}}')
    return load(*next(iter(given.items())))


def named(objective: Objective) -> dict[str, Any]:
    """A mapping of the objective's name to its settings, the inverse of `loaded`."""
    return {name_of(objective): json.loads(objective.dump())}


Named = Annotated[Objective, BeforeValidator(loaded), PlainSerializer(named)]
"""Type of an objective in a program's arguments; it is read from, and written as, its name with its settings."""


def name_of(objective: Objective) -> str:
    """The name of an objective: that of its file."""
    return type(objective).__module__.rpartition(".")[2]
