"""Command-line flags of a program from its pydantic model: `--training.epochs 2 --each hau=a.tsv hin=b.tsv`.

pydantic-settings' `CliApp` does the same, but it splits texts at commas, fails on `a=b=c`, rejects numbers for strict
fields, and prints thirty lines for a fault.
"""

import contextlib
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from seedbed.io import UserError
from seedbed.settings import Settings, explain, suggest, types_in

M = TypeVar("M", bound=Settings)


def read(model: type[M], words: list[str]) -> M:
    """Parse a command line, without the program's name, into a model; words before the first flag belong to the model's
    first field.

    A field takes one word, several (a list, or NAME=VALUE of a mapping), none (`true`), or JSON.

    Raises:
        UserError: a flag is not a field of the model, or its value does not fit.
        SystemExit: after `--help` was printed.
    """
    if {"-h", "--help"} & {*words}:
        print(explained(model))
        sys.exit(0)
    try:
        return model.model_validate(values(model, words))
    except ValidationError as error:
        first, fault = error.errors()[0], explain(error, model, where="")
        if first["type"] == "missing" and len(first["loc"]) == 1:
            raise UserError(_required(model, str(first["loc"][0]))) from None
        raise UserError(f"--{fault[1:]}" if fault.startswith(".") else fault.removeprefix(": ")) from None


def values(model: type[Settings], words: list[str]) -> dict[str, Any]:
    """The values of a model's fields that flags give; the model may have others without a flag.

    Raises:
        UserError: a flag is not a field of the model, or its value does not fit.
    """
    found: dict[str, Any] = {}
    for flag, given in _split(words, next(iter(model.model_fields), "")).items():
        *above, last = _place(model, flag)
        group = found
        for name in above:
            group = group.setdefault(name, {})
        group[last] = _value(_annotation(model, [*above, last]), given, flag)
    return found


def explained(model: type[Settings]) -> str:
    """The text of `--help`: what the program does, and each of its flags; a group of settings may also be given as
    JSON.
    """
    program = f"usage: python -m {sys.modules[model.__module__].__spec__.name}"
    return f"{program} --FLAG VALUE ...\n\n{sys.modules[model.__module__].__doc__}\n" + "\n".join(_lines(model, ""))


def _required(model: type[Settings], name: str) -> str:
    """What a command line without a required flag lacks; the first field needs no flag."""
    said = _description(model, name)
    bare = " (or the first word)" if name == next(iter(model.model_fields)) else ""
    return f"--{name.replace('_', '-')}{bare} is required{f': {said}' if said else ''}; --help lists all flags"


def _description(model: type[Settings], name: str) -> str:
    """What a field is, in one line."""
    return " ".join(model.descriptions().get(name, "").split())


def _lines(model: type[Settings], above: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = next((one for one in types_in(field.annotation) if _is_group(one)), None)
        default = "" if field.is_required() else field.get_default(call_default_factory=True)
        said = _description(model, name)
        said += "; required" if field.is_required() else f"; default {default}" if default and not inner else ""
        yield f"  --{above}{name.replace('_', '-')} {_shown(field.annotation)}"
        if said:
            yield textwrap.fill(said.removeprefix("; "), 110, initial_indent=" " * 8, subsequent_indent=" " * 8)
        if inner and not above:
            yield from _lines(inner, f"{name.replace('_', '-')}.")


def _split(words: list[str], first: str) -> dict[str, list[str]]:
    """Flag -> its words; a flag that is repeated has those of all."""
    found: dict[str, list[str]] = {}
    flag = first
    for word in words:
        if word.startswith("--"):
            flag, equals, value = word[2:].partition("=")
            found.setdefault(flag, []).extend([value] if equals else [])
        else:
            found.setdefault(flag, []).append(word)
    return found


def _place(model: type[Settings], flag: str) -> list[str]:
    """The names of a flag's field and of the groups above it, with _ for -; UserError: there is no such field."""
    found: list[str] = []
    for name in flag.split("."):
        fields = {one for part in types_in(_annotation(model, found)) if _is_group(part) for one in part.model_fields}
        found.append(name.replace("-", "_") if fields else name)
        if fields and found[-1] not in fields:
            raise UserError(f"--{flag}: unknown; {suggest(found[-1], sorted(fields))}")
    return found


def _annotation(model: Any, place: list[str]) -> Any:
    """The type at a place inside models and mappings; Any where there is none."""
    for name in place:
        inner: Any = Any
        for part in types_in(model):
            if _is_group(part) and name in part.model_fields:
                inner = part.model_fields[name].rebuild_annotation()
            elif get_origin(part) is dict:
                inner = get_args(part)[1]
        model = inner
    return model


def _value(annotation: Any, words: list[str], flag: str) -> Any:
    """What words say: the first reading that fits the type."""
    fault = ""
    for reading in _readings(words):
        try:
            fits = TypeAdapter(annotation).validate_python(reading)
        except ValidationError as error:
            fault = fault or explain(error, annotation, where=f"--{flag}")
        else:
            return reading if isinstance(fits, Settings) else fits  # more flags may say more of a group
    raise UserError(fault)


def _readings(words: list[str]) -> Iterator[Any]:
    """A word, JSON first; a list of words; a mapping of NAME=VALUE, with one value or a list."""
    if len(words) < 2:
        yield _said(words[0]) if words else True
        yield words[0] if words else []
    yield [_said(word) for word in words]
    yield words
    if all("=" in word for word in words):
        pairs = [word.split("=", 1) for word in words]
        if len({name for name, _ in pairs}) == len(pairs):
            yield {name: _said(value) for name, value in pairs}
            yield dict(pairs)
        yield {name: [value for other, value in pairs if other == name] for name, _ in pairs}


def _said(word: str) -> Any:
    """JSON of an object or a list, or YAML, which Snakemake's `--config` takes; or the word itself."""
    if word.startswith(("{", "[")):
        import yaml

        for reading in (json.loads, yaml.safe_load):
            with contextlib.suppress(ValueError, yaml.YAMLError):
                return reading(word)
    return word


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Settings)


def _shown(annotation: Any) -> str:
    """A type as a person may write it."""
    found = []
    for part in types_in(annotation):
        arguments = get_args(part)
        if get_origin(part) is Literal:
            found.append("{" + ",".join(map(str, arguments)) + "}")
        elif get_origin(part) is dict:
            found.append(f"NAME={_shown(arguments[1])} ...")
        elif get_origin(part) in (list, tuple):
            found.append(f"{_shown(arguments[0])} ...")
        elif part in (Path, str, int, float):
            found.append({Path: "PATH", str: "TEXT", int: "N", float: "X"}[part])
        elif part is not bool and part is not NoneType:
            found.append("JSON")
    return "|".join(found)
