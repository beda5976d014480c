"""What an encoder is fine-tuned by, for each kind of corpora; loaded by name, so that an edit of one re-runs no other.

A module of these has

    SETTINGS                                    the class of its settings
    require(table, where)                       raises UserError at a row without a label, or an answer
    require_learnable(table, where)             the same for a training set: an answer is where it is said to be
    train(base, rows, settings, ...) -> learnt  see `tuning.train`; learnt.report, and learnt.answers(test), one a row
"""

import importlib
from types import ModuleType

FILES = {"labelled_texts": "tuning", "questions": "questions"}
"""Kind of corpora -> module of this folder."""


def load(kind: str) -> ModuleType:
    """The module for a kind of corpora."""
    return importlib.import_module(f"seedbed.classifiers.{FILES[kind]}")


def module_of(kind: str) -> str:
    """The file of that module, for `study.code.value`: from the project's folder."""
    return f"seedbed/classifiers/{FILES[kind]}.py"
