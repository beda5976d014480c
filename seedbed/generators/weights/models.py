"""Loading language models and their adapters, with all of their weights or not at all."""

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, PreTrainedModel

from seedbed import model_files
from seedbed.generators.weights.folder import require_model
from seedbed.io import UserError
from seedbed.weights import LOCAL, REPORTED, opening, require_whole


def open_language_model(base: Path, kind: Any = AutoModelForCausalLM, **options: Any) -> PreTrainedModel:
    """Load the model of a folder by `kind`, one of transformers' Auto classes, on the CPU if `options` of its
    `from_pretrained` name no other device.

    Raises:
        UserError: no model there, one that cannot be opened or lacks weights, or as `model_files.check`.
    """
    require_model(base)
    with opening(base):
        model, report = kind.from_pretrained(base, **LOCAL, **REPORTED, **options)
    require_whole(base, report)
    return model


def in_four_bits(setting: str, dtype: torch.dtype) -> dict[str, Any]:
    """Options of `open_language_model` for weights in nf4 with double quantisation and computation in `dtype`, as in
    QLoRA; messages begin with `setting`.

    Raises:
        UserError: there is no NVIDIA GPU, or no bitsandbytes.
    """
    # On a CPU bitsandbytes 0.50 reads some matrices wrongly and loses gradients, without an error (test_four_bits.py).
    if not torch.cuda.is_available():
        raise UserError(f"{setting}: nf4 needs an NVIDIA GPU, and none is visible; set it to none")
    if importlib.util.find_spec("bitsandbytes") is None:
        raise UserError(f"{setting}: nf4 needs the package bitsandbytes; install it, or set it to none")
    nf4 = {"bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True, "bnb_4bit_compute_dtype": dtype}
    return {"quantization_config": BitsAndBytesConfig(load_in_4bit=True, **nf4), "device_map": "auto"}


def open_adapter(model: PreTrainedModel, adapter: Path) -> PeftModel:
    """The adapter around the model, complete or not at all: peft only warns of weights that it does not find.

    Raises:
        UserError: no weights in safetensors (without them peft would look for a pickle), weights that do not fit the
            model, or as `model_files.check`.
    """
    model_files.check(adapter)
    if not (adapter / "adapter_model.safetensors").is_file():
        raise UserError(f"{adapter}: no adapter_model.safetensors; save the adapter again")
    with opening(adapter):
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("error", message=".*missing adapter keys")
                return PeftModel.from_pretrained(model, adapter)
        except (ValueError, RuntimeError, UserWarning) as error:
            reason = str(error).splitlines()[0]
            raise UserError(f"{adapter}: does not fit the base {model.name_or_path}: {reason}") from None
