"""Numbers of a run beside those of a reference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scripts import verify as program
from seedbed.io import UserError, write_json
from seedbed.operations.verify import Reference, compared, differing
from seedbed.resources import spec_file
from seedbed.tables.tabulate import COLUMNS
from tests.programs import call

HEAD = "# Why so far.\ncommand: make it\ntolerances: {base: 0.5, xllora: 2}\n"
ROWS = {"base": ("24.0", "20.0", "28.0", "120"), "xllora": ("30.0", "25.5", "34.5", "120")}


def table(folder: Path, **changes: tuple[str, ...]) -> Path:
    """A table of two recipes in one language."""
    lines = [",".join(COLUMNS)]
    for recipe, numbers in (ROWS | changes).items():
        row = dict(zip(("value", "low", "high", "n"), numbers, strict=True))
        row |= {"backbone": "me5", "column": "STS", "recipe": recipe, "language": "nan"}
        lines.append(",".join(row.get(name, "") for name in COLUMNS))
    path = folder / "table9.csv"
    path.write_text("\n".join([*lines, ""]))
    return path


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    """What `--write` makes of that table."""
    path = tmp_path / "reference.yaml"
    path.write_text(f"{HEAD}numbers: {{}}\n")
    call(program, ["--reference", str(path), "--tables", str(table(tmp_path)), "--write"])
    return path


@pytest.fixture
def lines(tmp_path: Path, reference: Path) -> Callable[..., list[str]]:
    """A function: what differs once rows have other numbers."""

    def found(*, exact: bool = False, **changes: tuple[str, ...]) -> list[str]:
        tables = {"table9": table(tmp_path, **changes)}
        return differing(compared(Reference.load(reference), tables, exact=exact))

    return found


def test_numbers_are_written_below_what_a_person_wrote(reference):
    text = reference.read_text()
    assert (
        text.startswith(f"{HEAD}numbers:\n") and "\n          nan: {value: 24.0, low: 20.0, high: 28.0, n: 120}" in text
    )


def test_what_was_chosen_is_written_beside_them_and_stays(tmp_path, reference):
    manifest = tmp_path / "best/nan/seedbed.json"
    write_json({"files": {}, "best": {"name": "Min Nan", "rows": 64}}, manifest)
    words = ["--reference", str(reference), "--tables", str(table(tmp_path)), "--write"]
    call(program, [*words, "--best", str(manifest.parent)])
    call(program, words)
    assert Reference.load(reference).best == {str(manifest.parent): {"name": "Min Nan", "rows": 64}}
    assert reference.read_text().startswith(f"{HEAD}numbers:\n")
    write_json({"files": {}}, manifest)
    with pytest.raises(UserError, match=r"seedbed\.json: no `best`.*choose_best"):
        call(program, [*words, "--best", str(manifest.parent)])


def test_a_run_that_gives_them_again_differs_nowhere(lines):
    assert lines() == lines(exact=True) == lines(base=("24.5", "20.0", "27.5", "120")) == []
    assert lines(other=("1", "0", "2", "120")) == []


def test_each_number_that_differs_is_a_line(lines):
    assert lines(base=("24.501", "20.0", "28.0", "119"), xllora=("", "25.5", "36.6", "120")) == [
        "table9, STS, me5, base, nan: value is 24.501, expected 24 within 0.5",
        "table9, STS, me5, base, nan: n is 119, expected 120",
        "table9, STS, me5, xllora, nan: value is missing, expected 30 within 2",
        "table9, STS, me5, xllora, nan: high is 36.6, expected 34.5 within 2",
    ]
    assert lines(exact=True, base=("24.1", "20.0", "28.0", "120")) == [
        "table9, STS, me5, base, nan: value is 24.1, expected 24"
    ]


def test_a_row_that_is_gone_is_told(tmp_path, reference):
    path = table(tmp_path)
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if ",base," not in line))
    missing = differing(compared(Reference.load(reference), {"table9": path}))
    assert len(missing) == 4 and all("base, nan: " in line and "is missing" in line for line in missing)


def test_the_program_ends_with_exit_code_1_and_writes_nothing(tmp_path, reference, capsys):
    output = tmp_path / "verify.tsv"
    words = ["--reference", str(reference), "--tables", str(table(tmp_path)), "--output", str(output)]
    call(program, words)
    assert len(output.read_text().splitlines()) == 9
    output.unlink()
    table(tmp_path, base=("99.0", "20.0", "28.0", "120"))
    with pytest.raises(UserError, match=r"^1 of 8 numbers.*`make it`"):
        call(program, words)
    assert capsys.readouterr().out == "table9, STS, me5, base, nan: value is 99, expected 24 within 0.5\n"
    assert not output.exists()


def chosen(folder: Path, recipe: str) -> Path:
    """The manifest of a best encoder."""
    manifest = folder / "best/nan/seedbed.json"
    write_json({"files": {}, "best": {"backbone": "me5", "recipe": recipe}}, manifest)
    return manifest


def test_another_best_encoder_or_none_is_a_line(tmp_path, reference, capsys):
    manifest, words = chosen(tmp_path, "xllora"), ["--reference", str(reference), "--tables", str(table(tmp_path))]
    call(program, [*words, "--best", str(manifest.parent), "--write"])
    call(program, [*words, "--best", str(manifest.parent)])
    for best, found in (["--best", str(chosen(tmp_path, "base").parent)], "base of me5"), ([], "missing"):
        with pytest.raises(UserError, match=r"^1 of 9 numbers and choices differ.*`make it`"):
            call(program, [*words, *best])
        assert capsys.readouterr().out == f"{manifest.parent}: {found}, expected xllora of me5\n"


def test_what_cannot_be_compared_is_told(tmp_path, reference):
    text = reference.read_text()
    reference.write_text(text.replace("base: 0.5, ", ""))
    with pytest.raises(UserError, match="tolerances: none for recipe 'base'"):
        compared(Reference.load(reference), {"table9": table(tmp_path)})
    with pytest.raises(UserError, match="table table9: not among table8"):
        compared(Reference.load(reference), {"table8": table(tmp_path)})


def test_the_demo_has_a_reference_of_all_its_numbers():
    numbers = Reference.load(spec_file("reference", "demo")).numbers["table1"]["me5-small"]
    assert {column: {*recipes} for column, recipes in numbers.items()} == dict.fromkeys(
        ("STS", "Bitext retrieval (kolibri-bitext)", "Bitext retrieval (kolibri-dev)"),
        {"base", "unsupervised", "crosslingual", "prompting", "composition", "xllora", "mixed"},
    )
    assert all({*found} == {"hau", "ind", "avg"} for recipes in numbers.values() for found in recipes.values())
