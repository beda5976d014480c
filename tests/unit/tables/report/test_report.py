"""The report: everything is in it, nothing of a text runs in it, and it is the same twice."""

import base64
import hashlib
import re
import zipfile
from html.parser import HTMLParser

import pandas as pd
import pytest

from scripts import report as program
from seedbed.io import UserError, write_json, write_table
from seedbed.tables.cells import signed
from seedbed.tables.report.comparison import comparisons
from seedbed.tables.report.report import SCRIPT, Content, report
from tests.programs import call

HOSTILE = '<script>alert("x")</script>'
MINED = {
    "queries": 13, "pool": 977, "neighbours": 26, "distinct": 21, "cosine by rank": [0.91234, 0.5], "near duplicates": 3,
    "commonest": [[f"near 7 {HOSTILE}", 4], ["near 8", 1]], "dropped": {"in a seed pair": 17}, "weights": "0" * 64,
    "prefix": "", "mining": {"layer": 9},
}  # fmt: skip
"""What mining says beside its file."""
QUARTILES = {"mean": 0.3, "q25": 0.2, "q50": 0.31, "q75": 0.4}


@pytest.fixture
def files(tmp_path):
    """One file of each group with markup where a person or a model may have written it."""
    root = tmp_path / "results"
    folder = root / "triplets" / "gemma"
    for method in ("prompting", "xllora"):
        dropped = {f"positive: {HOSTILE}": 3, "negative: language": 4}
        audit = {"read": 20, "kept": 13, "dropped": dropped, "dice": {"anchor-positive": QUARTILES}}
        write_json(audit, folder / method / "hau.audit.json")
        rows = [(f"r{i}", f"anchor {i} {HOSTILE}", "positive & co", "{{ 7 * 7 }}") for i in range(13)]
        write_table(pd.DataFrame(rows, columns=["id", "anchor", "positive", "negative"]), folder / method / "hau.tsv")
        dropped = [(f"d{i}", f"dropped {i}", HOSTILE, "no", f"positive: fault {i % 2}") for i in range(5)]
        columns = ["id", "anchor", "positive", "negative", "reason"]
        write_table(pd.DataFrame(dropped, columns=columns), folder / method / "hau.rejected.tsv")
    mined = root / "encoders/tiny/neighbours/layer9"
    near = [
        (str(i), f"pair {i} {HOSTILE}", f"positive {i}", f"near {i}", "0.912345", HOSTILE, "0.5") for i in range(13)
    ]
    columns = ["id", "pivot", "text", "neighbour_1", "cosine_1", "neighbour_2", "cosine_2"]
    write_table(pd.DataFrame(near, columns=columns), mined / "hau.tsv")
    write_json(MINED, mined / "hau.audit.json")
    plain = {
        "tables/own.csv": "a,b\n1,2\n",
        "tables/own.md": f"# Title {HOSTILE}\n\n| Method | hau |\n| --- | ---: |\n| XL | **1.0** ▲ |\n",
        "figures/own.svg": f"<svg xmlns='http://www.w3.org/2000/svg'>{HOSTILE}</svg>",
        "figures/own.png": "png",
        "card/README.md": f"---\nlicense: {HOSTILE}\n---\n# Card\n\n[a](javascript:alert(1)) ![b](b.png) {HOSTILE}\n",
        "config.yaml": f"a: {HOSTILE}\n",
    }
    for name, text in plain.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    methods = [folder / method for method in ("prompting", "xllora")]
    return {
        "tables": [root / "tables/own.csv"],
        "layouts": [root / "tables/own.md"],
        "figures": [root / "figures/own.svg", root / "figures/own.png"],
        "audits": [method / "hau.audit.json" for method in methods],
        "triplets": [method / "hau.tsv" for method in methods],
        "rejected": [method / "hau.rejected.tsv" for method in methods],
        "neighbours": [mined / "hau.tsv", mined / "hau.audit.json"],
        "cards": [root / "card/README.md"],
        "config": [root / "config.yaml"],
    }


VOID = ("meta", "img", "br", "hr")
"""Tags without an end."""


