"""The report of a study: a zip file with a page and all files that the page shows."""

import base64
import hashlib
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup
from pydantic import BaseModel, FiniteFloat

from seedbed.io import AGAIN, UserError, atomic, read_json
from seedbed.resources import resource
from seedbed.settings import Model, validated
from seedbed.tables.pages import neighbour_browser, triplet_browser
from seedbed.tables.report.comparison import Comparison
from seedbed.urls import in_text

TEMPLATE = resource("report.html.j2")
SCRIPT = resource("report.js")
"""The page's only script: it sorts tables and pages through triplets; the page's policy forbids others."""
GROUPS = ("tables", "compared", "layouts", "figures", "audits", "triplets", "rejected", "neighbours", "cards", "config")
"""Folders in the zip by type of file; the page's template determines what it shows of each."""
IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say: equal files give equal bytes


@dataclass(frozen=True)
class Content:
    """What the page says besides its files, and how much of them it shows."""

    title: str
    answer: str = ""
    """Markdown at its start, see `answer.text`."""
    claims: str = ""
    """Markdown about the papers' claims, see `claims.of_study`."""
    made: Mapping[str, str] = field(default_factory=dict)
    """When, where and at what cost, see `provenance.run_facts`."""
    languages: Sequence[Comparison] = ()
    """Comparison of languages, see `comparisons`."""
    sample: int = 5
    """Number of pairs of each language with mined neighbours, and of rejected triplets of each file, see
    `neighbour_browser`."""
    anchors: int = 60
    """Number of anchors of each language with triplets, see `triplet_browser`."""
    max_megabytes: float = 20
    """Larger files are listed on it but not in the zip."""


def report(files: Mapping[str, Sequence[Path]], content: Content, output: Path) -> None:
    """Write a zip file with index.html, which is self-contained, and the files of the study.

    Args:
        files: group of GROUPS -> files; any group may be empty or left out.
        content: what the page says besides the files.
        output: the zip file.

    Raises:
        UserError: a missing file, or one with unexpected content.
    """
    named = {group: _named(files.get(group, ())) for group in GROUPS}
    members = {f"{group}/{name}": path for group, paths in named.items() for name, path in paths.items()}
    if missing := [path for path in members.values() if not path.is_file()]:
        raise UserError(f"{missing[0]}: no such file; run Snakemake, which makes it before the report")
    small = {name: path for name, path in members.items() if path.stat().st_size <= content.max_megabytes * 1e6}
    large = {name: path.stat().st_size / 1e6 for name, path in members.items() if name not in small}
    index = _index(named, content, sorted(small), large)
    with atomic(output) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        _add(archive, "index.html", index.encode())
        for name, path in sorted(small.items()):
            # A configuration as it is on the page: it may have URLs with secrets.
            _add(archive, name, in_text(_text(path)).encode() if name.startswith("config/") else path.read_bytes())


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """Short names for a group of paths: their last parts, below the folder that all share."""
    absolute = sorted({path.absolute() for path in paths})
    shared = os.path.commonpath([path.parent for path in absolute]) if absolute else ""
    return {path.relative_to(shared).as_posix(): path for path in absolute}


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, DATE)
    entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
    archive.writestr(entry, content)


def _of_mining(files: Mapping[str, Path], sample: int) -> dict[str, Any]:
    """What the page shows of mined neighbours: audits and pairs."""
    audits = {name: path for name, path in files.items() if path.suffix == ".json"}
    expected = "an audit of mine_neighbours"
    return {
        "mined": {name: _checked(path, neighbour_browser.MiningRecord, expected) for name, path in audits.items()},
        "neighbours": neighbour_browser.browse([*{*files.values()} - {*audits.values()}], sample),
    }


def _index(
    files: Mapping[str, Mapping[str, Path]], content: Content, members: Sequence[str], large: Mapping[str, float]
) -> str:
    """The page. The template escapes all text; what is HTML already comes from `_markdown`, which escapes too.

    The script is this project's; the page's content security policy has its digest, so that a browser runs no other.

    Args:
        files: group of GROUPS -> name -> path.
        members: names of the files in the zip.
        large: name of a file that is not -> its megabytes.
    """
    kept, rejected, script = [*files["triplets"].values()], [*files["rejected"].values()], _text(SCRIPT)
    tight = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, **tight)
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        title=content.title,
        answer=_markdown(content.answer, below=0),
        claims=_markdown(content.claims),
        made=content.made,
        languages=content.languages,
        members=members,
        large=large,
        figures=_figures(files["figures"]),
        layouts=[_markdown(_text(path)) for path in files["layouts"].values()],
        audits={name: _checked(path, _Audit, "a report of audit_triplets") for name, path in files["audits"].items()},
        triplets=triplet_browser.browse(kept, rejected, content.anchors, content.sample),
        cards={name: _card(path) for name, path in files["cards"].items()},
        configs={name: in_text(_text(path)) for name, path in files["config"].items()},
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        **_of_mining(files["neighbours"], content.sample),
    )


def _figures(files: Mapping[str, Path]) -> dict[str, str]:
    """Name -> data URI; a PNG only where the same figure is not there as SVG.

    As an image an SVG runs no script, and two of them share no ids.
    """
    shown = {}
    for name, path in files.items():
        if path.suffix == ".svg" or path.with_suffix(".svg") not in files.values():
            if path.suffix not in IMAGES:
                raise UserError(f"{path}: not a figure; expected {' or '.join(IMAGES)}")
            shown[name] = f"data:{IMAGES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"
    return shown


def _markdown(text: str, below: int = 2) -> Markup:
    """HTML of Markdown text: HTML in it is escaped; no image is loaded; headings are `below` levels lower."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(text)
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{min(int(token.tag[1]) + below, 6)}"
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def _card(path: Path) -> dict[str, Any]:
    """A model or data card: its YAML front matter, if it has one, and its text; a record in JSON as it is."""
    text = _text(path)
    if path.suffix != ".md":
        return {"front": text, "body": ""}
    front, body = "", text
    if text.startswith("---\n"):
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


def _checked(path: Path, kind: type[Model], expected: str) -> Model:
    """What a JSON file says."""
    try:
        return validated(kind, read_json(path), path, expected)
    except UserError as error:
        raise UserError(f"{error}: {AGAIN}") from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8; {AGAIN}") from None
