"""Score files, audits and tables that are missing or broken: one line that says how they are made again."""

import json
import os
import re
import subprocess
import sys

import pandas as pd
import pytest

from seedbed.evaluation.aggregation import WEIGHTED_F1
from seedbed.io import UserError, read_json, write_json
from seedbed.tables.published import Published
from seedbed.tables.report.report import Content, report
from seedbed.tables.specs import Paper
from seedbed.tables.tabulate import COLUMNS, read


def without(key):
    return lambda score: {name: value for name, value in score.items() if name != key}


SCORES = [
    (None, r"no such file; expected JSON"),
    ("{", "not JSON"),
    (b"\xff", "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("[1]", "expected a score file"),
    ("null", "expected a score file"),
    (without("protocol"), r"protocol: Field required"),
    (without("metrics"), r"metrics: Field required"),
    (without("items"), r"items: Field required"),
    (without("dataset"), r"dataset: Field required"),
    (lambda score: score | {"dataset": {}}, r"dataset: origin: None"),
    (lambda score: score | {"dataset": "x"}, r"dataset: expected names"),
    (lambda score: score | {"metrics": [1]}, r"metrics: expected names"),
    (
        lambda score: score | {"metrics": {"cosine_spearman": "high"}},
        r"cosine_spearman: Input should be a valid number",
    ),
    (lambda score: score | {"metrics": {"cosine_spearman": None}}, r"cosine_spearman: Input should be a valid number"),
    (
        lambda score: score | {"metrics": {"other": 1.0}},
        r"no metric 'cosine_spearman'; if its language has no such class, give column 'STS' `languages`",
    ),
    (lambda score: score | {"metrics": {"cosine_spearman": 0.99}}, r"but its items give"),
    (lambda score: score | {"items": 3}, r"items: Input should be a valid string"),
    (lambda score: score | {"items": "none.tsv"}, r"none.tsv: no such file"),
    (lambda score: score | {"protocol": "bitext"}, r"protocol 'bitext'; column 'STS' is of 'sts'"),
]


@pytest.mark.parametrize(("change", "message"), SCORES, ids=[message[:30] for _, message in SCORES])
def test_a_broken_score_file_says_how_it_is_made_again(make, spec, change, message):
    study = make(languages=("hau",), seeds=1, n=12, resamples=100)
    path = study.score("xlmr", "xllora", 1, "semrel-sts", "hau")
    if change is None:
        path.unlink()
    elif isinstance(change, str | bytes):
        path.write_bytes(change if isinstance(change, bytes) else change.encode())
    else:
        path.write_text(json.dumps(change(read_json(path))))
    refused(study, spec, message, path)


ITEMS = [
    (lambda text: "", "no column 'id'"),
    (lambda text: text.splitlines()[0] + "\n", "no rows below the header"),
    (lambda text: text.replace("cosine", "other", 1), "no column 'cosine'"),
    (lambda text: re.sub("^(?=.)", "id\t", text, flags=re.M), "a column appears twice in the header"),
    (lambda text: text.replace("item-3", "item-2"), "id 'item-2' appears twice"),
    (lambda text: text.replace("item-3\t", "item-3\tx"), "id 'item-3' has gold 'x.*', no number"),
    (lambda text: "".join(text.splitlines(keepends=True)[:6]), "but its items give|not the items of"),
    (lambda text: text.replace("item-3\t", "item-x\t"), "not the items of"),
]


@pytest.mark.parametrize(("change", "message"), ITEMS, ids=[message[:30] for _, message in ITEMS])
def test_broken_items_say_how_they_are_made_again(make, spec, change, message):
    study = make(languages=("hau",), seeds=1, n=12, resamples=100)
    path = study.score("xlmr", "xllora", 1, "semrel-sts", "hau")
    items = path.with_suffix(".items.tsv")
    items.write_text(change(items.read_text()))
    refused(study, spec, message, path)


def refused(study, spec, message, path):
    with pytest.raises(UserError, match=message) as caught:
        study.tabulate(spec)
    said = str(caught.value)
    assert "\n" not in said and str(path.parent) in said
    assert f"delete {path.parents[2]}/hau.*.json" in said and "run Snakemake" in said


@pytest.mark.parametrize("cell", ["-1", "3", "0.5", "1e12", "nan", "x"])
def test_a_place_that_is_none_is_told(cell):
    table = pd.DataFrame({"id": list("abc"), "place": list("012"), "forward_1": ["0", "1", cell]})
    with pytest.raises(UserError, match="no place among the 3 items|no number"):
        WEIGHTED_F1.read(table, ["place", "forward_1"])


AUDIT = {"read": 3, "kept": 2, "dropped": {"x": 1}, "dice": {"anchor-positive": {"q25": 0.1, "q50": 0.2, "q75": 0.3}}}


@pytest.mark.parametrize(
    ("group", "content", "message"),
    [
        ("audits", "{", "not JSON"),
        ("audits", "3", "expected a report of audit_triplets"),
        ("audits", json.dumps(AUDIT | {"dropped": 3}), "dropped: expected names"),
        ("audits", json.dumps(AUDIT | {"dice": {"anchor-positive": {"q50": 1}}}), "q25: Field required"),
        ("audits", json.dumps(AUDIT | {"dice": {"anchor-positive": None}}), "expected a report of audit_triplets"),
        ("layouts", b"\xff", "byte 0 is not UTF-8"),
        ("cards", b"\xff", "byte 0 is not UTF-8"),
        ("config", b"\xff", "byte 0 is not UTF-8"),
        ("cards", None, "no such file; run Snakemake"),
        ("triplets", "id\tanchor\tpositive\n1\ta\tb\n", "no column 'negative'"),
        ("rejected", b"\xff\n\n", "byte 0 is not UTF-8"),
    ],
)
def test_a_broken_file_of_a_report_is_told(tmp_path, group, content, message):
    path = tmp_path / "a" / "b" / "hau.json"
    path.parent.mkdir(parents=True)
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError, match=message) as caught:
        report({group: [path]}, Content("Seedbed"), tmp_path / "report.zip")
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    assert group in ("triplets", "rejected") or "run Snakemake" in str(caught.value)
    assert not (tmp_path / "report.zip").exists()


