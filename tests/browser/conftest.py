"""A Chromium, and a small report that is the same every time."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from seedbed.io import atomic, write_json, write_table
from seedbed.tables.figures.plot import plot
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.figures.style import save
from seedbed.tables.pages.layout import layout
from seedbed.tables.published import Published
from seedbed.tables.report import answer
from seedbed.tables.report.comparison import comparisons
from seedbed.tables.report.report import Content, report
from seedbed.tables.specs import TableSpec
from seedbed.tables.tabulate import write
from tests.browser.chromium import Page, program
from tests.unit.tables.conftest import PAPER, ROOT, make_study

METHODS = ("prompting", "composition", "xllora")
QUARTILES = {"mean": 0.3, "q25": 0.2, "q50": 0.31, "q75": 0.4}
MADE = {"Made": "2026-01-31", "Commit": "0123456789ab", "Machine": "2 cores, x86_64, Linux", "Jobs": "83, 0.34 CPU hours, 0.00 GPU hours"}  # fmt: skip
LANGUAGES = {"hau": ("Hausa", "Afro-Asiatic", 28.3), "ind": ("Indonesian", "Austronesian", 66.7), "kin": ("Kinyarwanda", "Atlantic-Congo", 41.0)}  # fmt: skip


@pytest.fixture(scope="session")
def page() -> Iterator[Page]:
    """A page of one Chromium for all tests."""
    if not program():
        pytest.skip("no chromium here; `make test-browser` installs it where it can")
    page = Page()
    yield page
    page.close()


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small report, unpacked."""
    folder = tmp_path_factory.mktemp("report")
    files = _results(folder / "results")
    best = {f"results/best/{code}": _best(code) for code in LANGUAGES}
    families = {code: family for code, (_, family, _) in LANGUAGES.items()}
    shown = {"answer": answer.text(best), "made": MADE, "languages": comparisons(best.values(), families)}
    report(files, Content("Seedbed: results/small", **shown), folder / "report.zip")
    with zipfile.ZipFile(folder / "report.zip") as archive:
        archive.extractall(folder / "page")
    return folder / "page/index.html"


def _best(code: str) -> dict:
    """What `choose_best` says of a language."""
    name, _, value = LANGUAGES[code]
    number = {"value": value, "low": value - 9, "high": value + 8}
    better = {"difference": 12.0, "difference_low": 4.0, "difference_high": 20.0, "apart": True}
    like = {"difference": 5.0, "difference_low": -3.0, "difference_high": 13.0, "apart": False}
    others = {"base": number | {"value": value - 12} | better}
    others["word overlap"] = number | {"value": value - 5} | like
    test = {"task": "graded-sts", "metric": "spearman", "n": 120, "score": number, "others": others}
    facts = {"language": code, "name": name, "recipe": "xllora", "backbone": "me5-small", "rows": 64, "base": "base"}
    return facts | {"dev": {"tasks": ["kolibri-bitext"], "score": 0.6, "among": 6}, "test": test}


def _results(root: Path) -> dict[str, list[Path]]:
    """A table and its figure, triplets of three methods in two languages, and what their audit dropped."""
    spec = TableSpec.load(ROOT / "seedbed/resources/tables/table1.yaml")
    table = make_study(root, seeds=2, n=20, resamples=100).tabulate(spec)
    svg, png, csv, page = (root / f"table1.{kind}" for kind in ("svg", "png", "csv", "md"))
    figure = FigureSpec.load(ROOT / "seedbed/resources/figures/table1.yaml")
    save(plot(table, figure, {code: {"name": name} for code, (name, *_) in LANGUAGES.items()}), svg, png, 50)
    write(table, csv)
    with atomic(page) as temporary:
        temporary.write_text(layout(table, spec, Published(spec.paper, PAPER)), encoding="utf-8")
    files = {"tables": [csv], "layouts": [page], "figures": [svg, png], "audits": [], "triplets": [], "rejected": []}
    for method in METHODS:
        for code in ("hau", "ind"):
            place = root / "triplets/gemma" / method / code
            audit = {
                "read": 20,
                "kept": 13,
                "dropped": {"positive: language": 7},
                "dice": {"anchor-positive": QUARTILES},
            }
            write_json(audit, place.with_suffix(".audit.json"))
            rows = [
                (f"r{n}", f"Yára {n} suna karatu a makaranta.", f"{method} says yes {n}", "They sleep.")
                for n in range(12)
            ]
            write_table(pd.DataFrame(rows, columns=["id", "anchor", "positive", "negative"]), place.with_suffix(".tsv"))
            dropped = [("d0", "Ruwa ya yi zafi.", "Wasser", "no", "positive: language")]
            columns = ["id", "anchor", "positive", "negative", "reason"]
            write_table(pd.DataFrame(dropped, columns=columns), place.with_suffix(".rejected.tsv"))
            for group, suffix in (("audits", ".audit.json"), ("triplets", ".tsv"), ("rejected", ".rejected.tsv")):
                files[group].append(place.with_suffix(suffix))
    return files
