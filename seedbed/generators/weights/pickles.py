"""Pickled weights of a model become safetensors, without ever being executed."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from seedbed.io import UserError, sha256

PICKLED = "pytorch_model*.bin"
"""Names of pickled weights."""
INDEX = "pytorch_model.bin.index.json"
PROGRAM = Path(__file__).with_name("to_safetensors.py")
KEPT = ("PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS")
"""Environment variables that the program gets: no token, no address of a server."""
START, SPEED = 600, 10**7
"""Seconds, and bytes a second: a conversion that is slower ends."""


def without_safetensors(directory: Path) -> list[Path]:
    """The folders of a model (of itself and of its modules) that have a config.json and no safetensors."""
    folders = sorted(path.parent for path in directory.rglob("config.json"))
    return [folder for folder in folders if not any(folder.glob("*.safetensors"))]


def convert(directory: Path) -> dict[str, str]:
    """Replace the pickled weights in a model's directory by safetensors.

    A separate process reads them, see `to_safetensors`. Pickled weights with safetensors next to them are unchanged.

    Returns:
        The sha256 of each converted file, by its path.

    Raises:
        UserError: a file contains anything other than tensors, is damaged, or cannot be converted within its memory and
            time.
    """
    converted = {}
    for folder in without_safetensors(directory):
        if files := sorted(folder.glob(PICKLED)):
            converted |= {str(file.relative_to(directory)): sha256(file) for file in files}
            with tempfile.TemporaryDirectory(dir=folder, prefix=".converted.") as made:
                if fault := _run(Path(made), files):
                    name = files[0].relative_to(directory)
                    raise UserError(f"{name}: cannot be converted ({fault}); take a revision that has safetensors")
                # Nothing but weights is taken of what it wrote.
                for path in (*Path(made).glob("model*.safetensors"), *Path(made).glob("model.safetensors.index.json")):
                    shutil.move(path, folder / path.name)
            for file in (*files, folder / INDEX):
                file.unlink(missing_ok=True)
    return converted


def _run(made: Path, files: list[Path]) -> str:
    """Convert the files; what went wrong, nothing if nothing did."""
    limit = START + sum(file.stat().st_size for file in files) / SPEED
    command = [sys.executable, "-I", str(PROGRAM.resolve()), ".", *(str(file.resolve()) for file in files)]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    try:
        done = subprocess.run(command, cwd=made, env=environment, timeout=limit, text=True, errors="replace", **streams)
    except subprocess.TimeoutExpired:
        return f"not done after {limit:.0f} s"
    if not done.returncode:
        return ""
    said = done.stderr.strip().splitlines()[-1:]
    return said[0][:300] if said else f"its process ended with code {done.returncode}"
