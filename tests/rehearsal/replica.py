"""The repositories and archives of sources.yaml, made of its words: files as they are named and laid out outside."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pandas as pd
import regex
import yaml

from seedbed import yamls
from seedbed.corpora.shape.clean import characters_of
from seedbed.languages import registry

HERE = Path(__file__).parent
Spec = dict[str, Any]
UNSPACED = ("jpn", "tha", "zho")
"""Languages whose words are written without blanks."""
MEANT = {
    "ara": "arb", "azj": "aze", "cmn": "zho", "cmo": "zho", "fas": "pes", "kur": "kmr", "lav": "lvs", "mon": "khk", "msa": "zsm",
    "sqi": "als", "swa": "swh", "uzb": "uzn", "yid": "ydd",
}  # fmt: skip
"""Names by which data sets call a language -> its code in the registry: macrolanguages, parts of them, mteb's cmo."""


def load(name: str) -> Any:
    """A YAML file beside this one."""
    return yamls.read(HERE / name)


@cache
def sources() -> dict[str, Spec]:
    """All that is outside, of all studies: `hub`, `archives`."""
    tables = [yamls.read(path) for path in sorted(HERE.glob("sources*.yaml"))]
    return {kind: {name: entry for table in tables for name, entry in table[kind].items()} for kind in tables[0]}


@cache
def models() -> dict[str, Spec]:
    """All models that are outside."""
    table = load("models.yaml")["models"]
    return {name.format(name=each): entry for name, entry in table.items() for each in entry.get("names", [""])}


@cache
def code(name: str) -> str:
    """The registry's code of a language that a data set calls by ISO 639-3, maybe with a script, or a macrolanguage's."""
    lang, _, script = name.partition("-")
    lang = MEANT.get(lang, lang)
    return f"{lang}-{script}" if f"{lang}-{script}" in registry() else lang


@cache
def words(lang: str) -> list[str]:
    """A language's words; where words.yaml has none, letters of its script in a row."""
    if text := load("words.yaml").get(lang):
        return text.split()
    draw, known = random.Random(lang), letters(registry()[lang]["script"])
    return ["".join(draw.sample(known, 5)) for _ in range(18)]


@cache
def letters(script: str) -> list[str]:
    """Letters of an ISO 15924 script, without capitals and marks."""
    own = regex.compile(rf"[[{characters_of(script)}]&&[\p{{Ll}}\p{{Lo}}]]", regex.V1)
    # No letter that NFC writes as two.
    return [letter for letter in map(chr, range(0x2FFFF)) if own.match(letter) and normalize("NFC", letter) == letter][
        :60
    ]


def sentence(lang: str, salt: str, number: int, *, compound: bool = False) -> str:
    """One of a language's sentences: the same for the same salt and number. `compound`: twice two of its words end it as one."""
    drawn = random.Random(f"{lang} {salt} {number}").sample(words(lang), 9)
    drawn += ["".join(drawn[:2]), "".join(drawn[2:4])] if compound else []
    return ("" if lang in UNSPACED else " ").join(drawn)


def is_in(text: str, lang: str) -> bool:
    """Whether a text is of a language's words, and of compounds of two."""
    if lang in UNSPACED:
        return not regex.sub("|".join(sorted(map(regex.escape, words(lang)), key=len, reverse=True)), "", text).strip(
            ". "
        )
    others = {*text.replace(".", " ").split()} - {*words(lang)}
    return others <= {first + second for first in words(lang) for second in words(lang)}


@dataclass(frozen=True)
class Repository:
    """What a repository holds at its only commit."""

    commit: str
    branch: str
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
                rows_of = frame(table, lang, rows, f"{name} {split}{table.get('salt', '')}", facts)
                files[table["file"].format(**facts)] = content(rows_of, table["file"])
            if "configs" in table:
                _listed(card, table, called)
    if card:
        files["README.md"] = f"---\n{yaml.safe_dump(card, sort_keys=False)}---\n".encode()
    commit = entry.get("revision") or hashlib.sha1(name.encode()).hexdigest()
    return Repository(commit, entry.get("branch", "main"), files, card)


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
        parts = [frame(one, code, rows, salt, facts | more).assign(**more) for code, more in table["each"].items()]
        return pd.concat(parts, ignore_index=True)
    made: dict[str, list[Any]] = {}
    for column, spec in table["columns"].items():
        if "answer" in spec:
            contexts = enumerate(made[spec["answer"]])
            made[column] = [answer(context, row, placed=spec.get("placed", True)) for row, context in contexts]
        else:
            made[column.format(**facts)] = cells(spec, rows, lang, f"{salt} {column}", facts)
    return pd.DataFrame(made)


def answer(context: str, row: int, *, placed: bool) -> dict[str, list[Any]]:
    """Two words of a context, as SQuAD has them on the hub; `placed`: with the place of the first."""
    words = context.split(" ")
    first = row % (len(words) - 1)
    texts = {"text": [" ".join(words[first : first + 2]).rstrip(".")]}
    return texts | ({"answer_start": [len(" ".join([*words[:first], ""]))]} if placed else {})


