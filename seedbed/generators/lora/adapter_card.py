"""The base model of a LoRA adapter, and a model card that says how to load the adapter."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import ModelCardData

from seedbed import licences
from seedbed.io import read_json
from seedbed.manifests import MANIFEST
from seedbed.markdown import table

TEMPLATE = """---
{front_matter}
---

# {title}

LoRA matrices for {base}{revision}, made with Seedbed. They do nothing without that model, and are under its licence.

{facts}

## Use

```python
# pip install "peft>=0.21" "transformers>=5"
{usage}
```

## Limits

An adapter knows the prompts that it was trained on and no others; those are in Seedbed's `resources/prompts`. What a
model writes with it is synthetic text, to be checked before it is relied on.
"""
AUTO = """from peft import AutoPeftModelForCausalLM
model = AutoPeftModelForCausalLM.from_pretrained("{place}")"""
BY_HAND = """from peft import PeftModel
from transformers import {kind}
model = PeftModel.from_pretrained({kind}.from_pretrained("path/to/{name}"), "{place}")"""
SHOWN = ("kind", "polarity", "language", "prompts", "loss", "dtype", "steps")
"""Facts of a manifest that a card shows as they are."""


def base_of(weights: Path, name: str) -> dict[str, Any]:
    """Facts about the base model of an adapter, for the adapter's manifest; they are those of the base's own manifest.

    Args:
        weights: folder of the base model.
        name: name of the base model in the study.

    Returns:
        `name`, and `id` and `revision` on the hub, `origin` and `licence`; unknown ones are empty.
    """
    manifest = weights / MANIFEST
    known = read_json(manifest) if manifest.is_file() else {}
    facts = {"id": "hub", "revision": "revision", "licence": "licence"}
    found = {key: str(known.get(source) or "") for key, source in facts.items()}
    return {"name": name, "origin": known.get("origin", [])} | found


def is_on_the_hub(manifest: Mapping[str, Any]) -> bool:
    """Whether the base model of an adapter is a repository on the hub, according to the adapter's manifest."""
    return bool(_base(manifest)["id"])


def write(
    directory: Path,
    manifest: Mapping[str, Any],
    *,
    place: str = "path/to/this/directory",
    base: str = "",
    licence: licences.Licence | None = None,
) -> None:
    """Write README.md into an adapter's folder; equal manifests give equal bytes.

    The manifest has `base`, see `base_of`; that of a composed adapter has it in the `parts` of its task. `place` is the
    path in the usage example, a folder or a repository on the hub. `base` (a repository on the hub) and `licence`
    replace those of the base in the manifest.
    """
    known = _base(manifest)
    known = {**known, "id": base, "revision": ""} if base else known
    text = _card(manifest, known, place, licence or licences.found(known["licence"]))
    (directory / "README.md").write_text(text, encoding="utf-8")


def _task(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    return manifest.get("parts", {}).get("task", manifest)


def _base(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    return _task(manifest).get("base") or {"name": "its base", "id": "", "revision": "", "licence": ""}


def _card(manifest: Mapping[str, Any], base: Mapping[str, str], place: str, licence: licences.Licence | None) -> str:
    task = _task(manifest)
    classifies = "backbone" in task  # an encoder's, whose head peft does not know
    front_matter = ModelCardData(
        base_model=base["id"] or None,
        **(licence.metadata if licence else {}),
        library_name="peft",
        pipeline_tag=None if classifies else "text-generation",
        tags=["lora", "seedbed"],
    ).to_yaml()
    facts = {name: task[name] for name in SHOWN if task.get(name) not in (None, "")}
    facts |= {f"composition: {name}": value for name, value in manifest.get("composition", {}).items()}
    if isinstance(examples := task.get("examples"), Mapping):
        facts["examples"] = examples.get("used", "")
    rank = task.get("lora") or {}
    facts |= {name: rank[name] for name in ("rank", "alpha", "epochs") if name in rank}
    facts |= {f"made with {name}": version for name, version in task.get("versions", {}).items()}
    what = [str(task.get(name)) for name in ("kind", "polarity", "language") if task.get(name)]
    usage = AUTO if base["id"] and not classifies else BY_HAND
    return TEMPLATE.format(
        front_matter=front_matter,
        title=" ".join(["Adapter of", base["name"], *(["for", ", ".join(what)] if what else [])]),
        base=base["id"] or base["name"],
        revision=f" at `{base['revision']}`" if base["revision"] else "",
        facts=table(("Fact", "Value"), facts.items()),
        usage=usage.format(
            place=place, kind="AutoModel" if classifies else "AutoModelForCausalLM", name=base["id"] or base["name"]
        ),
    )
