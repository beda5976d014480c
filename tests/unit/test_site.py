"""The documentation as a site: it is built without a network, every page is in it, and every link in it leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")

OUTSIDE = re.compile(r"""(?:<script[^>]+src|<link[^>]+rel="stylesheet"[^>]+href|@import)\W+https?://""")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, whose warnings are errors."""
    folder = tmp_path_factory.mktemp("site")
    # A proxy that nobody serves: whatever asks for the network fails.
    away = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | away | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_it_begins_with_the_readme_and_shows_scripts(site):
    start = (site / "index.html").read_text()
    assert Path("README.md").read_text().splitlines()[0].strip("# ") in start and 'href="contributing/' in start
    assert "scripts.fetch_corpus" in (site / "walkthrough/index.html").read_text()


def test_every_page_stands_in_the_navigation():
    listed = {*re.findall(r"\S+\.md", Path("mkdocs.yml").read_text().partition("\nnav:")[2])}
    assert {str(page.relative_to("docs")) for page in Path("docs").rglob("*.md")} <= listed


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("as-a-library", "seedbed.encoders.losses.simcse"),
        ("as-a-library", "seedbed.evaluation.significance.williams"),
        ("objectives", "seedbed.encoders.objectives.contrast.Contrast"),
        ("protocols", "seedbed.evaluation.protocols.sts"),
    ],
)
def test_what_people_import_or_add_to_is_there_from_its_docstrings(site, page, name):
    text = (site / "reference" / page / "index.html").read_text()
    assert f'id="{name}"' in text and ("Raises:" in text or page == "protocols")


def test_a_page_links_to_files_of_the_project_that_lie_in_the_site(site):
    page = (site / "contributing/index.html").read_text()
    (target,) = {*re.findall(r'href="([^"]*languages\.tsv)"', page)}
    assert (site / "architecture" / target).resolve().is_file()


def test_a_reader_needs_no_network(site):
    for page in site.rglob("*.html"):
        assert not OUTSIDE.search(page.read_text()), page
