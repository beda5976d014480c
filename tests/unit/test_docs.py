"""The pages of the documentation: their links lead somewhere, their numbers are those of the code and of the demo."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.cli import parse_args

from seedbed import model_files, servers
from seedbed.corpora.read import assets, downloads
from seedbed.encoders.export.card import Usage
from seedbed.generators.writing import journal
from seedbed.generators.writing.backends import vllm
from seedbed.init import command as command_line
from seedbed.io import UserError
from seedbed.operations.verify import Reference
from seedbed.resources import spec_file
from seedbed.study import digests
from seedbed.study.model import Study
from seedbed.tables.report import answer
from seedbed.vectors import store
from tests.pages import BLOCKS, PAGES
from tests.unit.tables.test_best import told
from tests.unit.test_house import ALL_RULES

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_links_lead_to_files_and_headings_that_are_there() -> None:
    broken = []
    for page in PAGES:
        for file, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            target = page.parent / file if file else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{page}: {file}#{anchor}")
    assert not broken


def test_files_that_the_page_for_contributors_names_are_there() -> None:
    named = re.findall(r"`([\w/]+/[\w.]+\.(?:py|yaml))`", Path("docs/contributing.md").read_text(encoding="utf-8"))
    assert len(named) > 40 and not [
        name for name in named if not (Path(name).is_file() or Path("seedbed", name).is_file())
    ]


@pytest.mark.parametrize("page", [*PAGES, Path("config/README.md")], ids=str)
def test_a_page_says_for_whom_it_is_and_has_lines_that_an_editor_shows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    plain = re.sub(r"^ {3,}.*$|^\|.*$", "", text, flags=re.M)
    assert re.search(r"^For (any|some)one\b", text, re.M) and max(map(len, plain.splitlines())) <= 200


def commands() -> list[str]:
    """The commands in the pages' blocks that are this project's programs, or Snakemake's or make's."""
    ours = re.compile(r"(?:make|snakemake|seedbed|python -m) ")
    lines = [line for block in BLOCKS for line in block.commands() if ours.match(line)]
    return sorted({one for line in lines for one in line.split(" && ") if not one.startswith(". ")})


@pytest.mark.parametrize("command", [one for one in commands() if one.startswith("snakemake ")])
def test_snakemake_understands_a_command_of_the_pages(command: str) -> None:
    words = shlex.split(command.replace("--profile site.yaml", "").replace("/path/to/seedbed/", ""))
    _, asked = parse_args(words[1:])
    named = {target for target in asked.targets if "/" not in target}
    assert named <= {
        *ALL_RULES,
        *(f"all_{paper}" for paper in ("bootstrapping", "lira", "miners", "modular", "neighxlm")),
    }
    shipped = [file for file in map(Path, asked.configfile or ()) if file.parent.name]
    assert all(file.is_file() for file in shipped)


@pytest.mark.parametrize("command", [one for one in commands() if not one.startswith("snakemake ")])
def test_a_command_of_the_pages_has_its_program_and_options(command: str, monkeypatch, tmp_path: Path) -> None:
    first, *words = shlex.split(command)
    if first == "make":
        phony = Path("Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
        targets = re.search(r"^\.PHONY: (.*)$", phony, re.M)[1].split()
        assert {word for word in words if "=" not in word} <= {*targets}
    elif first == "python":
        source = Path(f"{words[1].replace('.', '/')}.py").read_text(encoding="utf-8")
        options = [
            word.removeprefix("--").partition(".")[0].replace("-", "_") for word in words if word.startswith("--")
        ]
        assert all(option in source.replace("-", "_") for option in options)
    else:
        monkeypatch.chdir(tmp_path)
        with pytest.raises((UserError, SystemExit)) as ended:
            command_line.main(words)
        assert not isinstance(ended.value, SystemExit) or ended.value.code != 2, "argparse: no such option"


STUDY = {
    "languages": {"hau": {}},
    "corpora": {"text": {"file": "a"}, "others": {"paraphrases": {"kind": "paraphrases", "file": "b"}}},
    "backbones": {"bert": {"source": {"file": "c"}}},
    "generators": {"nllb": {"source": {"file": "d"}}},
    "recipes": {"base": {}},
}
"""What examples of single keys leave out."""


def studies() -> Iterator[Any]:
    """The pages' examples of keys of a study; those of docs/contributing.md are run by tests/workflow."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8") if page.name != "contributing.md" else ""
        indented = [textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)]
        for number, block in enumerate([*indented, *re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)]):
            with contextlib.suppress(yaml.YAMLError):
                example = yaml.safe_load(block)
                if isinstance(example, dict) and example.keys() <= Study.model_fields.keys():
                    yield pytest.param(example, id=f"{page}-{number}")


