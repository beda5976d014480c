"""mteb's result files: results/{model}/{revision}/{task}.json with model_meta.json, as its leaderboard takes them."""

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from seedbed import licences, origins
from seedbed.encoders.compression.compress import size
from seedbed.encoders.models.loading import open_encoder
from seedbed.encoders.models.onnx_int8 import Int8Transformer
from seedbed.io import UserError, read_json, sha256, write_json
from seedbed.languages import registry
from seedbed.publish.results import Result

FOLDER = "mteb"
"""Below the output."""
_COMMIT = re.compile(r"[0-9a-f]{40}")


def write(
    repository: Path,
    about: Mapping[str, Any],
    results: Sequence[Result],
    name: str,
    metadata: Mapping[str, Any],
    output: Path,
) -> None:
    """Write an encoder's results on those tasks that mteb has, as mteb's files; without such tasks nothing is written.

    The revision is a digest of the weights and the files around them, until `revised` replaces it by the hub's commit.

    Args:
        repository: the encoder's folder for the hub.
        name: owner/name on the hub.
    """
    filed = [one.mteb for one in results if one.mteb]
    if not filed:
        return
    revision = sha256(repository)[:40]
    folder = output / "results" / name.replace("/", "__") / revision
    folder.mkdir(parents=True)
    for task, every in _by_task(filed).items():
        write_json(every, folder / f"{task}.json")
    write_json(_meta(repository, about, results, name, revision, metadata), folder / "model_meta.json")


def revised(output: Path, commit: str) -> None:
    """Replace the revision by the commit of an upload; UserError: no commit."""
    if not _COMMIT.fullmatch(commit):
        raise UserError(f"revision: {commit!r} is no commit of the hub, 40 digits and letters a to f")
    for meta in sorted(output.glob("results/*/*/model_meta.json")):
        write_json(read_json(meta) | {"revision": commit}, meta)
        meta.parent.rename(meta.parent.with_name(commit))


def _by_task(filed: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """One result of each task: mteb has the languages of a task as its subsets."""
    found: dict[str, dict[str, Any]] = {}
    for one in filed:
        known = found.setdefault(one["task_name"], {**one, "scores": {}})
        for split, subsets in one["scores"].items():
            known["scores"].setdefault(split, []).extend(subsets)
    return found


def _meta(
    repository: Path,
    about: Mapping[str, Any],
    results: Sequence[Result],
    name: str,
    revision: str,
    metadata: Mapping[str, Any],
) -> dict[str, Any]:
    """Metadata of a model in mteb's format."""
    from mteb.models import ModelMeta
    from mteb.models.model_meta import Licenses

    encoder = open_encoder(repository)
    integers = isinstance(encoder[0], Int8Transformer)
    codes = sorted({one.language for one in results})
    licence = licences.of_model(about)
    terms = metadata.get("license_link") or metadata.get("license") or (licence and (licence.link or licence.id))
    facts = {
        "name": name,
        "revision": revision,
        "languages": [f"{code.partition('-')[0]}-{registry()[code]['script']}" for code in codes if code in registry()],
        "n_parameters": size(encoder)["parameters"],
        "max_tokens": encoder.max_seq_length if math.isfinite(encoder.max_seq_length or math.inf) else None,
        "embed_dim": encoder.get_embedding_dimension(),
        "license": terms if str(terms).startswith("http") or terms in get_args(Licenses) else None,
        "open_weights": True,
        "framework": ["Sentence Transformers", *(["ONNX"] if integers else ["PyTorch", "safetensors"])],
        "reference": f"https://huggingface.co/{name}",
        "similarity_fn_name": "cosine",
        "use_instructions": any(encoder.prompts.values()),
        "adapted_from": about.get("base_model") or None,
        "modalities": ["text"],
        "training_datasets": trained_on(about),
    }
    meta = ModelMeta.model_validate(ModelMeta.create_empty().model_dump() | facts)
    written = json.loads(json.dumps(meta.to_dict(), default=str))
    return written | {"training_datasets": sorted(written["training_datasets"])}


def trained_on(about: Mapping[str, Any]) -> set[str]:
    """The data sets that an encoder was trained on, named as mteb's zero-shot column expects.

    A data set has the name of the mteb task that uses it, else its name on the hub, else its name in the study. Data of
    the backbone are not listed: they are in the backbone's own metadata (`adapted_from`).
    """
    found = set()
    for record in about.get("data", []):
        if record.get("role"):
            continue  # a model that generated, translated or judged
        for name in origins.hubs(record.get("origin", [])) or [record["name"]]:
            found |= _tasks_by_data().get(name.lower(), {name})
    return found


@functools.cache
def _tasks_by_data() -> dict[str, set[str]]:
    """Repository of the hub, in small letters -> mteb's tasks of its data."""
    import mteb

    found: dict[str, set[str]] = {}
    for task in mteb.get_tasks():
        found.setdefault(str(task.metadata.dataset.get("path")).lower(), set()).add(task.metadata.name)
    return found
