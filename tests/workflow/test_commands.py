"""What each program is told: every option of every rule, as the files beside `told/study.yaml` say by hand.

One plan of a study that has everything serves all tests: an option that a rule swaps, forgets or takes from elsewhere is
seen here, before a wrong number comes of it. Commands are parsed, so that quoting is no matter.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.test_house import ALL_RULES, RULES
from tests.workflow.conftest import copy_files

Options = dict[str, Any]
"""Option -> its value, its values, or what the JSON in it says."""

TOLD = Path(__file__).parent / "told"
STUDY, PLAN = (yaml.safe_load((TOLD / f"{name}.yaml").read_text()) for name in ("study", "plan"))
EXPECTED: dict[str, list[Options]] = {}
for room in RULES:
    EXPECTED |= yaml.safe_load((TOLD / f"{room}.yaml").read_text())
CASES = {
    f"{rule} {place}": (rule, options) for rule, expected in EXPECTED.items() for place, options in enumerate(expected)
}
FILES = [
    *(
        ".tsv",
        "-eng.tsv",
        "-eng.test.tsv",
        ".asked.tsv",
        ".human.tsv",
        ".machine.tsv",
        ".triplets.tsv",
        ".pairs.tsv",
        ".pairs.test.tsv",
    ),
    *(".sts.tsv", ".dev.tsv", ".learnt.tsv", ".test.tsv", ".train.tsv", ".wiki.tsv"),
    *(".news.tsv", ".news.train.tsv", ".qa.tsv", ".qa.train.tsv", ".told.tsv", ".sums.tsv"),
]
"""Endings of each language's local files, which nobody reads."""
BY_HAND = {
    "choose_best": {"--encoder", "--also", "--why", "--limits"},  # of tests/unit/study/test_graph_best.py
    "fetch_corpus": {
        "--tests",
        "--trained",
    },  # of tests/unit/corpora/test_leakage.py: every test set, by every translator
    "forecast": {"--costs"},
    "map_texts": {"--english"},  # of test_lira.py: an encoder of two texts, which is on request here
    "plot": {"--languages"},
    "report": {"--max-megabytes", "--sample", "--anchors"},
    "tabulate": {"--paper"},
    "verify": {"--exact", "--write"},
}
"""Options that no rule gives, since their defaults are right."""


def said(value: Any) -> Any:
    """JSON without settings that say nothing."""
    if isinstance(value, dict):
        kept = {key: said(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in (None, "", [], {}) and each is not False}
    return [said(each) for each in value] if isinstance(value, list) else value


def value_of(words: list[str]) -> Any:
    """Of an option: one word or several; of JSON what it says."""
    if len(words) != 1:
        return [value_of([word]) for word in words]
    return said(json.loads(words[0])) if words[0].startswith(('{"', "{}", "[")) else words[0]


def plain(expected: Any) -> Any:
    """What a file beside the study expects, as `value_of` gives it."""
    if isinstance(expected, dict):
        return said(expected)
    if isinstance(expected, list):
        return [said(each) if isinstance(each, dict | list) else str(each) for each in expected]
    return str(expected)


def parsed(command: str) -> tuple[str, Options]:
    """The program that a shell command runs, and what it is told; `stdin`: what is piped into it."""
    words = shlex.split(command)
    start = next(place for place, word in enumerate(words) if word.startswith("scripts."))
    options: dict[str, list[str]] = {"stdin": [words[2]]} if words[0] == "printf" else {}
    for word in words[start + 1 : words.index(">")]:
        if word.startswith("--"):
            name, equals, given = word.partition("=")
            options[name] = [given] if equals else []
        else:
            options[name].append(word)
    return words[start].removeprefix("scripts."), {name: value_of(given) for name, given in options.items()}


def output(options: Options) -> str:
    return options.get("--output") or options["--positive-output"]


@pytest.fixture(scope="module")
def commands(tmp_path_factory) -> list[str]:
    """The shell commands of the plan."""
    project = copy_files(tmp_path_factory.mktemp("told"), STUDY)
    own = project.root / "own"
    for folder in ("generator", "backbone", "other", "published", "translator"):
        (own / folder).mkdir(parents=True)
    languages = ("hau", "hin", "swh", "fra", "eng", "hin-hau")
    names = [f"{lang}{ending}" for lang in languages for ending in FILES]
    for name in [*names, "nli.tsv", "positive.tsv", "negative.tsv", "premises.tsv"]:
        (own / name).touch()
    (project.root / "resources/reference").mkdir()
    for kind in ("tables", "figures", "reference"):
        for name, spec in PLAN[kind].items():
            (project.root / f"resources/{kind}/{name}.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    done = project.snakemake("--dry-run", "--printshellcmds", "--forceall", *PLAN["targets"])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    text = (done.stdout + done.stderr).replace(f"{project.root}/", "")
    return re.findall(r"^(?:Shell command:)? *(.*python -m scripts\..*)$", text, flags=re.M)


@pytest.fixture(scope="module")
def told(commands) -> dict[str, dict[str, Options]]:
    """Rule -> output -> what its program is told."""
    found: dict[str, dict[str, Options]] = {rule: {} for rule in ALL_RULES}
    for program, options in map(parsed, commands):
        assert output(options) not in found[program], "two jobs of one output"
        found[program][output(options)] = options
    threads = found["forecast"]["results/told/forecast.tsv"]["--threads"]
    assert {*threads.values()} == {1} and {"train_encoder", "score", "fetch_model"} < {*threads}
    found["forecast"]["results/told/forecast.tsv"]["--threads"] = "of profiles/demo"
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_program_is_told_this_and_nothing_else(told, case):
    rule, expected = CASES[case]
    assert told[rule].get(output(expected)) == {name: plain(value) for name, value in expected.items()}


def test_every_option_that_a_rule_gives_is_expected_above(told):
    for rule in ALL_RULES:
        given = {name for options in told[rule].values() for name in options}
        assert given == {name for options in EXPECTED.get(rule, []) for name in options}, rule


def test_every_option_of_a_program_is_given_by_its_rule(told):
    """Or nobody but a person needs it: an option that a rule forgets would silently be its default."""
    for rule in ALL_RULES:
        known = set(re.findall(r'"(--[a-z-]+)"', Path(f"scripts/{rule}.py").read_text()))
        given = {name for options in told[rule].values() for name in options}
        assert known - given == BY_HAND.get(rule, set()), rule


def test_only_downloads_reach_the_hub(commands):
    online = {parsed(command)[0] for command in commands if "HF_HUB_OFFLINE=0" in shlex.split(command)}
    assert online == {"fetch_corpus", "fetch_model"}
