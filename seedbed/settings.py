"""Base class of all settings: unknown keys are errors, and values are not converted silently."""

import ast
import difflib
import inspect
import itertools
import json
import os
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from types import NoneType, UnionType
from typing import Annotated, Any, Self, TypeVar, Union, get_args, get_origin
from urllib.parse import urlsplit

import regex
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_before_validator_function

from seedbed.io import UserError, compact
from seedbed.urls import require_host

SHOWN = 30
"""Maximum number of names in an error."""
WIDEST = 200
"""Maximum characters of a value in an error."""
KEY = "[key]"
"""What pydantic adds to the location of a fault of a key itself."""
SECRET = "secret"
"""Type of a fault whose value may be a secret and is never printed."""


def _uncoerced(schema: Any) -> Any:
    """A schema of pydantic's whose numbers and truth values take the place of no other, those of its models apart.

    By default `true` is the number 1, `"2"` is 2 and `"no"` is false. A float may be a text: YAML reads `2e-5` as one.
    """
    if isinstance(schema, list):
        return [_uncoerced(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") in ("int", "bool"):
        return schema | {"strict": True}
    if schema.get("type") == "float":
        return no_info_before_validator_function(_number, schema)
    return {key: inner if key == "keys_schema" else _uncoerced(inner) for key, inner in schema.items()}


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("expected a number, not true or false")
    return value


Model = TypeVar("Model", bound=BaseModel)


class Settings(BaseModel):
    """A frozen, strict group of settings; jobs get it as one line of canonical JSON."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        validate_default=True,
        allow_inf_nan=False,
        defer_build=True,  # a plan validates few models as such: those inside them and programs' jobs need no validator
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _uncoerced(handler(source))

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        described = handler(schema)
        properties = handler.resolve_ref_schema(described).get("properties", {})
        for name, words in cls.descriptions().items():
            properties[cls.model_fields[name].alias or name].setdefault("description", words)
        return described

    @classmethod
    @cache
    def descriptions(cls) -> dict[str, str]:
        """Field -> its description, or the docstring below it in its class.

        Pydantic's `use_attribute_docstrings` would parse every class at import, which is a tenth of a small plan.
        """
        found: dict[str, str] = {}
        for kind in reversed(cls.__mro__[: cls.__mro__.index(Settings)]):
            body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body
            for field, text in itertools.pairwise(body):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                        found[name] = inspect.cleandoc(words)
        return {
            name: said for name, field in cls.model_fields.items() if (said := field.description or found.get(name))
        }

    def dump(self) -> str:
        """Canonical JSON of the values that differ from the defaults, so that a new option re-runs no finished job."""
        return compact(self.model_dump(mode="json", exclude_defaults=True))

    def recorded(self) -> str:
        """Canonical JSON without settings that change no result; a job runs again if this differs."""
        return self.decisive().dump()

    def decisive(self) -> Self:
        """A copy with defaults for all settings that change no result."""
        return _decisive(self)

    @classmethod
    @cache
    def idle(cls) -> frozenset[str]:
        """Names of the settings that change no result: those of type NoResult."""
        return frozenset(name for name, field in cls.model_fields.items() if NO_RESULT in field.metadata)

    @classmethod
    def load(cls, text: str) -> Self:
        """The inverse of `dump`.

        Raises:
            UserError: not JSON, or not these settings.
        """
        where = cls.__name__.removesuffix("Settings").lower()
        try:
            return cls.model_validate(json.loads(text))
        except ValidationError as error:
            raise UserError(explain(error, cls, where=where)) from None
        except ValueError as error:
            raise UserError(f"{where}: not JSON ({error})") from None

    def without(self, *names: str) -> Self:
        """A copy with defaults for the given settings, for jobs that do not use them."""
        fields = type(self).model_fields
        return self.model_copy(update={name: fields[name].get_default(call_default_factory=True) for name in names})

    def updated(self, changes: dict[str, Any]) -> Self:
        """A copy with changes, validated again."""
        return type(self).model_validate(self.model_dump() | changes)


def _decisive(value: Any) -> Any:
    """Settings with the defaults of what changes no result; any other value as it is."""
    if isinstance(value, dict):
        return {key: _decisive(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_decisive(inner) for inner in value)
    if not isinstance(value, Settings):
        return value
    idle = {name: type(value).model_fields[name] for name in value.idle()}
    defaults = {name: field.get_default() for name, field in idle.items() if not field.is_required()}
    return value.model_copy(update={name: _decisive(inner) for name, inner in value} | defaults)


def explain(error: ValidationError, model: Any, *, where: str) -> str:
    """The first fault of a ValidationError as one line: what, where, and what would be right.

    `model` is the model, or another type, that was validated; `where` is the place in the message.
    """
    fault, *others = _of_best_type(error.errors(), model)
    if fault["type"] == "missing":  # maybe it is there under a misspelt name
        unknown = (one for one in others if one["type"] == "extra_forbidden" and one["loc"][:-1] == fault["loc"][:-1])
        fault = next(unknown, fault)
    keys = [where, *map(str, _at(model, fault["loc"])[0])]
    of_key = keys[-1] == KEY
    if fault["type"] == "invalid_key" or (of_key and fault["type"] == "string_type"):
        group = ".".join(keys[: -2 if of_key else -1])
        return f"{group}: key {fault['input']!r} is no text; put it in quotes, or take another"
    place = ".".join(keys[:-1] if of_key else keys)
    if fault["type"] == "dict_type":
        names = fault["input"] if isinstance(fault["input"], list) else []
        like = next((name for name in names if isinstance(name, str)), "name")
        return f"{place}: expected names with what they have, like `{like}: {{}}` (given: {_shown(fault['input'])})"
    if fault["type"] == "model_type":
        return f"{place}: {_settings_of(_fields_at(model, fault['loc']), fault['input'])}"
    if fault["type"] != "extra_forbidden":
        hidden = isinstance(fault["input"], dict) or fault["type"] == SECRET
        given = "" if hidden else f" (given: {_shown(fault['input'])})"
        return f"{place}: {fault['msg'].replace('Value error, ', '')}{given}"
    known = sorted(_fields_at(model, fault["loc"][:-1]))
    return f"{place}: unknown key; {suggest(keys[-1], known)}"


def _of_best_type(faults: list[Any], model: Any) -> list[Any]:
    """Faults, in which those of the type that a value of several possible types fits best come first.

    That is a type with faults within the value alone; else all types with its kind of value, as one fault.
    """
    place, _ = _at(model, faults[0]["loc"])
    same = [fault for fault in faults if _at(model, fault["loc"])[0][: len(place)] == place]
    if within := [fault for fault in same if len(_at(model, fault["loc"])[0]) > len(place)]:
        return [*within, *faults]
    of_kind = [fault for fault in same if not fault["type"].endswith("_type")]
    return [fault | {"msg": "; or ".join(one["msg"] for one in of_kind)} for fault in of_kind[:1]] + faults


def validated(model: type[Model], content: Any, where: str | os.PathLike[str], expected: str = "") -> Model:
    """A value of a model from the content of a file.

    Args:
        where: the file, or another place for the message.
        expected: what should be there, at the message's end; empty: the message has none.

    Raises:
        UserError: the content does not fit the model.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        told = explain(error, model, where=str(where))
        raise UserError(f"{told}; expected {expected}" if expected else told) from None


def _shown(value: Any) -> str:
    return textwrap.shorten(repr(value), WIDEST, placeholder="...")


def _settings_of(fields: set[str], given: Any) -> str:
    """What is expected where a group of settings with these fields belongs and something else is given."""
    shown = textwrap.shorten(str(given), WIDEST, placeholder="...")
    if isinstance(given, str) and {"hub", "source"} & fields:
        places = [f"{{{origin}: {shown}}}" for origin in ("hub", "file")]
        forms = places if "hub" in fields else [f"{{source: {place}}}" for place in places]
        return f"expected settings, like {' or '.join(forms)}, not {shown!r}"
    return f"expected settings, not {shown!r}; {suggest('', sorted(fields))}"


def suggest(given: str, known: list[str]) -> str:
    """ "did you mean ...?" for a known name that is similar to the given one, else the known names."""
    if close := difflib.get_close_matches(given, known, n=SHOWN):
        alike = {name: difflib.SequenceMatcher(None, name, given).ratio() for name in close}
        best = max(close, key=lambda name: (alike[name], len(os.path.commonprefix([name, given]))))  # noqa: RUF071
        return f"did you mean {best!r}?"
    return f"known: {', '.join(known[:SHOWN])}" + (", ..." if len(known) > SHOWN else "")


def require_known(where: str, what: str, given: str | Iterable[str] | None, known: Iterable[str]) -> None:
    """Require that names are known.

    Args:
        where: the key that gives them.
        what: what they are names of.
        given: a name, several or none; an empty one counts as none, unless it is one of several.

    Raises:
        ValueError: the first that is not known.
    """
    known = sorted(known)
    for name in [given] if given and isinstance(given, str) else given or ():
        if name not in known:
            raise ValueError(f"{where}: no {what} {name!r}; {suggest(name, known)}")


def settings_in(value: Any, place: str = "") -> Iterator[tuple[str, BaseModel]]:
    """All settings within a value, each with the keys that lead to it; outer ones come first."""
    if isinstance(value, BaseModel):
        yield place, value
        value = dict(value)
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, one in inner:
        yield from settings_in(one, f"{place}.{key}".removeprefix("."))


def types_in(annotation: Any) -> list[Any]:
    """The types of a union, without what annotates them."""
    if get_origin(annotation) in (Union, UnionType):
        return [part for one in get_args(annotation) for part in types_in(one)]
    return types_in(get_args(annotation)[0]) if hasattr(annotation, "__metadata__") else [annotation]


def _at(annotation: Any, location: tuple[int | str, ...]) -> tuple[list[int | str], Any]:
    """The keys of a location inside nested models, mappings, lists and unions, and the type there.

    Pydantic's locations also have the name of the type after the key of a value of several types.
    """
    keys = []
    for name in location:
        types = [one for one in types_in(annotation) if one is not NoneType]
        if len(types) > 1 and name != KEY and (named := [one for one in types if _is_named(one, str(name))]):
            annotation = named[0]
            continue
        keys.append(name)
        kind = next(filter(_is_model, types), types[0])
        if _is_model(kind):
            field = kind.model_fields.get(str(name))
            annotation = field.annotation if field else Any
        else:
            values = [one for one in get_args(kind) if one is not ...]
            annotation = values[-1] if values else Any
    return keys, annotation


def _is_named(kind: Any, name: str) -> bool:
    """Whether pydantic gives a type of a union this name."""
    name = re.sub(r"^(function-\w+\[\w+\(\), |constrained-)+", "", name).lower()
    return name.startswith(getattr(get_origin(kind) or kind, "__name__", "").lower())


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _fields_at(annotation: Any, location: tuple[int | str, ...]) -> set[str]:
    """Names of the fields at a location."""
    models = filter(_is_model, types_in(_at(annotation, location)[1]))
    return {field.alias or name for model in models for name, field in model.model_fields.items()}


def _base_url(url: str) -> str:
    parts = urlsplit(url)
    if "@" in parts.netloc:
        fault = "a password in a URL would appear in logs and reports; give it as an environment variable"
        raise PydanticCustomError(SECRET, fault)
    if url and (parts.scheme not in ("http", "https") or parts.query or parts.fragment):
        raise PydanticCustomError(SECRET, "no base URL; expected one like https://host/v1, without ? and #")
    if url:
        require_host(url)
    return url


def _variable(name: str) -> str:
    if not re.fullmatch(r"([A-Z][A-Z0-9_]{0,39})?", name):
        fault = "no name of an environment variable, like MY_API_KEY; the token itself belongs in that variable"
        raise PydanticCustomError(SECRET, fault)
    return name


def written(pattern: str, expected: str, *, maybe_empty: bool = True) -> AfterValidator:
    """A check that a text matches a pattern of `regex` as a whole, or is empty; its error says what is expected."""

    def check(text: str) -> str:
        if not ((maybe_empty and not text) or regex.fullmatch(pattern, text)):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


def named(pattern: str, expected: str) -> Any:
    """The type of a text that matches a pattern as a whole, which editors know from the JSON schema."""
    shown = Field(json_schema_extra={"pattern": f"^{pattern}$"})
    return Annotated[str, written(pattern, expected, maybe_empty=False), shown]


T = TypeVar("T")
Each = TypeVar("Each", bound=Sequence)


def _once(entries: Each) -> Each:
    if repeated := [entry for place, entry in enumerate(entries) if entry in entries[:place]]:
        raise ValueError(f"{repeated[0]!r} appears twice; name each once")
    return entries


EACH_ONCE = AfterValidator(_once)
"""No repetitions."""
Once = Annotated[list[T], EACH_ONCE, Field(json_schema_extra={"uniqueItems": True})]
"""A list without repetitions."""
OnceEach = Annotated[tuple[T, ...], EACH_ONCE, Field(json_schema_extra={"uniqueItems": True})]
"""A tuple without repetitions."""

NO_RESULT = "changes no result"
NoResult = Annotated[T, NO_RESULT]
"""Type of a setting that changes speed, memory or access but no result; changing it re-runs no finished job."""

Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""Seed of a random generator, within NumPy's bounds."""

Place = Annotated[
    str,
    Field(min_length=1),
    AfterValidator(lambda text: str(PurePosixPath(text))),
    written(
        r"(?![-~]|\.?/*$|//)[\p{L}\p{M}\p{N}._/+@=,-]+",
        "a path of letters, digits and ._/-+@=, alone that begins neither with - nor with ~ (write your home folder in "
        "full) and is more than . or /",
    ),
]
"""A path in a study; it must be safe in shells and in patterns of file names."""

BaseUrl = Annotated[str, AfterValidator(_base_url)]
"""Base URL of a server, without a password; may be empty."""
Variable = Annotated[str, AfterValidator(_variable)]
"""Name of an environment variable, in capitals, so that a token in its place is recognised; may be empty."""
