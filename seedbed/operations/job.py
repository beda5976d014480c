"""One job of a plan, as what looks at a study from outside knows it: its rule, its command, its files."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from seedbed.checkpoints import parsed
from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.names import SHARE
from seedbed.settings import Settings

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Job:
    """One job of a plan, as the workflow would run it."""

    rule: str
    wildcards: dict[str, str]
    command: str
    """The job's shell command: `python -m scripts.<rule> --option value ...`."""
    outputs: tuple[str, ...]
    benchmark: str = ""
    log: str = ""
    threads: int = 1
    gpus: float = 0
    gpu_mb: float = 0
    mem_mb: float = 0
    """That it asks for."""
    todo: bool = True

    @property
    def language(self) -> str:
        """Language of the result: a score's test language goes before its encoder's; of a share of them that of all."""
        found = self.wildcards.get("test_lang") or self.wildcards.get("lang") or "-"
        return ANY if re.fullmatch(SHARE, found) else found

    @property
    def model(self) -> str:
        """Name of the generator or backbone; empty where there is none."""
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
        """Name of what its weights were fetched for: {room}/{name}/weights; empty where it has none."""
        parts = dict(part.split("=", 1) for part in self.options.get("parts", []))
        return Path(self.option("weights") or self.option("base") or parts.get("base", "")).parent.name

    @cached_property
    def options(self) -> Mapping[str, list[str]]:
        """The program's options with their values.

        Raises:
            UserError: the command runs no program of the project with its options.
        """
        return parsed(self.words)

    @cached_property
    def words(self) -> list[str]:
        """What the program is given; raises as `options`."""
        words = shlex.split(re.sub(r" > \S+ 2>&1.*", "", self.command))
        if "-m" not in words:
            raise UserError(f"the command of {self.rule} is no `python -m scripts.{self.rule}`: {self.command[:80]}")
        return words[words.index("-m") + 2 :]

    def option(self, name: str, default: str = "") -> str:
        """An option's first value."""
        return (self.options.get(name) or [default])[0]

    def settings(self, kind: type[S], name: str) -> S:
        """An option's JSON, with the defaults of its model."""
        return kind.load(self.option(name, "{}"))
