"""Each example in a docstring of the library is read with a whole study, which has what the example names."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed import yamls
from seedbed.encoders import objectives
from seedbed.evaluation import protocols
from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.resources import ROOT
from seedbed.study.loading import load
from seedbed.study.model import Study

STUDY = """
seeds: [1, 2]
languages: {hau: {}}
corpora:
  text: {file: "own/{lang}.txt"}
  parallel: {file: "own/{lang}-eng.tsv"}
  others:
    paraphrases: {kind: paraphrases, file: "own/{lang}.paraphrases.tsv"}
    questions: {kind: matched_pairs, file: "own/{lang}.questions.tsv"}
    adjacent: {kind: matched_pairs, file: "own/{lang}.adjacent.tsv"}
    own-texts: {file: "own/{lang}.texts.tsv"}
    running: {file: "own/{lang}.running.tsv"}
backbones:
  labse: {source: {hub: sentence-transformers/LaBSE}}
  mpnet: {source: {hub: sentence-transformers/all-mpnet-base-v2}}
  both: {pair: {multilingual: labse, english: mpnet}}
translators:
  one: {given: {file: "own/{lang}.one.tsv"}}
  another: {given: {file: "own/{lang}.another.tsv"}}
recipes:
  base: {}
  published: {like: base}
  unsupervised: {}
  multi-m: {like: unsupervised}
  xllora: {like: unsupervised}
  xllora-trimmed: {from: xllora, data: {corpus: text}, copies: trimmed}
tasks:
  semrel-sts: {protocol: sts, source: {file: "own/{lang}.sts.tsv"}}
  tatoeba: {protocol: bitext, source: {file: "own/{lang}-eng.test.tsv"}}
"""
"""What the examples name."""
TERMS = re.compile(r"\S.*?\S {2,}\S")
"""How a list of names begins that has in a second column what each is: the one indented paragraph that is no example."""


def examples(code: str) -> Iterator[str]:
    """The examples in the docstrings of a file: of modules, classes and functions, and those after a value."""
    for node in statements(ast.parse(code)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            margin = " " * node.col_offset  # that of the first line, which begins behind the quotes
            for paragraph in re.split(r"\n\s*\n", textwrap.dedent(margin + node.value.value.strip())):
                if paragraph.startswith((" ", ">>>", "```")) and not TERMS.match(paragraph.strip()):
                    yield textwrap.dedent(paragraph)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within one, of which an expression may be a docstring."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from statements(child)


EXAMPLES = [
    pytest.param(file, example, id=f"{file.relative_to(ROOT)}-{number}")
    for file in sorted((ROOT / "seedbed").rglob("*.py"))
    for number, example in enumerate(examples(file.read_text(encoding="utf-8")))
]


def merged(below: Any, above: Any) -> Any:
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return below | {key: merged(below.get(key), value) for key, value in above.items()}


def files(settings: dict[str, Any]) -> Iterator[str]:
    for key, value in settings.items():
        if key == "file":
            yield from (value.format(**registry()[code], lang=code) for code in ("hau", "eng"))
        elif isinstance(value, dict):
            yield from files(value)


def read(example: str) -> tuple[dict[str, Any], Study]:
    """An example, of keys of a study or of tasks, and the study with it; UserError: the fault in it.

    All is read but the rows of corpora: their files are there, and empty.
    """
    place = Path("example.yaml")
    place.write_text(example, encoding="utf-8")
    told = yamls.read(place)
    if all(isinstance(entry, dict) and "protocol" in entry for entry in told.values()):
        told = {"tasks": told}
    config = merged(yaml.safe_load(STUDY), told)
    for file in map(Path, files(config)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return told, load(config)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("file", "example"), EXAMPLES)
def test_an_example_is_read_and_is_of_the_file_that_it_stands_in(file: Path, example: str) -> None:
    told, study = read(example)
    shown = {task: study.tasks[task].protocol for task in told.get("tasks", ())}
    shown |= {recipe: next(iter(study.recipes[recipe].objective), "") for recipe in told.get("recipes", ())}
    if file.parent.name in ("objectives", "protocols"):
        assert {*shown.values()} == {file.stem}


def test_each_objective_and_each_protocol_has_an_example() -> None:
    modules = [objectives.module_of(name) for name in objectives.known()]
    modules += [protocols.module_of(name) for name in protocols.names()]
    found = [str(param.values[0].relative_to(ROOT)) for param in EXAMPLES]
    assert not {*modules} - {*found}


@pytest.mark.parametrize(
    ("example", "key"),
    [
        ('recipes: {a: {data: {corpus: {file: "q.tsv"}}, objective: listwise}}', "config.recipes.a.data.corpus"),
        (
            "recipes: {a: {data: {corpus: questions}, objective: graded}}",
            "config: recipes.a: data.corpus has sentence1, sentence2; graded reads",
        ),
        ("recipes: {a: {data: {corpus: nowhere}, objective: ranking}}", "nowhere"),
        ("recipes: {a: {data: {corpus: questions}, objective: {ranking: {scales: 20}}}}", "scales"),
        ("recipes: {a: {from: nothing, data: {corpus: text}, copies: bfloat16}}", "nothing"),
        ("recipe: {a: {}}", "config.recipe"),
        ('own: {protocol: sts, source: {files: "own.tsv"}}', "config.tasks.own.source.files"),
        ("own: {protocol: lengths, set_of: tatoeba, k: [2]}", "config.tasks.own: k"),
        ("own: {protocol: sts, set_of: nowhere}", "nowhere"),
        ("recipes: {a: {}", "example.yaml: not YAML"),
    ],
)
def test_an_example_that_cannot_be_read_is_told(example: str, key: str) -> None:
    with pytest.raises(UserError, match=re.escape(key)):
        read(example)


def test_examples_are_found_in_all_docstrings_and_lists_of_names_are_none() -> None:
    """An example in Python would be found too, and is no study: whoever writes the first says here how it is run."""
    code = '''
"""A module.

    tasks: {a: {}}

More.
"""
A = 1
"""A value.

    seeds: [1]

>>> 1 + 1
"""
class B:
    """A class.

        NAME    what it is
        OTHER   what it is

        b:
          c: 1

    Raises:
        UserError: a fault.
    """
    def d(self):
        """A method.

            e: {}
        """
'''
    assert sorted(examples(code)) == [">>> 1 + 1", "b:\n  c: 1", "e: {}", "seeds: [1]", "tasks: {a: {}}"]
