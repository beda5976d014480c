"""The definitions of the project that a program can reach, from syntax trees.

A definition binds a name at the top level of a file. A program reaches the definitions that its result-producing code
(STARTS) uses by name, what those use, and so on; statements that bind no name count with every definition of their
file, and a module that is used as a value counts as a whole. What is imported by a computed name cannot be seen: see
`modules` of `code.value`.

Messages of a program (cards, errors, logs, help) change no result. Files that it writes in addition to its result are
written by functions that `main` calls, or that are passed to the result-producing code; messages are removed from the
code before it is hashed, see `strip_messages`.

Every plan does this for some 200 files, and parsing them would take as long as all the rest of a small plan. What a
file defines depends on its text alone: it is stored in the user's cache, see `_parsed`.
"""

import ast
import contextlib
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from seedbed.evaluation import protocols
from seedbed.io import atomic, fingerprint, sha256
from seedbed.resources import ROOT
from seedbed.study import messages
from seedbed.study.messages import strip_messages

LIBRARY, PROGRAMS = PACKAGES = ("seedbed", "scripts")
STARTS = ("Job", "make")
"""The result-producing code of a program that has a function `make`: its arguments with their defaults, and `make`.
The rest, `main`, only calls it, writes cards, resumes after a kill, or cleans up. Any other program counts as a whole.
"""
ALL = "*"
"""Means every definition of a file."""


class Reached(NamedTuple):
    """The definitions that a program can run."""

    digests: dict[str, str]
    """File -> a digest of the definitions that the program reaches in it, without docstrings."""
    definitions: dict[str, frozenset[str]]
    """File -> the names that the program reaches."""
    external: frozenset[str]
    """Modules of the standard library and of other projects."""


class Use(NamedTuple):
    """A module and a name in it, or ALL of it, that a piece of code mentions.

    An attribute of an imported name is stored as if that name were a module. If it is none, the use leads to no file.
    """

    module: str
    name: str


class Piece(NamedTuple):
    """One statement at the top of a file."""

    digest: str
    names: frozenset[str]
    """What it mentions that may be bound in the same file."""
    uses: frozenset[Use]
    """What it imports, or takes from imported modules."""


class Source(NamedTuple):
    """A file of code."""

    bound: dict[str, tuple[Piece, ...]]
    """Name -> what binds it."""
    defined: tuple[str, ...]
    """The names that no import binds."""
    run: tuple[Piece, ...]
    """Statements that bind no name."""
    imports: frozenset[Use]
    """What is imported at its top, used or not: importing it runs these files."""


SOURCES = TypeAdapter(Source)


@cache
def reached(programs: tuple[str, ...], without: frozenset[str] = frozenset()) -> Reached:
    """Everything that files of code reach, including their own definitions; for `FILE:NAME`, what one definition
    reaches.

    Args:
        programs: paths of files, or FILE:NAME.
        without: files that are not run, whatever imports them.
    """
    seen: dict[str, set[Piece]] = defaultdict(set)
    names: dict[str, set[str]] = defaultdict(set)
    external: set[str] = set()
    starts = [program.partition(":") for program in programs]
    todo = [(file, one) for file, _, name in starts for one in ([name] if name else _starts(file))]
    todo += [(package, "") for file, _, _ in starts for package in _packages(file)]
    while todo:
        file, name = todo.pop()
        if file in without:
            continue
        if file not in names:
            todo += [(other, "") for use in source(file).imports for other, _ in _places(use)]
        if name in names[file]:
            continue
        names[file].add(name)
        for piece in _pieces(source(file), name):
            if piece not in seen[file]:
                seen[file].add(piece)
                todo += [(file, other) for other in source(file).bound.keys() & piece.names]
                for use in piece.uses:
                    found = _places(use)
                    todo += found
                    external |= {use.module} if not (found or _is_own(use)) else set()
    digests = {file: fingerprint(sorted(piece.digest for piece in pieces)) for file, pieces in sorted(seen.items())}
    return Reached(digests, {file: frozenset(found) for file, found in names.items()}, frozenset(external))


def _starts(file: str) -> tuple[str, ...]:
    """The names of a file by which a job begins; what a program imports and does not use is none."""
    if not file.startswith(f"{PROGRAMS}/"):
        return (ALL,)
    found = source(file)
    return STARTS if "make" in found.bound else found.defined


def _pieces(source: Source, name: str) -> Iterator[Piece]:
    """What binds a name, and what runs with anything of its file."""
    yield from source.run
    if name == ALL:
        for pieces in source.bound.values():
            yield from pieces
    yield from source.bound.get(name, ())


@cache
def _places(use: Use) -> list[tuple[str, str]]:
    """The files that a use runs, each with a name in it; none of a library."""
    if not _is_own(use):
        return []
    whole = f"{use.module}.{use.name}"
    if use.name != ALL and (file := _file(whole)):  # a module that is taken from its package
        first, module = (file, ""), whole
    elif file := _file(use.module):
        first, module = (file, use.name), use.module
    else:
        return []
    return [first, *((package, "") for package in _packages(module.replace(".", "/")))]


