"""Digests of what an encoder's vectors depend on, from its manifest, and the folder of its cached embeddings."""

import ast
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from sentence_transformers.sentence_transformer.modules import Transformer

from seedbed import manifests
from seedbed.encoders import prompts
from seedbed.encoders.endpoint import TRANSPORT
from seedbed.encoders.models.onnx_int8 import CODE as INT8
from seedbed.encoders.models.parallel_adapters import ADAPTERS, CODE, MODULE
from seedbed.encoders.models.two_paths import CODE as PATHS
from seedbed.io import fingerprint, read_json, sha256
from seedbed.manifests import versions, versions_of

SOURCE = "saved_from"
"""Key in a manifest: the digest of the start point, of an encoder that differs from it by parallel adapters only."""
STOCK = f"{Transformer.__module__}.{Transformer.__name__}"
"""The type in modules.json of a transformer without adapters."""
SOURCES = (*sorted(Path(__file__).parent.glob("*.py")), Path(prompts.__file__))
"""Files of code that open encoders and compute vectors."""


def embeddings_folder(state: Path, manifest: dict[str, Any], *, adapters: bool = True, prompt: str = "") -> Path:
    """The folder of an encoder's cached embeddings in that of all caches, `state`, named by what they depend on, by
    the code that computes them and by versions of libraries.

    With adapters off it is the folder of the encoder that got the adapters. An encoder with one prompt for each
    language has a sub-folder for each prompt, because one text has another vector in each language.
    """
    files = manifest["files"]
    # What was paid for stays valid when libraries or code here change.
    used = {} if TRANSPORT in files else versions() | {"code": code_digest(SOURCES)}
    if any(name.endswith(".onnx") for name in files):
        used |= versions_of("onnxruntime")
    folder = state / "embeddings" / fingerprint([vectors_digest(manifest, adapters=adapters), used])[:32]
    return folder / fingerprint(prompt)[:32] if prompt else folder


@cache
def code_digest(files: tuple[Path, ...]) -> str:
    """A digest of files of code, without comments and docstrings."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    for node in chain.from_iterable(map(ast.walk, trees)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
    return fingerprint([ast.dump(tree) for tree in trees])


def vectors_digest(manifest: dict[str, Any], *, adapters: bool = True) -> str:
    """A digest of what an encoder's vectors depend on, with its parallel adapters on or off; two encoders that differ
    in their cards only have the same.
    """
    ignored = ("README.md", TRANSPORT, CODE, PATHS, INT8)
    files = {name: digest for name, digest in manifest["files"].items() if Path(name).name not in ignored}
    on = adapters and ADAPTERS in files
    source = "" if on else manifest.get("training", {}).get(SOURCE, "")
    return source or fingerprint([files, *(["off"] if ADAPTERS in files and not on else [])])


def pivot_digest(manifest: dict[str, Any]) -> str:
    """The digest of the pivot encoder that an encoder was aligned with; empty if it was not aligned."""
    return manifest.get("training", {}).get("pivot", "")


def saved_from(folder: Path, start: Path) -> dict[str, str]:
    """{SOURCE: digest of the start point} if an encoder, whose folder has no manifest yet, equals its start point but
    for parallel adapters; else {}.
    """
    if not (start / manifests.MANIFEST).is_file():
        return {}
    known = manifests.of(start)
    files = {name: digest for name, digest in known["files"].items() if name != "README.md"}
    if "modules.json" not in files or not all(_same(folder / name, start / name, files[name]) for name in files):
        return {}
    return {SOURCE: vectors_digest(known)}


def _same(path: Path, other: Path, digest: str) -> bool:
    """Whether a file is that of the start point, apart from what adapters and options of loading change in it."""
    if not path.is_file():
        return False
    if path.name == "modules.json":
        return path.read_text(encoding="utf-8").replace(MODULE, STOCK) == other.read_text(encoding="utf-8")
    if path.name == "sentence_bert_config.json":
        ours, theirs = ({**read_json(each), "model_kwargs": None} for each in (path, other))
        return ours == theirs
    return sha256(path) == digest
