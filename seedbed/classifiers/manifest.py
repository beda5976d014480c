"""Manifests of classifiers, whose folders refer to the folders of their parts."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from seedbed import manifests
from seedbed.io import UserError, atomic_directory, sha256, write_table

ANSWERS = "labels.tsv"
"""File of a fine-tuned encoder's answers: test (the test set, as LANGUAGE/NAME), id, label (or answer)."""


def describe(output: Path, about: dict[str, Any], system: dict[str, Any], parts: Mapping[str, Path]) -> None:
    """Write the manifest of a system that consists of other folders; equal arguments give equal bytes.

    Args:
        output: the system's folder.
        about: facts for score files.
        system: its kind and the settings of that kind.
        parts: name -> folder; `{lang}` in a path is replaced by the test language when the system is opened.

    Raises:
        UserError: a folder has no manifest.
    """
    entries = {name: {"directory": os.path.relpath(path, output)} for name, path in parts.items()}
    for name, path in parts.items():
        if "{" not in str(path):
            if not (file := path / manifests.MANIFEST).is_file():
                raise UserError(f"{file}: no such file; make the {name} first")
            entries[name]["sha256"] = sha256(file)
    output.mkdir(parents=True, exist_ok=True)
    manifests.write(output, {"about": about, "system": system, "parts": entries})


def write_answers(output: Path, about: dict[str, Any], tuned: Any, tests: Mapping[str, pd.DataFrame]) -> None:
    """Write a fine-tuned encoder's answers to its test sets, and its manifest.

    Args:
        output: the folder, which is replaced as a whole at the end.
        about: facts for score files.
        tuned: the fine-tuned encoder, as `train` of a module of `learners` returns it.
        tests: LANGUAGE/NAME -> test set, with `id` and the columns that the learner takes.
    """
    found = [
        pd.DataFrame({"test": name, "id": test["id"], "label": tuned.answers(test)})
        for name, test in tqdm(tests.items(), desc="test sets", unit="set")
    ]
    with atomic_directory(output) as folder:
        write_table(pd.concat(found), folder / ANSWERS)
        manifests.write(folder, {"about": about | tuned.report, "system": {"kind": "labelled"}})


def parts_of(folder: Path, manifest: Mapping[str, Any], language: str) -> dict[str, Path]:
    """Name -> folder of a system's parts.

    Args:
        folder: the system's folder.
        manifest: its manifest, see `describe`.
        language: the test language.

    Raises:
        UserError: a part is missing, or has changed since the system was described.
    """
    found = {}
    for name, entry in manifest["parts"].items():
        path = Path(os.path.normpath(folder / entry["directory"].format(lang=language)))
        file = path / manifests.MANIFEST
        if not file.is_file() or sha256(file) != entry.get("sha256", sha256(file)):
            raise UserError(f"{folder}: its {name}, {path}, is gone or was made anew; run describe_classifier again")
        found[name] = path
    return found
