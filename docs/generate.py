"""Write what follows from others: docs/config.md, docs/claims.md, the schema, config/README.md, and the demo's answer.

python docs/generate.py            write them
python docs/generate.py --check    fail if one is out of step
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from seedbed import markdown
from seedbed.evaluation import protocols
from seedbed.operations.verify import Reference
from seedbed.resources import spec_file
from seedbed.settings import NO_RESULT, Settings
from seedbed.study.model import Study
from seedbed.tables.claims import FILE as CLAIMS
from seedbed.tables.claims import Claims
from seedbed.tables.claims import page as of_claims
from seedbed.tables.report import answer

ANSWER, OPTIONS = (f"<!-- {name}: python docs/generate.py -->\n" for name in ("the demo's answer", "options"))
"""Comments before generated lines of a page, which END closes."""
END = "<!-- end -->\n"
ANSWERED, OPTED = Path("docs/getting-started.md"), Path("config/README.md")
"""The pages that have them."""
CLAIMED = """# The papers' claims

For someone who asks what of five papers holds: after this page you know what each claims that a table can test, its
own numbers, what ran here, and what nobody ran.

Generated from `seedbed/resources/claims.yaml` by `python docs/generate.py`; do not edit. The papers' numbers are
those of their tables; where a claim holds in only some of them, the page says in how many. **Not run:** no study
here ran at the papers' scale, which needs a cluster. **In a small study:** what a study on two CPU cores gave, with
other data and smaller models, so it neither confirms nor refutes the paper; brackets are 95 % intervals. The report
of a study that builds a table on the paper's data and encoders has the verdicts of its own numbers: reproduced, if
the difference is significant and has the paper's sign.
"""
NUMBER = re.compile(r"(?<=[ @L])\d+")
"""The number in the name of a metric at so many neighbours, edits or layers."""
MARKED = (f"{NO_RESULT.capitalize()}.",)
HEAD = """# Configuration

For someone who writes a study: after looking a key up you know its type, its default and its effect.

Generated from the settings models by `python docs/generate.py`; do not edit. A blank default means none. An editor that
reads the first line of a shipped configuration completes and checks these keys as you type.
"""


def schema() -> str:
    """The JSON schema of a study."""
    return json.dumps(Study.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


def reference() -> str:
    """One section per group of settings, in the order in which a study names them."""
    sections, places, todo = [HEAD], {}, [("", Study)]
    while todo:
        path, model = todo.pop(0)
        if model in places:
            continue
        places[model] = path
        sections.append(section(path, model, places))
        for name, field in model.model_fields.items():
            for inner, key in nested(field.annotation):
                todo.append((".".join(filter(None, [path, name, key])), inner))
    return "\n".join([*sections, *map(protocol, protocols.names())])


def protocol(name: str) -> str:
    """A heading, the protocol's own words, and its metrics."""
    module = protocols.load(name)
    shown = textwrap.fill(f"Metrics of tables: {metrics([*module.METRICS])}.", 120, break_on_hyphens=False)
    return f"## Protocol `{name}`\n\n{module.__doc__.strip()}\n\n{shown}\n"


def metrics(names: list[str]) -> str:
    """Names of metrics; of those that differ in a number alone one, with N for the number, and the numbers."""
    numbers: dict[str, list[str]] = {}
    for name in names:
        several = len([other for other in names if NUMBER.sub("N", other) == NUMBER.sub("N", name)]) > 1
        numbers.setdefault(NUMBER.sub("N", name) if several else name, []).extend(NUMBER.findall(name) * several)
    alike: dict[str, list[str]] = {}
    for name, found in numbers.items():
        run = [str(n) for n in range(len(found))]
        whole = found and {*found} == {*run}
        alike.setdefault(f"0 to {run[-1]}" if whole else ", ".join(found), []).append(f"`{name}`")
    return "; ".join(", ".join(same) + (f" for N = {found}" if found else "") for found, same in alike.items())


