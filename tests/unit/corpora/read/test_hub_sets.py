"""Data sets of the hub without `member`: a real server, the hub's own libraries, and files that unpack to gigabytes."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from fnmatch import fnmatch
from io import BytesIO
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seedbed.corpora.read.assets import Store, require_readable
from seedbed.corpora.read.sources import hub_errors
from seedbed.corpora.settings import Source
from seedbed.io import UserError
from tests.rehearsal import hub, replica
from tests.whole import read

TEXTS = [None, "Yara suna wasa a waje.", "None", "007", "1.0", "2020-01-02"]
ROOM = 6 << 30
"""Bytes that a job may ask for, of which the libraries' own are about three gigabytes."""


def parquet(table: pa.Table) -> bytes:
    pq.write_table(table, file := BytesIO(), store_schema=False)
    return file.getvalue()


COMMIT = "0" * 40
FETCHING = """
import json, sys
from scripts import cli, fetch_corpus
for words in map(json.loads, sys.argv[1:]):
    sys.argv[1:] = words
    cli.run(fetch_corpus.Job, fetch_corpus.main)
"""


def fetched(
    tmp_path: Path, sets: dict[str, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> subprocess.CompletedProcess[str]:
    """The program for each set of the hub, of which these are the files, in one process."""
    monkeypatch.setattr(hub, "dataset", lambda name: replica.Repository(COMMIT, "main", sets[name], {}))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    words = [
        [
            *("--kind", "text", "--source", json.dumps({"hub": name, "revision": COMMIT}), "--test"),
            *("--downloads", str(tmp_path / "downloads"), "--lock", str(tmp_path / "lock.json")),
            *("--output", str(tmp_path / f"{name}.tsv"), "--record", str(tmp_path / f"{name}.json")),
        ]
        for name in sets
    ]
    with hub.Replica() as server:
        environment |= {"HF_ENDPOINT": server.url, "HOME": str(tmp_path / "home")}
        return subprocess.run(
            [sys.executable, "-c", FETCHING, *map(json.dumps, words)],
            env=environment, capture_output=True, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM)),
        )  # fmt: skip


FORMS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    "parquet": lambda rows: parquet(pa.Table.from_pandas(rows)),
    "jsonl": lambda rows: b"".join(json.dumps(row).encode() + b"\n" for row in rows.to_dict("records")),
    "json": lambda rows: json.dumps(rows.to_dict("records")).encode(),
    "csv.gz": lambda rows: gzip.compress(rows.to_csv(index=False).encode()),
    "tsv": lambda rows: rows.to_csv(index=False, sep="\t").encode(),
}


def test_rows_of_every_form_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are what they are in the file, whatever is next to them and in the file before."""
    rows = pd.DataFrame({"text": TEXTS, "number": [None, 1, 2, 3, 4, 5]}, dtype=object)
    files = {"0": rows[:1], "1": rows[1:]}
    sets = {
        f"someone/{form}": {f"train-{name}.{form}": write(part) for name, part in files.items()}
        for form, write in FORMS.items()
    }
    done = fetched(tmp_path, sets, monkeypatch)
    assert done.returncode == 0, done.stderr
    for name, files in sets.items():
        rows = pd.read_csv(tmp_path / f"{name}.tsv", sep="\t", keep_default_na=False)
        assert list(rows["text"]) == [text or "" for text in TEXTS], files.keys()


def test_a_file_of_a_split_is_a_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["train-[0].csv", "train-[1].csv"]
    for name in names:
        (tmp_path / name).write_text(f"text\none of {name}\nanother of {name}\n")
    builder = datasets.load_dataset_builder("csv", data_files=[str(tmp_path / name) for name in names])
    builder.config.data_files = {"train": [f"hf://datasets/some/data@{COMMIT}/{name}" for name in names]}
    monkeypatch.setattr("datasets.load_dataset_builder", lambda *args, **options: builder)

    def fetched(repository: str, allow_patterns: list[str], **options: object) -> str:
        assert [fnmatch(name, pattern) for name, pattern in zip(names, allow_patterns, strict=True)] == [True, True]
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetched)
    source = Source(hub="some/data", revision=COMMIT, following={"columns": {"next": "text"}})
    found = read(source, Store(tmp_path / "downloads", tmp_path / "lock.json"))
    assert found["text"].tolist() == [f"one of {name}" for name in names]
    assert found["next"].tolist() == [f"another of {name}" for name in names]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("404 Client Error. (Request ID: 1)\n\nEntry Not Found for url: https://host/a.\n", "Entry Not Found.*host/a"),
        ("Config name is missing.\nPlease pick one of: ['a']\nExample of usage:\n\t`load()`", r"missing.*\['a'\]"),
        ("", "OSError"),
    ],
)
def test_an_error_of_the_hub_says_what_is_wrong_in_one_line(message: str, told: str) -> None:
    with pytest.raises(UserError, match=told) as caught, hub_errors("some/data"):
        raise OSError(message)
    assert not {*"\n\t"} & {*str(caught.value)} and "Client Error" not in str(caught.value)


def once(text: str, rows: int) -> pa.Table:
    """A text that so many rows have, and the file once."""
    return pa.table({"text": pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), [text])})


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("train.parquet", lambda: parquet(once("ab " * 400_000, 20_000)), "at most"),  # 24 GB of texts in 15 kB
        ("train.jsonl.gz", lambda: gzip.compress(b'{"text": "a b"}\n' * 5_000_000, 1), "at most"),
        (
            "train.jsonl",
            lambda: b'{"text": "a b"}\n{"text": "' + b"a" * (130 << 20) + b'"}\n',
            "a line of more than 128 MiB begins at byte 16; break it",
        ),
        ("train.csv.bz2", lambda: bz2.compress(b"text\na b\n"), "refs/convert/parquet"),
    ],
)
def test_what_unpacks_to_gigabytes_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: Callable[[], bytes], words: str
) -> None:
    done = fetched(tmp_path, {"someone/rows": {name: content()}}, monkeypatch)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")] or [done.stderr]
    assert done.returncode == 1 and name in line and words in line
    assert not (tmp_path / "someone/rows.tsv").exists()


def test_a_zip_and_xz_are_looked_through_too(tmp_path: Path) -> None:
    path = tmp_path / "train"  # the hub's library goes by what stands in a file, not by its name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train.csv", b"text\n" + b"a b c\n" * 15_000_000)
    with pytest.raises(UserError, match=r"train: \d+ bytes in \d+ compressed ones; at most"):
        require_readable(path)
    path.write_bytes(lzma.compress(b"a b c\n" * 15_000_000, preset=0))
    with pytest.raises(UserError, match=r"train.xz: \d+ bytes in \d+ compressed ones; at most"):
        require_readable(path)
    path.write_bytes(lzma.compress(b"a b c\n" * 5))
    require_readable(path)
