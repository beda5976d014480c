"""What each program is told: every argument of every rule, as the files beside `told/study.yaml` say by hand.

One plan of a study that has everything serves all tests: an argument that a rule swaps, forgets or takes from elsewhere
is seen here, before a wrong number comes of it. What all trainings are told alike (STATE, MINUTES) is said once.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from seedbed import yamls
from tests.unit.test_house import ALL_RULES, RULES
from tests.workflow.conftest import Project, copy_files

Value = dict[str, Any]
"""What a program is told, as JSON."""
STATE, MINUTES = "results/told/state", 2.5

TOLD = Path(__file__).parent / "told"
STUDY, PLAN = (yamls.read(TOLD / f"{name}.yaml") for name in ("study", "plan"))
EXPECTED: dict[str, list[Value]] = {}
for room in RULES:
    EXPECTED |= yamls.read(TOLD / f"{room}.yaml")
CASES = {
    f"{rule} {place}": (rule, value) for rule, expected in EXPECTED.items() for place, value in enumerate(expected)
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
SPOKEN = {"language", "languages", "own_prefixes"}
BY_HAND = {
    "copy_encoder": SPOKEN | {"rows", "prompts"},  # of a prefix by language: test_queries.py
    **dict.fromkeys(("train_vocabulary", "adapt_backbone"), SPOKEN | {"prompts", "chosen_prefix"}),
    "build_xllora_examples": {"language"},
    "choose_best": {"encoder", "also", "why", "limits"},  # of tests/unit/study/test_graph_best.py
    "fetch_corpus": {"trained"},  # of tests/unit/corpora/select/test_leakage.py: `apart_from`
    "forecast": {"config", "costs"},
    "map_texts": {"english", "endpoints"},  # of test_lira.py: an encoder of two texts, which is on request here
    "plot": {"languages"},
    "report": {"max_megabytes", "sample", "anchors", "neighbours"},
    "tabulate": {"papers"},
    "verify": {"exact", "write"},
    **dict.fromkeys(("train_encoder", "choose_translations", "fuse_encoders"), {"endpoints"}),  # test_endpoint.py
}
"""Arguments that no rule gives here, since their defaults are right."""


def said(value: Any) -> Any:
    """JSON without settings that say nothing."""
    if isinstance(value, dict):
        kept = {key: said(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in (None, "", [], {}) and each is not False}
    return [said(each) for each in value] if isinstance(value, list) else value


def plain(value: Value) -> Value:
    """Arguments, each as `said`."""
    return {name: each if name == "objective" else said(each) for name, each in value.items()}


def parsed(command: str) -> tuple[str, Value]:
    """The program that a shell command runs, and what it is told on its standard input."""
    words = shlex.split(command)
    start = next(place for place, word in enumerate(words) if word.startswith("scripts."))
    assert words[start + 1 : start + 3] == ["-", "<<<"] and words[start + 4] == ">"
    return words[start].removeprefix("scripts."), json.loads(words[start + 3])


def output(value: Value) -> str:
    """What tells a job of a program from its others."""
    return value.get("output") or value["positive_output"]


def copied_with_study(root: Path) -> Project:
    """The project's files, copied, with the study that has everything and the files that it names, all of them empty."""
    project = copy_files(root, STUDY)
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
    return project


@pytest.fixture(scope="module")
def commands(tmp_path_factory) -> list[str]:
    """The shell commands of the plan."""
    project = copied_with_study(tmp_path_factory.mktemp("told"))
    done = project.snakemake("--dry-run", "--printshellcmds", "--forceall", *PLAN["targets"])
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    text = (done.stdout + done.stderr).replace(f"{project.root}/", "")
    return re.findall(r"^(?:Shell command:)? *(.*python -m scripts\..*)$", text, flags=re.M)


@pytest.fixture(scope="module")
def told(commands) -> dict[str, dict[str, Value]]:
    """Rule -> output -> what its program is told."""
    found: dict[str, dict[str, Value]] = {rule: {} for rule in ALL_RULES}
    for program, value in map(parsed, commands):
        model = importlib.import_module(f"scripts.{program}").Job
        model.model_validate(value)
        assert value.pop("state", STATE) == STATE
        if "checkpoint_minutes" in model.model_fields:
            assert value.pop("checkpoint_minutes") == MINUTES
        assert output(value) not in found[program], "two jobs of one output"
        found[program][output(value)] = plain(value)
    threads = found["forecast"]["results/told/forecast.tsv"]["threads"]
    assert {*threads.values()} == {1} and {"train_encoder", "score", "fetch_model"} < {*threads}
    found["forecast"]["results/told/forecast.tsv"]["threads"] = "of profiles/demo"
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_program_is_told_this_and_nothing_else(told, case):
    rule, expected = CASES[case]
    assert told[rule].get(output(expected)) == plain(expected)


def test_the_order_of_what_is_told_counts(told):
    """JSON of a mapping has an order, which dictionaries that are compared forget: of weights, ties and columns."""
    for rule, cases in EXPECTED.items():
        for expected in cases:
            found = told[rule][output(expected)]
            for name in ("members", "prefixes", "translations", "encoders", "tests", "columns"):
                assert json.dumps(found.get(name)) == json.dumps(plain(expected).get(name)), (rule, name)


def test_every_argument_that_a_rule_gives_is_expected_above(told):
    for rule in ALL_RULES:
        given = {name for value in told[rule].values() for name in value}
        assert given == {name for value in EXPECTED.get(rule, []) for name in value}, rule


def test_every_argument_of_a_program_is_given_by_its_rule(told):
    """Or nobody but a person needs it: an argument that a rule forgets would silently be its default."""
    for rule in ALL_RULES:
        known = {*importlib.import_module(f"scripts.{rule}").Job.model_fields} - {"state", "checkpoint_minutes"}
        given = {name for value in told[rule].values() for name in value}
        assert known - given == BY_HAND.get(rule, set()), rule


def test_only_downloads_reach_the_hub(commands):
    online = {parsed(command)[0] for command in commands if "HF_HUB_OFFLINE=0" in shlex.split(command)}
    assert online == {"fetch_corpus", "fetch_model"}


def test_the_picture_of_the_rules_is_that_of_this_plan():
    spec = importlib.util.spec_from_file_location("rule_graph", "docs/rule_graph.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stages = module.rules()
    drawn = module.picture(stages, module.direct(module.forward(module.edges(), [*stages])))
    assert {*stages} == {*ALL_RULES} and module.PICTURE.read_text() == drawn, "python docs/rule_graph.py"
