"""The manifest by which a classifier is opened: a folder that is made of others."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from seedbed import manifests
from seedbed.io import UserError, atomic_directory, sha256, write_table

LABELS = "labels.tsv"
"""In the folder of what was fine-tuned: test (the test set, as LANGUAGE/NAME), id, label (or an answer)."""


def describe(output: Path, about: dict[str, Any], system: dict[str, Any], parts: Mapping[str, Path]) -> None:
    """Write the manifest of a system that is made of others' folders: the same arguments, the same bytes.

    Args:
        about: what score files say of it.
        system: its kind, and the settings of that kind.
        parts: name -> folder; one with `{lang}` in its path is of the language that is tested.

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


def write_answers(output: Path, about: dict[str, Any], learnt: Any, tests: Mapping[str, pd.DataFrame]) -> None:
    """Write what a fine-tuned encoder answers, a row of each test set, and the manifest that says how it learnt.

    Args:
        output: a folder, replaced as a whole, at the end.
        about: what score files say of it.
        learnt: as a module of `learners` gives it.
        tests: LANGUAGE/NAME -> a test set, with `id` and what the learner reads.
    """
    found = [
        pd.DataFrame({"test": name, "id": test["id"], "label": learnt.answers(test)})
        for name, test in tqdm(tests.items(), desc="test sets", unit="set")
    ]
    with atomic_directory(output) as folder:
        write_table(pd.concat(found), folder / LABELS)
        manifests.write(folder, {"about": about | learnt.report, "system": {"kind": "labelled"}})


def parts_of(folder: Path, manifest: Mapping[str, Any], language: str) -> dict[str, Path]:
    """Name -> folder of what a system is made of; UserError: one is no longer that which was described."""
    found = {}
    for name, entry in manifest["parts"].items():
        path = Path(os.path.normpath(folder / entry["directory"].format(lang=language)))
        file = path / manifests.MANIFEST
        if not file.is_file() or sha256(file) != entry.get("sha256", sha256(file)):
            raise UserError(f"{folder}: its {name}, {path}, is gone or was made anew; run describe_classifier again")
        found[name] = path
    return found
