"""The number format of computations."""

from typing import Literal

Precision = Literal["auto", "bfloat16", "float32"]
"""auto: bfloat16 if the hardware multiplies it, else float32. Never float16: Gemma 3 overflows in it."""


def precision(setting: str) -> str:
    """`bfloat16` or `float32`; for `auto` the one that is faster on this machine.

    bfloat16 is faster on GPUs, on CPUs with AMX, and on AMD's with AVX-512's bfloat16 (four times). On Intel's without
    AMX it was slower than float32: 1.7 times in training an adapter, 1.4 times in training an encoder.
    """
    import torch

    if setting != "auto":
        return setting
    if torch.cuda.is_available():
        fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        able = torch.cpu.get_capabilities()
        amd = able.get("avx512_bf16") and able.get("cpu_name", "").startswith("AMD")
        fast = torch.cpu._is_amx_tile_supported() or amd
    return "bfloat16" if fast else "float32"
