"""docs/your-language.md keeps its word: its studies load and can be planned, each piece of its advice too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.cli import parse_args

from seedbed.io import UserError
from seedbed.resources import spec_file
from seedbed.study.graph.best_encoder import Answer
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.tables.figures.specs import FigureSpec
from tests.refusals import tells

PAGE = Path("docs/your-language.md").read_text()
WHOLE, FROM_HUBS, SMALL = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.S))
COMMANDS = re.findall(r"^    (snakemake --configfile study.yaml (?!.*--snakefile).*)$", PAGE, flags=re.M)
RECIPES = list(WHOLE["recipes"])
NEEDS = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", Path("docs/recipes.md").read_text(), flags=re.M))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all files that the page names; what is in them is no matter here."""
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"own/[\w{}.-]+\w", PAGE):
        for file in {name.replace("{lang}", code) for code in ("hau", "eng", "fra", "spa")}:
            if Path(file).suffix:
                Path(file).parent.mkdir(exist_ok=True)
                Path(file).touch()
            else:
                Path(file).mkdir(parents=True, exist_ok=True)
    return tmp_path


def planned(changes: dict[str, Any]) -> Study:
    """The page's study with other settings, loaded, its tables planned."""
    study = load(WHOLE | changes)
    assert all(TablePlan.get(study, table).blocks for table in study.tables)
    drawn = [FigureSpec.load(spec_file("figures", figure)).table for figure in study.figures]
    assert all(TablePlan.get(study, table).blocks for table in drawn)
    return study


def without(*recipes: str) -> dict[str, Any]:
    return {"recipes": {name: {} for name in RECIPES if name not in recipes}}


def test_the_page_has_a_study_of_files_and_what_can_stand_in_it_instead(place: Path) -> None:
    assert Answer.get(planned({})).unchosen() == [] and planned({}).baseline == "crosslingual"
    study = planned(FROM_HUBS | {"corpora": WHOLE["corpora"] | FROM_HUBS["corpora"], "languages": {"hau": {}}})
    assert study.corpus("text", "hau").archive.endswith("hau_wikipedia_2021_30K.tar.gz")


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_can_be_left_out_or_stand_alone(place: Path, recipe: str) -> None:
    assert planned(without(recipe)).baseline == ("base" if recipe == "crosslingual" else "crosslingual")
    (block, *_) = TablePlan.get(planned(without(*{*RECIPES} - {recipe})), "table1").blocks
    assert block.baseline == recipe and [*block.names] == [recipe]


def test_a_baseline_that_is_asked_for_must_be_there(place: Path) -> None:
    assert TablePlan.get(planned({"statistics": {"baseline": "xllora"}}), "table1").blocks[0].baseline == "xllora"
    with pytest.raises(UserError, match="^config: .*statistics.baseline: no recipe 'crosslingual'"):
        load(WHOLE | without("crosslingual") | {"statistics": {"baseline": "crosslingual"}})


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_needs_what_the_page_says_and_nothing_else(place: Path, recipe: str) -> None:
    needed = re.findall(r"corpora\.(\w+)", NEEDS[recipe])
    corpora = {role: WHOLE["corpora"][role] for role in needed if role in WHOLE["corpora"]}
    generators = WHOLE["generators"] if "generator" in NEEDS[recipe] else {}
    languages = {"hau": {}}  # xyz brings text of its own
    enough = without(*{*RECIPES} - {recipe}) | {"corpora": corpora, "generators": generators, "languages": languages}
    planned(enough)
    for role in corpora:
        with pytest.raises(UserError, match=role):
            load(WHOLE | enough | {"corpora": {name: source for name, source in corpora.items() if name != role}})
    if generators:
        with pytest.raises(UserError, match="needs a generator"):
            load(WHOLE | enough | {"generators": {}})


def test_an_encoder_is_trained_for_a_language_without_tests(place: Path) -> None:
    study = planned(SMALL)
    assert Answer.get(study).unchosen() == [f"{study.results}/encoders/my-encoder/unsupervised/xyz/1/seedbed.json"]
    assert {code for block in TablePlan.get(study, "table1").blocks for code in block.tests} == {"hau"}
    with pytest.raises(UserError, match=r"languages.xyz: no test set.*no recipe trains"):
        load(WHOLE | SMALL | {"recipes": {"base": {}}})


def test_the_pivots_sentences_are_asked_for_with_the_reason(place: Path) -> None:
    lone = SMALL | {
        "corpora": {},
        "languages": {"xyz": SMALL["languages"]["xyz"], "hau": {"corpus": {"file": "own/hau.tsv"}}},
    }
    with pytest.raises(UserError, match=r"corpora.text: nothing for eng.*identification"):
        load(WHOLE | lone)
    assert load(WHOLE | lone | {"anchors": {"language_id": False}})
    Path("own/eng.tsv").unlink()
    with pytest.raises(UserError, match=r"text corpus of eng.*tells hau from.*no such"):
        load(WHOLE | SMALL)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"languages": {"rw": {}}}, "config.languages: 'rw' ... ISO 639-3 ... 'kin'"),
        ({"languages": {"Hausa": {}}}, "config.languages: 'Hausa' ... ISO 639-3 ... 'hau'"),
        ({"backbones": {"e5": "intfloat/e5"}}, "config.backbones.e5: ... {source: {hub: intfloat/e5}} or {source: {file: intfloat/e5}}"),
        ({"languages": {"hau": {"corpus": "own/hau.tsv"}}}, "hau.corpus: ... {hub: own/hau.tsv} or {file: "),
        ({"languages": {"hau": {"corpus": ["own/hau.tsv"]}}}, "config.languages.hau.corpus: expected settings, not "),
        ({"training": 3}, "config.training: ... '3'; known: adapter, "),
    ],
)  # fmt: skip
def test_a_first_guess_is_told_what_was_meant(place: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        load(WHOLE | changes)
    assert tells(str(caught.value), message)


@pytest.mark.parametrize("command", COMMANDS)
def test_snakemake_understands_the_commands_of_the_page(command: str) -> None:
    _, asked = parse_args(command.split()[1:])
    assert [str(file) for file in asked.configfile] == ["study.yaml"]
    assert asked.show_failed_logs or asked.dryrun
    assert {*asked.targets} == {word for word in command.split() if word.startswith("results/")}


def test_files_that_the_page_asks_for_are_of_its_study(place: Path) -> None:
    study = load(WHOLE)
    for file in re.findall(r"(results/\S+)$", "\n".join(COMMANDS), flags=re.M):
        _, _, room, owner, made, *rest = Path(file).parts
        assert file.startswith(f"{study.results}/") and made in study.recipes and room in ("triplets", "encoders")
        assert owner in getattr(study, {"triplets": "generators", "encoders": "backbones"}[room])
        assert rest[0].partition(".")[0] in study.languages