@pytest.mark.parametrize("example", [*studies()])
def test_an_example_of_a_study_is_one(example: dict[str, Any]) -> None:
    Study.model_validate(STUDY | example)


def test_messages_of_the_page_of_troubles_are_those_of_the_code() -> None:
    files = [*Path("seedbed").rglob("*.py"), *Path("scripts").glob("*.py"), *Path("rules").iterdir()]
    code = re.sub(r'"\s*\n\s*f?"', "", "\n".join(file.read_text(encoding="utf-8") for file in files))
    rows = re.findall(r"^\| (`[^|]*)\|", Path("docs/troubleshooting.md").read_text(encoding="utf-8"), re.M)
    parts = {part.strip(" :;") for row in rows for said in re.findall(r"`([^`]+)`", row) for part in said.split("...")}
    assert len(parts) > 60 and not [part for part in parts if part not in code]


def test_the_bounds_that_operations_promises_are_those_of_the_code() -> None:
    text = Path("docs/operations.md").read_text(encoding="utf-8")
    gib = {assets.UNPACKED, downloads.DOWNLOAD}
    mib = {assets.SMALL, servers.LARGEST, model_files.LARGEST, digests.SMALL}
    numbers = [f" {bound >> 30} GiB" for bound in gib] + [f" {bound >> 20} MiB" for bound in mib]
    numbers += [
        f"{journal.COMMIT_ROWS} completions",
        f"{vllm.CHUNK:,} at a time",
        f"{store.CHUNK:,} texts",
        f"{store.BOUGHT} of an",
    ]
    assert not [number for number in numbers if number not in " ".join(text.split())] and assets.RATIO == 50


def program(name: str):
    """A program of docs/."""
    spec = importlib.util.spec_from_file_location(name, f"docs/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_show_the_numbers_of_the_pages() -> None:
    for path, draw in program("pictures").FILES.items():
        assert path.read_text(encoding="utf-8") == draw(), "python docs/pictures.py"
        assert any(path.name in page.read_text(encoding="utf-8") for page in PAGES)


def test_a_page_has_the_lines_in_which_the_demo_ends() -> None:
    """Word for word as `make demo`, answer.md and the report have them; the numbers are those of the reference."""
    generate = program("generate")
    page = generate.ANSWERED.read_text(encoding="utf-8")
    best = {"results/demo/best/hau": told()}
    lines = answer.text(best).split("\n", 1)[1]
    changed = generate.with_answer(page, best)
    assert f"{generate.ANSWER}{lines}{generate.END}" in changed and answer.TITLE not in changed
    assert changed.partition(generate.ANSWER)[0] == page.partition(generate.ANSWER)[0]
    assert changed.partition(generate.END)[2] == page.partition(generate.END)[2]
    assert generate.answered() == page, "python docs/generate.py"
    both = f"{answer.IMPORT}\n{answer.line_of('results/demo/best/hau', Usage())}"
    assert both in page, "which tests/workflow/test_place.py runs"


def test_the_numbers_of_these_lines_are_those_of_the_demos_table() -> None:
    reference = Reference.load(spec_file("reference", "demo"))
    for one in reference.best.values():
        scores = reference.numbers["table1"][one["backbone"]][f"Bitext retrieval ({one['test']['task']})"]
        for recipe, number in {one["recipe"]: one["test"]["score"], **one["test"]["others"]}.items():
            if recipe in scores:
                assert number["value"] == pytest.approx(scores[recipe][one["language"]].value, abs=2e-3)
