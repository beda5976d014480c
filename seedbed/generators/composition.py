"""Composition of LoRA adapters, paper 000 equation 2: task + scale (target - source).

AdaMergeX's code adds A to A and B to B ("factors"). That is not the equation on the weight updates B A, since a product
of sums has cross terms. "product" is the equation exactly: it stacks the three adapters to rank 3r.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from seedbed import manifests
from seedbed.generators.settings import Composition
from seedbed.io import UserError, atomic_directory, read_json, sha256, write_json

State = Mapping[str, Tensor]
"""Tensors of a peft adapter: `<module>.lora_A.weight`, (r, in), and `<module>.lora_B.weight`, (out, r)."""
WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"
SHARED = ("base_model_name_or_path", "r", "lora_alpha", "target_modules")
"""Entries of adapter_config.json that must agree."""
PLAIN = ("use_dora", "use_rslora", "rank_pattern", "alpha_pattern", "modules_to_save", "lora_bias")
"""Entries that must be off: they change what B A means."""


@dataclass(frozen=True)
class Adapter:
    """A loaded peft directory, and seedbed's manifest in it, if there is one."""

    path: Path
    config: dict[str, Any]
    manifest: dict[str, Any]
    state: State


def compose(
    task: State, target: State, source: State, *, scale: float, space: Literal["factors", "product"]
) -> dict[str, Tensor]:
    """Compose three LoRA adapters of one rank and one alpha: task + scale (target - source).

    Args:
        task: tensors of the task adapter, trained in the source language.
        target: tensors of the language adapter of the target language.
        source: tensors of the language adapter of the source language.
        scale: lambda in the paper.
        space: "factors" composes A and B element-wise and keeps rank r (AdaMergeX's code). "product" composes B A and
            has rank 3r, with scale and sign in B. Both are exact for any alpha / r, provided that this ratio is
            unchanged.

    Returns:
        The composed tensors, by the names in `task`, in float32.

    Raises:
        UserError: the adapters have different modules, ranks or shapes, or are not plain LoRA.

    Source: paper 000, equation 2; Zhao et al. 2024 (AdaMergeX).
    """
    _check_states(task, target, source)
    states = [{name: tensor.float() for name, tensor in state.items()} for state in (task, target, source)]
    if space == "factors":
        return {name: a + scale * (b - c) for name, (a, b, c) in _zip(states)}
    return {name: torch.cat(parts) if _is_a(name) else _stack_b(parts, scale) for name, parts in _zip(states)}


def compose_directories(
    task: Path,
    target: Path,
    source: Path,
    composition: Composition,
    output: Path,
    tell: manifests.Tell | None,
) -> dict[str, Any]:
    """Compose three peft directories, as `compose` does their tensors, into one with a manifest, `seedbed.json`, that
    reports the error of approximations.

    `residuals` are Frobenius norms over all modules, relative to the exact B A: `factors`, the error of composing
    element-wise, and `rank`, the error of truncating to the task adapter's rank by SVD. `shift` is the distance of the
    exact B A from the task adapter's, relative to the latter. `parts` are the manifests of the three adapters. `tell`
    writes the card, see `adapter_card.write`; None: there is none.

    Returns:
        The manifest.

    Raises:
        UserError: not an adapter; adapters of different bases, modules, ranks or alphas; or, for "factors", of
            different seeds. Factors can be added only if the A matrices had the same initial values, which only the
            seeds show.
    """
    adapters = {"task": _read(task), "target": _read(target), "source": _read(source)}
    _check_configs(adapters.values())
    parts = {role: adapter.manifest for role, adapter in adapters.items()}
    if composition.space == "factors":
        _check_seeds(parts)
    states = [adapter.state for adapter in adapters.values()]
    composed = compose(*states, scale=composition.scale, space=composition.space)
    lost = residuals(*states, scale=composition.scale)
    with atomic_directory(output) as directory:
        save_file(dict(sorted(composed.items())), directory / WEIGHTS, metadata={"format": "pt"})
        write_json(_grown(adapters["task"].config, composition.space), directory / CONFIG)
        about = {"composition": composition.model_dump(), "parts": parts, "residuals": lost}
        return manifests.write(directory, about, tell)


