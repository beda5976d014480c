"""Values that are wrong, at places drawn from all keys of the shipped configurations: each stops with one line."""

from __future__ import annotations

import copy
import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seedbed import yamls
from seedbed.init import command
from seedbed.io import UserError
from seedbed.study.loading import load

STUDIES = {path.stem: yamls.read(path) for path in [Path("config.yaml"), *Path("config").glob("[!d]*.yaml")]}
STUDIES["demo"] = yamls.read("config/demo.yaml")
DRAWN = 60
Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Each place of a configuration, and what is there."""
    if place:
        yield place, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*place, key))


def wrong(value: Any) -> list[Any]:
    """What can be right nowhere where this value is."""
    match value:
        case bool():
            return ["maybe", "true", 2, []]
        case int():
            return ["seven", str(value), -5, True, [], {"a": 1}]
        case float():
            return ["seven", -5.0, math.nan, math.inf, True, [], {}]
        case str():
            return [{"a": 1}, 1.5, True, [None], f"{value}\0", f"{value}\x1b[2J"]
        case list():
            return ["some, more", 7, {"a": 1}, [[]], [None], [{}]]
        case dict():
            return [["a"], 7, "text"]
        case _:
            return [object()]


def with_value(study: dict, place: Place, value: Any) -> dict:
    changed = copy.deepcopy(study)
    at: Any = changed
    for key in place[:-1]:
        at = at.setdefault(key, {}) if isinstance(at, dict) else at[key]
    at[place[-1]] = value
    return changed


def drawn() -> list[tuple[str, Place, Any]]:
    chance = random.Random(20261125)
    found = []
    while len(found) < DRAWN:
        study = chance.choice(sorted(STUDIES))
        place, value = chance.choice(list(places(STUDIES[study])))
        found.append((study, place, chance.choice(wrong(value))))
    return found


def shown(part: Any) -> str:
    """A part of a test's name, which is the same in every process."""
    return re.sub(r" at 0x\w+|[^ -~]", "?", str(part))[:60]


@pytest.mark.parametrize(("study", "place", "value"), drawn(), ids=shown)
def test_a_wrong_value_is_one_line_that_names_its_key(study: str, place: Place, value: Any) -> None:
    with pytest.raises(UserError) as caught:
        load(with_value(STUDIES[study], place, value))
    line = str(caught.value)
    assert "\n" not in line and line.isprintable()
    keys = [str(key) for key in place if isinstance(key, str)]
    assert any(key in line for key in keys[-2:]), line


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("training.batch_size", 1, ["training.batch_size", "2 or more"]),
        ("generators.gemma-3-270m.lora.targets", "(", ["generators.gemma-3-270m.lora.targets", "all-linear"]),
        (
            "generators.gemma-3-270m",
            {"source": {"file": "."}, "language_data": "text", "language_loss": "response"},
            ["generators.gemma-3-270m.language_loss", "trained on text", "leave it out"],
        ),
        (
            "recipes.near",
            {"data": {"neighbours": "layer9", "by": "gemma-3-270m"}, "objective": "neighbours"},
            ["recipes.near.data", "by", "`written`", "leave it out"],
        ),
        ("generators.gemma-3-270m.lora.rank", 10**9, ["generators.gemma-3-270m.lora.rank", "4096"]),
        ("statistics.resamples", 10**12, ["statistics.resamples", "1000000"]),
        ("backbones.me5-small.prefix", "query\0: ", ["backbones.me5-small.prefix", "remove"]),
        ("tasks.graded-sts.source", None, ["best.mean_with", "tasks.graded-sts.source"]),
        ("seeds", [True], ["seeds.0", "integer"]),
        ("training.epochs", [2], ["training.epochs"]),
        ("corpora.text", {"archive": "foo.zip"}, ["corpora.text", "https://host/file.zip", "file:"]),
        ("corpora.text", {"archive": "javascript:alert(1)"}, ["corpora.text", "https://host/file.zip"]),
        ("corpora.text", {"archive": "http://host/é.txt"}, ["corpora.text", "ASCII"]),
        ("corpora.text", {"archive": "http://[::1/x"}, ["corpora.text", "archive"]),
        ("corpora.text", {"archive": "http://a..b/x.zip"}, ["corpora.text", "archive", "a..b"]),
        ("corpora.text", {"archive": f"https://{'a' * 64}.org/x.zip"}, ["corpora.text", "archive", "63"]),
        ("corpora.text", {"archive": "http:///x.zip"}, ["corpora.text", "archive", "no host"]),
        ("corpora.text", {"archive": "http://h:99999/x.zip"}, ["corpora.text", "archive", "65535"]),
        (
            "generators.gemma-3-270m",
            {"backend": "openai", "endpoint": "http://a..b/v1"},
            ["gemma-3-270m.endpoint", "host"],
        ),
        ("corpora.text", {"package": {"kolibri": ""}}, ["corpora.text.package", "kolibri==0.18.1"]),
        ("corpora.text", {"package": {"--index-url=http://host": ""}}, ["corpora.text.package", "kolibri==0.18.1"]),
        ("corpora.text", {"package": {"kolibri==0.18.*": ""}}, ["corpora.text.package", "kolibri==0.18.1"]),
        ("corpora.text", {"package": {"kolibri==0.18.1": ""}}, ["corpora.text", "kolibri==0.18.1", "`member:`"]),
        ("corpora.text", {"file": "x.txt", "sha256": "0" * 63}, ["corpora.text.sha256", "64"]),
        ("generators.a/b", {"backend": "published"}, ["generators", "a/b", "letters"]),
        ("tasks.a_b", {"protocol": "sts"}, ["tasks", "a_b", "letters"]),
        ("tables", ["a-b"], ["tables.0", "letters"]),
        ("languages", ["hau"], ["languages", "hau: {}"]),
        ("seeds", [], ["seeds", "at least 1"]),
        ("corpora.text.member", "{nosuch}.txt", ["corpora.text", "'nosuch'"]),
        ("corpora.text", {"file": "no-such.txt"}, ["corpora.text", "no-such.txt"]),
        ("languages.hau", {"corpus": {"file": "no-such.txt"}}, ["languages.hau.corpus", "no-such.txt"]),
        ("recipes.base", {"only": {"backbones": [""]}}, ["recipes.base.only.backbones", "no backbone ''"]),
        (
            "recipes.taught",
            {
                "data": {"corpus": "parallel"},
                "objective": {"distillation": {"teacher": {"backbone": "me5-small", "recipe": ""}}},
            },
            ["recipes.taught.objective.teacher", "no recipe ''"],
        ),
        (
            "recipes.taught",
            {
                "data": {"corpus": "parallel"},
                "objective": {"distillation": {"teacher": {"backbone": "", "recipe": "base"}}},
            },
            ["recipes.taught.objective.teacher", "no backbone ''"],
        ),
        ("pivot", "qqq", ["pivot: qqq", "registry"]),
        ("tasks.graded-sts.languages", ["hau", "qqq"], ["tasks.graded-sts.languages", "qqq"]),
        ("tasks.graded-sts.mteb", {"name": "STS17", "subset": "{langg}"}, ["tasks.graded-sts.mteb.subset", "'lang'"]),
        ("generators.gemma-3-270m.xllora.languages", ["qqq"], ["generators.gemma-3-270m.xllora.languages: qqq"]),
    ],
)
def test_what_was_found_hours_later_or_never_is_found_by_the_plan(place: str, value: Any, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load(with_value(STUDIES["demo"], tuple(place.split(".")), value))
    assert all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1,\n", ["study.yaml", "line 2"]),
        ("a:\n\tb: 1\n", ["study.yaml", "line 2"]),
        ("a: 1\na: 2\n", ["study.yaml", "line 2", "keep one"]),
        ("- a\n", ["study.yaml", "languages"]),
        ("__use_yte__: true\n", ["study.yaml", "program"]),
        ("languages: {hau: {}}\n", ["config.backbones"]),
        ("seeds: [1]\n", ["config.languages", "seedbed check config.yaml ", "study.yaml`"]),
        (b"\xff\xfe", ["study.yaml"]),
        ("a: 1\nb: &x\n  c: [*x]\n", ["study.yaml", "line 2", "holds itself"]),
    ],
)
def test_check_says_what_is_wrong_with_a_file(tmp_path: Path, text: str | bytes, words: list[str]) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SystemExit) as caught:
        command.main(["check", str(path)])
    line = str(caught.value)
    assert line.startswith("error: ") and "\n" not in line and all(word in line for word in words), line


