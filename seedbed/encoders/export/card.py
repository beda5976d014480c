"""What an encoder carries with it for people: a model card, by its manifest."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import ModelCardData

from seedbed import licences, origins

TEMPLATE = """---
{front_matter}
---

# {name}

A sentence encoder made with Seedbed. {recipe}

{facts}
{results}
## Training

{training}

## Data

{data}

## Use

```python
{opening}
embeddings = encoder.encode({texts})
print(encoder.similarity(embeddings, embeddings))
```

Made with {versions}.

## Limits

It was made for texts of about a sentence; measure it on your own task before you rely on it. It inherits the biases of
its backbone and of its training text, and with synthetic triplets those of the model that wrote them. The licences of
the backbone, of the data and of a generator's output apply to it.{limits}
"""

OPENING = """# pip install "sentence-transformers>=6" "transformers>=5"{packages}{code}
from sentence_transformers import SentenceTransformer
encoder = SentenceTransformer("{place}"{options})"""
REMOTE = """# A server makes the vectors: it is sent the texts, and the token that endpoint.json names. Seedbed asks it.
from seedbed.encoders.models.loading import open_encoder
from seedbed.encoders.endpoint import described
from seedbed.servers import named
with named([described("{place}")]):
    encoder = open_encoder("{place}", servers=True)"""
CODE = "\n# It runs {files} of that place, which Seedbed put there: read it first."
REVISION = "COMMIT-OF-ITS-CODE"
"""Stands for the commit of a repository with code, which is known when it is uploaded."""
PLACE = "path/to/this/directory"
"""What the lines of use open, where nobody has said where the encoder will be."""


def write(directory: Path, facts: Mapping[str, Any]) -> None:
    """Write README.md into an encoder's directory: the same facts and files, the same bytes.

    Args:
        facts: of its manifest: `about`, `training` and `versions`, as of `text`.
    """
    card = text(directory, facts["about"], facts["training"], facts["versions"])
    (directory / "README.md").write_text(card, encoding="utf-8")


def text(
    directory: Path,
    about: Mapping[str, Any],
    training: Mapping[str, Any],
    used: Mapping[str, str],
    *,
    place: str = PLACE,
    metadata: Mapping[str, Any] | None = None,
    results: str = "",
    limits: str = "",
) -> str:
    """The model card of an encoder.

    Args:
        directory: its files.
        about: JSON of any shape, whose texts and numbers are shown. Keys with a meaning: `name`, `language` (ISO
            639-3), `backbone`, `base_model` (hub id), `recipe`, `method`, `licence` (else `backbone_licence`), and
            `data`, a list of records with `name`, `origin` (see `origins`) and `licence`.
        training: JSON: the settings and what `train.train` returned, in one.
        used: versions of libraries by name.
        place: what the lines of use open: a folder, or a repository of the hub.
        metadata: what the hub reads, in the place of or beside what follows from `about`.
        results, limits: Markdown: a section of scores, and sentences more about its limits.
    """
    parts = [str(about[key]) for key in ("backbone", "recipe", "language") if about.get(key)]
    shown = {key: value for key, value in about.items() if isinstance(value, str | int | float) and value != ""}
    facts = [(key, value) for key, value in shown.items() if key != "summary"]
    # Without the loss curve; an untrained encoder used none of the settings.
    rows = [(key, _said(value)) for key, value in training.items() if key != "loss"]
    trained = any(training.get(key) for key in ("steps", "copy", "vocabulary"))
    opening = REMOTE if (directory / "endpoint.json").is_file() else OPENING
    needs = use_of(directory)
    code = sorted(path.name for path in directory.glob("*.py"))
    pinned = f', revision="{REVISION}"' if code and place != PLACE else ""
    return TEMPLATE.format(
        front_matter=_front_matter(about, metadata or {}),
        name=about.get("name") or " ".join(parts) or "Sentence encoder",
        recipe=about.get("summary", ""),
        facts=table(("Fact", "Value"), facts),
        training=table(("Setting or result", "Value"), rows) if trained else "None.",
        data=_data(about.get("data", []), trained=trained),
        opening=opening.format(
            place=place,
            options=needs.options + pinned,
            packages=needs.packages,
            code=CODE.format(files=", ".join(code)) if code else "",
        ),
        versions=", ".join(f"{name} {version}" for name, version in used.items()),
        results=results and f"\n{results}\n",
        limits=limits and f" {limits}",
        texts=needs.texts,
    )


def _said(value: Any) -> Any:
    """A value of a card's table."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_said(one)}" for key, one in value.items())
    return f"{value:.4g}" if isinstance(value, float) else value


def _front_matter(about: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """The YAML that the hub reads."""
    licence = licences.of_model(about)
    found = {
        "language": about.get("language") or None,
        **(licence.metadata if licence else {}),
        "library_name": "sentence-transformers",
        "pipeline_tag": "sentence-similarity",
        "base_model": about.get("base_model") or None,
        "tags": ["sentence-transformers", "feature-extraction", "seedbed", *filter(None, [about.get("method")])],
    }
    return ModelCardData(**found | dict(metadata)).to_yaml()


def _data(records: list[dict[str, Any]], *, trained: bool) -> str:
    """Where the training text comes from, and under which licences."""
    if not records:
        return "Not stated." if trained else "No training text."
    said = [(one.get("name"), origins.told(one.get("origin", [])), one.get("licence")) for one in records]
    return table(("Data", "Origin", "Licence"), [[cell or "not stated" for cell in row] for row in said])


def table(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table in Markdown."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in (header, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * len(cells[0]), *lines[1:]])


class Use(NamedTuple):
    """How an encoder is used, as text that stands in Python."""

    options: str = ""
    """What opens it besides its folder."""
    packages: str = ""
    """What must be installed besides sentence-transformers."""
    texts: str = '["a sentence", "another one"]'
    """What it reads."""


PAIRS = '[("a sentence", "its English"), ("another one", "its English")]'
"""What an encoder of two texts reads."""


def use_of(directory: Path) -> Use:
    """How the encoder in a folder is used: some bring code of their own, a graph, or a side for English."""
    trusted = ", trust_remote_code=True" if any(directory.glob("*.py")) else ""
    packages = " onnxruntime" if any(directory.glob("*.onnx")) else ""
    return Use(trusted, packages, PAIRS) if (directory / "english").is_dir() else Use(trusted, packages)
