"""How systems are scored: one file for each protocol, and no other list of protocols.

A file of this folder, or of `protocols/` in the folder in which a study is run, is the protocol of its name. It has

    PROTOCOL: Protocol               what it reads, and what it asks of a system
    METRICS: dict[str, Metric]       the numbers that tables can show, by the names that specs of tables use; one whose
                                     name ends in {label} stands for a metric of each class
    score(trial: Trial) -> Scores    see `evaluation.scores`

`mteb_rows(test)` where mteb has tasks of its kind; `lexical(test)` where words alone can answer: what that is called
(`metrics.lexical.NAMES`), and its items, in the order of those that are scored. `texts(test)` where other texts are
embedded than stand in its columns, and `composed(test)` where some are several of those, a blank apart: text -> its
parts. A study is read with the files that it names, so they import what takes long to import (scikit-learn, torch, ...)
inside their functions.
"""

import importlib
import os
import pkgutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

import pandas as pd
from pydantic import AfterValidator, Field

from seedbed.corpora.settings import Kind
from seedbed.evaluation.metrics import Metric as Metric
from seedbed.io import UserError
from seedbed.resources import ROOT
from seedbed.settings import suggest

LABEL = "{label}"
"""Stands at the end of a metric's name for any class of the data."""

OWN = "protocols"
"""Where a study keeps protocols of its own, in the folder in which it is run."""


@dataclass(frozen=True)
class Protocol:
    """What a protocol reads, and what it asks of a system."""

    kind: Kind
    """Kind of the corpora that it reads; `corpora.settings.COLUMNS` has their columns."""
    asks: tuple[Literal["vectors", "distances", "layers", "paths", "choices", "labels"], ...]
    """What a system must give; any one is enough. vectors: one of each text. distances: the nearest of a corpus; who
    has vectors has them. layers: a vector of each text from every layer. paths: one of each text and one of its chosen
    English. choices: whose English was chosen. labels: one of each test item."""
    options: tuple[str, ...] = ()
    """The settings of `Task` that it reads, of those that are not every protocol's."""
    edits: bool = False
    """Whether it embeds texts of its own making, of which there is no English: for encoders of a text alone."""
    tunes: bool = False
    """Whether an encoder is fine-tuned on the task's training set, and then answers as a classifier does."""
    chooses: bool = False
    """Whether a development task may choose by it: its main score says which of several encoders is the better."""
    second: tuple[str, ...] = ()
    """The columns that are in the second language where a test is of two; the others are in the first. Empty: it has
    no such tests."""
    mteb: tuple[str, ...] = ()
    """Metrics, by their names in a score file, that must agree with mteb's; empty: there is no mteb task."""

    @property
    def learns(self) -> bool:
        """Whether its tasks have a training set."""
        return "train" in self.options

    def serves(self, gives: Collection[str]) -> bool:
        """Whether it is for encoders that give these beyond vectors: paths and choices, if they read translations."""
        return {*self.asks} & {"paths", "choices"} <= {*gives} and not (self.edits and gives)

    @property
    def of_encoders(self) -> bool:
        """Whether encoders are scored; if not, classifiers alone are."""
        return self.tunes or self.asks != ("labels",)

    @property
    def of_distances(self) -> bool:
        """Whether distances alone are enough: those of several encoders can be fused for it."""
        return "distances" in self.asks


def names() -> list[str]:
    """All protocols: the library's and the study's own."""
    # Of two files of one name the library's is imported.
    return sorted({module.name for module in pkgutil.iter_modules(_folders())})


def load(name: str) -> ModuleType:
    """The file of a protocol; UserError: it is a study's own, and cannot be imported, or declares no protocol."""
    _folders()
    try:
        module = importlib.import_module(f"{__name__}.{name}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: it would end the plan without a word
        if module_of(name) != str(_own(name).absolute()):
            raise
        reason = " ".join(str(error).split())
        raise UserError(f"{_own(name)}: {type(error).__name__}{': ' * bool(reason)}{reason}; mend the file") from None
    if not isinstance(getattr(module, "PROTOCOL", None), Protocol):
        raise UserError(f"{_own(name)}: no PROTOCOL = Protocol(...); see docs/contributing.md")
    if not callable(getattr(module, "score", None)) or not isinstance(getattr(module, "METRICS", None), Mapping):
        raise UserError(f"{_own(name)}: no METRICS, or no function score; see docs/contributing.md")
    return module


def declared(name: str) -> Protocol:
    """What a protocol reads and asks."""
    return load(name).PROTOCOL


def metric(protocol: str, name: str) -> Metric | None:
    """A metric of a protocol by its name in tables; `f1 of sports` is the one of class sports of `f1 of {label}`."""
    for known, found in load(protocol).METRICS.items():
        start, of_each, _ = known.partition(LABEL)
        if known == name and not of_each:
            return found
        if of_each and name.startswith(start) and name not in (start, known):
            return found.of(name.removeprefix(start))
    return None


def main_metric(protocol: str, k: Collection[int]) -> str:
    """The name of a protocol's first metric, of those that the scores of a task with these k have."""
    return next(name for name, metric in load(protocol).METRICS.items() if metric.k is None or metric.k in k)


def lexical(protocol: str) -> Callable[[pd.DataFrame], tuple[str, pd.DataFrame]] | None:
    """What scores the words of a protocol's test sets without an encoder; None: they cannot answer."""
    return getattr(load(protocol), "lexical", None)


def which(fits: Callable[[Protocol], bool]) -> list[str]:
    """The names of the protocols that fit."""
    return [name for name in names() if fits(declared(name))]


def module_of(name: str) -> str:
    """The file of a protocol, for `study.code.value`: from the project's folder, or the whole path of a study's own.

    The code of its scores is `{file}:PROTOCOL` and `{file}:score`, that of tables `{file}:METRICS`.
    """
    file = f"seedbed/evaluation/protocols/{name}.py"
    return file if (ROOT / file).is_file() else str(_own(name).absolute())


def _own(name: str) -> Path:
    return Path(OWN, f"{name}.py")


def _folders() -> list[str]:
    """Those of the package: its own, and the study's, which lies where the program runs."""
    __path__[1:] = [_study(os.getcwd())]  # noqa: PTH109  a plan asks a hundred thousand times
    return __path__


@cache
def _study(folder: str) -> str:
    return str(Path(folder, OWN))


def _known(name: str) -> str:
    if name not in (known := names()):
        raise ValueError(f"no such protocol; {suggest(name, known)}")
    return name


Name = Annotated[str, AfterValidator(_known), Field(json_schema_extra={"examples": names()})]
"""The name of a protocol."""
