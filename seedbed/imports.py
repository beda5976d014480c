"""Which source files a program runs: its closure over the project's own imports, read without importing anything."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGES = ("seedbed", "scripts")


@cache
def closure(file: str) -> tuple[str, ...]:
    """The file and every project file that it imports, directly or not, in sorted order.

    Paths are relative to the repository root, where Snakemake and every program run. Lazy imports inside functions
    count; `importlib` with a computed name cannot be seen, so a module that uses it names what it may import.
    """
    seen: set[str] = set()
    todo = [file]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(_imported(current))
    return tuple(sorted(seen))


@cache
def _imported(file: str) -> tuple[str, ...]:
    tree = ast.parse(Path(file).read_text(encoding="utf-8"), filename=file)
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(path for name in sorted(names) if name.split(".")[0] in PACKAGES for path in _files(name))


def _files(module: str) -> list[str]:
    """A module's file and the `__init__` files of the packages that importing it runs."""
    parts = module.split(".")
    packages = ["/".join(parts[:end]) + "/__init__.py" for end in range(1, len(parts) + 1)]
    return [path for path in [*packages, "/".join(parts) + ".py"] if Path(path).is_file()]