def cells(spec: Any, rows: int, lang: str, salt: str, facts: Spec) -> list[Any]:
    """One column; see the head of sources.yaml."""
    spec = {"text": spec} if isinstance(spec, str) else spec
    if count := spec.get("several"):
        one = {key: value for key, value in spec.items() if key != "several"}
        flat = cells(one, rows * count, lang, salt, facts)
        return [flat[first : first + count] for first in range(0, len(flat), count)]
    if "inside" in spec:
        inside = {name: cells(one, rows, lang, f"{salt} {name}", facts) for name, one in spec["inside"].items()}
        return [dict(zip(inside, row, strict=True)) for row in zip(*inside.values(), strict=True)]
    numbers = [row // spec.get("every", 1) for row in range(rows)]
    if "text" in spec:
        asked, times = facts.get(spec["text"], spec["text"]), spec.get("times", 1)
        known = code(lang if asked == "own" else asked)
        between, after, compound = spec.get("between", ". "), spec.get("after", ""), spec.get("compound", False)
        texts = (
            between.join(sentence(known, salt, row * times + part, compound=compound) for part in range(times))
            for row in numbers
        )
        written = cyrillic() if spec.get("cyrillic") else str
        return [written(text) + after for text in texts]
    if "number" in spec:
        low, high = spec["number"]
        return [round(low + (high - low) * row / max(rows - 1, 1), 3) for row in range(rows)]
    if "words" in spec:
        return [sentence(spec["words"], salt, row).split() for row in numbers]
    if "row" in spec:
        return [spec["row"].format(row, **facts) for row in numbers]
    if "integer" in spec:
        return [spec["integer"] + row for row in numbers]
    values = list(range(len(spec["label"]))) if "label" in spec else spec["of"]
    return [_filled(values[row % len(values)], facts) for row in range(rows)]


@cache
def cyrillic() -> Callable[[str], str]:
    """What writes Uyghur in Cyrillic that is in Arabic script in words.yaml."""
    from umsc import UgMultiScriptConverter

    return UgMultiScriptConverter("UAS", "UCS")


def _filled(value: Any, facts: Spec) -> Any:
    return value.format(**facts) if isinstance(value, str) else value


def content(rows: pd.DataFrame, name: str, *, header: bool = False, form: str = "") -> bytes:
    """A file of rows, by its form, or the ending of its name; any other than these has lines of cells with tabs between."""
    if form == "squad":
        return questions(rows)
    if name.endswith(".gz"):
        return gzip.compress(content(rows, name.removesuffix(".gz")), mtime=0)
    if name.endswith(".parquet"):
        return rows.to_parquet(index=False)
    if name.endswith(".csv"):
        return rows.to_csv(index=False).encode()
    if name.endswith((".jsonl", ".json")):
        return rows.to_json(orient="records", lines=True, force_ascii=False).encode()
    lines = [list(rows.columns)] if header else []
    lines += rows.astype(str).to_numpy().tolist()
    return "".join("\t".join(line) + "\n" for line in lines).encode()


def questions(rows: pd.DataFrame) -> bytes:
    """Questions as SQuAD's own files have them, each in an article of its own."""
    articles = []
    for row in rows.to_dict("records"):
        answers = [
            dict(zip(row["answers"], cells, strict=True)) for cells in zip(*row["answers"].values(), strict=True)
        ]
        question = {"answers": answers, "id": row["id"], "question": row["question"]}
        articles.append({"paragraphs": [{"context": row["context"], "qas": [question]}], "title": row["title"]})
    return json.dumps({"data": articles}, ensure_ascii=False).encode()


def archive(url: str) -> bytes | None:
    """What stands under a URL; None: nothing."""
    for template, entry in sources()["archives"].items():
        for name, lang in entry["names"].items():
            if template.format(name=name) == url:
                return _packed(url, _members(entry, name, lang))
    return None


def _members(entry: Spec, name: str, lang: str) -> dict[str, bytes]:
    first, _, second = name.partition("-")
    sides = {
        side: "eng" if called in ("en", "eng") else lang for side, called in (("first", first), ("second", second))
    }
    found = {}
    for table in entry["tables"]:
        file = table["file"].format(name=name, first=first, second=second)
        # Both sides of a pair hold texts of their own.
        rows = frame(table, lang, table["rows"], f"{name} {file}", {"name": name, **sides})
        found[file] = content(rows, file, header=entry.get("header", False), form=table.get("form", ""))
    return found


def _packed(url: str, files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    if url.endswith(".zip"):
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as container:
            for name, data in files.items():
                container.writestr(name, data)
    elif url.endswith((".tar.gz", ".tar")):
        with tarfile.open(fileobj=packed, mode="w:gz" if url.endswith(".gz") else "w") as container:
            for name, data in files.items():
                header = tarfile.TarInfo(name)
                header.size = len(data)
                container.addfile(header, io.BytesIO(data))
    else:
        (data,) = files.values()
        packing = {".gz": gzip.compress, ".xz": lzma.compress}
        return packing.get(Path(url).suffix, bytes)(data)
    return packed.getvalue()