def test_a_whole_audit_is_shown(tmp_path):
    write_json(AUDIT | {"more": 1}, tmp_path / "hau.json")
    report({"audits": [tmp_path / "hau.json"]}, Content("Seedbed"), tmp_path / "report.zip")


@pytest.mark.parametrize("content", [b"", b"\xff", b'a,b\n1,"2\n', b"a,b\n1\n1,2,3\n"])
def test_a_broken_table_is_told(tmp_path, content):
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(UserError, match=r"table made by tabulate.*delete"):
        read(tmp_path / "table.csv")


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-inf", "1e999", " "])
@pytest.mark.parametrize("name", ["value", "low", "paper"])
def test_a_cell_of_a_table_that_is_no_number_is_told(tmp_path, name, cell):
    """A cell may be empty; `inf` would be the best of its column."""
    numbers = pd.DataFrame([dict.fromkeys(COLUMNS, "") | {"value": "1.000", "language": "nan"}])
    numbers.to_csv(tmp_path / "table.csv", index=False)
    assert read(tmp_path / "table.csv")["language"].tolist() == ["nan"]
    numbers.assign(**{name: cell}).to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(UserError, match=rf"table.csv: .*{cell}.*expected a table made by tabulate: delete it"):
        read(tmp_path / "table.csv")


NUMBERS = "system,slug,backbone,language,task,metric,value,std,note\nS,s,b,hau,t,m,1.5,,\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no column 'system'; it has nothing"),
        (NUMBERS.replace("note", "notes"), "no column 'note'; it has system, slug"),
        (NUMBERS.replace("1.5", "1,5"), "line 2: not the 9 fields of the header"),
        (NUMBERS.replace("1.5,,", "1.5"), "line 2: not the 9 fields of the header"),
        (NUMBERS.replace("1.5", "high"), "line 2: value is 'high', no number"),
        (NUMBERS.replace("1.5,", "1.5,nan"), "line 2: std is 'nan', no number"),
        (NUMBERS.replace("S,", '"S,'), "not CSV .*each quote closed"),
        (NUMBERS.replace("S,", "é,").encode("latin-1"), "not UTF-8; convert it"),
        (NUMBERS + NUMBERS.splitlines()[1], "s, b, hau, t, m appears twice"),
    ],
)
def test_a_broken_csv_of_published_numbers_is_told(tmp_path, content, message):
    (tmp_path / "p.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError, match=message) as caught:
        Published(Paper(csv="p.csv"), tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}/p.csv: ") and "\n" not in str(caught.value)


def test_tables_need_no_locale_and_no_home(study, spec, tmp_path):
    outputs = ["--output", str(tmp_path / "a.csv"), "--layout", str(tmp_path / "a.md")]
    outputs += ["--compared", str(tmp_path / "b.csv")]
    done = subprocess.run(
        [sys.executable, "-m", "scripts.tabulate", "--spec", "seedbed/resources/tables/table1.yaml", *study.arguments(spec), *outputs],
        capture_output=True, text=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "±" in (tmp_path / "a.md").read_text(encoding="utf-8")
