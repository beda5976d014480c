"""Which scores are made in one job: all of a language model's variants, in a share of the languages."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from seedbed.io import UserError
from seedbed.study.graph import classifiers, evaluation, plans, shares, tables
from seedbed.study.loading import load
from seedbed.study.model import Study
from seedbed.tables.plan import Cell
from tests.asking import TOLD, asking, study_of

MUL = {"lang": "mul", "test_lang": "mul"}
ASKED = {"backbone": "likely", "recipe": "all", "tasks": "all"} | MUL
FAR = ASKED | {"tasks": "icl"}
BERT = {"backbone": "bert", "recipe": "xllora", "lang": "hau", "test_lang": "hau", "tasks": "all"}


@pytest.fixture(scope="module")
def miners() -> Study:
    return load(yaml.safe_load(Path("config/miners.yaml").read_text()))


def test_a_job_of_a_language_model_is_of_its_variants_and_languages(ask) -> None:
    both = [(variant, code) for variant in ("zero-shot", "one-shot") for code in ("hau", "hin")]
    assert [(job.recipe, job.test_lang) for job in ask(Scores, **ASKED).each] == both
    assert [job.recipe for job in ask(Scores, **ASKED).by_variant] == ["zero-shot", "one-shot"]
    assert [job.test_lang for job in ask(Scores, **ASKED).by_language] == ["hau", "hin"]
    assert [job.recipe for job in ask(Scores, **FAR).by_variant] == ["far"]
    (job,) = ask(Scores, **BERT).each
    assert job == BERT
    assert [ask(shares.variants, "likely", tasks) for tasks in ("all", "icl")] == [["zero-shot", "one-shot"], ["far"]]
    assert ask(shares.shares_of, "bert", "all") == ask(shares.shares_of, "most", "all") == {}
    with pytest.raises(UserError, match=r"likely: no share mul-0.*table"):
        ask(Scores, **ASKED | {"test_lang": "mul-0"}).each


def test_it_reads_what_all_of_them_need(ask) -> None:
    assert ask(Scores, **ASKED).settings()["language"] == ["hau", "hin"] and ask(Scores, **BERT).settings()[
        "language"
    ] == ["hau"]
    assert ask(evaluation.every_task, **ASKED) == ["icl", "icl-xl"]
    assert ask(Scores, **ASKED).every_set == [("icl", "hau"), ("icl-xl", "hau"), ("icl", "hin")]
    assert ask(Scores, **FAR).helpers == [
        f"encoders/other/unsupervised/{code}/3/seedbed.json" for code in ("hau", "hin")
    ]
    assert ask(Scores, **ASKED).folders == [f"scores/likely/{name}/mul/0" for name in ("zero-shot", "one-shot")]
    assert ask(Scores, **BERT).folders == [f"scores/bert/xllora/hau/{seed}" for seed in (3, 5)]
    beside = [ask(StudyClassifier, name=name).helpers() for name in ("likely", "served", "gemma", "solver")]
    assert beside == [["bert", "other"], ["bert"], [], []]


def test_a_score_is_among_those_of_its_job(ask) -> None:
    asked = {"backbone": "likely", "lang": "mul", "seed": 0, "test_lang": "hin", "task": "icl"}
    lists = [ask(shares.listed_in, Cell(**asked, recipe=variant)) for variant in ("one-shot", "far")]
    assert lists == ["scores/likely/all/mul/mul.all.json", "scores/likely/all/mul/mul.icl.json"]
    score = Cell(backbone="bert", recipe="xllora", lang="hau", seed=3, test_lang="hau", task="knn")
    assert ask(shares.listed_in, score) == "scores/bert/xllora/hau/hau.all.json"


def test_a_language_on_request_has_a_share_of_its_own() -> None:
    study = study_of(TOLD, languages={"hau": {}, "hin": {"on_request": True}})
    assert shares.shares_of(study, "likely", "icl") == {"mul": ["hau"], "hin": ["hin"]}
    assert asking(study)(shares.share_of, "likely", "icl", "hin") == "hin"


def test_one_language_more_or_less_changes_one_share(miners: Study) -> None:
    codes = sorted(miners.languages)
    whole = shares._split(codes)
    assert sorted(code for share in whole.values() for code in share) == codes
    assert max(map(len, whole.values())) <= shares.LANGUAGES
    for code in codes[::20]:
        less = shares._split([one for one in codes if one != code])
        alike = {name for name, share in whole.items() if less.get(name) == share}
        assert len(whole) - len(alike) <= 2, "what became two may be one again"
    assert shares._split(codes[: shares.LANGUAGES]) == {"mul": codes[: shares.LANGUAGES]}


def test_language_models_are_loaded_by_few_jobs_at_the_papers_scale(miners: Study) -> None:
    """11 models in 19 shares of the 206 languages; farther shots of three in the twelve languages of NusaX."""
    named = [name for name in tables.of_paper(miners, "miners") if "/tables/" in name or "/figures/" in name]
    shown = {Path(name).stem for name in named if "/tables/" in name}
    drawn = [tables.figure_of(Path(name).stem) for name in named if "/figures/" in name]
    shown |= {figure.table for figure in drawn if hasattr(figure, "table")}
    cells = {cell for table in shown for block in plans.plan(miners, table) for cell in block.cells()}
    asked = [cell for cell in cells if (spec := miners.classifiers.get(cell.backbone)) and spec.prompted]
    assert len({(cell.backbone, cell.recipe, cell.test_lang) for cell in asked}) > 7000
    lists = {shares.listed_in(miners, cell) for cell in asked}
    far = {name for name in lists if not name.endswith(".all.json")}
    assert {Path(name).name for name in far} == {"mul.nusax-icl.json"} and len(far) == 3
    assert len(lists - far) == 11 * 19 and len(lists) <= 800
