"""Trainings of the library, with the fields of their start and run as keyword arguments: a test varies one of them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from seedbed.checkpoints import Run
from seedbed.encoders.models.loading import Original
from seedbed.encoders.training import joint_adapters, mlm
from seedbed.encoders.training import train as training
from seedbed.encoders.training.start import Start
from seedbed.generators.lora import training as lora


def taken(kind: type, options: dict[str, Any]) -> Any:
    """An object of a kind from those options that are its fields; they are options no longer."""
    return kind(**{field.name: options.pop(field.name) for field in fields(kind) if field.name in options})


def train(weights: Path, table: Any, settings: Any, **options: Any) -> dict[str, Any]:
    options["weights"] = weights
    start, run = taken(Start, options), taken(Run, options)
    return training.train(start, table, settings, run=run, **options)


def adapt(weights: Path, *args: Any, **options: Any) -> dict[str, Any]:
    return mlm.adapt(Original(weights), *args, run=taken(Run, options), **options)


def train_joint_adapters(*args: Any, **options: Any) -> dict[str, Any]:
    return joint_adapters.train_joint_adapters(*args, run=taken(Run, options), **options)


def train_lora(*args: Any, **options: Any) -> dict[str, Any]:
    return lora.train(*args, run=taken(Run, options), **options)
