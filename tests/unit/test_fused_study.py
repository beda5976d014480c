"""What a study may say of fused backbones, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from seedbed.io import UserError
from seedbed.study.backbone import StudyBackbone
from seedbed.study.graph.score import Scores
from seedbed.study.graph.table import TablePlan
from seedbed.study.loading import load
from seedbed.study.model import Study
from tests.asking import check
from tests.refusals import tells

FILE, TRAIN = {"file": "README.md"}, {"file": "CONTRIBUTING.md"}
TASKS = {
    "sts": {"protocol": "sts", "source": FILE},
    "bitext": {"protocol": "bitext", "source": {"file": "docs/{lang}.tsv"}},
    "dev": {"protocol": "bitext", "source": {"file": "docs/{lang}.dev.tsv"}, "on_request": True, "languages": ["hau"]},
    "knn": {"protocol": "knn", "source": FILE, "train": TRAIN},
}
PAIR = {"of": {"a": 1, "b": 3}}
CHOSEN = {"of": {"a": None, "b": None}, "dev": "dev", "candidates": [[1, 1], [1, 3]]}


def config(fusion: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A study of two backbones and their fusion."""
    single = {"source": FILE}
    return {
        "languages": {"hau": {}, "swh": {}},
        "backbones": {"a": single, "b": single, "both": {"fusion": fusion}},
        "recipes": {"base": {}},
        "statistics": {"baseline": "base"},
        "tasks": TASKS,
        **changes,
    }


def test_a_fusion_is_asked_for_neighbours_alone_and_not_for_what_chose_it() -> None:
    assert StudyBackbone.get(Study.model_validate(config(PAIR)), "both").scored_on == ["bitext", "dev", "knn"]
    chosen = Study.model_validate(config(CHOSEN))
    assert StudyBackbone.get(chosen, "both").scored_on == ["bitext", "knn"]
    assert StudyBackbone.get(chosen, "a").scored_on is None
    server = {"server": {"endpoint": {"url": "https://host/v1", "model": "m", "dimensions": 8}}}
    layered = config(CHOSEN, tasks=TASKS | {"layers": {"protocol": "layers", "set_of": "bitext"}})
    study = Study.model_validate(layered | {"backbones": layered["backbones"] | server})
    assert "layers" not in {*StudyBackbone.get(study, "both").scored_on, *StudyBackbone.get(study, "server").scored_on}
    assert "layers" in Scores.get(study, "a", "base", "mul", "hau", "all").scored
    columns = {(block.backbone, block.column.protocol) for block in TablePlan.get(chosen, "table1").blocks}
    assert columns == {("a", "sts"), ("a", "bitext"), ("b", "sts"), ("b", "bitext"), ("both", "bitext")}


def test_weights_are_chosen_in_an_encoders_own_language_or_in_all_that_have_the_task() -> None:
    study = Study.model_validate(config(CHOSEN))
    assert [study.chosen_on("dev", code) for code in ("hau", "swh", "mul")] == [["hau"]] * 3
    everywhere = TASKS | {"dev": {**TASKS["dev"], "languages": None}}
    study = Study.model_validate(config(CHOSEN, tasks=everywhere))
    assert [study.chosen_on("dev", code) for code in ("hau", "swh", "mul")] == [["hau"], ["swh"], ["hau", "swh"]]
    assert study.chosen_on("", "hau") == []
    reserved = {"hau": {"on_request": True}, "swh": {}}
    study = Study.model_validate(config(CHOSEN, tasks=everywhere, languages=reserved))
    assert [study.chosen_on("dev", code) for code in ("hau", "mul")] == [["hau"], ["swh"]]


def test_members_keep_their_order() -> None:
    fused = Study.model_validate(config({"of": {"b": 3, "a": 1}})).fused["both"]
    assert list(fused.of) == ["b", "a"] and fused.weights == [[3, 1]]


SPLIT = {"hub": "x/y", "split": "test"}
WHOLE = {"hub": "x/y"}
MEMBER = {"archive": "https://host/a.zip", "member": "hau.tsv"}


@pytest.mark.parametrize(
    ("test", "dev", "shared"),
    [
        ({"file": "docs/x.tsv"}, {"file": "docs/x.tsv", "rows": 20, "licence": "CC0", "sha256": "0" * 64}, True),
        ({"file": "docs/x.tsv"}, {"file": "./docs/../docs/x.tsv", "columns": {"pivot": "eng"}}, True),
        ({"file": "docs/x.tsv"}, {"file": "docs", "member": "x.tsv"}, True),
        ({"file": "docs/x.tsv"}, {"file": "docs/y.tsv"}, False),
        (SPLIT, {**SPLIT, "revision": "main", "config": "default", "where": {"lang": ["ha"]}}, True),
        (SPLIT, {**SPLIT, "split": "validation"}, False),
        (WHOLE, {**WHOLE, "config": "ha"}, True),  # a configuration may have the rows of all
        (MEMBER, {**MEMBER, "format": "tsv", "sha256": "0" * 64}, True),
        (MEMBER, {**MEMBER, "member": "*.tsv"}, True),
        (MEMBER, {**MEMBER, "member": "hau.dev.tsv"}, False),
        ({"package": {"p==1": ""}, "member": "a"}, {"package": {"p==1": "0" * 64, "q==1": ""}, "member": "a"}, True),
        ({**SPLIT, "where": {"part": ["test"]}}, {**SPLIT, "where": {"part": ["dev"]}}, False),
        ({**SPLIT, "where": {"part": ["test"]}}, {**SPLIT, "where": {"part": ["dev", "te*"]}}, True),
        ({**SPLIT, "buckets": [0, 50]}, {**SPLIT, "buckets": [50, 100]}, False),
        ({**SPLIT, "buckets": [0, 50]}, {**SPLIT, "buckets": [49, 100]}, True),
    ],
)
def test_weights_are_not_chosen_on_test_rows_however_they_are_read(
    test: dict[str, Any], dev: dict[str, Any], shared: bool
) -> None:
    tasks = TASKS | {"bitext": {**TASKS["bitext"], "source": test}, "dev": {**TASKS["dev"], "source": dev}}
    study = Study.model_validate(config(CHOSEN, tasks=tasks))
    if not shared:
        check(study)
        return
    with pytest.raises(ValueError, match=r"dev.*test set of bitext"):
        check(study)


