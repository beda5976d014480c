"""Which scores are made in one job: all of a language model's variants, in a share of the languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed import yamls
from seedbed.io import UserError
from seedbed.study.graph.classifier import StudyClassifier
from seedbed.study.graph.figure import Figure
from seedbed.study.graph.report import Paper
from seedbed.study.graph.score import LANGUAGES, Scores, _split, shares_of
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.tables.plan import Cell
from tests.asking import TOLD, asking, study_of, within

MUL = {"lang": "mul", "test_lang": "mul"}
ASKED = {"backbone": "likely", "recipe": "all", "tasks": "all"} | MUL
FAR = ASKED | {"tasks": "icl"}
BERT = {"backbone": "bert", "recipe": "xllora", "lang": "hau", "test_lang": "hau", "tasks": "all"}


@pytest.fixture(scope="module")
def miners() -> Study:
    return load(yamls.read("config/miners.yaml"))


def test_a_job_of_a_language_model_is_of_its_variants_and_languages(told: Study, ask) -> None:
    both = [(variant, code) for variant in ("zero-shot", "one-shot") for code in ("hau", "hin")]
    asked, bert = ask(Scores, **ASKED), ask(Scores, **BERT)
    assert [(one.recipe, one.test_lang) for one in asked.each] == both
    assert [one.recipe for one in asked.by_variant] == ["zero-shot", "one-shot"]
    assert [one.test_lang for one in asked.by_language] == ["hau", "hin"]
    assert [one.recipe for one in ask(Scores, **FAR).by_variant] == ["far"]
    assert bert.each == [bert.part]
    assert shares_of(told, "bert", "all") == shares_of(told, "most", "all") == {}
    with pytest.raises(UserError, match=r"likely: no share mul-0.*table"):
        _ = ask(Scores, **ASKED | {"test_lang": "mul-0"}).each


def test_it_reads_what_all_of_them_need(ask) -> None:
    asked, bert = ask(Scores, **ASKED), ask(Scores, **BERT)
    assert asked.settings()["language"] == ["hau", "hin"] and bert.settings()["language"] == ["hau"]
    assert [[*tasks] for tasks in asked.settings()["tasks"]] == [["icl", "icl-xl"], ["icl"]]
    assert asked.every_set == [("icl", "hau"), ("icl-xl", "hau"), ("icl", "hin")]
    assert ask(Scores, **FAR).inputs()["retrievers"] == [
        f"encoders/other/unsupervised/{code}/3/seedbed.json" for code in ("hau", "hin")
    ]
    assert asked.settings()["scores"] == [f"scores/likely/{name}/mul/0" for name in ("zero-shot", "one-shot")]
    assert bert.settings()["scores"] == [f"scores/bert/xllora/hau/{seed}" for seed in (3, 5)]
    beside = [ask(StudyClassifier, name=name).helpers() for name in ("likely", "served", "gemma", "solver")]
    assert beside == [["bert", "other"], ["bert"], [], []]


def test_a_score_is_among_those_of_its_job(told: Study) -> None:
    asked = {"backbone": "likely", "lang": "mul", "seed": 0, "test_lang": "hin", "task": "icl"}
    lists = [Scores.of_cell(told, Cell(**asked, recipe=variant)).path for variant in ("one-shot", "far")]
    assert within(lists, told) == ["scores/likely/all/mul/mul.all.json", "scores/likely/all/mul/mul.icl.json"]
    score = Cell(backbone="bert", recipe="xllora", lang="hau", seed=3, test_lang="hau", task="knn")
    assert within(Scores.of_cell(told, score).path, told) == "scores/bert/xllora/hau/hau.all.json"


def test_a_model_on_vllm_is_prompted_where_vllm_is(told: Study, ask) -> None:
    spec = yamls.read(TOLD)
    generators = spec["generators"] | {"fast": {"like": "tiny", "backend": "vllm"}}
    classifiers = spec["classifiers"] | {"likely": spec["classifiers"]["likely"] | {"generator": "fast"}}
    study = study_of(TOLD, generators=generators, classifiers=classifiers)
    places = [asking(one)(Scores, **ASKED).environment for one in (told, study)]
    assert places == ["main", "vllm"] and asking(study)(Scores, **BERT).environment == "main"


def test_a_language_on_request_has_a_share_of_its_own() -> None:
    study = study_of(TOLD, languages={"hau": {}, "hin": {"on_request": True}})
    assert shares_of(study, "likely", "icl") == {"mul": ["hau"], "hin": ["hin"]}
    asked = Cell(backbone="likely", recipe="far", lang="mul", seed=0, test_lang="hin", task="icl")
    assert Scores.of_cell(study, asked).test_lang == "hin"


def test_one_language_more_or_less_changes_one_share(miners: Study) -> None:
    codes = sorted(miners.languages)
    whole = _split(codes)
    assert sorted(code for share in whole.values() for code in share) == codes
    assert max(map(len, whole.values())) <= LANGUAGES
    for code in codes[::20]:
        less = _split([one for one in codes if one != code])
        alike = {name for name, share in whole.items() if less.get(name) == share}
        assert len(whole) - len(alike) <= 2, "what became two may be one again"
    assert _split(codes[:LANGUAGES]) == {"mul": codes[:LANGUAGES]}


def test_language_models_are_loaded_by_few_jobs_at_the_papers_scale(miners: Study) -> None:
    """11 models in 19 shares of the 206 languages; farther shots of three in the twelve languages of NusaX."""
    paper = Paper.get(miners, "miners")
    drawn = [Figure.get(miners, name).spec for name in paper.figures]
    shown = {*paper.tables, *(figure.table for figure in drawn if hasattr(figure, "table"))}
    cells = {cell for table in shown for cell in TablePlan.get(miners, table).cells}
    asked = [cell for cell in cells if (spec := miners.classifiers.get(cell.backbone)) and spec.prompted]
    assert len({(cell.backbone, cell.recipe, cell.test_lang) for cell in asked}) > 7000
    lists = {Scores.of_cell(miners, cell).path for cell in asked}
    far = {name for name in lists if not name.endswith(".all.json")}
    assert {Path(name).name for name in far} == {"mul.nusax-icl.json"} and len(far) == 3
    assert len(lists - far) == 11 * 19 and len(lists) <= 800
