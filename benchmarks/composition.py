"""How far composed adapters lie from paper 000's equation 2, task + lambda (target - source), on the updates B A.

Distances are Frobenius norms over all modules, relative to the exact update: of both spaces as `compose` returns them,
and of the best approximation of each module (SVD) at lower ranks.

    python -m benchmarks.composition --task DIR --target DIR --source DIR
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from seedbed.generators.composition import WEIGHTS, compose, singular_values

SPACES = ("product", "factors")
Factors = tuple[Tensor, Tensor]
"""B, (out, r), and A, (r, in)."""


def factors(state: Mapping[str, Tensor]) -> Iterator[Factors]:
    """Each module's factors, in double precision, modules in sorted order."""
    for name in sorted(name for name in state if "lora_B" in name):
        yield state[name].double(), state[name.replace("lora_B", "lora_A")].double()


def update(module: Factors) -> Tensor:
    b, a = module
    return b @ a


def relative(parts: list[Tensor], wholes: list[Tensor]) -> float:
    """Norm of all parts over the norm of all wholes."""
    part, whole = (torch.stack([value.norm() for value in values]).norm() for values in (parts, wholes))
    return (part / whole).item()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for role in ("task", "target", "source"):
        parser.add_argument(f"--{role}", required=True, type=Path, help="a peft directory")
    parser.add_argument("--scales", nargs="+", type=float, default=[0.25, 0.5, 1.0], help="lambda")
    args = parser.parse_args(argv)
    states = [load_file(path / WEIGHTS) for path in (args.task, args.target, args.source)]
    updates = [[update(module) for module in factors(state)] for state in states]
    rank = min(next(factors(states[0]))[1].shape)
    ranks = [part * rank // 2 for part in range(1, 6)]
    shifts = [target - source for _, target, source in zip(*updates, strict=True)]
    print(f"{len(shifts)} modules of rank {rank}; |target - source| / |task| {relative(shifts, updates[0]):.3f}")
    print("lambda  " + "  ".join(f"{name:>8}" for name in (*SPACES, *(f"rank {size}" for size in ranks))))
    for scale in args.scales:
        exact = [task + scale * shift for task, shift in zip(updates[0], shifts, strict=True)]
        losses = []
        for space in SPACES:
            composed = compose(*states, scale=scale, space=space)
            errors = [update(module) - whole for module, whole in zip(factors(composed), exact, strict=True)]
            losses.append(relative(errors, exact))
        values = [singular_values(*module) for module in factors(compose(*states, scale=scale, space="product"))]
        losses += [relative([value[size:] for value in values], values) for size in ranks]
        print(f"{scale:6g}  " + "  ".join(f"{loss:8.2g}" for loss in losses), flush=True)


if __name__ == "__main__":
    main()
