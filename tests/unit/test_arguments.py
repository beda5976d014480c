"""Programs: arguments that do not fit together end them in one line; what every program does first."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import cli, fuse_encoders, measure_compute

MEASURE = "--compute {} --task {} --train x --test x --encoder x --weights x --flops x --seconds x --output x"
FUSE = "--members a=x b=x --output x --weights"


@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [
        (measure_compute, f'{MEASURE} --classifiers {{"a":{{}},"b":{{}}}} --bases a=x', "--bases: give b=DIR too"),
        (
            fuse_encoders,
            f"{FUSE} [[1,3],[1]]",
            "--weights: [[1, 3], [1]]; expected lists of 2, one for each of --members",
        ),
        (fuse_encoders, f"{FUSE} [1,3]", "--weights: [1, 3]; expected lists of 2"),
        (fuse_encoders, f"{FUSE} []", "--weights: []; expected lists of 2"),
    ],
    ids=["no base of one", "too few weights", "no lists of weights", "no weights"],
)
def test_arguments_that_do_not_fit_are_one_line(
    program, arguments: str, message: str, capsys: pytest.CaptureFixture, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        program.main(arguments.split())
    assert stop.value.code == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"error: {message}" in said
    assert not list(tmp_path.iterdir())


COLLECTING = """
import gc
from scripts.cli import run
print(gc.isenabled())
if __name__ == "__main__":
    run(lambda: print(gc.isenabled(), gc.get_freeze_count() > 1000))
"""


@pytest.mark.parametrize(
    ("how", "said"), [("-m scripts.small", "False True True"), ("-c import+scripts.small", "True")]
)
def test_garbage_is_collected_but_while_a_program_imports(how, said, tmp_path):
    """Whoever imports a program, as tests do, keeps collecting."""
    (tmp_path / "scripts").mkdir()
    for name in ("__init__", "cli"):
        shutil.copy(f"scripts/{name}.py", tmp_path / "scripts")
    (tmp_path / "seedbed").symlink_to(Path("seedbed").absolute())
    (tmp_path / "scripts/small.py").write_text(COLLECTING)
    command = [sys.executable, *(word.replace("+", " ") for word in how.split())]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert " ".join(done.stdout.split()) == said


ALIGNING = """
from types import SimpleNamespace
from scripts.cli import run
from transformers.trainer_utils import align_special_tokens, logger

def main():
    config = SimpleNamespace(eos_token_id=None, bos_token_id=None, pad_token_id=1, get_text_config=lambda: config)
    align_special_tokens(SimpleNamespace(config=config), SimpleNamespace(eos_token_id=2, bos_token_id=0, pad_token_id=1))
    assert (config.eos_token_id, config.bos_token_id) == (2, 0)
    logger.warning("something else")
"""


def test_a_program_does_not_log_that_special_tokens_were_aligned():
    """A warning of transformers in the training of each encoder whose configuration names no special tokens."""
    calls = "main()\nlogger.warning('now as a program')\nrun(main)"
    done = subprocess.run([sys.executable, "-c", f"{ALIGNING}\n{calls}"], capture_output=True, text=True, check=True)
    aligned, *others, program, last = done.stderr.splitlines()
    assert "were aligned accordingly" in aligned and program.endswith("now as a program")
    assert others == [last] and "something else" in last


REFUSED = {
    "a name of 300 characters": lambda place: (place / ("x" * 300)).write_text(""),
    "a file for a folder": lambda place: (place / "file" / "x").write_text(""),
    "a folder for a file": lambda place: place.read_text(),
    "no such file": lambda place: (place / "gone").read_text(),
    "a link to be removed as a folder": lambda place: shutil.rmtree(place / "link"),
    "no address": lambda place: socket.create_connection(("127.0.0.1", 1), timeout=5),
    "a reason in two lines": lambda place: (_ for _ in ()).throw(OSError("one\ntwo")),
    "no reason": lambda place: (_ for _ in ()).throw(OSError()),
}


@pytest.mark.parametrize("what", REFUSED)
def test_whatever_the_system_refuses_is_one_line(what, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with pytest.raises(SystemExit) as stop:
        cli.run(lambda: REFUSED[what](tmp_path))
    assert re.fullmatch(r"error: .+: .+", str(stop.value.code))
