"""When, where and at what cost results were made."""

from __future__ import annotations

import json
import platform
import re
from pathlib import Path

import pytest

from seedbed.tables.report import provenance
from seedbed.tables.settings import Forecast


@pytest.fixture
def benchmarks(tmp_path: Path) -> Path:
    records = {
        "train_encoder/a.jsonl": [{"s": 900, "cpu_time": 9000}, {"s": 1800, "cpu_time": 3600}],  # it ran again
        "tabulate/b.jsonl": [{"s": 360, "cpu_time": 360}],
        "plot/c.jsonl": [{"s": 0.01, "cpu_time": "NA"}],  # too short to be measured
        "score/d.jsonl": [],
    }
    for name, lines in records.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_hours_are_those_of_the_last_time_that_each_job_ran(benchmarks):
    jobs, cores, gpus = provenance.hours(benchmarks, {"train_encoder": 1, "score": 1})
    assert (jobs, cores, gpus) == (3, pytest.approx(1.1), pytest.approx(0.5))


def test_an_hour_of_two_gpus_is_two_and_of_a_server_none(benchmarks):
    for name in ("synthesise/large/xllora/hau/0", "synthesise/served/xllora/hau/0", "synthesise/small/xllora/hau/0"):
        (benchmarks / name).parent.mkdir(parents=True)
        (benchmarks / f"{name}.jsonl").write_text(json.dumps({"s": 3600, "cpu_time": 0}))
    *_, cards = provenance.hours(benchmarks, {"synthesise": 1, "synthesise/large": 4, "synthesise/served": 0})
    assert cards == pytest.approx(5)


def test_jobs_that_no_folder_holds_alone_are_named_by_a_pattern(benchmarks):
    for name in ("score/b/base/mul/hau.all", "score/b/base/mul/hau.qa", "score/b/other/mul/hau.qa"):
        (benchmarks / name).parent.mkdir(parents=True, exist_ok=True)
        (benchmarks / f"{name}.jsonl").write_text(json.dumps({"s": 3600, "cpu_time": 0}))
    *_, cards = provenance.hours(benchmarks, {"score": 1, "score/*.qa": 0, "score/b": 2})
    *_, fewer = provenance.hours(benchmarks, {"score": 0, "score/*.qa": 0, "score/b": 0})
    assert cards - fewer == pytest.approx(2), "of the longest that fits"


def test_a_processor_is_named_where_linux_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "PROCESSORS", tmp_path / "cpuinfo")
    assert provenance.processor() == platform.machine()
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: Example 9000 @ 2 GHz\nmodel name\t: other\n")
    assert provenance.processor() == "Example 9000 @ 2 GHz"


def test_the_gpus_of_this_machine_are_named_if_there_are_some(benchmarks, tmp_path, monkeypatch):
    program = tmp_path / "bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\n[ "$*" = "--query-gpu=name --format=csv,noheader" ] && printf "NVIDIA A\\nNVIDIA B\\nNVIDIA A\\n"'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    assert provenance.graphics() == ["2 x NVIDIA A", "1 x NVIDIA B"]
    told = provenance.run_facts(benchmarks, Forecast(device="gpu"), {})
    assert re.fullmatch(r"\d+ cores, .+, 2 x NVIDIA A, 1 x NVIDIA B, \w+", told["Machine"])
    program.write_text("#!/bin/sh\necho no devices; exit 9")
    assert provenance.graphics() == []


def test_a_page_says_the_cost_where_there_are_prices(benchmarks):
    prices = Forecast(device="gpu", gpu_hour=2, cpu_hour=0.1, currency="EUR")
    told = provenance.run_facts(benchmarks, prices, {"train_encoder": 1})
    assert told["Jobs"] == "3, 1.10 CPU hours, 0.50 GPU hours (of jobs that take a GPU if there is one)"
    assert told["Cost"] == "1.11 EUR"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", told["Made"]) and re.fullmatch(
        r"[0-9a-f]+\+?|v.*|not known", told["Commit"]
    )


def test_jobs_of_a_machine_without_a_gpu_took_no_gpu_hours(benchmarks):
    told = provenance.run_facts(benchmarks, Forecast(device="cpu"), {"train_encoder": 1})
    assert told["Jobs"].endswith("0.00 GPU hours") and "Cost" not in told
