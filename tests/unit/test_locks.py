"""One process at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from seedbed.io import UserError
from seedbed.locks import exclusive
from tests.humble import humble

HOLD = "import sys, time; from seedbed.locks import exclusive\nwith exclusive(sys.argv[1]): print('held', flush=True); time.sleep(60)"


def test_a_second_process_is_told_where_the_first_is_at_work(tmp_path):
    lock = tmp_path / "state" / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout.readline() == "held\n"
            with pytest.raises(UserError, match=r"state: another.*wait.*stop"):
                exclusive(lock).__enter__()
        finally:
            first.kill()
    with exclusive(lock):
        pass


TAKE = "import sys; from seedbed.locks import exclusive\nwith exclusive(sys.argv[1]): pass"


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path):
    (tmp_path / "results").mkdir(mode=0o555)
    for place in ("results", "results/own"):
        done = subprocess.run(
            [sys.executable, "-c", TAKE, str(tmp_path / place / ".lock")],
            capture_output=True,
            text=True,
            preexec_fn=humble,
        )
        said = f"UserError: {tmp_path}/{place}: permission denied; expected a folder that can be written to"
        assert done.stderr.splitlines()[-1].endswith(said), done.stderr
    with pytest.raises(UserError, match="folder that can be written to"):
        exclusive(Path(__file__) / "lock").__enter__()


def test_an_error_inside_releases_it(tmp_path):
    for fault in (KeyError, PermissionError):
        with pytest.raises(fault), exclusive(tmp_path / "lock"):
            raise fault
    with exclusive(tmp_path / "lock"):
        pass