def test_a_name_with_braces_which_snakemake_fills_in_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "{lang}.yaml"
    path.write_text(Path("config/demo.yaml").read_text())
    with pytest.raises(SystemExit, match=r"\{lang\}.yaml: .* rename it"):
        command.main(["check", str(path)])


def test_check_says_that_nothing_is_wrong_of_files_that_are_laid_over_each_other(capsys: pytest.CaptureFixture) -> None:
    command.main(["check", "config/demo.yaml", "config/demo-six.yaml"])
    command.main(["check", "config/demo.yaml", "--config", "seeds=[1, 2]", "results=elsewhere"])
    for given, fault in (("seeds=[0.5]", "seeds"), ("seeds", "seeds"), ("seeds=[1", "KEY=VALUE")):
        with pytest.raises(SystemExit, match=fault):
            command.main(["check", "config/demo.yaml", "--config", given])
    assert "nothing is wrong" in capsys.readouterr().out


def test_check_finds_what_only_the_plan_of_a_table_or_an_address_shows(capsys: pytest.CaptureFixture) -> None:
    generator = (
        "{backend: openai-chat, endpoint: 'http://a.example/v1', served_model: m, key: KEY, sampling: {top_k: 0}}"
    )
    command.main(["check", "config/demo.yaml", "--config", f"generators={{distant: {generator}}}"])
    assert capsys.readouterr().err.startswith("warning: http://a.example/v1: the token")
    with pytest.raises(SystemExit, match="error: table .*no task"):
        command.main(["check", "config/demo.yaml", "--config", "tables=[labels]", "figures=[]"])


def test_check_warns_of_a_task_that_is_not_scored(capsys: pytest.CaptureFixture) -> None:
    command.main(["check", "config/demo.yaml", "--config", "tasks={spare: {protocol: norms, set_of: kolibri-bitext}}"])
    said = capsys.readouterr()
    assert (
        said.err.startswith("warning: tasks.spare: ") and said.err.count("\n") == 1 and "nothing is wrong" in said.out
    )
