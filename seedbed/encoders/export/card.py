"""The model card of an encoder, from the facts of its manifest."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from huggingface_hub import ModelCardData

from seedbed import licences, origins
from seedbed.markdown import table

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
{read}embeddings = encoder.encode({texts})
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
"""Placeholder for the commit of a repository with code, which is known after the upload."""
PLACE = "path/to/this/directory"
"""The path in the card's example code if the encoder's place is not given."""


def write(directory: Path, facts: Mapping[str, Any]) -> None:
    """Write README.md into an encoder's folder, by its manifest; equal facts and files give equal bytes."""
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
    """The model card of an encoder, in Markdown.

    Args:
        directory: the encoder's folder.
        about: JSON of any shape, whose texts and numbers are listed. Keys with a meaning: `name`, `language` (ISO
            639-3), `backbone`, `base_model` (hub id), `recipe`, `method`, `licence` (else `backbone_licence`), and
            `data`, a list of records with `name`, `origin` (see `origins`) and `licence`.
        training: JSON: the training settings and the result of `train.train`, in one mapping.
        used: library -> version.
        place: what the example code opens: a folder, or a repository of the hub.
        metadata: the hub's YAML metadata, which replaces or extends what follows from `about`.
        results: a section of scores, in Markdown.
        limits: further sentences about its limits, in Markdown.
    """
    from seedbed.encoders.prompts import read_prompts  # imports tokenizers, which `usage_of` does not need

    parts = [str(about[key]) for key in ("backbone", "recipe", "language") if about.get(key)]
    shown = {key: value for key, value in about.items() if isinstance(value, str | int | float) and value != ""}
    prompts = read_prompts(directory)
    facts = [(key, value) for key, value in shown.items() if key != "summary"]
    before = dict(prompts) if prompts.differ else {"text": prompts.text}
    facts += [(f"prompt before a {name}", f"`{prompt}`" if prompt else "none") for name, prompt in before.items()]
    # Without the loss curve; an untrained encoder used none of the settings.
    rows = [(key, _said(value)) for key, value in training.items() if key != "loss"]
    trained = any(training.get(key) for key in ("steps", "copy", "vocabulary"))
    opening = REMOTE if (directory / "endpoint.json").is_file() else OPENING
    needs = usage_of(directory)
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
        read=PROMPTS_DIFFER if prompts.differ else "",
    )


def _said(value: Any) -> Any:
    """A value of a card's table."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_said(one)}".rstrip() for key, one in value.items())
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
    said = [(one.get("name"), origins.in_words(one.get("origin", [])), one.get("licence")) for one in records]
    return table(("Data", "Origin", "Licence"), [[cell or "not stated" for cell in row] for row in said])


class Usage(NamedTuple):
    """How an encoder is used, as fragments of Python code for the card."""

    options: str = ""
    """Further arguments of `SentenceTransformer(...)`."""
    packages: str = ""
    """Further packages to install, with a leading blank."""
    texts: str = '["a sentence", "another one"]'
    """Example inputs."""


PROMPTS_DIFFER = (
    "# Queries and documents are read otherwise: encoder.encode_query(...), encoder.encode_document(...).\n"
)
"""Comment in the example code of an encoder with different prompts for queries and documents."""
PAIRS = '[("a sentence", "its English"), ("another one", "its English")]'
"""Example inputs of a two-path encoder."""


def usage_of(directory: Path) -> Usage:
    """How the encoder in a folder is used: some need code of their folder, onnxruntime, or pairs of texts."""
    trusted = ", trust_remote_code=True" if any(directory.glob("*.py")) else ""
    packages = " onnxruntime" if any(directory.glob("*.onnx")) else ""
    return Usage(trusted, packages, PAIRS) if (directory / "english").is_dir() else Usage(trusted, packages)
