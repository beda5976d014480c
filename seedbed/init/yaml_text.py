"""YAML as text with comments: writing it, and adding entries without changing anything else."""

import textwrap
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import yaml

from seedbed.io import UserError

Keys = tuple[str, ...]
"""Keys from the outermost to an entry."""


class _Dumper(yaml.SafeDumper):
    """YAML dumper without anchors: a value that occurs twice is written twice, so that one can be edited alone."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def dumped(value: Any) -> str:
    """YAML of a value; a text that means something in YAML is quoted."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def commented(value: Mapping[str, Any], comments: Mapping[Keys, str]) -> str:
    """YAML of a mapping with a comment above some entries; entries that are not there have none."""
    text = dumped(value)
    lines, root = text.splitlines(), yaml.compose(text)
    places = {where.line: (where.column, comment) for path, comment in comments.items() if (where := _key(root, path))}
    for line, (column, comment) in sorted(places.items(), reverse=True):
        lines.insert(line, " " * column + f"# {comment}")
    return "\n".join(lines) + "\n"


def edited(text: str, entries: Sequence[tuple[Keys, Any]], *, where: str) -> str:
    """YAML text with some entries added or replaced; comments and all other lines stay as they are.

    Raises:
        UserError: the text is no mapping, or its form (anchors, say) is one in which that cannot be done.
    """
    expected = deepcopy(yaml.safe_load(text))
    for path, value in entries:
        text = _with(text, path, value)
        _set(expected, path, value)
        if not _reads(text, expected):
            added = {".".join(path): value for path, value in entries}
            raise UserError(f"{where}: cannot be added to as it is written; add by hand: {added}")
    return text


def _reads(text: str, expected: Any) -> bool:
    """Whether a text is YAML of a value."""
    try:
        return yaml.safe_load(text) == expected
    except yaml.YAMLError:
        return False


def _with(text: str, path: Keys, value: Any) -> str:
    """The text with one entry."""
    node = yaml.compose(text)
    for depth, key in enumerate(path):
        found = next((pair for pair in node.value if pair[0].value == key), None)
        if found is None or depth == len(path) - 1:
            break
        if not isinstance(found[1], yaml.MappingNode) or found[1].flow_style:
            inner = yaml.safe_load(text[found[1].start_mark.index : found[1].end_mark.index]) or {}
            _set(inner, path[depth + 1 :], value)
            return _with(text, path[: depth + 1], inner)
        node = found[1]
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    lines, column = text.splitlines(keepends=True), node.value[0][0].start_mark.column
    end = "\r\n" if "\r\n" in text else "\n"
    entry = textwrap.indent(dumped({path[depth]: value}), " " * column).replace("\n", end)
    first = last = _last(node) + 1
    if found:
        first, last = found[0].start_mark.line, _last(found[1]) + 1
    before = "".join(lines[:first])
    return before + ("" if before.endswith("\n") or not before else end) + entry + "".join(lines[last:])


def _key(node: yaml.Node, path: Keys) -> yaml.Mark | None:
    """Where the key of an entry begins; None: there is no such."""
    mark = None
    for key in path:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = next((pair for pair in pairs if pair[0].value == key), None)
        if found is None:
            return None
        mark, node = found[0].start_mark, found[1]
    return mark


def _last(node: yaml.Node) -> int:
    """The last line of a value: the end mark of a block may be after comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _last(last[1] if isinstance(last, tuple) else last)
    end = node.end_mark
    return end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line


def _set(found: dict[str, Any], path: Keys, value: Any) -> None:
    """Put a value into a nested mapping."""
    for key in path[:-1]:
        if found.get(key) is None:
            found[key] = {}
        found = found[key]
    found[path[-1]] = value
