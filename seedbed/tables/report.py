"""The report of a study: one zip with a page to read and every file that the page shows."""

from __future__ import annotations

import base64
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup
from pydantic import BaseModel, FiniteFloat, ValidationError

from seedbed.io import UserError, atomic, read_json
from seedbed.resources import resource
from seedbed.settings import explain
from seedbed.tables.triplet_browser import browse

TEMPLATE = resource("report.html.j2")
GROUPS = ("tables", "layouts", "figures", "audits", "triplets", "rejected", "cards", "config")
"""Folders in the zip, by what the files are; the page knows what to show of each."""
IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}
AGAIN = "delete it and run Snakemake again, which makes it again"
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say: equal files give equal bytes


def report(
    files: Mapping[str, Sequence[Path]],
    output: Path,
    title: str,
    *,
    sample: int = 5,
    max_megabytes: float = 20,
    template: Path = TEMPLATE,
) -> None:
    """Write report.zip: index.html, which needs nothing beside itself, and the files.

    Args:
        files: paths of each of GROUPS; a group may be empty or left out.
        sample: anchors shown of each language, and rejected triplets of each file; see `triplet_browser`.
        max_megabytes: a larger file is named on the page and not in the zip, which is made to be passed on.

    Raises:
        UserError: an unknown group, a missing file, or one that is not what its group holds.
    """
    named = {group: _named(paths) for group, paths in files.items()}
    if unknown := sorted(set(named) - set(GROUPS)):
        raise UserError(f"report: no group {unknown[0]!r}; known: {', '.join(GROUPS)}")
    members = {f"{group}/{name}": path for group in GROUPS for name, path in named.get(group, {}).items()}
    if missing := [path for path in members.values() if not path.is_file()]:
        raise UserError(f"{missing[0]}: no such file; run Snakemake, which makes it before the report")
    small = {name: path for name, path in members.items() if path.stat().st_size <= max_megabytes * 1e6}
    large = {name: path.stat().st_size / 1e6 for name, path in members.items() if name not in small}
    shown = {group: named.get(group, {}) for group in GROUPS}
    page = _page(shown, sample, template, title=title, members=sorted(small), large=large)
    with atomic(output) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        _add(archive, "index.html", page.encode())
        for name, path in sorted(small.items()):
            _add(archive, name, path.read_bytes())


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """Short names that tell the paths of a group apart: their tails below the folder that all share."""
    absolute = sorted({path.absolute() for path in paths})
    if not absolute:
        return {}
    shared = os.path.commonpath([path.parent for path in absolute])
    return {path.relative_to(shared).as_posix(): path for path in absolute}


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, DATE)
    entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
    archive.writestr(entry, content)


# --------------------------------------------------------------------------------------------------------- the page


def _page(files: Mapping[str, Mapping[str, Path]], sample: int, template: Path, **facts: Any) -> str:
    """The page. The template escapes all text; what is HTML already comes from `_markdown`, which escapes too."""
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(template.read_text(encoding="utf-8")).render(
        figures=_figures(files["figures"]),
        layouts=[_markdown(_text(path)) for path in files["layouts"].values()],
        audits={name: _audit(path) for name, path in files["audits"].items()},
        triplets=browse(list(files["triplets"].values()), list(files["rejected"].values()), sample),
        cards={name: _card(path) for name, path in files["cards"].items()},
        configs={name: _text(path) for name, path in files["config"].items()},
        **facts,
    )


def _figures(files: Mapping[str, Path]) -> dict[str, str]:
    """Name -> data URI; a PNG only where the same figure is not there as SVG.

    As an image an SVG runs no script, and two of them share no ids.
    """
    shown = {
        name: path
        for name, path in files.items()
        if path.suffix == ".svg" or path.with_suffix(".svg") not in files.values()
    }
    if unknown := [path for path in shown.values() if path.suffix not in IMAGES]:
        raise UserError(f"{unknown[0]}: not a figure; expected {' or '.join(IMAGES)}")
    return {
        name: f"data:{IMAGES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"
        for name, path in shown.items()
    }


def _markdown(text: str) -> Markup:
    """HTML of Markdown text: HTML in it is shown, not run; no image is loaded; headings fit below the page's own."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(text)
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _card(path: Path) -> dict[str, Any]:
    """A model or data card: its YAML front matter, if it has one, and its text; a record in JSON as it is."""
    text = _text(path)
    if path.suffix != ".md":
        return {"front": text, "body": ""}
    if not text.startswith("---\n"):
        return {"front": "", "body": _markdown(text)}
    front, _, body = text.removeprefix("---\n").partition("\n---\n")
    return {"front": front, "body": _markdown(body)}


class _Quartiles(BaseModel):
    q25: FiniteFloat
    q50: FiniteFloat
    q75: FiniteFloat


class _Audit(BaseModel):
    """What the page shows of a report of `audit_triplets`."""

    read: int
    kept: int
    dropped: dict[str, int]
    dice: dict[str, _Quartiles]


def _audit(path: Path) -> _Audit:
    try:
        return _Audit.model_validate(read_json(path))
    except ValidationError as error:
        fault = explain(error, _Audit, where=str(path))
        raise UserError(f"{fault}; expected a report of audit_triplets: {AGAIN}") from None
    except UserError as error:
        raise UserError(f"{error}: {AGAIN}") from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8; {AGAIN}") from None
