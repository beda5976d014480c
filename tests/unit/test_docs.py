"""The pages of the documentation: their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    for file, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / file if file else page
        assert target.exists(), f"{file} is not there"
        assert not anchor or anchor in anchors(target), f"{target} has no heading {anchor}"
