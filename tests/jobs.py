"""All jobs of the shipped studies, and what tells two such lists apart: for changes of the graph that change no job.

python -m tests.jobs list FILE              # plans all of them: some minutes
python -m tests.jobs compare FILE FILE      # exit code 1 if a job differs in anything
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from seedbed.io import UserError
from seedbed.operations.jobs import planned

STUDIES = ("config.yaml", *(f"config/{name}.yaml" for name in ("demo", "miners", "neighxlm", "modular", "lira")))
TARGETS = ("all", *(f"all_{paper}" for paper in ("bootstrapping", "miners", "neighxlm", "modular", "lira")), "forecast")
"""A study has some of them."""
Jobs = dict[str, dict[str, Any]]
"""STUDY OUTPUT -> rule, outputs, inputs, what the program is told, threads and resources."""
NEEDED = ("gpu", "gpu_mb", "mem_mb", "runtime")


def listed(study: str) -> Jobs:
    """The jobs of a study."""
    found: Jobs = {}
    for target in TARGETS:
        try:
            jobs = planned([Path(study)], {}, {}, [target])
        except (UserError, SystemExit):
            continue
        for job in jobs:
            found[f"{study} {job.outputs[0]}"] = {
                "rule": job.rule,
                "output": [*job.outputs],
                "input": [*job.inputs],
                "value": job.value,
                "needed": {name: job.resources.get(name) for name in NEEDED} | {"threads": job.threads},
            }
    return found


def differing(before: Jobs, after: Jobs) -> list[str]:
    """A line for each job that is in one list alone, or differs."""
    lines = [f"{name}: in one list alone" for name in sorted(before.keys() ^ after.keys())]
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        lines += [f"{name}: {part}" for part in ("rule", "output", "needed") if old[part] != new[part]]
        lines += [f"{name}: input"] if sorted(old["input"]) != sorted(new["input"]) else []
        told = old["value"] | new["value"]
        changed = [field for field in sorted(told) if old["value"].get(field) != new["value"].get(field)]
        lines += [f"{name}: {one}: {old['value'].get(one)!r} -> {new['value'].get(one)!r}" for one in changed]
    return lines


def main(what: str, *files: str) -> int:
    if what == "list":
        jobs = {name: job for study in STUDIES for name, job in listed(study).items()}
        Path(files[0]).write_bytes(gzip.compress(json.dumps(jobs).encode()))
        return 0
    before, after = (json.loads(gzip.decompress(Path(file).read_bytes())) for file in files)
    lines = differing(before, after)
    print("\n".join([*lines, f"{len(before)} and {len(after)} jobs, {len(lines)} differences"]))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
