"""A quantised GGUF file becomes a directory of bfloat16 safetensors that transformers loads and trains."""

import contextlib
import functools
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from seedbed.io import UserError
from seedbed.weights import LOCAL


def convert(file: Path, output: Path) -> None:
    """Dequantise a GGUF model and its tokenizer into `output`.

    transformers cannot save a model that it has loaded from GGUF without dequantising.

    Raises:
        UserError: the file lacks a tensor of its architecture, which transformers would initialise at random.
    """
    where = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    with _read_once():
        options = {"dtype": torch.float32, "quantization_config": GgufConfig(dequantize=True)}
        model, report = AutoModelForCausalLM.from_pretrained(**where, **LOCAL, **options, output_loading_info=True)
        if missing := sorted(report["missing_keys"]):
            raise UserError(f"{file}: has no {missing[0]}; take a GGUF file with all tensors of its architecture")
        model.to(torch.bfloat16).save_pretrained(output)
        AutoTokenizer.from_pretrained(**where, **LOCAL).save_pretrained(output)


@contextlib.contextmanager
def _read_once() -> Iterator[None]:
    """transformers opens the file for configuration, weights and tokenizer: keep the first."""
    reader = gguf.GGUFReader
    gguf.GGUFReader = functools.cache(Reader)
    try:
        yield
    finally:
        gguf.GGUFReader = reader


class Reader(gguf.GGUFReader):
    """A reader whose lists consist of plain Python values.

    The library makes two to four memory-mapped arrays of each entry: of a vocabulary of 262,000 tokens, which has three
    lists, a million, and to read those takes most of a conversion.
    """

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> tuple[int, list[Any], list[int], list[Any]]:
        if raw_type != gguf.GGUFValueType.ARRAY or self.byte_order != "I":
            return super()._get_field_parts(orig_offs, raw_type)
        head = [self._get(orig_offs, np.uint32), self._get(orig_offs + 4, np.uint64)]
        kind, count, start = gguf.GGUFValueType(head[0][0]), int(head[1][0]), orig_offs + 12
        if kind == gguf.GGUFValueType.STRING:
            values, end = self._strings(start, count)
        elif scalar := self.gguf_scalar_to_np.get(kind):
            numbers = self._get(start, scalar, count)
            values, end = [(number,) for number in numbers.tolist()], start + numbers.nbytes
        else:
            return super()._get_field_parts(orig_offs, raw_type)
        types = [gguf.GGUFValueType.ARRAY, *([kind] if count else [])]
        return end - orig_offs, [*head, *values], [*range(2, 2 + count)], types

    def _strings(self, start: int, count: int) -> tuple[list[bytes], int]:
        """`count` strings from a position in the file, and the position after them."""
        file, length, found = memoryview(self.data), struct.Struct("=Q"), []
        for _ in range(count):
            (size,) = length.unpack_from(file, start)
            found.append(bytes(file[start + 8 : start + 8 + size]))
            start += 8 + size
        return found, start
