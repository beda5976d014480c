"""Fused encoders (DistFuse): a folder with a card and a manifest that names several encoders and their weights."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seedbed import manifests
from seedbed.io import UserError, atomic_directory, sha256
from seedbed.markdown import table

TEMPLATE = """# {name}

Several sentence encoders at once, fused with Seedbed: neighbours by the weighted sum of Euclidean distances (DistFuse).

{members}

{chosen}

There are no weights here; `seedbed.encoders.models.inference.opened` reads this directory. The licences of its
encoders apply.
"""


class Member(NamedTuple):
    """One encoder of an ensemble."""

    directory: Path
    weight: float


def save(
    output: Path,
    members: Mapping[str, Path],
    weights: Sequence[float],
    about: dict[str, Any],
    chosen: dict | None = None,
    tell: manifests.Tell | None = None,
) -> None:
    """Write the folder of an ensemble with its manifest; equal arguments and files give equal bytes.

    Args:
        output: the folder that is written.
        members: backbone -> folder of its encoder, in the order of `weights`.
        weights: one weight for each encoder.
        about: facts for the card, see `card.text`.
        chosen: JSON about how the weights were tuned, from `seedbed.evaluation.fusion.tune_weights`; None: the study
            gives them.
        tell: `write_card`; None: no card.
    """
    weighted = dict(zip(members, weights, strict=True))
    entries = []
    for name, folder in members.items():
        made = {"directory": os.path.relpath(folder, output), "sha256": sha256(folder / manifests.MANIFEST)}
        entries.append({"backbone": name, "weight": weighted[name], **made})
    with atomic_directory(output) as directory:
        facts = {"about": about | {"weights": weighted}, "members": entries, "chosen": chosen or {}}
        manifests.write(directory, facts, tell)


def write_card(directory: Path, facts: Mapping[str, Any]) -> None:
    """Write README.md into an ensemble's folder, from the facts of its manifest."""
    about, chosen = facts["about"], facts["chosen"]
    text = TEMPLATE.format(
        name=" ".join(str(about[key]) for key in ("backbone", "recipe", "language") if about.get(key)),
        members=table(("Encoder", "Weight"), [(name, f"{weight:g}") for name, weight in about["weights"].items()]),
        chosen=f"The weights were chosen on {chosen['dev']}." if chosen else "The weights were given.",
    )
    (directory / "README.md").write_text(text, encoding="utf-8")


def members_of(directory: Path, manifest: Mapping[str, Any]) -> list[Member]:
    """The encoders of an ensemble and their weights, in order, by its manifest; an empty list for a single encoder.

    Raises:
        UserError: an encoder is missing or has changed since the ensemble was written.
    """
    found = []
    for entry in manifest.get("members", []):
        folder = Path(os.path.normpath(directory / entry["directory"]))
        if not (folder / manifests.MANIFEST).is_file() or sha256(folder / manifests.MANIFEST) != entry["sha256"]:
            changed = f"{folder} is gone or was made anew since it was fused"
            raise UserError(f"{directory}: {changed}; run fuse_encoders again")
        found.append(Member(folder, float(entry["weight"])))
    return found
