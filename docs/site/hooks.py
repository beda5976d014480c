"""What the site has beside the pages of docs/: the README, the walkthrough, API pages, and files that pages link to."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Section
from mkdocs.structure.pages import Page

LIBRARY = {
    "Encoders": (
        "encoders.models.loading.load",
        "encoders.models.loading.open_encoder",
        "encoders.training.start.Start",
        "encoders.training.train.train",
        "checkpoints.Run",
        "encoders.training.chunks.in_chunks",
        "encoders.pooling.FirstLastAverage",
    ),
    "Losses": (
        "encoders.losses.simcse",
        "encoders.losses.contrastive.additive_margin",
        "encoders.losses.contrastive.neighbour_contrast",
    ),
    "Compression": ("encoders.compression.trim.trim", "encoders.compression.static.condense"),
    "Adapters and triplets": ("generators.composition.compose", "triplets.overlap.dice"),
    "Evaluation": (
        "vectors.neighbours.nearest",
        "evaluation.bitext.f1_at_k",
        "evaluation.classification.vote",
        "evaluation.fusion.fuse",
        "evaluation.geometry.alignment",
        "evaluation.geometry.uniformity",
        "evaluation.significance.replicates",
        "evaluation.significance.paired_permutation_test",
        "evaluation.significance.williams",
        "evaluation.significance.benjamini_hochberg",
    ),
}
"""What people import, by what it is for; the rest of the library is read in its files."""
FOLDERS = {"Objectives": "encoders/objectives", "Protocols": "evaluation/protocols"}
"""Pages with every file of a folder that people add files to."""
LINK = re.compile(r"(\]\()((?!https?:|#)[^)#\s]+)((?:#[^)\s]+)?\))")
OUTSIDE = "files/"
"""Where files of the project that are no pages lie in the site."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand elsewhere, and the files that pages link to."""
    texts = {"index.md": Path("README.md").read_text(encoding="utf-8"), "walkthrough.md": _walkthrough()}
    texts |= {_place(name): text for name, text in _api().items()}
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
    pages = [Page(name, files.get_file_from_path(_place(name)), config) for name in _api()]
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


def _place(name: str) -> str:
    return f"reference/{name.lower().replace(' ', '-')}.md"


def _api() -> dict[str, str]:
    """The API pages by their names, made of docstrings."""
    parts = ["\n\n".join([f"## {part}", *(f"::: seedbed.{name}" for name in names)]) for part, names in LIBRARY.items()]
    pages = {"As a library": "\n\n".join(["# As a library", "What other programs import.", *parts])}
    for name, folder in FOLDERS.items():
        files = sorted(path for path in Path("seedbed", folder).glob("*.py") if not path.stem.startswith("_"))
        modules = (f"::: {'.'.join(path.with_suffix('').parts)}" for path in files)
        base = ".".join(("seedbed", *Path(folder).parts))
        pages[name] = "\n\n".join([f"# {name}", f"::: {base}", *modules])
    return {name: f"{text}\n" for name, text in pages.items()}
