"""A job of Snakemake's plan: its rule, arguments and files."""

import importlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from seedbed.languages import ANY
from seedbed.names import SHARE


@dataclass(frozen=True)
class Job:
    """A job of a plan."""

    rule: str
    wildcards: dict[str, str]
    value: Mapping[str, Any]
    """The arguments of its program, as JSON."""
    outputs: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    benchmark: str = ""
    log: str = ""
    threads: int = 1
    resources: Mapping[str, Any] = field(default_factory=dict)
    """The resources that it requests, by Snakemake's names: `mem_mb`, `gpu`, `gpu_mb`, ..."""
    todo: bool = True

    @classmethod
    def planned(cls, one: Any, **more: Any) -> "Job":
        """A job of Snakemake's plan, without threads and resources."""
        return cls(
            rule=one.rule.name,
            wildcards=dict(one.wildcards_dict),
            value=json.loads(one.params.job),
            outputs=tuple(map(str, one.output)),
            inputs=tuple(map(str, one.input)),
            benchmark=str(one.benchmark or ""),
            log=next(map(str, one.log), ""),
            **more,
        )

    def asks(self, resource: str) -> float:
        """The requested amount of a resource."""
        return float(self.resources.get(resource, 0))

    @property
    def language(self) -> str:
        """Language of the result: the test language of scores, else the encoder's; for a shard of languages, the code
        of all.
        """
        found = self.wildcards.get("test_lang") or self.wildcards.get("lang") or "-"
        return ANY if re.fullmatch(SHARE, found) else found

    @property
    def model(self) -> str:
        """Name of the generator or backbone; empty: none."""
        if "classifier" in self.wildcards:  # {room}/{name of the model}/weights
            return self.weights
        return next(
            (
                self.wildcards[key]
                for key in ("generator", "judge", "translator", "backbone", "model")
                if key in self.wildcards
            ),
            "",
        )

    @property
    def weights(self) -> str:
        """Name of the model whose weights it uses; empty: none."""
        folder = self.of("weights") or self.of("base") or self.of("parts", {}).get("base")
        return folder.parent.name if isinstance(folder, Path) else ""

    @cached_property
    def arguments(self) -> Any:
        """The arguments, validated as the `Job` model of the job's program."""
        return importlib.import_module(f"scripts.{self.rule}").Job.model_validate(self.value)

    def of(self, name: str, default: Any = None) -> Any:
        """One of the arguments, or the default if the program has none of this name."""
        return getattr(self.arguments, name, default)
