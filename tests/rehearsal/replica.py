"""The repositories and archives of sources.yaml, made of its words: files as they are named and laid out outside."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import tarfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

HERE = Path(__file__).parent
Spec = dict[str, Any]
UNSPACED = ("tha", "zho")
"""Languages whose words are written without blanks."""


def load(name: str) -> Any:
    """A YAML file beside this one."""
    return yaml.safe_load((HERE / name).read_text())


@cache
def words() -> dict[str, list[str]]:
    """Language -> its words."""
    return {code: text.split() for code, text in load("words.yaml").items()}


def sentence(lang: str, salt: str, number: int) -> str:
    """One of a language's sentences: the same for the same salt and number."""
    drawn = random.Random(f"{lang} {salt} {number}").sample(words()[lang], 9)
    return ("" if lang in UNSPACED else " ").join(drawn)


def written_in(text: str) -> str:
    """The language of whose words a text is."""
    parts = {code: sum(word.casefold() in text.casefold().split() for word in known) for code, known in words().items()}
    parts |= {code: sum(word in text for word in words()[code]) for code in UNSPACED}
    return max(parts, key=parts.__getitem__)


@dataclass(frozen=True)
class Repository:
    """What a repository holds at its only commit."""

    commit: str
    files: dict[str, bytes]
    card: Spec


def repository(name: str, entry: Spec) -> Repository:
    """The files of one entry under `hub`, with a card that names its configurations and splits."""
    files: dict[str, bytes] = {}
    card: Spec = {"license": entry["licence"]} if "licence" in entry else {}
    for table in entry["tables"]:
        for called, lang in (table.get("configs") or table.get("names") or {"": ""}).items():
            for split, rows in table.get("splits", {"": table.get("rows")}).items():
                facts = {"config": called, "name": called, "split": split, "lang": lang}
                rows_of = frame(table, lang, rows, f"{name} {split}", facts)
                files[table["file"].format(**facts)] = content(rows_of, table["file"])
            if "configs" in table:
                _listed(card, table, called)
    if card:
        files["README.md"] = f"---\n{yaml.safe_dump(card, sort_keys=False)}---\n".encode()
    return Repository(entry.get("revision") or hashlib.sha1(name.encode()).hexdigest(), files, card)


def _listed(card: Spec, table: Spec, called: str) -> None:
    """One configuration in a card, as the hub's own tools write it."""
    name = table.get("config", "{config}").format(config=called)
    files = [{"split": split, "path": table["file"].format(config=called, split=split)} for split in table["splits"]]
    card.setdefault("configs", []).append({"config_name": name, "data_files": files})
    labels = {column: spec["label"] for column, spec in table["columns"].items() if "label" in spec}
    if labels:
        features = [
            {"name": column, "dtype": {"class_label": {"names": {str(n): name for n, name in enumerate(labels[column])}}}}
            if column in labels
            else {"name": column, "dtype": "string"}
            for column in table["columns"]
        ]  # fmt: skip
        card.setdefault("dataset_info", []).append({"config_name": name, "features": features})


def frame(table: Spec, lang: str, rows: int, salt: str, facts: Spec) -> pd.DataFrame:
    """The rows of one table in one language, or in each of `each`."""
    if "each" in table:
        one = {key: value for key, value in table.items() if key != "each"}
        parts = [frame(one, code, rows, salt, facts).assign(**more) for code, more in table["each"].items()]
        return pd.concat(parts, ignore_index=True)
    return pd.DataFrame(
        {column: cells(spec, rows, lang, f"{salt} {column}", facts) for column, spec in table["columns"].items()}
    )


def cells(spec: Any, rows: int, lang: str, salt: str, facts: Spec) -> list[Any]:
    """One column; see the head of sources.yaml."""
    spec = {"text": spec} if isinstance(spec, str) else spec
    numbers = [row // spec.get("every", 1) for row in range(rows)]
    if "text" in spec:
        code, times = facts.get(spec["text"], spec["text"]), spec.get("times", 1)
        code = lang if code == "own" else code
        return [". ".join(sentence(code, salt, row * times + part) for part in range(times)) for row in numbers]
    if "number" in spec:
        low, high = spec["number"]
        return [round(low + (high - low) * row / max(rows - 1, 1), 3) for row in range(rows)]
    if "row" in spec:
        return [spec["row"].format(row) for row in numbers]
    if "integer" in spec:
        return [spec["integer"] + row for row in numbers]
    values = list(range(len(spec["label"]))) if "label" in spec else spec["of"]
    return [_filled(values[row % len(values)], facts) for row in range(rows)]


def _filled(value: Any, facts: Spec) -> Any:
    return value.format(**facts) if isinstance(value, str) else value


def content(rows: pd.DataFrame, name: str) -> bytes:
    """A file of rows, by the ending of its name; any other than these has lines of cells with tabs between, no header."""
    if name.endswith(".gz"):
        return gzip.compress(content(rows, name.removesuffix(".gz")), mtime=0)
    if name.endswith(".parquet"):
        return rows.to_parquet(index=False)
    if name.endswith(".csv"):
        return rows.to_csv(index=False).encode()
    if name.endswith(".jsonl"):
        return rows.to_json(orient="records", lines=True, force_ascii=False).encode()
    return "".join("\t".join(map(str, row)) + "\n" for row in rows.itertuples(index=False)).encode()


def archive(url: str) -> bytes | None:
    """What stands under a URL; None: nothing."""
    for template, entry in load("sources.yaml")["archives"].items():
        for name, lang in entry["names"].items():
            if template.format(name=name) == url:
                return _packed(url, _members(entry, name, lang))
    return None


def _members(entry: Spec, name: str, lang: str) -> dict[str, bytes]:
    first, _, second = name.partition("-")
    sides = {"first": "eng" if first == "en" else lang, "second": "eng" if second == "en" else lang}
    found = {}
    for table in entry["tables"]:
        file = table["file"].format(name=name, first=first, second=second)
        # Both sides of a pair hold texts of their own.
        found[file] = content(frame(table, lang, table["rows"], f"{name} {file}", sides), file)
    return found


def _packed(url: str, files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    if url.endswith(".zip"):
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as container:
            for name, data in files.items():
                container.writestr(name, data)
    elif url.endswith(".tar.gz"):
        with tarfile.open(fileobj=packed, mode="w:gz") as container:
            for name, data in files.items():
                header = tarfile.TarInfo(name)
                header.size = len(data)
                container.addfile(header, io.BytesIO(data))
    else:
        return gzip.compress(next(iter(files.values())))
    return packed.getvalue()
