"""The documentation's site as a telephone shows it."""

from __future__ import annotations

import pytest

from tests.unit.test_site import site  # noqa: F401

pytestmark = pytest.mark.browser
WIDTH = 390


def test_no_page_is_wider_than_the_screen(page, site):  # noqa: F811
    wide = {}
    for file in site.rglob("*.html"):
        page.open(file, width=WIDTH)
        wide[str(file.relative_to(site))] = page.said("document.documentElement.scrollWidth")
    assert {name: width for name, width in wide.items() if width > WIDTH} == {}
