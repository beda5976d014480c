"""The report as a browser shows it: light and dark, narrow and wide, with scripts and without."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from PIL import Image

from tests.browser.chromium import Page, blocks

pytestmark = pytest.mark.browser

KEPT = Path(__file__).parent / "first_screen"
SCREENS = {(width, dark): f"{width}-{'dark' if dark else 'light'}" for width in (390, 1400) for dark in (False, True)}
HEIGHT = 900
TOP = 1500
"""Pixels of a page that are compared: its first screen, and the charts of languages below it."""
SIDE = 5
"""Of the blocks, in pixels, whose mean colours are compared."""
MEAN, MOST = 2, 54
"""Bounds of the mean and of the largest difference, of 255. Letters moved by less than a pixel differ by 51 at most,
and a range of scores that is not drawn by 57."""
FAULTS = (
    ".chart .score { background: none }",
    ".chart .range { background: none }",
    ".chart .base { display: none }",
    ".chart .overlap { display: none }",
    "a { color: red }",
)
FONTS = {"Sans": ("DejaVuSans.ttf", 400), "Bold": ("DejaVuSans-Bold.ttf", 700)}
"""Which matplotlib brings, so that every machine draws the same letters."""
CONTRAST = """(() => {
  const lightness = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((x) => x / 255).map((x) => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (one) => {
    const colour = one ? getComputedStyle(one).backgroundColor : "rgb(255, 255, 255)";
    return /, 0\\)$/.test(colour) ? behind(one.parentElement) : colour;
  };
  const found = {};
  for (const one of document.querySelectorAll("body *:not(:disabled):not(script)")) {
    if (![...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) || !one.checkVisibility()) continue;
    const [a, b] = [getComputedStyle(one).color, behind(one)].map(lightness).sort((a, b) => b - a);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) found[one.tagName + " " + one.textContent.trim().slice(0, 20)] = ratio;
  }
  return found;
})()"""
"""Text and its ratio of contrast (WCAG 2, 1.4.3) where that is below 4.5."""


@pytest.fixture
def shown(page: Page, index: Path) -> Callable[..., Page]:
    """A function: the report on a screen."""

    def on(width: int = 1400, **options: bool) -> Page:
        page.open(index, width=width, height=HEIGHT, **options)
        return page

    return on


def with_own_letters(index: Path, folder: Path) -> Path:
    """The page in the letters of FONTS, which its policy would not allow."""
    data = Path(matplotlib.get_data_path(), "fonts/ttf")
    faces = [
        f"@font-face {{ font-family: Own; font-weight: {weight}; src: url(data:font/ttf;base64,{base64.b64encode((data / file).read_bytes()).decode()}) }}"
        for file, weight in FONTS.values()
    ]
    style = f"<style>{' '.join(faces)} * {{ font-family: Own !important }}</style></head>"
    text = index.read_text(encoding="utf-8").replace("img-src data:", "img-src data:; font-src data:")
    page = folder / "index.html"
    page.write_text(text.replace("</head>", style), encoding="utf-8")
    return page


def first_screen(page: Page, file: Path, width: int, dark: bool) -> Image.Image:
    """What is kept of the top of a page, its letters loaded."""
    page.open(file, width=width, height=TOP, dark=dark)
    assert page.said("document.fonts.ready.then((fonts) => [...fonts].map((font) => font.status))").count("loaded") == 2
    return blocks(page.screenshot(), SIDE)


def looks_alike(found: Image.Image, kept: Path) -> bool:
    with Image.open(kept) as image:
        difference = np.abs(np.asarray(found, dtype=float) - np.asarray(image, dtype=float))
    return difference.mean() < MEAN and difference.max() < MOST


@pytest.mark.parametrize(("width", "dark"), SCREENS)
def test_the_first_screen_looks_as_it_did(page, index, tmp_path, width, dark):
    found = first_screen(page, with_own_letters(index, tmp_path), width, dark)
    kept = KEPT / f"{SCREENS[width, dark]}.png"
    if os.environ.get("REDRAW"):
        found.save(kept, optimize=True)
    assert looks_alike(found, kept), "if it is meant to be so: make test-browser REDRAW=1"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_first_screen_is_seen(page, index, tmp_path, fault, dark):
    file = with_own_letters(index, tmp_path)
    file.write_text(file.read_text(encoding="utf-8").replace("</head>", f"<style>{fault}</style></head>"))
    assert not looks_alike(first_screen(page, file, 1400, dark), KEPT / f"{SCREENS[1400, dark]}.png")


def test_what_a_person_came_for_is_on_the_first_screen(shown):
    """The answer of each language, of three; what uses it follows at once."""
    page = shown()
    for what in ("nav", "#answer h2", "#answer table:last-of-type"):
        assert page.said(f"document.querySelector('{what}').getBoundingClientRect().bottom") < HEIGHT, what
    assert page.said("document.querySelector('#answer pre').getBoundingClientRect().top") < HEIGHT
    assert page.said("document.querySelector('#answer pre').innerText").count("\n") in (1, 2)


@pytest.mark.parametrize(("width", "dark"), SCREENS)
def test_the_page_is_as_wide_as_the_screen_and_its_text_can_be_read(shown, width, dark):
    page = shown(width, dark=dark)
    assert page.said("document.documentElement.scrollWidth") == width
    assert page.said(CONTRAST) == {}
    assert page.said("[...document.images].every((image) => image.naturalWidth > 100)")
    background = page.said("getComputedStyle(document.querySelector('figure img')).backgroundColor")
    assert background == "rgb(255, 255, 255)", "figures are drawn for paper"


def test_every_language_stands_at_its_score(shown):
    page = shown()
    rows = page.said(
        "[...document.querySelectorAll('.comparison tbody tr')].map((row) => [row.cells[0].innerText, row.cells[1].innerText, "
        "parseFloat(row.cells[3].innerText), ...['.chart > div', '.score', '.range'].map((name) => row.querySelector(name)"
        ".getBoundingClientRect()).flatMap((box) => [box.left, box.right])])"
    )
    ends = [int(end) for end in page.said("document.querySelector('.axis').innerText").split()]
    assert [row[0] for row in rows] == ["Indonesian", "Kinyarwanda", "Hausa"] and rows[0][1] == "Austronesian"
    for _, _, value, left, right, *mark in rows:
        at = left + (value - ends[0]) / (ends[1] - ends[0]) * (right - left)
        assert abs((mark[0] + mark[1]) / 2 - at) < 1 and mark[2] < at < mark[3]


# ------------------------------------------------------------------------------------------------------------- tables


COLUMN = "[...document.querySelectorAll('#tables table')[0].tBodies[0].rows].map((row) => row.cells[0].innerText)"
HEADING = "document.querySelectorAll('#tables th')[1]"
ENTER = ("Enter", 13)


def test_a_table_is_sorted_by_the_keyboard_and_rows_of_the_paper_stay_below_ours(shown):
    page = shown()
    before = page.said(COLUMN)
    assert before[1::2] == ["paper"] * 6 and page.said(f"{HEADING}.getAttribute('aria-sort')") is None
    page.said(f"{HEADING}.querySelector('button').focus()")
    orders = []
    for sort in ("descending", "ascending", None):
        page.press(*ENTER)
        assert page.said(f"{HEADING}.getAttribute('aria-sort')") == sort
        orders.append(page.said(COLUMN))
        assert orders[-1][1::2] == ["paper"] * 6
        assert page.said(f"document.activeElement === {HEADING}.querySelector('button')")
    highest, lowest, again = orders
    assert highest[::2] == lowest[::2][::-1] != before[::2] and again == before
    values = page.said(
        "[...document.querySelectorAll('#tables table')[0].tBodies[0].rows].map((row) => row.cells[1].innerText)"
    )
    numbers = dict(zip(before[::2], [float(value.split()[0]) for value in values[::2]], strict=True))
    assert highest[::2] == sorted(numbers, key=numbers.get, reverse=True)


def test_one_column_sorts_at_a_time_and_words_by_the_alphabet(shown):
    page = shown()
    first, second = (f"document.querySelectorAll('#audits th')[{place}]" for place in (0, 1))
    for heading in (second, first):
        page.said(f"{heading}.querySelector('button').focus()")
        page.press(*ENTER)
    assert page.said(f"[{first}, {second}].map((one) => one.getAttribute('aria-sort'))") == ["descending", None]
    names = page.said("[...document.querySelectorAll('#audits tbody tr')].map((row) => row.cells[0].innerText)")
    assert names == sorted(names, reverse=True) and len(names) == 6


# ----------------------------------------------------------------------------------------------------------- triplets


LEAVES = "[...document.querySelectorAll('#triplets-hau .leaf')].filter((one) => one.checkVisibility()).map((one) => one.caption.innerText)"
TOLD = "document.querySelector('#triplets-hau output').innerText"


def names(*numbers: int) -> list[str]:
    return [f"Yára {number} suna karatu a makaranta." for number in numbers]


def test_triplets_are_leafed_through(shown):
    page = shown()
    assert page.said(LEAVES) == names(0, 1, 2, 3, 4) and page.said(TOLD) == "1 to 5 of 12 anchors"
    assert page.said("document.querySelector('#triplets-hau .back').disabled")
    page.said("document.querySelector('#triplets-hau .on').focus()")
    for _ in range(2):
        page.press(*ENTER)
    assert page.said(LEAVES) == names(10, 11) and page.said(TOLD) == "11 to 12 of 12 anchors"
    assert page.said("document.querySelector('#triplets-hau .on').disabled")


def test_triplets_are_searched_whatever_accents_and_capitals(shown):
    page = shown()
    page.said("document.querySelector('#triplets-hau input').focus()")
    page.write("yara XLLORA 7")
    assert page.said(LEAVES) == names(7) and page.said(TOLD) == "1 to 1 of 1 anchors"
    assert page.said("document.querySelector('#triplets-hau .dropped tbody tr').hidden")
    page.write(" nowhere")
    assert page.said(LEAVES) == [] and page.said(TOLD) == "no anchor has these words"
    assert page.said("document.querySelectorAll('#triplets-ind .leaf:not([hidden])').length") == 5, "another language"


# ------------------------------------------------------------------------------------------------------------ scripts


def test_without_scripts_all_is_there(shown):
    page = shown(scripts=False)
    assert page.said("document.querySelectorAll('button, input').length") == 0
    assert page.said(LEAVES) == names(*range(12)) and page.said(COLUMN)[1::2] == ["paper"] * 6


def test_no_other_script_runs_and_no_file_is_shown(page, index, tmp_path):
    Image.new("RGB", (200, 200)).save(tmp_path / "x.png")
    planted = "<script>document.title = 'planted'</script><img src=x.png onerror=\"document.title = 'planted'\"></body>"
    (tmp_path / "index.html").write_text(index.read_text(encoding="utf-8").replace("</body>", planted))
    page.open(tmp_path / "index.html", width=1400)
    assert page.said("document.title") == "Seedbed: results/small"
    assert page.said("document.querySelectorAll('#triplets .leaves').length") == 2, "its own does"
    assert page.said("[...document.images].map((image) => image.naturalWidth > 0)") == [True, False]
