"""How rules ask the study: for inputs, settings and code, as functions of a job's wildcards."""

import ast
import functools
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from seedbed import manifests
from seedbed.io import UserError, compact, fingerprint
from seedbed.settings import Settings
from seedbed.study import code
from seedbed.study.digests import Digests
from seedbed.study.model import Study
from seedbed.study.paths import told

Given = str | Callable[[Any], Any]
"""A place in the study, as in `generators.{generator}.lora`; or a function of a job's wildcards."""
LONG = 10_000
"""Characters of settings that a record has as they are; of more (the plan of a large table), it has a digest."""

CODE = "code "
"""How the value of a job's code begins, by which it is told among its parameters."""

value_of = functools.cache(code.value)


def known(function: Callable) -> Callable:
    """The function, with its signature noted: Snakemake asks for that at each call, and to find it takes longer."""
    function.__signature__ = inspect.signature(function)
    return function


def of_one_job(find: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function, which keeps what it gave last: Snakemake asks for the parameters of a job one by one."""
    last: dict[tuple[tuple[str, str], ...], Any] = {}

    def found(wildcards: Any) -> Any:
        key = tuple(wildcards.items())
        if key not in last:
            last.clear()
            last[key] = find(wildcards)
        return last[key]

    return found


class Idle(NamedTuple):
    """A setting that changes no result."""

    value: Any


class Bound:
    """The functions of a module of `graph`, as Snakemake calls them: the study is filled in, a fault is one line."""

    def __init__(self, module: ModuleType, study: Study) -> None:
        self._module, self._study = module, study

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._module, name)

        def bound(*args: Any, **options: Any) -> Any:
            try:
                return function(self._study, *args, **options)
            except UserError as error:
                sys.exit(f"error: {error}")

        signature = inspect.signature(function)
        bound.__signature__ = signature.replace(parameters=[*signature.parameters.values()][1:])
        return bound


def bound(modules: Iterable[ModuleType], study: Study) -> dict[str, Bound]:
    """Modules of `graph` by their own names, as Snakemake calls their functions."""
    return {module.__name__.rpartition(".")[2]: Bound(module, study) for module in modules}


class Jobs:
    """The parameters of a study's jobs."""

    def __init__(self, study: Study, recorded: Callable[[str, Any], Sequence[str]] = lambda rule, job: ()) -> None:
        """Args:
        recorded: gives the parameters that a finished job of a rule had, each as its `repr`; none of any other job.
        """
        self.study, self.digests = study, Digests(Path(study.downloads, "digests"))
        self._recorded, self._keeps = recorded, study.changed_code == "keep"

    def begin(self) -> None:
        """Jobs begin that are to run: whatever was kept of others, these are recorded with the code that they have."""
        self._keeps = False

    def settings(self, **given: Given) -> dict[str, Callable]:
        """Settings of a job: each as an argument, whole; and recorded as `results`, without what changes no result.

        Snakemake records no parameter that is made of resources. So an edit of a batch size reaches the jobs that are
        still to run, and re-runs none.
        """
        find = {name: self._value(one) for name, one in given.items()}
        values = of_one_job(lambda wildcards: {name: one(wildcards) for name, one in find.items()})

        def whole(name: str) -> Callable:
            return known(lambda wildcards, resources: argument(values(wildcards)[name]))

        @known
        def results(wildcards: Any) -> str:
            counts = {name: value for name, value in values(wildcards).items() if not isinstance(value, Idle)}
            text = compact(_plain(counts, Settings.recorded))
            return text if len(text) <= LONG else fingerprint(text)

        return {name: whole(name) for name in given} | {"results": results}

    def _value(self, given: Given) -> Callable[[Any], Any]:
        """What a setting is for a job."""
        if callable(given):
            return given

        def found(wildcards: Any) -> Any:
            value: Any = self.study
            for part in given.split("."):
                name = part.format_map(dict(wildcards.items())) if "{" in part else part
                if isinstance(value, Settings) and name in value.idle():
                    return Idle(getattr(value, name))
                value = value[name] if isinstance(value, Mapping) else getattr(value, name)
            return value

        return found

    def code(
        self,
        program: str,
        *data: Any,
        modules: Callable = lambda wildcards: (),
        without: Callable = lambda wildcards: (),
    ) -> Callable[[Any], str]:
        """What a program runs, as a value: an edit re-runs what it may change, whatever the times of files.

        Args:
            data: files that the program reads, or functions of wildcards that give one or several. Such a file may be
                an input too, of which Snakemake sees only edits that are newer than the output.
            modules: gives the files that the program imports by a computed name.
            without: gives the files that this job never runs, though its program could.
        """

        @known
        def found(wildcards: Any) -> str:
            given = [one(wildcards) if callable(one) else one for one in data]
            files = [str(file) for one in given for file in (one if isinstance(one, list) else [one]) if file]
            loaded, left_out = tuple(modules(wildcards)), tuple(without(wildcards))
            value = CODE + value_of(f"scripts/{program}.py", tuple(files), loaded, left_out)
            had = self._recorded(program, wildcards) if self._keeps else []
            return next((ast.literal_eval(text) for text in had if text[1:].startswith(CODE)), value)

        return found

    def files(self, find: Callable[[Any], Any]) -> Callable[[Any], str]:
        """Digests of a person's files: an edit of any age is noticed, and a touch is none."""
        return known(lambda wildcards: compact(self.digests.files(find(wildcards))))

    def directory(self, wildcards: Any, output: Any) -> str:
        """The folder of an output. What is there already must be what its job wrote."""
        if (made := Path(str(output[0]))).is_file():
            try:
                manifests.read(made, self.digests.file)
            except UserError as error:
                sys.exit(f"error: {error}")
        return str(made.parent)


def option(name: str) -> Callable[[Any, Any], list[str]]:
    """An input of a job as an argument, `--NAME FILE`, or all its files; none if the job has no such input."""

    @known
    def found(wildcards: Any, input: Any) -> list[str]:
        file = getattr(input, name)
        files = [file] if isinstance(file, str) else file
        return [f"--{name}", *map(told, files)] if file else []

    return found


def listed(find: Callable[..., Mapping[str, str]], *given: str) -> Callable[[Any], list[str]]:
    """The files that a function of wildcards, and of what is given, names: each once, as inputs."""
    return known(lambda wildcards: [*dict.fromkeys(find(wildcards, *given).values())])


def named(find: Callable[..., Mapping[str, str]], *given: str, option: str = "") -> Callable[[Any], list[str]]:
    """NAME=FILE of the files that a function names, as arguments, after an option; nothing if it names none."""

    @known
    def found(wildcards: Any) -> list[str]:
        words = [f"{name}={told(file)}" for name, file in find(wildcards, *given).items()]
        return [option, *words] if option and words else words

    return found


def options(find: Callable[[Any], Mapping[str, str]], pattern: str) -> Callable[[Any], list[str]]:
    """An option for each of the files that a function names, with its name in the place of `{}`."""

    @known
    def found(wildcards: Any) -> list[str]:
        return [word for name, file in find(wildcards).items() for word in (pattern.format(name), told(file))]

    return found


def argument(value: Any) -> Any:
    """A setting as an argument: groups of settings as canonical JSON, lists as several arguments."""
    value = value.value if isinstance(value, Idle) else value
    if isinstance(value, Settings):
        return value.dump()
    if isinstance(value, list):
        return [argument(one) for one in value]
    return compact(_plain(value, Settings.dump)) if isinstance(value, Mapping) else value


def _plain(value: Any, dump: Callable[[Settings], str]) -> Any:
    """JSON of a setting."""
    if isinstance(value, Settings):
        return json.loads(dump(value))
    if isinstance(value, list):
        return [_plain(one, dump) for one in value]
    return {name: _plain(one, dump) for name, one in value.items()} if isinstance(value, Mapping) else value
