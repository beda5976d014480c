"""How pretrained weights and tokenizers are opened: from the disk alone, without code of theirs, whole or not at all.

transformers gives random numbers to what a file lacks, and tells it in a log; here that is an error.
"""

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from seedbed import model_files
from seedbed.io import UserError

NO_CODE = {"trust_remote_code": False}
LOCAL = NO_CODE | {"local_files_only": True}
REPORTED = {"use_safetensors": True, "output_loading_info": True, "ignore_mismatched_sizes": True}
"""For `from_pretrained`, whose second value is then a report for `require_whole`."""


@contextlib.contextmanager
def opening(folder: Path) -> Iterator[None]:
    """A context in which the files of a folder are opened by a library.

    Raises:
        UserError: instead of whatever the library raises; what is short of memory is left as it is.
    """
    try:
        yield
    except (UserError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # the libraries raise whatever a broken file leads to, tokenizers a bare Exception
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise UserError(f"{folder}: cannot be opened ({reason}); save the model again with save_pretrained") from error


def open_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a model's folder.

    Raises:
        UserError: it cannot be opened, or as `model_files.check`.
    """
    model_files.check(folder)
    with opening(folder):
        return AutoTokenizer.from_pretrained(folder, **LOCAL)


def require_whole(folder: Path, report: Mapping[str, Any], spared: Callable[[str], bool] = lambda key: False) -> None:
    """Stop at a model some of whose weights are not its file's.

    Args:
        report: what `from_pretrained` tells with REPORTED; weights that are tied to others are not missing there.
        spared: whether a weight, by its name, may be missing.

    Raises:
        UserError: a weight is missing, or of another shape than the configuration asks for.
    """
    if missing := sorted(key for key in report["missing_keys"] if not spared(key)):
        raise UserError(
            f"{folder}: its *.safetensors lack {missing[0]}{_more(missing)}; expected weights as save_pretrained "
            "writes them, with its names and of the kind that config.json tells"
        )
    if other := sorted(report["mismatched_keys"]):
        name, given, asked = other[0]
        raise UserError(
            f"{folder}: {name} has the shape {tuple(given)} in its *.safetensors, and {tuple(asked)} by config.json"
            f"{_more(other)}; take the config.json that was saved with the weights"
        )


def require_whole_body(model: PreTrainedModel, folder: Path) -> None:
    """Check the body of a transformer that somebody else's code opened in a folder, with `ignore_mismatched_sizes`.

    Its weights are not read again: names and shapes come from the meta device. A pooler may be missing, since nothing
    here reads what it makes of the first token.
    """
    options = {"config": copy.deepcopy(model.config), "device_map": "meta"}
    if getattr(model, "pooler", True) is None and "add_pooling_layer" in inspect.signature(type(model)).parameters:
        options["add_pooling_layer"] = False  # as it was opened; else transformers would log that a pooler is missing
    with opening(folder):
        _, report = type(model).from_pretrained(folder, **options, **LOCAL, **REPORTED)
    require_whole(folder, report, is_pooler)


def is_pooler(name: str) -> bool:
    """Whether a weight is one of BERT's pooler."""
    return "pooler" in name.split(".")


def _more(names: list[Any]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
