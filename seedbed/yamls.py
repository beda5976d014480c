"""Reading YAML that people write (configurations, tables, figures, prompts); repeated keys are errors."""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from seedbed.io import UserError

_MERGE = "tag:yaml.org,2002:merge"
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(?P<fraction>(\.[0-9]+)?([eE]-?[0-9]+)?)")
DEEPEST = 100
"""Maximum number of lists and groups within each other; far more would end the process, as libyaml's stack is full."""
LARGEST = 1_000_000
"""Maximum number of values, those that aliases repeat included: whoever reads them meets each."""
TEMPLATE = "__use_yte__"
"""Key that makes Snakemake run the Python in a configuration."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """PyYAML's safe loader, but a mapping has each key once; `<<` may bring keys that it overrides."""

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        self._checked(node, {}, [])
        return node

    def _checked(self, node: yaml.Node | None, sizes: dict[int, int], above: list[yaml.Node]) -> int:
        """Check for repeated keys, cycles and too many values, before merge keys are expanded; returns how many values
        the node has, those that aliases repeat included.

        Args:
            sizes: the same of each list and group that was checked.
            above: the lists and groups that contain the node.
        """
        if any(node is one for one in above):
            raise UserError(f"line {node.start_mark.line + 1}: what is here holds itself, by an alias; take that out")
        if id(node) in sizes or not isinstance(node, yaml.CollectionNode):
            return sizes.get(id(node), 1)
        size, lines = 1, {}
        for child in node.value:
            key, value = child if isinstance(node, yaml.MappingNode) else (None, child)
            size += self._checked(value, sizes, [*above, node])
            if size > LARGEST:
                found = f"more than {LARGEST:,} values, those that aliases repeat included"
                raise UserError(f"line {(key or node).start_mark.line + 1}: {found}; write fewer")
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            name, line = self.construct_object(key), key.start_mark.line + 1
            if name in lines:
                raise UserError(f"line {line}: key {name!r} is there already, in line {lines[name]}; keep one of both")
            lines[name] = line
        sizes[id(node)] = size
        return size


def read(path: str | Path) -> Any:
    """Read a YAML file in UTF-8; JSON is YAML too.

    Raises:
        UserError: no such file, not YAML, a repeated key, a node that contains itself, or too deep or too large.
    """
    try:
        content = Path(path).read_bytes()
        content.decode("utf-8")  # PyYAML reads UTF-16 too, which Snakemake does not
        _require_shallow(content)
        loader = _Loader(content)
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; expected YAML") from None
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8; convert the file to UTF-8") from None
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(f"{path}: not YAML ({' '.join(str(error).split())})") from None


def _require_shallow(content: bytes) -> None:
    """Raise a UserError where lists and groups are nested too deeply, before they are read into each other."""
    depth = 0
    for event in yaml.parse(content, _Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            line = event.start_mark.line + 1
            raise UserError(f"line {line}: nested too deeply; at most {DEEPEST} lists and groups within each other")


def settings(path: str | Path) -> dict[str, Any]:
    """Read a study's file.

    Raises:
        UserError: it cannot be read, see `read`, or has no settings.
    """
    if not isinstance(content := read(path), dict):
        raise UserError(f"{path}: no settings; expected keys such as languages")
    return content


def check_configuration(path: str | Path) -> None:
    """Check that a configuration which Snakemake has read is plain data without repeated keys.

    Snakemake uses the last of repeated keys and runs the Python of templates, both before it reads a rule; this check
    can only stop afterwards.

    Raises:
        UserError: not YAML, a repeated key, a template, or braces in the file's name.
    """
    content = read(path)
    if {*"{}"} & {*os.path.relpath(path)}:
        raise UserError(f"{path}: Snakemake replaces what is in braces in the name of a file; rename it")
    if isinstance(content, dict) and TEMPLATE in content:
        raise UserError(f"{path}: {TEMPLATE} makes a configuration a program; write down what it gives, without it")


def typed(given: Any) -> Any:
    """Values of the command line with numbers: `--config` leaves those in lists and groups as texts.

    Example:
        >>> typed({"seeds": ["1", "2"], "paths": {"data": "/data"}, "training": {"rate": "5e-5", "distinct": "true"}})
        {'seeds': [1, 2], 'paths': {'data': '/data'}, 'training': {'rate': 5e-05, 'distinct': True}}
    """
    if isinstance(given, Mapping):
        return {key: typed(value) for key, value in given.items()}
    if isinstance(given, list):
        return [typed(value) for value in given]
    if given in ("true", "false"):
        return given == "true"
    if isinstance(given, str) and (found := _NUMBER.fullmatch(given)):
        return float(given) if found["fraction"] else int(given)
    return given


def laid_over(below: Any, above: Any, whole: Collection[str] = ()) -> Any:
    """Merge two configurations as Snakemake does: mappings are merged, but not those under keys of `whole`; other
    values of `above` replace those of `below`.
    """
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    merged = {key: value if key in whole else laid_over(below.get(key), value, whole) for key, value in above.items()}
    return below | merged