def section(path: str, model: type[Settings], places: Mapping[type, str]) -> str:
    """A heading, the model's own words, and a table of its keys, without those of a model that it extends.

    Args:
        places: models -> where a study has them, of those that have a section.
    """
    words = (model.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").replace("    ", "")
    base = next((one for one in model.__mro__[1:] if one in places), None)
    shown = set(base.model_fields) if base else set()
    also = f" It has all keys of `{places[base]}`, and:" if base else ""
    heading = f"## {f'`{path}`' if path else 'Top level'}"
    keys = ["", table(model, shown)] if len(model.model_fields) > len(shown) else []
    return "\n".join([heading, "", words + also, *keys]) + "\n"


def table(model: type[Settings], shown: Collection[str] = ()) -> str:
    """A table of a model's keys but those that are shown elsewhere."""
    rows = []
    for name, field in model.model_fields.items():
        if name in shown:
            continue
        said = model.descriptions().get(name, "")
        meaning = " ".join([*said.split(), *(MARKED if NO_RESULT in field.metadata else ())])
        rows.append([f"`{field.alias or name}`", kind(field.annotation), default(field), meaning])
    return markdown.table(["key", "type", "default", "meaning"], rows)


def nested(annotation: Any) -> list[tuple[type[Settings], str]]:
    """The settings models inside an annotation, with `<name>` where a key of the user's stands before them."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return [(annotation, "")]
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return [(model, "<name>") for model, _ in nested(arguments[1])]
    return [found for argument in arguments for found in nested(argument)]


def kind(annotation: Any) -> str:
    """A type as a reader of YAML would name it."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return "group"
    if annotation in (str, int, float, bool):
        return {str: "text", int: "integer", float: "number", bool: "boolean"}[annotation]
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
    if isinstance(value, Settings):
        return "defaults"
    text = json.dumps(value, ensure_ascii=False, default=lambda group: json.loads(group.dump()))
    return "" if value in (None, "", {}, []) else f"`{text}`"


def answered() -> str:
    """The page with the lines that the reference run of the demo ended in; unchanged, if the reference has none."""
    best = Reference.load(spec_file("reference", "demo")).best
    page = ANSWERED.read_text(encoding="utf-8")
    return with_answer(page, best) if best else page


def with_answer(page: str, best: dict[str, dict[str, Any]]) -> str:
    """A page with the lines of `answer.text`, without their heading."""
    return _with(ANSWERED, page, ANSWER, answer.text(best).removeprefix(f"{answer.TITLE}\n"))


def opted() -> str:
    """The page with the options of a study."""
    return _with(OPTED, OPTED.read_text(encoding="utf-8"), OPTIONS, "\n" + table(Study) + "\n\n")


def _with(path: Path, page: str, begin: str, lines: str) -> str:
    """A page with other lines between a comment and END."""
    before, found, rest = page.partition(begin)
    _, end, after = rest.partition(END)
    if not found or not end:
        sys.exit(f"{path}: no lines {begin.strip()} and {END.strip()}, between which generated ones belong")
    return "".join([before, begin, lines, END, after])


def claims() -> str:
    """The papers' claims, their numbers and ours."""
    return f"{CLAIMED}\n{of_claims(Claims.load(CLAIMS))}"


FILES = {
    Path("docs/claims.md"): claims,
    Path("docs/config.md"): reference,
    Path("schemas/config.schema.json"): schema,
    ANSWERED: answered,
    OPTED: opted,
}


def main() -> None:
    stale = [path for path, make in FILES.items() if not path.is_file() or path.read_text(encoding="utf-8") != make()]
    if "--check" in sys.argv:
        sys.exit(f"{stale[0]}: out of step; run python docs/generate.py" if stale else 0)
    for path in stale:
        path.write_text(FILES[path](), encoding="utf-8")


if __name__ == "__main__":
    main()
