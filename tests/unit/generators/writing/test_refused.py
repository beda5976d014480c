"""What programs make of a server that refuses a text, and what a kill costs them, on a real server beside them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scripts import audit_triplets, judge, synthesise, translate
from seedbed.io import read_json, read_table, write_table
from seedbed.triplets.settings import Audit
from tests import tiny
from tests.programs import call
from tests.unit.generators.writing.test_chat import Server, said, settings

TEXTS = tiny.sentences("hau", 40)
REFUSED = (400, {"error": {"message": "maximum context length"}})
ENGLISH = tiny.sentences("eng", 40)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("CHAT_KEY", "sk-secret")
    with Server() as server:
        yield server
        server.over.set()


def asking(server: Server, folder: Path, output: str, **sampling: Any) -> list[str]:
    table = pd.DataFrame({"id": [str(number) for number in range(40)], "text": TEXTS})
    write_table(table, folder / "texts.tsv")
    generator = settings(server, sampling={"temperature": 0} | sampling)
    return [
        *("--texts", str(folder / "texts.tsv"), "--columns", "text=hau", "--pivot", "eng", "--name", "gpt"),
        *("--languages", json.dumps({"hau": {"name": "Hausa"}, "eng": {"name": "English"}})),
        *("--generator", generator.dump(), "--state", str(folder / "state")),
        *("--output", str(folder / f"{output}.tsv"), "--record", str(folder / f"{output}.json")),
    ]


def test_translations_and_judgements_of_refused_texts_are_counted(server: Server, tmp_path: Path) -> None:
    server.special = {TEXTS[3]: REFUSED, TEXTS[7]: (200, {"choices": []}), TEXTS[9]: (200, said(None))}
    server.special |= {
        text: (200, said(english)) for text, english in zip(TEXTS, ENGLISH, strict=True) if text not in server.special
    }
    call(translate, asking(server, tmp_path, "translated"))
    table = read_table(tmp_path / "translated.tsv", ["english", "finish"])
    assert {*table["finish"][[3, 7, 9]]} == {"refused"} and {*table["english"][[3, 7, 9]]} == {""}
    assert read_json(tmp_path / "translated.json")["counts"] == {"texts": 40, "refused": 3, "stop": 37}

    server.special = {ENGLISH[5]: REFUSED, ENGLISH[6]: (200, said("good")), "": (200, said("8, 7, 6"))}
    translations = ["--translations", f"gpt={tmp_path / 'translated.tsv'}", "--answer", "numbers"]
    call(judge, [*asking(server, tmp_path, "judged", max_new_tokens=9), *translations])
    counts = {"judged": 35, "unscored": 1, "not judged": 3, "refused": 1}
    assert read_json(tmp_path / "judged.json")["counts"] == counts
    scores = read_table(tmp_path / "judged.tsv", ["semantic"])["semantic"]
    assert (scores == "").sum() == 5 and scores[5] == "" and scores[0] == "8.0"


def test_triplets_of_refused_anchors_are_dropped_and_counted(server: Server, tmp_path: Path) -> None:
    write_table(pd.DataFrame({"id": [str(number) for number in range(40)], "text": TEXTS}), tmp_path / "anchors.tsv")
    written = zip(TEXTS, ENGLISH, tiny.sentences("eng", 40, seed=1), strict=True)
    server.special = {text: [(200, said(positive)), (200, said(negative))] for text, positive, negative in written}
    server.special |= {TEXTS[3]: REFUSED, TEXTS[7]: (200, {"choices": []})}
    call(synthesise, [
        *("--anchors", str(tmp_path / "anchors.tsv"), "--name", "gpt", "--generator", settings(server).dump()),
        *("--method", "prompting", "--language", "Hausa", "--state", str(tmp_path / "state")),
        *("--output", str(tmp_path / "triplets.tsv")),
    ])  # fmt: skip
    rules = Audit(min_rows=1, language_id=False, script_share=0, length_ratio=1000)
    call(audit_triplets, [
        *("--triplets", str(tmp_path / "triplets.tsv"), "--corpus", str(tmp_path / "anchors.tsv"), "--script", "Latn"),
        *("--audit", rules.dump(), "--rejected", str(tmp_path / "rejected.tsv")),
        *("--report", str(tmp_path / "report.json"), "--output", str(tmp_path / "kept.tsv")),
    ])  # fmt: skip
    assert read_json(tmp_path / "report.json")["dropped"]["positive: refused by the server"] == 2
    rejected = read_table(tmp_path / "rejected.tsv", ["reason"])
    assert {*rejected[rejected["reason"].str.contains("refused")]["anchor"]} == {TEXTS[3], TEXTS[7]}


@pytest.mark.parametrize("answered", [37, 21])
def test_after_a_kill_fewer_than_eight_answers_are_asked_for_again(
    server: Server, tmp_path: Path, answered: int
) -> None:
    """The server answers so many texts, and is silent when the job is killed."""
    server.special = dict.fromkeys(TEXTS[answered:], 60.0)
    command = [sys.executable, "-m", "scripts.translate", *asking(server, tmp_path, "translated")]
    job = subprocess.Popen(command, env=os.environ, stderr=subprocess.DEVNULL)
    enough = min(answered + 3, 40)
    while job.poll() is None and len(server.bodies) < enough:
        time.sleep(0.02)
    time.sleep(0.5)
    job.send_signal(signal.SIGKILL)
    assert job.wait() == -signal.SIGKILL
    server.special, first = {}, [body["messages"][0]["content"] for body in server.bodies]
    server.bodies = []
    assert subprocess.run(command, env=os.environ, stderr=subprocess.DEVNULL).returncode == 0
    second = [body["messages"][0]["content"] for body in server.bodies]
    again = [text for text, count in Counter(first + second).items() if count > 1]
    paid = [text for text in again if any(own in text for own in TEXTS[:answered])]
    assert len(paid) < 8 and len(read_table(tmp_path / "translated.tsv", ["english"])) == 40
