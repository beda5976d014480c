"""How encoders are fine-tuned on each kind of corpus; loaded by name, so that editing one re-runs no other.

Each of these modules has

    SETTINGS                                    the class of its settings
    require(table, where)                       raises UserError at a row without a label or answer
    require_learnable(table, where)             the same for a training set, whose answers must have their position
    train(base, rows, settings, how) -> learnt  see `tuning.train`; learnt.report, and learnt.answers(test), one a row
"""

import importlib
from types import ModuleType

FILES = {"labelled_texts": "tuning", "questions": "questions"}
"""Kind of corpus -> module of this folder."""


def load(kind: str) -> ModuleType:
    """Import the module for a kind of corpus."""
    return importlib.import_module(f"seedbed.classifiers.{FILES[kind]}")


def module_of(kind: str) -> str:
    """The path of the module's file for a kind of corpus, from the project's folder."""
    return f"seedbed/classifiers/{FILES[kind]}.py"
