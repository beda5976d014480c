"""Loading pretrained weights and tokenizers: from disk only, without running their code, and only if complete.

transformers initialises missing weights at random and only logs it; here that is an error.
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
"""Options of `from_pretrained`, whose second return value is then a report for `require_whole`."""


@contextlib.contextmanager
def opening(folder: Path) -> Iterator[None]:
    """Context in which a library opens files of a folder; its errors become UserErrors, except those of memory.

    Raises:
        UserError: the library raised an error.
    """
    try:
        yield
    except (UserError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # the libraries raise whatever a broken file leads to, tokenizers a bare Exception
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise UserError(f"{folder}: cannot be opened ({reason}); save the model again with save_pretrained") from error


def open_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a model's folder.

    Raises:
        UserError: it cannot be loaded, or the folder is refused by `model_files.check`.
    """
    model_files.check(folder)
    with opening(folder):
        return AutoTokenizer.from_pretrained(folder, **LOCAL)


def open_with_head(folder: Path, kind: Any, **options: Any) -> tuple[PreTrainedModel, list[str]]:
    """Load a transformer with a head in float32; what of the head the folder lacks is new.

    Args:
        kind: one of transformers' auto classes; `options` are further ones of its `from_pretrained`.

    Returns:
        The model, and the names of the weights that the folder lacks: of the head, and of a pooler, which heads read.

    Raises:
        UserError: it cannot be loaded, or other weights are missing or have another shape.
    """
    with opening(folder):
        model, report = kind.from_pretrained(folder, **LOCAL, **REPORTED, **options, dtype=torch.float32)
    body = f"{model.base_model_prefix}."
    require_whole(folder, report, lambda name: not name.startswith(body) or is_pooler(name))
    return model, sorted(report["missing_keys"])


def require_whole(folder: Path, report: Mapping[str, Any], spared: Callable[[str], bool] = lambda key: False) -> None:
    """Check that a model's weights all came from its files.

    Args:
        report: the loading report of `from_pretrained` with REPORTED; tied weights are not missing there.
        spared: name of a weight -> whether it may be missing.

    Raises:
        UserError: a weight is missing, or has another shape than the configuration says.
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
    """Check the weights of a transformer that another library loaded with `ignore_mismatched_sizes`.

    Weights are not read again: names and shapes come from the meta device. A pooler may be missing, because it is not
    used.

    Raises:
        UserError: a weight is missing, or has another shape than the configuration says.
    """
    options = {"config": copy.deepcopy(model.config), "device_map": "meta"}
    if getattr(model, "pooler", True) is None and "add_pooling_layer" in inspect.signature(type(model)).parameters:
        options["add_pooling_layer"] = False  # as it was opened; else transformers would log that a pooler is missing
    with opening(folder):
        _, report = type(model).from_pretrained(folder, **options, **LOCAL, **REPORTED)
    require_whole(folder, report, is_pooler)


def is_pooler(name: str) -> bool:
    """Whether a weight belongs to BERT's pooler."""
    return "pooler" in name.split(".")


def _more(names: list[Any]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
