"""Snakemake's plan of a study: its jobs, their arguments and files, and which of them would run.

A plan writes and locks nothing.
"""

import contextlib
import importlib
import json
import re
import tempfile
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from logging import ERROR
from pathlib import Path
from typing import Any

from seedbed import yamls
from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.names import SHARE
from seedbed.resources import ROOT

RECORDS = Path(".snakemake")
LOCK = ".lock"
"""File in the results that a run locks."""
SUMMED = 10**12
"""Bytes up to which files are compared by content, as in the profiles (`max-checksum-file-size`)."""


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
        """The test language of scores, else the language of the result; of a shard of languages, the code of all."""
        found = self.wildcards.get("test_lang") or self.wildcards.get("lang") or "-"
        return ANY if re.fullmatch(SHARE, found) else found

    @property
    def model(self) -> str:
        """Name of the generator or backbone; empty: none."""
        if "classifier" in self.wildcards:  # {room}/{name of the model}/weights
            return self.weights
        keys = ("generator", "judge", "translator", "backbone", "model")
        return next((self.wildcards[key] for key in keys if key in self.wildcards), "")

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
        """The value of one of the arguments; `default` if the program has no argument of this name."""
        return getattr(self.arguments, name, default)


def planned(configfiles: list[Path], config: dict, threads: dict, targets: list[str]) -> list[Job]:
    """All jobs of the targets as Snakemake plans them, also while a run is going on.

    Args:
        configfiles: the configuration's files.
        config: changes to the configuration.
        threads: rule -> threads.
        targets: files or rules.

    Raises:
        UserError: Snakemake cannot plan these targets.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.exceptions import RuleException, WorkflowError
    from snakemake.settings import types

    # As many cores as any rule may ask for: a job on fewer would be planned with fewer threads.
    cores = types.ResourceSettings(cores=10_000, overwrite_threads=threads)
    # Half-made outputs, of a job that runs or was killed, are to be made.
    asked = types.DAGSettings(targets=set(targets), force_incomplete=True, max_checksum_file_size=SUMMED)
    quiet = types.OutputSettings(log_level_override=ERROR, enable_file_logging=False)
    with tempfile.TemporaryDirectory() as folder, SnakemakeApi(quiet) as api:
        try:
            given = types.ConfigSettings(config=config, configfiles=configfiles)
            workflow = api.workflow(resource_settings=cores, config_settings=given, snakefile=ROOT / "Snakefile")
            workflow.dag(asked)
            plan = workflow._workflow
            # A plan writes folders and an inventory of files in its working directory: hence links to the records.
            links = Path(folder, RECORDS)
            links.mkdir()
            for name in ("metadata", "incomplete"):
                if (RECORDS / name).is_dir():
                    (links / name).symlink_to((RECORDS / name).absolute())
            with contextlib.chdir(folder):
                plan._prepare_dag(forceall=False, ignore_incomplete=False, lock_warn_only=True)
            plan._build_dag()
            return [
                Job.planned(one, threads=one.threads, resources=dict(one.resources), todo=plan.dag.needrun(one))
                for level in plan.dag.toposorted()
                for one in sorted(level, key=lambda one: [*one.output])
                if one.rule.shellcmd
            ]
        except (RuleException, WorkflowError) as error:
            what = ", ".join(targets) or "the study"
            raise UserError(f"no plan for {what}: {' '.join(str(error).split())}") from None


def rooms() -> dict[str, str]:
    """Rule -> name of its rule file, in the Snakefile's order."""
    files = re.findall(r'^include: "(rules/.+)"$', (ROOT / "Snakefile").read_text(), flags=re.M)
    rules = {Path(file).stem: re.findall(r"^rule (\w+):$", (ROOT / file).read_text(), flags=re.M) for file in files}
    return {rule: room for room, names in rules.items() for rule in names}


def results_of(configfiles: list[Path], config: dict) -> Path:
    """The folder of a study's results, before its settings are checked.

    Raises:
        UserError: a file has no settings, or `results` is no path.
    """
    files = [yamls.settings(file) for file in configfiles or [Path("config.yaml")]]
    results = ChainMap(config, *reversed(files)).get("results", "results")
    if not (isinstance(results, str) and results):
        raise UserError(f"results: expected the path of a folder, like results/mine (given: {results!r})")
    return Path(results)
