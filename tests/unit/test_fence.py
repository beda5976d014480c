"""Every place where something comes in, goes out or runs has an entry that says whose input it is and what guards it.

`fence.yaml`, beside this file, is the list. Places are found in syntax trees: what is hidden there, as a name that is put
together while a program runs, is not found.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedbed import yamls

ROOT = Path(__file__).parents[2]
KINDS = {
    "asks a server": r"urllib\.request\..*|http\.client\.HTTPS?Connection|(http\.server|requests|httpx|aiohttp|socket"
    r"|socketserver|ssl|ftplib|smtplib)\..*|huggingface_hub\.(HfApi|hf_hub_download|snapshot_download)|datasets\.load_.*",
    "opens what is packed": r"zipfile\.(ZipFile|Path)|tarfile\.(open|TarFile)|gzip\.(open|GzipFile|decompress)"
    r"|lzma\.(open|LZMAFile|decompress)|(bz2|zstandard|lz4|py7zr)\..*|zlib\.decompress.*|shutil\.unpack_archive"
    r"|pyarrow\.parquet\.(ParquetFile|read_.*)|pandas\.read_(?!csv).*",
    "opens a model": r".*\.(from_pretrained|from_file|load_adapter|_load_with_module_classes)|torch\.load|safetensors.*\.(load|load_file|safe_open)|numpy\.load"
    r"|(pickle|joblib|dill|marshal|shelve)\..*|onnx\.load|onnxruntime\.InferenceSession|sentence_transformers.*"
    r"\.SentenceTransformer\(\)|transformers\.pipeline|vllm\.LLM",
    "runs a program": r"subprocess\.(?!PIPE|DEVNULL|STDOUT|\w*Error|TimeoutExpired)\w+|os\.(system|popen|fork|exec\w*|spawn\w*"
    r"|posix_spawn\w*)|multiprocessing\..*|pty\..*|exec|eval|compile|shell",
    "imports by name": r"importlib\.import_module|importlib\.util\..*|__import__|runpy\..*|pkgutil\..*",
    "writes": r".*\.(write_text|write_bytes|unlink|rmdir|symlink_to|hardlink_to|touch|rename|to_csv|save_pretrained)"
    r"|shutil\.(copy\w*|move|rmtree)|os\.(replace|rename|link|symlink|remove|unlink|chmod|truncate|makedirs|mkdir)"
    r"|tempfile\..*|filelock\..*Lock|numpy\.save\w*|logging\.FileHandler|open for writing",
}
"""What a place does -> the whole names that do it."""
ENTRIES: dict[str, list[dict]] = yamls.read(Path(__file__).parent / "fence.yaml")

Place = tuple[str, str, str]
"""Kind, file, and the function or class, or "" for the file itself."""


def places(path: Path, file: str) -> Iterator[Place]:
    """Those of a file of Python, or of rules."""
    text = path.read_text()
    if path.suffix == ".py":
        tree = ast.parse(text)
        names = set(_names(tree, "", _imports(tree)))
    else:
        names = {(name, "") for name in re.findall(r"\w+(?:\.\w+)*(?=\()|(?<=^    )shell(?=:)", text, re.MULTILINE)}
    for name, function in names:
        yield from ((kind, file, function) for kind, pattern in KINDS.items() if re.fullmatch(pattern, name))


def _imports(tree: ast.Module) -> dict[str, str]:
    """What the names stand for that a module imports anywhere."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.asname or one.name.split(".")[0]: one.name if one.asname else "" for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return found


def _names(node: ast.AST, function: str, imports: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Whole names, with the function in whose body they stand; what is called has `()` behind it, too."""
    for child in ast.iter_child_nodes(node):
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if isinstance(child, ast.Attribute | ast.Name):
            yield _whole(child, imports), function
        if isinstance(child, ast.Call):
            yield f"{_whole(child.func, imports)}()", function
            if re.search(r"(^|\.)(fd)?open\(\)$", f"{_whole(child.func, imports)}()"):
                values = [*child.args, *(word.value for word in child.keywords)]
                modes = [one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                yield from (
                    ("open for writing", function) for mode in modes if re.fullmatch("[rbt+]*[wax+][bt+]*", mode)
                )
        yield from _names(child, f"{function}.{child.name}".strip(".") if inside else function, imports)


def _whole(node: ast.AST, imports: dict[str, str]) -> str:
    """`x.y` as what was imported as x; what was not, and is no builtin, begins with a dot."""
    first, dot, rest = ast.unparse(node).partition(".")
    known = imports.get(first, "." if not hasattr(builtins, first) else "")
    return f"{known if known != '.' else '.'}{first if known in ('', '.') else ''}{dot}{rest}"


def found() -> set[Place]:
    python = [path for folder in ("seedbed", "scripts", "workflow") for path in (ROOT / folder).rglob("*.py")]
    rules = [ROOT / "Snakefile", ROOT / "workflow/Snakefile", *(ROOT / "rules").glob("*.smk")]
    return {place for path in python + rules for place in places(path, str(path.relative_to(ROOT)))}


def known() -> set[Place]:
    return {
        (kind, file, function)
        for kind, groups in ENTRIES.items()
        for group in groups
        for file, functions in group["places"].items()
        for function in (functions or "").split(", ")
    }


def test_every_place_has_an_entry_and_every_entry_a_place() -> None:
    assert sorted(found() - known()) == [], "say in tests/unit/fence.yaml whose input it is, and what guards it"
    assert sorted(known() - found()) == [], "take it out of tests/unit/fence.yaml: nothing is there any more"


@pytest.mark.parametrize("group", [group for groups in ENTRIES.values() for group in groups], ids=lambda one: one["of"])
def test_every_guard_is_held_by_a_test_that_exists(group: dict) -> None:
    assert group["guard"] and {*group} <= {"of", "guard", "held", "places"}
    for test in group.get("held", "").split():
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / "tests" / path).read_text(), test


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("import urllib.request\ndef f(x): urllib.request.urlopen(x)", "asks a server"),
        ("from urllib import request as r\ndef f(x): return r.urlopen", "asks a server"),
        ("def f():\n    from socket import create_connection as c\n    c()", "asks a server"),
        ("import tarfile\nasync def f(x): tarfile.open(x)", "opens what is packed"),
        ("from transformers import AutoModel\ndef f(x): AutoModel.from_pretrained(x)", "opens a model"),
        ("import numpy as np\ndef f(x): np.load(x)", "opens a model"),
        ("import os\ndef f(x): os.system(x)", "runs a program"),
        ("def f(x): eval(x)", "runs a program"),
        ("from importlib import import_module\ndef f(x): import_module(x)", "imports by name"),
        ("def f(x): x.open('wb')", "writes"),
        ("def f(x): open(x, mode='a')", "writes"),
        ("import shutil\ndef f(x): shutil.rmtree(x)", "writes"),
    ],
)
def test_a_new_place_is_found(tmp_path: Path, code: str, kind: str) -> None:
    path = tmp_path / "new.py"
    path.write_text(code)
    assert set(places(path, "new.py")) == {(kind, "new.py", "f")}


@pytest.mark.parametrize(
    "code", ["def f(requests): requests.get(1)", "import re\nre.compile('x')", "open('x.txt').read()"]
)
def test_what_is_none_is_not_found(tmp_path: Path, code: str) -> None:
    path = tmp_path / "new.py"
    path.write_text(code)
    assert not [*places(path, "new.py")]