WRONG = [
    ({"of": {"a": 1}}, {}, "config.backbones.both.fusion.of: ... at least 2"),
    ({"of": {"a": 1, "c": 1}}, {}, "backbones.both.fusion.of: ... 'c'; known: a, b"),
    (
        {"of": {"a": 1, "c": 1}},
        {"corpora": {"text": FILE}, "recipes": {"base": {}, "unsupervised": {}}},
        "backbones.both.fusion.of: ... 'c'; known: a, b",
    ),
    ({"of": {"a": 1, "both": 1}}, {}, "backbones.both.fusion.of: ... 'both'; known: a, b"),
    ({"of": {"a": 1, "b": -1}}, {}, "config.backbones.both.fusion.of.b: ... greater ... 0"),
    ({"of": {"a": 0, "b": 0}}, {}, "weights [0.0, 0.0]; expected 2 ... above 0"),
    ({"of": {"a": 1, "b": None}}, {}, "`of` its weight ... `candidates`, and `dev`"),
    (CHOSEN | {"of": {"a": 1, "b": 3}}, {}, "`dev` chooses among `candidates`"),
    (CHOSEN | {"candidates": []}, {}, "`dev` chooses among `candidates`; give them"),
    (CHOSEN | {"candidates": [[1, 1], [1, 1, 3]]}, {}, "weights [1.0, 1.0, 3.0]; expected 2"),
    (CHOSEN | {"dev": "dov"}, {}, "backbones.both.fusion.dev: ... 'dov' ... 'dev'"),
    (
        CHOSEN,
        {"backbones": {"a": {"source": FILE, "prefix": "{flores}"}, "b": {"source": FILE}, "both": {"fusion": CHOSEN}}},
        "backbones.both.fusion.dev: the prefix of a ... weights in `of`",
    ),
    (
        CHOSEN,
        {"recipes": {"base": {}, "told": {"like": "base", "prefix": "{flores}"}}},
        "backbones.both.fusion.dev: the prefix of a ... weights in `of`",
    ),
    (CHOSEN | {"dev": "bitext"}, {}, "dev: bitext must be ... `on_request: true`"),
    (CHOSEN, {"tasks": TASKS | {"dev": {"protocol": "sts", "source": FILE, "on_request": True}}}, "dev: dev must be a"),
    (
        CHOSEN,
        {"tasks": TASKS | {"dev": {"protocol": "bitext", "set_of": "bitext", "on_request": True}}},
        "backbones.both.fusion.dev: dev has the test set of bitext",
    ),
    (
        CHOSEN,
        {"tasks": TASKS | {"dev": {**TASKS["bitext"], "on_request": True}}},
        "dev has the test set of bitext",
    ),
    (
        CHOSEN,
        {"languages": {"swh": {}}},
        "backbones.both.fusion.dev: dev has no set",
    ),
    (
        PAIR,
        {"recipes": {"base": {"only": {"backbones": ["a", "both"]}}}},
        "recipes.base.only.backbones: both fuses b; name",
    ),
    (
        PAIR,
        {"recipes": {"base": {"published": {"both": FILE}}}},
        "recipes.base.published: both is a fusion; ... backbones",
    ),
    (PAIR, {"classifiers": {"c": {"backbone": "both"}}}, "classifiers.c.backbone: no backbone with weights 'both'"),
    (
        PAIR,
        {"backbones": {"a": {}}},
        "config.backbones.a: ... source, endpoint, fusion, pair; found none",
    ),
    (PAIR, {"backbones": {"a": {"source": FILE, "fusion": PAIR}}}, "found source, fusion"),
    (
        PAIR,
        {"backbones": {"a": {"fusion": PAIR, "prefix": "query: "}}},
        "prefix: fused backbones ... their own",
    ),
]


@pytest.mark.parametrize(("fusion", "changes", "message"), WRONG, ids=[message[-50:] for *_, message in WRONG])
def test_what_does_not_fit_is_one_line(fusion: dict[str, Any], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        load(config(fusion, **changes))
    assert tells(str(caught.value), message) and "\n" not in str(caught.value)
