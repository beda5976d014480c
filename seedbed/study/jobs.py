"""Inputs and parameters of rules: functions of a job's wildcards that look up the products of a study."""

import ast
import functools
import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_origin

from pydantic import BaseModel

from seedbed import manifests
from seedbed.io import UserError, compact, fingerprint
from seedbed.manifests import MANIFEST
from seedbed.settings import Settings
from seedbed.study import code
from seedbed.study.digests import digest
from seedbed.study.graph.product import PRODUCTS, Files, Product
from seedbed.study.model import Study
from seedbed.study.paths import argument_of

LONG = 10_000
"""Characters of settings that a record has as they are; of more (the plan of a large table), it has a digest."""

OF_STUDY = ("downloads", "lock", "state", "checkpoint_minutes", "statistics")
"""What of the study every program gets that has an argument of this name."""

CODE = "code "
"""Prefix of the digest of a job's code, which marks it among the job's parameters."""

value_of = functools.cache(code.value)


def rule_function(function: Callable) -> Callable:
    """Wrap a function for Snakemake: an error in the study becomes a one-line message."""

    def called(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except UserError as error:
            sys.exit(f"error: {error}")

    called.__signature__ = inspect.signature(function)
    cache_parameters(called)
    return called


def cache_parameters(function: Any) -> None:
    """Keep a function's parameters where Snakemake looks first: it needs them at each call, and inspecting the function
    takes longer than the call.
    """
    function._overwrite_params = inspect.signature(function).parameters


class Field(NamedTuple):
    """A plan's facts about an argument of a program."""

    default: Any
    is_file: bool
    is_list: bool
    is_number: bool
    counts: bool
    """Whether another value may change the result."""


@functools.cache
def fields(program: str) -> dict[str, Field]:
    """The arguments of a program, by its model `Job`."""
    model = importlib.import_module(f"scripts.{program}").Job
    found = {}
    for name, field in model.model_fields.items():
        default = _plain(None if field.is_required() else field.get_default(call_default_factory=True))
        kind = field.annotation
        is_file = "Path" in re.split(r"\W", str(kind))
        found[name] = Field(default, is_file, get_origin(kind) is list, kind is int, name not in model.idle())
    return found


class Jobs:
    """The parameters of a study's jobs."""

    def __init__(self, study: Study, recorded: Callable[[str, Any], Sequence[str]] = lambda rule, job: ()) -> None:
        """Args:
        recorded: gives the parameters that a finished job of a rule had, each as its `repr`; none of any other job.
        """
        self.study = study
        self._digest = functools.partial(digest, notes=Path(study.downloads, "digests"))
        self._recorded, self._keeps = recorded, study.changed_code == "keep"
        # A plan asks for the inputs of each job as files, and then as arguments.
        self._inputs_of: Callable[[Product], dict[str, Files]] = functools.cache(lambda product: product.inputs())

    def begin(self) -> None:
        """From now on record the current code: `changed_code: keep` spares finished jobs, not those that run now."""
        self._keeps = False

    def _product(self, rule: str, wildcards: Any) -> Product:
        return PRODUCTS[rule].of(self.study, wildcards)

    def environment(self, rule: str) -> Callable[[Any], str]:
        """The name of the environment in envs/ in which the jobs of a rule run."""
        return rule_function(lambda wildcards: self._product(rule, wildcards).environment)

    def inputs(self, rule: str) -> Callable[[Any], dict[str, list[str] | str]]:
        """The inputs of a rule's jobs by name, for `unpack`."""

        @rule_function
        def inputs(wildcards: Any) -> dict[str, list[str] | str]:
            return {name: _files(files) for name, files in self._inputs_of(self._product(rule, wildcards)).items()}

        return inputs

    def targets(self, find: Callable[[], list[str]]) -> Callable[[Any], list[str]]:
        """The input function of a rule without wildcards; `find` returns its files."""
        return rule_function(lambda wildcards: find())

    def job(self, rule: str, *run: Callable[[], Mapping[str, Any]], data: Sequence[str] = ()) -> dict[str, Any]:
        """The parameters of a rule's jobs.

        `program`: the program's name.
        `job`: its arguments as JSON of its model: those that the product gives, else the input, output, wildcard or
            one of OF_STUDY of an argument's name. Snakemake records no parameter that contains paths of inputs.
        `recorded`: those arguments that change the result, so that an edit re-runs it.
        `code`: digest of the code that the program runs.
        `local`: digests of a person's own files, for a rule that reads any: an edit of any age is noticed, a touch not.

        Args:
            run: gives arguments that only this run knows, not the study.
            data: files that only the run knows, which the program reads.
        """
        product_of = functools.partial(self._product, rule)

        @functools.lru_cache(maxsize=4)  # Snakemake asks for the parameters of a job one by one
        def arguments(product: Product) -> dict[str, Any]:
            found = {name: getattr(self.study, name) for name in OF_STUDY if name in fields(rule)}
            found |= {name: files for name, files in self._inputs_of(product).items() if isinstance(files, Mapping)}
            for several in (product.settings(), *(one() for one in run)):
                found |= several
            if unknown := found.keys() - fields(rule).keys():
                raise TypeError(f"scripts/{rule}.py: its Job has no {', '.join(sorted(unknown))}")
            return found

        @rule_function
        def job(wildcards: Any, input: Any, output: Any) -> str:
            self.require_unchanged(rule, output)
            named = {**dict(wildcards.items()), "output": output[0], **_named(output), **_named(input)}
            return _json(rule, named | arguments(product_of(wildcards)))

        @rule_function
        def recorded(wildcards: Any) -> str:
            values = arguments(product_of(wildcards))
            counts = {name: value for name, value in values.items() if fields(rule)[name].counts}
            text = _json(rule, counts, Settings.recorded)
            return text if len(text) <= LONG else fingerprint(text)

        @rule_function
        def code_digest(wildcards: Any) -> str:
            product = product_of(wildcards)
            runs = product.code()
            files = tuple(str(file) for file in (*runs.data, *data) if file)
            value = CODE + value_of(f"scripts/{rule}.py", files, runs.modules, runs.without, product.environment)
            had = self._recorded(rule, wildcards) if self._keeps else []
            return next((ast.literal_eval(text) for text in had if text[1:].startswith(CODE)), value)

        @rule_function
        def local(wildcards: Any) -> str:
            return compact({str(path): self._digest(path) for path in sorted(product_of(wildcards).local_files())})

        found = {"program": rule, "job": job, "recorded": recorded, "code": code_digest}
        return found if PRODUCTS[rule].local_files is Product.local_files else found | {"local": local}

    def require_unchanged(self, rule: str, output: Any) -> None:
        """Raise a UserError if what a job wrote is no longer what it wrote."""
        made = Path(str(output[0]))
        if (made.name == MANIFEST or PRODUCTS[rule].lists) and made.is_file():
            manifests.read(made, self._digest)


def _files(files: Files) -> list[str] | str:
    """A file, or files each once; "" is none."""
    if isinstance(files, Mapping):
        each = ([one] if isinstance(one, str) else one for one in files.values())
        return [*dict.fromkeys(file for several in each for file in several)]
    return files or []


def _named(files: Any) -> dict[str, Any]:
    """The files of a job that have a name; a list that has none is left out."""
    return {name: file if isinstance(file, str) else [*file] for name, file in files.items()}


class _Same(NamedTuple):
    """A value that equals only itself, whatever it contains."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


@functools.lru_cache(maxsize=1000)
def _dumped(settings: _Same, dump: Callable[[Settings], str]) -> Any:
    """Settings as a JSON value, cached: thousands of jobs have the same ones."""
    return json.loads(dump(settings.value))


def _json(program: str, values: Mapping[str, Any], dump: Callable[[Settings], str] = Settings.dump) -> str:
    """Arguments of a program as JSON, in the order of its model, without those that have their default."""
    found = {}
    for name, field in fields(program).items():
        if values.get(name) is None:
            continue
        value = _plain(values[name], dump, field.is_file)
        if field.is_number and isinstance(value, str):  # a wildcard
            value = int(value)
        elif field.is_file and not field.is_list and isinstance(value, list):
            value = next(iter(value), None)
        elif field.is_list and isinstance(value, str):
            value = [value]
        if value != field.default and not (field.is_file and not value):
            found[name] = value
    return json.dumps(found, ensure_ascii=False)


def _plain(value: Any, dump: Callable[[Settings], str] = Settings.dump, is_file: bool = False) -> Any:
    """A Python value as a JSON value; the manifest of a folder becomes the folder."""
    if isinstance(value, str | int | float):  # by far the most
        return argument_of(value) if is_file else value
    if isinstance(value, Settings):
        return _dumped(_Same(value), dump)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {name: _plain(one, dump, is_file) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, dump, is_file) for one in value]
    return argument_of(str(value)) if isinstance(value, Path) else value
