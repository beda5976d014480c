"""Protocols: how systems are scored. One file for each protocol; the folder is the list of them.

A file of this folder, or of `protocols/` in the folder in which a study is run, is the protocol of its name. It has

    PROTOCOL: Protocol               which data it reads, and what it requires of a system
    METRICS: dict[str, Metric]       the metrics that tables can show, by their names in table specs; a name that ends
                                     in {label} declares a metric for each class
    score(trial: Trial) -> Scores    see `evaluation.scores`

Optional functions: `mteb_rows(test)` if mteb has tasks of its kind; `lexical(test)` if words alone can answer: the name
of that baseline (`metrics.lexical.NAMES`) and its items, in the order of the scored ones; `texts(test)` if other texts
are encoded than those in its columns, and `composed(test)` if some of these are several texts joined by a blank: text
-> its parts.

Planning a study imports its protocols, so they import what takes long to import (scikit-learn, torch, ...) inside
functions.
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
"""Suffix of a metric's name that is replaced by each class of the data."""

OWN = "protocols"
"""Folder of a study's own protocols, in the folder in which it is run."""


@dataclass(frozen=True)
class Protocol:
    """Which data a protocol reads, and what it requires of a system."""

    kind: Kind
    """Kind of the corpora that it reads; `corpora.settings.COLUMNS` has their columns."""
    asks: tuple[Literal["vectors", "distances", "layers", "paths", "choices", "labels"], ...]
    """What a system must provide; any one of these is enough. vectors: of each text. distances: nearest neighbours in a
    corpus; a system with vectors has them. layers: a vector of each text from every layer. paths: vectors of each text
    and of its chosen English translation. choices: which translation was chosen. labels: of each test item.
    """
    options: tuple[str, ...] = ()
    """The settings of `Task` that it uses, of those that not every protocol does."""
    edits: bool = False
    """Whether it encodes texts that it makes itself, which have no translation; then two-path encoders cannot be
    scored.
    """
    tunes: bool = False
    """Whether an encoder is fine-tuned on the task's training set, and then answers as a classifier does."""
    chooses: bool = False
    """Whether its main score may select among systems on a development task."""
    second: tuple[str, ...] = ()
    """Columns in the second language of a two-language test; the others are in the first. Empty: no such tests."""
    mteb: tuple[str, ...] = ()
    """Metrics, by their names in a score file, that must agree with mteb's; empty: there is no mteb task."""

    @property
    def learns(self) -> bool:
        """Whether its tasks have a training set."""
        return "train" in self.options

    def serves(self, gives: Collection[str], *, transformer: bool = True) -> bool:
        """Whether it can score encoders that provide `gives` in addition to vectors.

        Encoders that use translations provide `paths` and `choices`. Protocols that ask for these can score no others;
        protocols that edit texts cannot score encoders that use translations.

        Args:
            transformer: whether the encoders have layers and can be fine-tuned.
        """
        if not transformer and (self.tunes or self.asks == ("layers",)):
            return False
        return {*self.asks} & {"paths", "choices"} <= {*gives} and not (self.edits and gives)

    @property
    def of_encoders(self) -> bool:
        """Whether it scores encoders; if not, classifiers only."""
        return self.tunes or self.asks != ("labels",)

    @property
    def of_distances(self) -> bool:
        """Whether distances are enough, so that fused encoders can be scored."""
        return "distances" in self.asks


def names() -> list[str]:
    """All protocols: the library's and the study's own."""
    # Of two files of one name the library's is imported.
    return sorted({module.name for module in pkgutil.iter_modules(_folders())})


def load(name: str) -> ModuleType:
    """Import the file of a protocol.

    Raises:
        UserError: a custom protocol's file does not exist, cannot be imported, or lacks PROTOCOL, METRICS or score.
    """
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
    """The `PROTOCOL` of a protocol."""
    return load(name).PROTOCOL


def metric(protocol: str, name: str) -> Metric | None:
    """A protocol's metric by its name in tables; "f1 of sports" is class sports of "f1 of {label}". None: no such
    metric.
    """
    metrics = load(protocol).METRICS
    if name in metrics and not name.endswith(LABEL):
        return metrics[name]
    of_each = _of_each(metrics, name)
    return metrics[of_each].of(name.removeprefix(of_each.removesuffix(LABEL))) if of_each else None


def class_of(protocol: str, name: str) -> str:
    """The class that a metric of tables is of: "sports" of "f1 of sports"; empty: it is of none."""
    metrics = load(protocol).METRICS
    of_each = "" if name in metrics else _of_each(metrics, name)
    return name.removeprefix(of_each.removesuffix(LABEL)) if of_each else ""


def _of_each(metrics: Collection[str], name: str) -> str:
    """The metric of all classes that a name of one class belongs to: "f1 of {label}"; empty: there is none."""
    starts = {known: known.removesuffix(LABEL) for known in metrics if known.endswith(LABEL)}
    return next((known for known, start in starts.items() if name.startswith(start) and name not in (start, known)), "")


def main_metric(protocol: str, k: Collection[int]) -> str:
    """The name of a protocol's first metric that a task with these k has; it is the task's main score.

    Raises:
        ValueError: tables have no metric at any of these k.
    """
    found = {name: metric.k for name, metric in load(protocol).METRICS.items()}
    if not (main := next((name for name, of in found.items() if of is None or of in k), "")):
        known = ", ".join(str(of) for of in dict.fromkeys(found.values()))
        raise ValueError(f"k: {', '.join(map(str, k))}; tables of {protocol} have {known}")
    return main


def lexical(protocol: str) -> Callable[[pd.DataFrame], tuple[str, pd.DataFrame]] | None:
    """The function that computes a protocol's lexical baseline; None: it has none."""
    return getattr(load(protocol), "lexical", None)


def which(fits: Callable[[Protocol], bool]) -> list[str]:
    """Names of the protocols for which `fits` is true."""
    return [name for name in names() if fits(declared(name))]


def module_of(name: str) -> str:
    """The path of a protocol's file: from the project's folder, or absolute for a study's own.

    `study.code.value` uses it: the code of its scores is `{file}:PROTOCOL` and `{file}:score`, that of tables
    `{file}:METRICS`.
    """
    file = f"seedbed/evaluation/protocols/{name}.py"
    return file if (ROOT / file).is_file() else str(_own(name).absolute())


def _own(name: str) -> Path:
    return Path(OWN, f"{name}.py")


def _folders() -> list[str]:
    """Folders of protocols: the package's, and the study's in the working directory."""
    __path__[1:] = [f"{os.getcwd()}/{OWN}"]  # noqa: PTH109  a plan asks a hundred thousand times
    return __path__


@cache
def _library() -> frozenset[str]:
    """The library's own protocols, which are known without a look at the study's folder."""
    return frozenset(module.name for module in pkgutil.iter_modules(__path__[:1]))


def _known(name: str) -> str:
    if name not in _library() and name not in (known := names()):
        raise ValueError(f"no such protocol; {suggest(name, known)}")
    return name


Name = Annotated[str, AfterValidator(_known), Field(json_schema_extra={"examples": names()})]
"""The name of a protocol."""
