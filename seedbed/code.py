"""What a program runs, as a value: its own code without comments and docstrings, its data, and its libraries.

A rule carries this value as a parameter. So a checkout, a comment, a docstring and a formatter re-run nothing, an edit
re-runs what it may change whatever the times of the files, and so does another version of a library. Nothing is
imported to find it.
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from seedbed.io import fingerprint, sha256

ROOT = Path(__file__).parents[1]
"""The folder of the project."""
PACKAGES = ("seedbed", "scripts")
DISTRIBUTIONS = {
    "PIL": "pillow",
    "faiss": "faiss-cpu",
    "markdown_it": "markdown-it-py",
    "pytrec_eval": "pytrec-eval-terrier",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Import name -> name in the package index, where that is another one."""
BENEATH = {
    *("accelerate", "numpy", "safetensors", "scikit-learn", "scipy", "sentence-transformers", "tokenizers", "torch"),
    "transformers",
}
"""Libraries that others compute with: they count where a program imports a library that is built on them."""
NO_RESULT = {"filelock", "huggingface_hub", "psutil", "pydantic", "pydantic_core", "threadpoolctl", "tqdm"}
"""Imports that move files, check settings, count memory, show progress: no other version of them changes a result."""


def value(program: str, data: Iterable[str] = (), modules: Iterable[str] = ()) -> str:
    """The value of a program, one line: a digest, then Python and the libraries with their versions.

    Args:
        program: a file such as `scripts/plot.py`.
        data: files that it reads; their names are no matter.
        modules: files that it imports by a computed name, which nobody can read off it.

    Files of code are named from ROOT, wherever the study is run.
    """
    files = sorted({*closure(program), *(file for module in modules for file in closure(module))})
    digest = fingerprint([{file: _source(file).digest for file in files}, [sha256(file) for file in data]])
    versions = [f"{name} {_version(name)}" for name in libraries(files)]
    return " ".join([digest[:16], f"python {sys.version_info.major}.{sys.version_info.minor}", *versions])


@cache
def closure(file: str) -> tuple[str, ...]:
    """The file and every project file that it imports, directly or not, in sorted order.

    Imports inside functions count; `importlib` with a computed name cannot be seen: see `value`.
    """
    seen: set[str] = set()
    todo = [file]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(path for name in _source(current).imports for path in _files(name))
    return tuple(sorted(seen))


def libraries(files: Iterable[str]) -> list[str]:
    """What the files import from the package index, and what of BENEATH that in turn is built on, by names there."""
    found, todo = set(), [name for file in files for name in _external(file)]
    while todo:
        if (name := todo.pop()) not in found:
            found.add(name)
            todo.extend(BENEATH.intersection(_requirements(name)))
    return sorted(found)


def _external(file: str) -> tuple[str, ...]:
    """The libraries that a file imports, by their names in the package index."""
    tops = {name.partition(".")[0] for name in _source(file).imports} - {
        *PACKAGES,
        *sys.stdlib_module_names,
        *NO_RESULT,
    }
    return tuple(sorted(_normal(DISTRIBUTIONS.get(top, top)) for top in tops))


@cache
def _requirements(name: str) -> tuple[str, ...]:
    """What a library says that it needs, those of its extras too: transformers trains with one of them."""
    try:
        lines = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(_normal(re.match(r"[\w.-]+", line)[0]) for line in lines)


@cache
def _version(name: str) -> str:
    """Its version; a library of other environments (vLLM) may be absent from the one that plans."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")


class _Source(NamedTuple):
    """What counts of a file's text."""

    digest: str
    """Of its syntax tree without docstrings."""
    imports: tuple[str, ...]
    """The modules that it imports, and the names that it takes from them, which may be modules."""


@cache
def _source(file: str) -> _Source:
    return _parsed((ROOT / file).read_text(encoding="utf-8"))


@cache
def _parsed(text: str) -> _Source:
    tree = _WithoutTexts().visit(ast.parse(text))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return _Source(fingerprint(ast.dump(tree)), tuple(sorted(names)))


class _WithoutTexts(ast.NodeTransformer):
    """Takes out statements that are only a text: docstrings of modules, classes, functions and settings."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node


def _files(module: str) -> list[str]:
    """A module's file and the `__init__` files of the packages that importing it runs; none for a library's."""
    parts = module.split(".")
    if parts[0] not in PACKAGES:
        return []
    packages = ["/".join(parts[:end]) + "/__init__.py" for end in range(1, len(parts) + 1)]
    return [path for path in [*packages, "/".join(parts) + ".py"] if (ROOT / path).is_file()]
