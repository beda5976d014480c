"""Write what follows from others: docs/config.md, schemas/config.schema.json, and the README's lines on the demo.

python docs/generate.py            write them
python docs/generate.py --check    fail if one is out of step
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from seedbed.evaluation import protocols
from seedbed.operations.verify import Reference
from seedbed.resources import spec_file
from seedbed.settings import NO_RESULT
from seedbed.study.model import Study
from seedbed.tables import answer

BEGIN, END = "<!-- the demo's answer: python docs/generate.py -->\n", "<!-- end -->\n"
"""What stands around the generated lines of the README."""
MARKED = ("It", f"{NO_RESULT}.")
HEAD = """# Every key of the configuration

Generated from the settings models by `python docs/generate.py`; do not edit.
An editor that reads the first line of a shipped config completes and checks these keys as you type.
"""


def schema() -> str:
    """The JSON schema of a study."""
    return json.dumps(Study.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


def reference() -> str:
    """One section per group of settings, in the order in which a study names them."""
    sections, seen, todo = [HEAD], set(), [("", Study)]
    while todo:
        path, model = todo.pop(0)
        if model in seen:
            continue
        seen.add(model)
        sections.append(section(path, model))
        for name, field in model.model_fields.items():
            for inner, key in nested(field.annotation):
                todo.append((".".join(filter(None, [path, name, key])), inner))
    return "\n".join([*sections, *map(protocol, protocols.names())])


def protocol(name: str) -> str:
    """A heading, the protocol's own words, and its metrics."""
    module = protocols.load(name)
    shown = ", ".join(f"`{metric}`" for metric in module.METRICS)
    return f"## Protocol `{name}`\n\n{module.__doc__.strip()}\n\nMetrics of tables: {shown}.\n"


def section(path: str, model: type[BaseModel]) -> str:
    """A heading, the model's own words, and a table of its keys."""
    lines = [
        f"## {f'`{path}`' if path else 'Top level'}",
        "",
        (model.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").replace("    ", ""),
    ]
    lines += ["", "| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    for name, field in model.model_fields.items():
        meaning = " ".join([*(field.description or "").split(), *(MARKED if NO_RESULT in field.metadata else ())])
        cells = [f"`{field.alias or name}`", kind(field.annotation), default(field), meaning]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def nested(annotation: Any) -> list[tuple[type[BaseModel], str]]:
    """The settings models inside an annotation, with `<name>` where a key of the user's stands before them."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [(annotation, "")]
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return [(model, "<name>") for model, _ in nested(arguments[1])]
    return [found for argument in arguments for found in nested(argument)]


def kind(annotation: Any) -> str:
    """A type as a reader of YAML would name it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "group"
    if annotation in (str, int, float, bool):
        return {str: "text", int: "whole number", float: "number", bool: "true or false"}[annotation]
    arguments = [argument for argument in get_args(annotation) if argument is not type(None)]
    origin = get_origin(annotation)
    if origin is Annotated:
        return kind(arguments[0])
    if origin in (list, tuple):
        return f"list of {kind(arguments[0])}"
    if origin is dict:
        return f"name -> {kind(arguments[-1])}"
    if arguments and all(isinstance(argument, str) for argument in arguments):
        return ", ".join(f"`{argument}`" for argument in arguments)
    return " or ".join(dict.fromkeys(kind(argument) for argument in arguments)) or "anything"


def default(field: Any) -> str:
    """A default as YAML, or the word required."""
    if field.is_required():
        return "required"
    if field.default_factory_takes_validated_data:
        return ""  # it follows from other keys, as the meaning says
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "its defaults"
    text = json.dumps(value, ensure_ascii=False, default=lambda group: json.loads(group.dump()))
    return "" if value in (None, "", {}, []) else f"`{text}`"


def readme() -> str:
    """The README, with the lines that the reference run of the demo ended in; as it is, if the reference has none."""
    page = Path("README.md").read_text(encoding="utf-8")
    best = Reference.load(spec_file("reference", "demo")).best
    return with_answer(page, best) if best else page


def with_answer(page: str, best: dict[str, dict[str, Any]]) -> str:
    """A page with the lines of `answer.text` between BEGIN and END, without their heading."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"README.md: no lines {BEGIN.strip()} and {END.strip()}, between which the demo's answer stands")
    return "".join([before, BEGIN, answer.text(best).removeprefix(f"{answer.TITLE}\n"), END, after])


FILES = {Path("docs/config.md"): reference, Path("schemas/config.schema.json"): schema, Path("README.md"): readme}


def main() -> None:
    stale = [path for path, make in FILES.items() if not path.is_file() or path.read_text(encoding="utf-8") != make()]
    if "--check" in sys.argv:
        sys.exit(f"{stale[0]}: out of step; run python docs/generate.py" if stale else 0)
    for path in stale:
        path.write_text(FILES[path](), encoding="utf-8")


if __name__ == "__main__":
    main()