class Page(HTMLParser):
    """Tags, names of attributes, links, images and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.images, self.text, self.open, self.names = [], [], [], "", [], []
        self.scripts, self.policy = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.names += [name for name, _ in attributes]
        if tag not in VOID:
            self.open.append(tag)
        self.links += [value for name, value in attributes if name == "href"]
        self.images += [value for name, value in attributes if name == "src"]
        if dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy += dict(attributes)["content"]

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        else:
            self.text += data


def read_page(path):
    with zipfile.ZipFile(path) as archive:
        return Page(archive.read("index.html").decode())


def test_the_zip_holds_the_page_and_the_files(files, tmp_path):
    report(files, Content("Seedbed"), tmp_path / "report.zip")
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            "index.html", "audits/prompting/hau.audit.json", "audits/xllora/hau.audit.json", "cards/README.md",
            "config/config.yaml", "figures/own.png", "figures/own.svg", "layouts/own.md",
            "neighbours/hau.audit.json", "neighbours/hau.tsv", "rejected/prompting/hau.rejected.tsv", "rejected/xllora/hau.rejected.tsv",
            "tables/own.csv", "triplets/prompting/hau.tsv", "triplets/xllora/hau.tsv",
        ]  # fmt: skip
        assert archive.read("tables/own.csv") == files["tables"][0].read_bytes()
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        page = Page(archive.read("index.html").decode())
        assert {link for link in page.links if not link.startswith("#")} - {"b.png"} <= set(archive.namelist())


def test_secrets_of_urls_in_a_configuration_are_not_passed_on(files, tmp_path):
    text = "source: {archive: 'https://host.org/x.zip?a=1&sig=S3CRET'}\n"
    files["config"][0].write_text(text)
    report(files, Content("Demo"), tmp_path / "report.zip")
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        assert not [name for name in archive.namelist() if b"S3CRET" in archive.read(name)]
        assert archive.read("config/config.yaml").decode() == text.replace("S3CRET", "***")


def test_the_page_is_whole_and_needs_nothing_beside_itself(files, tmp_path):
    report(files, Content("Seedbed", anchors=5), tmp_path / "report.zip")
    page = read_page(tmp_path / "report.zip")
    assert not page.open
    assert page.images == ["data:image/svg+xml;base64," + base64.b64encode(files["figures"][0].read_bytes()).decode()]
    assert not {"link", "iframe"} & set(page.tags) and page.tags.count("script") == 1
    anchors = {"#figures", "#tables", "#audits", "#triplets", "#neighbours", "#cards", "#config", "#files"}
    assert anchors == {link for link in page.links if link.startswith("#")}
    for shown in ("negative: language 4", "0.31", "0.20 to 0.40", "anchor 0", "anchor 12", "XL", "▲", "positive & co"):
        assert shown in page.text
    assert page.text.count("anchor 6") == 1 and "anchor 1 " not in page.text
    assert "positive: fault 0 prompting, 3 rows" in " ".join(page.text.split()) and "dropped 2" in page.text


def test_mined_neighbours_stand_below_their_pair_with_cosines(files, tmp_path):
    report(files, Content("Seedbed"), tmp_path / "report.zip")
    text = " ".join(read_page(tmp_path / "report.zip").text.split())
    assert f"13 977 26 21 3 0.912 0.500 in a seed pair 17 near 7 {HOSTILE} 4 timesnear 8 1 times" in text
    near = f"positivepositive 0 layer9 1, cosine 0.912345 near 0 layer9 2, cosine 0.5 {HOSTILE}"
    assert f"pair 0 {HOSTILE} MiningText {near}" in text
    assert "pair 12 " in text and "pair 6 " in text and "pair 1 " not in text


def test_its_one_script_is_this_projects_own_and_no_other_may_run(files, tmp_path):
    report(files, Content(HOSTILE), tmp_path / "report.zip")
    page = read_page(tmp_path / "report.zip")
    (script,) = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert script == SCRIPT.read_text() and "</" not in script
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert page.policy == policy


def test_the_script_sorts_differences_as_numbers():
    number = re.search(r"NUMBER = /(.+)/;", SCRIPT.read_text(encoding="utf-8"))[1]
    assert [float(re.match(number, signed(value))[1]) for value in (1.92, -0.3, 0.0)] == [1.9, -0.3, 0.0]


def test_every_language_stands_on_the_page(files, tmp_path):
    number = {"value": 40.0, "low": -4.0, "high": 61.0}
    test = {"task": HOSTILE, "metric": "spearman", "n": 60, "score": number, "others": {"base": {"value": -0.04}}}
    best = {
        "language": "hau",
        "name": f"Hausa {HOSTILE}",
        "recipe": "xllora",
        "backbone": "e5",
        "base": "base",
        "test": test,
    }
    report(files, Content("T", languages=comparisons([best], {"hau": f"Chadic {HOSTILE}"})), tmp_path / "report.zip")
    page = read_page(tmp_path / "report.zip")
    text = " ".join(page.text.split())
    assert f"Hausa {HOSTILE} Chadic {HOSTILE} xllora e5 40.0 -4.0 to 61.0 0.0" in text and len(page.scripts) == 1
    assert "#languages" in page.links


def test_text_stays_text(files, tmp_path):
    report(files, Content(HOSTILE), tmp_path / "report.zip")
    page = read_page(tmp_path / "report.zip")
    assert page.tags.count("script") == 1 and "img" in page.tags and len(page.images) == 1
    assert not [link for link in page.links if link.startswith("javascript")]
    assert page.text.count(HOSTILE) >= 2 + 1 + 2 + 5 + 2 * 2 + 1 and "{{ 7 * 7 }}" in page.text


ATTACKS = [
    "<script>alert(1)</script>",
    "</pre></td></title></style><ScRiPt src=//evil></ScRiPt>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)><animate onbegin=alert(1) attributeName=x></svg>",
    "\"><iframe srcdoc='<script>alert(1)</script>'>",
    "' onmouseover='alert(1)",
    "<a href=javascript:alert(1)>a</a> <javascript:alert(1)>",
    "[a](javascript:alert(1)) [b](JaVaScRiPt&#58;alert(1)) [c](<java\tscript:alert(1)>) [d](vbscript:x)",
    "[a](data:text/html;base64,PHNjcmlwdD4=) [b](data:image/svg+xml,<svg/onload=alert(1)>) ![c](data:text/html,x)",
    "[a]: javascript:alert(1)\n\n[a] ![b](//evil/x.png) ![c](http://evil/x.png)",
    "<style>@import '//evil';</style><base href=//evil><meta http-equiv=refresh content=0;//evil><form action=//evil>",
    "{{ 7 * 7 }} {% for x in () %} {{ config }}",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_a_text_says_becomes_a_part_of_the_page(files, tmp_path, attack):
    """In a corpus, a reason, an audit, the layout of a table, a card, its front matter, a configuration, the title."""
    report(files, Content("T"), tmp_path / "before.zip")
    line = " ".join(attack.split())
    for group in ("triplets", "rejected", "neighbours"):
        for path in (path for path in files[group] if path.suffix == ".tsv"):
            path.write_text(path.read_text().replace("pair ", f"{line} ").replace("near ", f"{line} "))
            path.write_text(path.read_text().replace("anchor ", f"{line} ").replace("dropped ", f"{line} "))
            path.write_text(path.read_text().replace("fault 0", f"fault {line}"))
    write_json({"read": 1, "kept": 1, "dropped": {attack: 1}, "dice": {attack: QUARTILES}}, files["audits"][0])
    write_json(MINED | {"commonest": [[attack, 1]], "dropped": {attack: 1}}, files["neighbours"][1])
    for group in ("layouts", "cards", "config"):
        files[group][0].write_text(f"---\n{attack}\n---\n# {line}\n\n{attack}\n\n| a |\n| --- |\n| {line} |\n")
    report(files, Content(attack), tmp_path / "report.zip")
    page, before = (read_page(tmp_path / f"{name}.zip") for name in ("report", "before"))
    assert (
        not page.open
        and page.scripts == before.scripts
        and {*page.tags} <= {*before.tags, "ol", "li", "code", "blockquote", "em", "h3", "h4", "hr"}
    )
    assert (
        page.policy == before.policy
        and page.images == before.images
        and not [name for name in page.names if name.startswith("on")]
    )
    assert {*page.names} <= {*before.names, "start"}
    schemes = {link.partition(":")[0].strip().lower() for link in page.links if ":" in link.partition("/")[0]}
    assert not schemes & {"javascript", "vbscript", "data", "file"}
    assert page.text.count(line) >= 10


def test_the_program_writes_the_same_bytes_twice(files, tmp_path):
    arguments = [part for group, paths in files.items() for part in (f"--{group}", *map(str, paths))]
    for run in ("a", "b"):
        call(program, ["--title", "Seedbed", *arguments, "--output", str(tmp_path / f"{run}.zip")])
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_large_files_are_named_and_left_out(files, tmp_path):
    report({"tables": files["tables"]}, Content("Seedbed", max_megabytes=1e-6), tmp_path / "report.zip")
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        assert archive.namelist() == ["index.html"]
    page = read_page(tmp_path / "report.zip")
    assert "tables/own.csv left out" in " ".join(page.text.split()) and page.links == ["#files"]


def test_a_png_is_shown_where_there_is_no_svg(files, tmp_path):
    report({"figures": files["figures"][1:]}, Content("Seedbed"), tmp_path / "report.zip")
    assert read_page(tmp_path / "report.zip").images[0].startswith("data:image/png")


def test_faults_are_told(files, tmp_path):
    output, wrong = tmp_path / "report.zip", tmp_path / "wrong.json"
    write_json({"a": 1}, wrong)
    for given, told in (
        ({"tables": [tmp_path / "none.csv"]}, "no such file"),
        ({"figures": [wrong]}, "not a figure"),
        ({"audits": [wrong]}, "expected a report of audit_triplets"),
        ({"triplets": files["tables"]}, "no column 'id'"),
        ({"rejected": files["triplets"]}, "no column 'reason'"),
        ({"neighbours": [wrong]}, "expected an audit of mine_neighbours"),
        ({"neighbours": files["triplets"]}, "no column 'pivot'"),
    ):
        with pytest.raises(UserError, match=told):
            report(given, Content("Seedbed"), output)
    assert not output.exists()


def test_what_a_study_tested_of_the_papers_claims_is_a_section_of_its_own(tmp_path):
    said = "| Claim | Verdict |\n| --- | --- |\n| XL-LoRA <b>wins</b> | reproduced |"
    for claims in (said, ""):
        report({}, Content("Seedbed", claims=claims), tmp_path / "r.zip")
        page = zipfile.ZipFile(tmp_path / "r.zip").read("index.html").decode()
        assert ('<section id="claims">' in page) == bool(claims) == ("&lt;b&gt;wins" in page)
