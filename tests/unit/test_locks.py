"""One process at a time."""

import subprocess
import sys

import pytest

from seedbed.io import UserError
from seedbed.locks import exclusive

HOLD = "import sys, time; from seedbed.locks import exclusive\nwith exclusive(sys.argv[1]): print('held', flush=True); time.sleep(60)"


def test_a_second_process_is_told_where_the_first_is_at_work(tmp_path):
    lock = tmp_path / "state" / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout.readline() == "held\n"
            with pytest.raises(UserError, match=r"state: another process is at work there; wait for it, or stop it"):
                exclusive(lock).__enter__()
        finally:
            first.kill()
    with exclusive(lock):
        pass


def test_an_error_inside_releases_it(tmp_path):
    with pytest.raises(KeyError), exclusive(tmp_path / "lock"):
        raise KeyError
    with exclusive(tmp_path / "lock"):
        pass
