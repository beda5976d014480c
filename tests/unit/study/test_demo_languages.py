"""The demo in languages that it does not name: which text and tests each has, and what is said where there is none."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from seedbed import yamls
from seedbed.io import UserError
from seedbed.languages import registry
from seedbed.study.graph.best_encoder import BestEncoder
from seedbed.study.loading import load
from seedbed.study.model import Study

DEMO = yamls.read("config/demo.yaml")
COVERED = [code for code, row in registry().items() if code != "eng" and (row["kolibri"] or row["django"])]


def demo(*codes: str) -> Study:
    """The demo with these languages, too, as `make demo LANGUAGES=...` has it."""
    return load(DEMO | {"languages": DEMO["languages"] | {code: {} for code in codes}})


def test_each_language_of_either_package_has_text_and_two_tests_that_share_no_row():
    added = [code for code in COVERED if code not in DEMO["languages"]]
    study = demo(*added)
    assert len(COVERED) >= 60
    for code in added:
        package = "kolibri" if registry()[code]["kolibri"] else "Django"
        for source in (study.corpus("text", code), *(study.test(task, code) for task in study.tests_of(code))):
            assert next(iter(source.package)).startswith(package) and "{" not in source.member
        assert study.tests_of(code) == ["kolibri-bitext", "kolibri-dev"]
        assert BestEncoder.get(study, code).reported_on == "kolibri-bitext"


def test_a_language_of_django_alone_is_planned_with_its_encoders_scores_and_answer():
    best = BestEncoder.get(demo("afr"), "afr")
    assert {encoder.recipe for encoder in best.candidates} == {*DEMO["recipes"]}
    assert {file.split("/")[-1] for file in best.scores} == {"afr.all.json"}
    assert best.chosen_on == ["kolibri-dev"]


def test_the_demos_own_languages_have_what_they_had():
    study, alone = demo("afr"), load(DEMO)
    for code in DEMO["languages"]:
        assert study.tests_of(code) == alone.tests_of(code) == ["graded-sts", "kolibri-bitext", "kolibri-dev"]
        assert study.corpus("text", code).otherwise is None
        assert BestEncoder.get(study, code).reported_on == "kolibri-bitext"


def test_of_a_language_in_neither_package_one_line_says_what_to_bring():
    with pytest.raises(UserError) as caught:
        demo("kin")
    assert all(word in str(caught.value) for word in ("languages.kin", "kin.txt", "seedbed init"))


def test_the_list_of_languages_is_of_these_packages():
    lines = re.findall(r"^\| (\S+) \| .* \| (\S+==\S+) \| .*", Path("docs/demo-languages.md").read_text(), re.M)
    study = Study.model_validate(DEMO | {"languages": dict.fromkeys(COVERED, {})})
    assert lines == [(code, next(iter(study.corpus("text", code).package))) for code in COVERED]


def test_make_adds_the_languages_that_it_is_given():
    command = ["make", "-n", "demo", "LANGUAGES=afr hau yor"]
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    changes = {}
    for name, value in re.findall(r"'(\w+)=(\{.*?\})'(?= |$)", said.replace("\\\n", ""), re.M):
        changes[name] = yaml.safe_load(value)
    assert changes == {"languages": {"afr": {}, "yor": {}}}
    assert "--configfile config/demo.yaml  --config " in said
    plain = subprocess.run(
        command[:-1], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    ).stdout
    assert "--config " not in plain and "demo-languages" not in plain.split("docs/demo-languages.md")[1]
