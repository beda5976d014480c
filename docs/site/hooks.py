"""What the site has beside the pages of docs/: the README, the walkthrough, API pages, and files that pages link to."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Section
from mkdocs.structure.pages import Page

ROOMS = (
    "corpora",
    "generators",
    "triplets",
    "encoders",
    "classifiers",
    "evaluation",
    "tables",
    "vectors",
    "study",
    "operations",
    "publish",
    "init",
)
LINK = re.compile(r"(\]\()((?!https?:|#)[^)#\s]+)((?:#[^)\s]+)?\))")
OUTSIDE = "files/"
"""Where files of the project that are no pages lie in the site."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand elsewhere, and the files that pages link to."""
    texts = {"index.md": Path("README.md").read_text(encoding="utf-8"), "walkthrough.md": _walkthrough()}
    texts |= {f"reference/{room}.md": _reference(room) for room in ROOMS}
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    sources = {Path("README.md"), *Path("docs").rglob("*.md")}
    for page in sorted(sources):
        for _, target, _ in LINK.findall(page.read_text(encoding="utf-8")):
            path = posixpath.normpath(posixpath.join(str(page.parent), target))
            if not path.startswith("docs/") and Path(path).is_file() and path != "README.md":
                name = OUTSIDE + path
                if files.get_file_from_path(name) is None:
                    files.append(File.generated(config, name, abs_src_path=str(Path(path).absolute())))
    return files


def on_nav(nav, config: MkDocsConfig, files: Files):
    """List the API pages last."""
    pages = [Page(room.capitalize(), files.get_file_from_path(f"reference/{room}.md"), config) for room in ROOMS]
    nav.items.append(Section("API", pages))
    nav.pages.extend(pages)
    return nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links of the README, and links that leave docs/, lead to where their targets lie in the site."""
    start = page.file.src_uri == "index.md"
    folder = "." if start else posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def moved(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found[2]))
        inside = (
            path.removeprefix("docs/")
            if path.startswith("docs/")
            else "index.md"
            if path == "README.md"
            else OUTSIDE + path
        )
        here = posixpath.dirname(page.file.src_uri)
        return found[1] + posixpath.relpath(inside, here or ".") + found[3]

    return LINK.sub(moved, markdown)


def _walkthrough() -> str:
    script = Path("docs/walkthrough.sh").read_text(encoding="utf-8")
    return f"# The pipeline by hand\n\nProgram by program, as `docs/walkthrough.sh` has it.\n\n```bash\n{script}```\n"


def _reference(room: str) -> str:
    """A page with every public module of a room, from its docstrings."""
    modules = [
        ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(Path("seedbed", room).rglob("*.py"))
        if not path.stem.startswith("_") or path.stem == "__init__"
    ]
    return "\n\n".join([f"# {room.capitalize()}", *(f"::: {module}" for module in modules)]) + "\n"
