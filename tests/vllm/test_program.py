"""The program that writes a shard, with vLLM: its shard is that of transformers, and a killed one goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil

from scripts import synthesise
from seedbed.io import write_table
from tests import tiny
from tests.programs import call
from tests.vllm import MARKS
from tests.vllm.models import settings

pytestmark = MARKS
ROWS = 24


def words(base: Path, adapters: dict[str, Path], folder: Path, **changes: object) -> list[str]:
    """What the program is told."""
    anchors = folder / "anchors.tsv"
    write_table(pd.DataFrame({"id": [*map(str, range(ROWS))], "text": tiny.sentences("hau", ROWS)}), anchors)
    return [
        "--base", str(base), "--name", "tiny", "--generator", settings(base, **changes).model_dump_json(),
        "--anchors", str(anchors), "--method", "composition", "--language", "Hausa",
        "--adapters", f"positive={adapters['narrow']}", f"negative={adapters['wide']}",
        "--state", str(folder / "state"), "--output", str(folder / "shard.tsv"),
    ]  # fmt: skip


def test_a_killed_shard_goes_on_and_is_that_of_transformers(
    base: Path, adapters: dict[str, Path], tmp_path: Path
) -> None:
    """Killed when the first completions are kept, with all its processes, as a cluster or a terminal does it.

    Its own process alone is not enough: vLLM's engine does not notice, and goes on.
    """
    (tmp_path / "local").mkdir()
    call(synthesise, words(base, adapters, tmp_path / "local"))
    (tmp_path / "vllm").mkdir()
    command = [sys.executable, "-m", "scripts.synthesise", *words(base, adapters, tmp_path / "vllm", backend="vllm")]
    with (tmp_path / "log").open("w") as log:
        first = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        while not kept(tmp_path / "vllm/state"):
            assert first.poll() is None, (tmp_path / "log").read_text()[-4000:]
            time.sleep(0.05)
        engine = psutil.Process(first.pid).children(recursive=True)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    assert engine and not psutil.wait_procs(engine, timeout=60)[1], "an engine goes on without its program"
    before = kept(tmp_path / "vllm/state")
    assert 0 < before < 2 * ROWS and not (tmp_path / "vllm/shard.tsv").exists()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    assert (tmp_path / "vllm/shard.tsv").read_bytes() == (tmp_path / "local/shard.tsv").read_bytes()
    assert not kept(tmp_path / "vllm/state") and "Traceback" not in done.stderr


def kept(state: Path) -> int:
    """Completions in the journal."""
    return sum(file.read_bytes().count(b"\n") for file in state.rglob("*.jsonl"))
