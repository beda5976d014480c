"""What an encoder carries with it: a model card for people, a manifest for programs."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from huggingface_hub import ModelCardData

from seedbed import manifests

RECIPES = {
    "base": "The backbone as it was published, with pooling; not trained.",
    "unsupervised": "Unsupervised SimCSE: every sentence is its own positive, told apart by dropout.",
    "crosslingual": "Supervised SimCSE on human-written triplets of another language.",
    "prompting": "Supervised SimCSE on triplets that a language model wrote from a prompt with examples.",
    "composition": "Supervised SimCSE on triplets that a language model wrote with composed adapters.",
    "xllora": "Supervised SimCSE on triplets that a language model wrote with a cross-lingual adapter (XL-LoRA).",
}
TEMPLATE = """---
{front_matter}
---

# {name}

A sentence encoder made with Seedbed. {recipe}

{facts}

## Training

{training}

## Data

{data}

## Use

```python
{opening}
embeddings = encoder.encode(["a sentence", "another one"])
print(encoder.similarity(embeddings, embeddings))
```

## Limits

It was trained on single sentences; measure it on your own task before you rely on it. It inherits the biases of its
backbone and of its training text, and with synthetic triplets those of the model that wrote them. The licences of the
backbone, of the data and of a generator's output apply to it.
"""

OPENING = """# pip install "sentence-transformers>=6" "transformers>=5"
from sentence_transformers import SentenceTransformer
encoder = SentenceTransformer("path/to/this/directory")"""
REMOTE = """# A server makes the vectors: it is sent the texts, and the token that endpoint.json names. Seedbed asks it.
from seedbed.encoders.backbone import open_encoder
encoder = open_encoder("path/to/this/directory", servers=True)"""


def write(directory: Path, about: dict[str, Any], training: dict[str, Any]) -> None:
    """Write README.md and seedbed.json into an encoder's directory: the same arguments and files, the same bytes.

    Args:
        about: JSON of any shape, kept in the manifest; the card shows its texts and numbers. Keys with a meaning:
            `name`, `language` (ISO 639-3), `backbone`, `base_model` (hub id), `recipe`, `method`, `licence` (else
            `backbone_licence`), and `data`, a list of records with `name`, `origin` and `licence`.
        training: JSON: the settings and what `training.train` returned, in one.
    """
    directory = Path(directory)
    (directory / "README.md").write_text(_card(directory, about, training), encoding="utf-8")
    manifests.write(directory, {"about": about, "training": training, "versions": versions()})


def versions() -> dict[str, str]:
    """Versions of the libraries that trained weights depend on."""
    return {name: importlib.metadata.version(name) for name in ("torch", "transformers", "sentence-transformers")}


def _card(directory: Path, about: dict[str, Any], training: dict[str, Any]) -> str:
    parts = [str(about[key]) for key in ("backbone", "recipe", "language") if about.get(key)]
    facts = [(key, value) for key, value in about.items() if isinstance(value, str | int | float) and value != ""]
    return TEMPLATE.format(
        front_matter=_front_matter(about),
        name=about.get("name") or " ".join(parts) or "Sentence encoder",
        recipe=RECIPES.get(about.get("method", ""), ""),
        facts=_table(("Fact", "Value"), facts),
        training=_training(training),
        data=_data(about.get("data", []), trained=bool(training.get("steps"))),
        opening=REMOTE if (directory / "endpoint.json").is_file() else OPENING,
    )


def _front_matter(about: dict[str, Any]) -> str:
    """The YAML that the hub reads."""
    return ModelCardData(
        language=about.get("language") or None,
        license=about.get("licence") or about.get("backbone_licence") or None,
        library_name="sentence-transformers",
        pipeline_tag="sentence-similarity",
        base_model=about.get("base_model") or None,
        tags=["sentence-transformers", "feature-extraction", "seedbed", *filter(None, [about.get("method")])],
    ).to_yaml()


def _training(training: dict[str, Any]) -> str:
    """Settings and results, without the loss curve; an untrained encoder used none of the settings."""
    rows = [(k, f"{v:.4g}" if isinstance(v, float) else v) for k, v in training.items() if k != "loss"]
    return _table(("Setting or result", "Value"), rows) if training.get("steps") else "None."


def _data(records: list[dict[str, Any]], *, trained: bool) -> str:
    """Where the training text comes from, and under which licences."""
    if not records:
        return "Not stated." if trained else "No training text."
    columns = ("name", "origin", "licence")
    rows = [[record.get(column) or "not stated" for column in columns] for record in records]
    return _table(("Data", "Origin", "Licence"), rows)


def _table(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in (header, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * len(cells[0]), *lines[1:]])