def residuals(task: State, target: State, source: State, *, scale: float) -> dict[str, float]:
    """Errors of approximate compositions, see `compose_directories`. They are computed without forming B A."""
    states = [{name: tensor.double() for name, tensor in state.items()} for state in (task, target, source)]
    squares: Counter[str] = Counter()
    for name in filter(_is_a, task):
        other = name.replace("lora_A", "lora_B")
        a, b = [state[name] for state in states], [state[other] for state in states]
        stacked_a, stacked_b = torch.cat(a), _stack_b(b, scale)
        element_a, element_b = (x + scale * (y - z) for x, y, z in (a, b))
        rank, exact = len(a[0]), singular_values(stacked_b, stacked_a)
        found = {
            "task": singular_values(b[0], a[0]),
            "exact": exact,
            "shift": singular_values(stacked_b[:, rank:], stacked_a[rank:]),
            "factors": singular_values(torch.cat([stacked_b, -element_b], 1), torch.cat([stacked_a, element_a])),
            "rank": exact[rank:],
        }
        squares.update({name: values.square().sum().item() for name, values in found.items()})
    relative_to = {"factors": "exact", "rank": "exact", "shift": "task"}
    # Rounded, because further digits depend on the machine.
    return {
        name: round(math.sqrt(squares[name] / squares[whole]), 6) if squares[whole] else 0.0
        for name, whole in relative_to.items()
    }


def singular_values(b: Tensor, a: Tensor) -> Tensor:
    """Singular values (k,) of B A, descending, for b (out, k) and a (k, in), computed from a k x k matrix."""
    return torch.linalg.svdvals(torch.linalg.qr(b).R @ torch.linalg.qr(a.T).R.T)


def _stack_b(parts: Sequence[Tensor], scale: float) -> Tensor:
    task, target, source = parts
    return torch.cat([task, scale * target, -scale * source], dim=1)


def _zip(states: Sequence[State]) -> list[tuple[str, list[Tensor]]]:
    return [(name, [state[name] for state in states]) for name in states[0]]


def _is_a(name: str) -> bool:
    return name.split(".")[-2] == "lora_A"


def _check_states(task: State, target: State, source: State) -> None:
    for role, state in (("target", target), ("source", source)):
        if odd := sorted(task.keys() ^ state.keys()):
            raise UserError(f"composition: {odd[0]} is in only one of the task and the {role} adapter")
    for name, shapes in _zip([{name: x.shape for name, x in state.items()} for state in (task, target, source)]):
        if not name.endswith((".lora_A.weight", ".lora_B.weight")):
            raise UserError(f"composition: {name} is not a factor of a plain LoRA; only those can be composed")
        if len(set(shapes)) > 1:
            given = ", ".join(str(tuple(shape)) for shape in shapes)
            raise UserError(f"composition: {name} has the shapes {given}; use one rank and one base")


def _check_configs(adapters: Collection[Adapter]) -> None:
    task = next(iter(adapters)).config
    for adapter in adapters:
        if on := [key for key in PLAIN if adapter.config.get(key)]:
            raise UserError(f"{adapter.path / CONFIG}: {on[0]} is set; only plain LoRA can be composed")
        if other := [key for key in SHARED if adapter.config.get(key) != task.get(key)]:
            given, wanted = (config.get(other[0]) for config in (adapter.config, task))
            raise UserError(
                f"{adapter.path / CONFIG}: {other[0]} is {given!r}, the task adapter's is {wanted!r}; "
                "train the three adapters with the same base and settings"
            )


def _check_seeds(parts: Mapping[str, dict[str, Any]]) -> None:
    seeds = {role: manifest.get("lora", {}).get("seed") for role, manifest in parts.items()}
    if len(set(seeds.values())) > 1:
        given = ", ".join(f"{role} {seed}" for role, seed in seeds.items())
        raise UserError(f"composition.space: factors needs adapters of one lora.seed, these have {given}; use product")


def _read(path: Path) -> Adapter:
    for name in (CONFIG, WEIGHTS):
        if not (path / name).is_file():
            raise UserError(f"{path}: no {name}; expected a peft adapter")
    config = read_json(path / CONFIG)
    if isinstance(config.get("target_modules"), list):
        config["target_modules"].sort()  # peft saves a set, in any order
    made_by = manifests.read(manifest) if (manifest := path / manifests.MANIFEST).is_file() else {}
    return Adapter(path, config, {"sha256": sha256(path / WEIGHTS)} | made_by, load_file(path / WEIGHTS))


def _grown(config: Mapping[str, Any], space: str) -> dict[str, Any]:
    """The task adapter's config at the composed rank, with the same alpha / r."""
    growth = 3 if space == "product" else 1
    return {**config, "r": growth * config["r"], "lora_alpha": growth * config["lora_alpha"], "lora_dropout": 0.0}
