"""Mutants that nobody chose: changes of one expression or statement, drawn by a seed from the whole library.

The listed mutants are bugs that somebody thought of. A sample that is drawn shows what the tests do not see.
"""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOMS = (
    "classifiers",
    "corpora",
    "encoders",
    "evaluation",
    "generators",
    "ground",
    "init",
    "operations",
    "publish",
    "study",
    "tables",
    "triplets",
    "vectors",
)
"""Packages of the library; `ground`: the modules beside them."""
NO_RESULT = (
    "card",
    "adapter_card",
    "beginning",
    "command",
    "identified",
    "own_text",
    "figures",
    "report",
    "maps",
    "settings",
)
"""Files and folders whose lines make no number: cards, pages, pictures, bounds of settings."""
NO_CHANGE = ("desc", "disable", "encoding", "strict", "unit")
"""Arguments that change no result: of bars, that the system's encoding is UTF-8, that lists which are as long are."""
SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
RENAMED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sorted": "list",
    "argmin": "argmax",
    "argmax": "argmin",
}


@dataclass(frozen=True)
class Drawn:
    """A mutant: the bytes `start` to `end` of a file, and what takes their place."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}  {_short(self.old)}  ->  {_short(self.new)}"

    def planted(self, text: str) -> str:
        """A file's text with the bug in it."""
        whole = text.encode()
        return (whole[: self.start] + self.new.encode() + whole[self.end :]).decode()


def draw(count: int, seed: int, rooms: tuple[str, ...] = ROOMS, without: tuple[str, ...] = ()) -> list[Drawn]:
    """So many mutants of as many lines, equally often of each package; none of the files in `without`."""
    chance = random.Random(seed)
    found = []
    rooms = [_lines(room, without) for room in rooms]
    while len(found) < count and any(rooms):
        for lines in filter(None, rooms):
            mutants = lines.pop(chance.choice(sorted(lines)))
            found.append(chance.choice(mutants))
    return found[:count]


def tried_on(file: str) -> list[list[str]]:
    """Files of tests in the order in which they are tried: of the module's name, those that import it, the package's, all."""
    path = Path(file)
    named = sorted(Path("tests/unit").rglob(f"test_{path.stem}.py"))
    module = re.escape(".".join(path.with_suffix("").parts))
    imports = re.compile(rf"{module}\b|from {re.escape('.'.join(path.parent.parts))} import .*\b{path.stem}\b")
    importing = [each for each in sorted(Path("tests/unit").rglob("test_*.py")) if imports.search(each.read_text())]
    room = Path("tests/unit", path.parts[1])
    stages = [[*dict.fromkeys(map(str, [*named, *importing]))], [str(room)] if room.is_dir() else [], ["tests/unit"]]
    return [stage for stage in stages if stage]


def _lines(room: str, without: tuple[str, ...]) -> dict[tuple[str, int], list[Drawn]]:
    """File and line -> the mutants that begin there."""
    found: dict[tuple[str, int], list[Drawn]] = {}
    for path in sorted(Path("seedbed").glob("*.py") if room == "ground" else Path("seedbed", room).rglob("*.py")):
        if path.stem in NO_RESULT or set(path.parts) & set(NO_RESULT) or str(path) in without:
            continue
        for mutant in mutants_of(path.read_text(), str(path)):
            found.setdefault((mutant.file, mutant.line), []).append(mutant)
    return found


def mutants_of(text: str, file: str) -> Iterator[Drawn]:
    """All mutants of one file."""
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _working(ast.parse(text)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        old = text.encode()[start:end].decode()
        for new in dict.fromkeys(_changes(node)):
            yield Drawn(file, node.lineno, start, end, old, new)


def _working(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes of code that runs and makes something: no annotations, messages, docstrings or class-level settings."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
            continue
        if isinstance(child, ast.Call) and "warn" in ast.unparse(child.func).lower():
            continue
        if isinstance(child, ast.expr) and _is_annotation(node, child):
            continue
        if isinstance(child, ast.keyword) and child.arg in NO_CHANGE:
            continue
        if hasattr(child, "lineno"):
            yield child
        yield from _working(child)


def _is_annotation(parent: ast.AST, child: ast.expr) -> bool:
    typed = isinstance(parent, ast.arg | ast.AnnAssign) and child is parent.annotation
    decorated = isinstance(parent, ast.FunctionDef | ast.ClassDef) and child in parent.decorator_list
    return typed or decorated or (isinstance(parent, ast.FunctionDef) and child is parent.returns)


def _changes(node: ast.AST) -> Iterator[str]:
    """What may take an expression's or a statement's place."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in SWAPPED:
            yield _with(node, lambda new: setattr(new, "ops", [SWAPPED[type(operator)]()]))
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if type(operator) in SWAPPED:
            yield _with(node, lambda new: setattr(new, "op", SWAPPED[type(operator)]()))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(value)):
            yield str(value + 1)
        case ast.Constant(value=float(value)):
            yield str(value * 2 or 1.0)
        case ast.IfExp():
            yield f"({ast.unparse(node.body)})"
            yield f"({ast.unparse(node.orelse)})"
        case ast.Call(func=ast.Name(id=name)) if name in RENAMED:
            yield _with(node, lambda new: setattr(new.func, "id", RENAMED[name]))
        case ast.Call(func=ast.Attribute(attr=name)) if name in RENAMED:
            yield _with(node, lambda new: setattr(new.func, "attr", RENAMED[name]))
        case ast.Call(keywords=[_, *_]):
            for number, keyword in enumerate(node.keywords):
                if keyword.arg and keyword.arg not in NO_CHANGE:
                    yield _with(node, lambda new, number=number: new.keywords.pop(number))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "pass"


def _with(node: ast.AST, change: Callable[[ast.AST], object]) -> str:
    new = copy.deepcopy(node)
    change(new)
    return f"({ast.unparse(new)})" if isinstance(new, ast.Compare | ast.BinOp | ast.BoolOp) else ast.unparse(new)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 70 else line[:67] + "..."
