"""The check of a first GPU, on the CPU: what it runs, and what it says of numbers that differ."""

from __future__ import annotations

import json
import sys

import pytest
import torch

from tests import warm
from tests.gpu import __main__ as check
from tests.gpu.parts import PARTS


def test_parts_agree_with_themselves(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "executable", str(warm.python()))  # two processes, which import torch alike
    assert (
        check.main(["--device", "cpu", "--only", "scoring", "searching", "writing, transformers", "adapter, nf4"]) == 0
    )
    head, *lines = capfd.readouterr().out.splitlines()
    assert " ".join(head.split()) == "part off by at most what a CPU has shown"
    of = [f"ok{'':6}{PARTS[name].shown}" for name in ("scoring", "searching", "writing, transformers")]
    assert [line[46:] for line in lines] == [*of, "not in this environment or on this device"]


def test_without_a_gpu_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert check.main([]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert "no GPU here" in line and "make env-gpu" in line


@pytest.mark.parametrize(
    ("wanted", "found", "end"),
    [
        ([1.0, 2.0], [1.0, 2.001], "ok"),
        ([1.0, 2.0], [1.0, 2.1], "DIFFERS"),
        ([1.0, 2.0], [1.0, float("nan")], "DIFFERS"),
        ([1.0, 2.0], [1.0], "DIFFERS"),
        ([1.0, 2.0], "RuntimeError: out of memory", "FAILED: RuntimeError: out of memory"),
    ],
)
def test_what_differs_or_fails_is_an_error(
    wanted: list[float], found: list[float] | str, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert PARTS["scoring"].tolerance == 0.001
    code = check._table(["scoring"], {"scoring": wanted}, json.loads(json.dumps({"scoring": found})))
    assert code == (end != "ok") and capsys.readouterr().out.splitlines()[1][46:].startswith(end)


def test_of_texts_the_share_that_differs_counts() -> None:
    assert check.difference(["a", "b", "c", "d"], ["a", "b", "x", "d"]) == 0.25