def _is_own(use: Use) -> bool:
    """Whether a use is of the project's code, not of a library."""
    return use.module.partition(".")[0] in PACKAGES


def _packages(path: str) -> Iterator[str]:
    """The `__init__` files that importing a file of the library runs; that of programs begins a process."""
    parts = path.split("/")
    for end in range(1, len(parts) if parts[0] == LIBRARY else 1):
        if file := _file(".".join(parts[:end])):
            yield file


@cache
def _file(module: str) -> str:
    """File of a module, relative to the project's folder, or the path of a study's custom file; empty: neither."""
    stem = module.replace(".", "/")
    files = [f"{stem}.py", f"{stem}/__init__.py"]
    package, _, name = module.rpartition(".")
    if package == protocols.__name__:
        files.append(protocols.module_of(name))
    return next((file for file in files if (ROOT / file).is_file()), "")


@cache
def source(file: str) -> Source:
    """A file of code, split into definitions."""
    package = protocols.__name__ if Path(file).is_absolute() else str(Path(file).parent).replace("/", ".")
    return _parsed((ROOT / file).read_text(encoding="utf-8"), package)


@cache
def _parsed(text: str, package: str) -> Source:
    """What a text defines, from the user's cache, or parsed and stored there.

    The name of a cached file contains everything that its content depends on, so none is ever out of date; a cached
    file that is no `Source` is replaced. The folder is optional: it may be read-only, or deleted at any time.
    """
    note = _notes() / fingerprint([text, package, sys.version_info[:2], _parser()])[:32]
    with contextlib.suppress(OSError, ValueError):
        return SOURCES.validate_json(note.read_bytes())
    found = _pieces_of(strip_messages(ast.parse(text), package))
    with contextlib.suppress(OSError), atomic(note) as temporary:
        temporary.write_bytes(SOURCES.dump_json(found))
    return found


def _notes() -> Path:
    """The folder in the user's cache; without a home directory, one that cannot be created."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    with contextlib.suppress(RuntimeError):
        cache = cache.expanduser()
    return Path(cache if cache.is_absolute() else os.devnull, "seedbed", "definitions")


@cache
def _parser() -> list[str]:
    """Digests of the files that parse."""
    return [sha256(file) for file in (__file__, messages.__file__)]


def _pieces_of(tree: ast.Module) -> Source:
    imported = {name: use for node in tree.body for name, use in _imported(node)}
    bound: dict[str, list[Piece]] = defaultdict(list)
    defined: list[str] = []
    run: list[Piece] = []
    for node in tree.body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, use in _imported(node):
                # A module is used by its attributes, or else as a whole; any other name is what its file binds.
                uses = frozenset([use]) if use.name else _whole(node)
                bound[name].append(Piece(f"{name} {use}", frozenset(), uses))
            continue
        piece = _piece(node, imported)
        defined += _binds(node)
        for name in _binds(node):
            bound[name].append(piece)
        if not _binds(node):
            run.append(piece)
    imports = frozenset(use for node in tree.body for _, use in _imported(node))
    return Source({name: tuple(pieces) for name, pieces in bound.items()}, tuple(defined), tuple(run), imports)


def _piece(node: ast.AST, imported: dict[str, Use]) -> Piece:
    """One statement, with what it mentions."""
    names, uses, attributes = set(), set(), set()
    own = imported | {name: use for inner in ast.walk(node) for name, use in _imported(inner)}
    for inner in ast.walk(node):
        on_name = isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name)
        if on_name and (use := own.get(inner.value.id)):
            attributes.add(id(inner.value))
            uses.add(Use(_name_of(use), inner.attr))
        elif isinstance(inner, ast.Name):
            names.add(inner.id)
            if inner.id in own and id(inner) not in attributes:
                uses.add(Use(_name_of(own[inner.id]), ALL))
        uses |= _whole(inner) | {use for _, use in _imported(inner) if use.name}
    return Piece(fingerprint(ast.dump(node)), frozenset(names), frozenset(uses))


def _imported(node: ast.AST) -> list[tuple[str, Use]]:
    """Name -> what it is, of an import; nothing of other nodes."""
    if isinstance(node, ast.Import):
        tops = [alias.name if alias.asname else alias.name.partition(".")[0] for alias in node.names]
        return [(alias.asname or top, Use(top, "")) for alias, top in zip(node.names, tops, strict=True)]
    if isinstance(node, ast.ImportFrom):
        return [(alias.asname or alias.name, Use(node.module, alias.name)) for alias in node.names]
    return []


def _whole(node: ast.AST) -> frozenset[Use]:
    """The modules `a.b` of `import a.b`, whose attributes are then those of `a`."""
    names = node.names if isinstance(node, ast.Import) else []
    return frozenset(Use(alias.name, ALL) for alias in names if "." in alias.name and not alias.asname)


def _name_of(use: Use) -> str:
    """What a use is called, which is a module's name if it is one."""
    return f"{use.module}.{use.name}" if use.name else use.module


def _binds(node: ast.AST) -> list[str]:
    """The names that a statement binds; none where it does more than that."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]
    plain = all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
    return names if plain else []
