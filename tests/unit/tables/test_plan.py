"""What a table shows of a study: recipes, backbones, tasks and languages that meet."""

import numpy as np
import pytest

from seedbed import yamls
from seedbed.io import UserError
from seedbed.study.graph.table import TablePlan
from seedbed.study.model import Study
from seedbed.tables.plan import AvailableModel, AvailableRecipe, AvailableTask, of_labellers, plan
from seedbed.tables.specs import Column, TableSpec

STS = {"label": "STS", "protocol": "sts", "metric": "spearman"}
TASKS = {
    "semrel": AvailableTask(protocol="sts", languages=["hau", "ind"]),
    "semrel-dev": AvailableTask(protocol="sts", languages=["hau"], on_request=True),
    "flores": AvailableTask(protocol="bitext", languages=["hau", "ind", "swh"]),
}


def spec(**changes):
    """A table of two recipes."""
    facts = {"title": "T", "caption": "C", "columns": [STS], "recipes": {"base": "Base", "xllora": "XL-LoRA"}}
    return TableSpec.model_validate({**facts, "baseline": "base", **changes})


def systems(**changes):
    """Four recipes; changes by name."""
    folders = {"base": "mul", "xllora": "*", "mine": "*", "variant": "*"}
    return [
        AvailableRecipe(
            recipe=name, language=folder, seeds=[1, 2], **{"variant": {"on_request": True}, **changes}.get(name, {})
        )
        for name, folder in folders.items()
    ]


def planned(table, **changes):
    """The blocks of a table of the study above."""
    facts = {
        "systems": systems(),
        "backbones": {"xlm-r": AvailableModel(paper="XLM-R")},
        "tasks": TASKS,
        "baseline": "base",
    }
    return plan(table, **{**facts, **changes})


def test_a_closed_table_shows_its_recipes_alone_and_an_open_one_the_others_but_variants():
    assert [system.recipe for system in planned(spec())[0].systems] == ["base", "xllora"]
    assert [system.recipe for system in planned(spec(open=True))[0].systems] == ["base", "xllora", "mine"]
    (block,) = planned(spec(recipes={"variant": "Variant", "base": "Base"}))
    assert [system.recipe for system in block.systems] == ["variant", "base"]


def test_cells_are_every_seed_of_every_system_in_the_folder_of_its_encoder():
    (block,) = planned(spec())
    cells = list(block.cells())
    assert len(cells) == 2 * 2 * 2 == len(set(cells))
    assert {cell.lang for cell in cells if cell.recipe == "base"} == {"mul"}
    assert all(cell.lang == cell.test_lang for cell in cells if cell.recipe == "xllora")


def test_a_task_on_request_is_in_tables_that_name_it():
    assert set(planned(spec())[0].tests.values()) == {"semrel"}
    assert planned(spec(columns=[STS | {"tasks": ["semrel-dev"]}]))[0].tests == {"hau": "semrel-dev"}


def test_backbones_on_request_and_named_ones():
    backbones = {"xlm-r": AvailableModel(paper="XLM-R"), "roberta": AvailableModel(paper="RoBERTa", on_request=True)}
    assert [block.backbone for block in planned(spec(), backbones=backbones)] == ["xlm-r"]
    for name in ("RoBERTa", "roberta"):  # the paper's or the study's
        assert [block.backbone for block in planned(spec(backbones=[name]), backbones=backbones)] == ["roberta"]


def test_a_partial_table_leaves_out_recipes_that_the_study_lacks():
    recipes = {"base": "Base", "shots": "More shots"}
    (block,) = planned(spec(recipes=recipes, partial=True))
    assert block.names == {"base": "Base"}


def test_a_recipe_for_some_languages_or_backbones_fills_its_cells_alone():
    (block,) = planned(spec(), systems=systems(xllora={"languages": ["ind"]}))
    assert {cell.test_lang for cell in block.cells() if cell.recipe == "xllora"} == {"ind"}
    (block,) = planned(spec(), systems=systems(base={"backbones": ["mmbert"]}, xllora={"languages": ["ind"]}))
    assert [system.recipe for system in block.systems] == ["xllora"] and list(block.tests) == ["ind"]


def test_a_closed_list_of_languages():
    assert list(planned(spec(languages=["ind", "hau"]))[0].tests) == ["ind", "hau"]
    assert list(planned(spec(languages=["ind"], only_languages=True))[0].tests) == ["ind"]


def test_a_language_that_a_table_does_not_show_parts_no_column():
    """Paper 000's Korean test set is another than its other languages'; both also have English."""
    tasks = {
        "semrel": AvailableTask(protocol="sts", languages=["eng", "hau", "ind"]),
        "sts17": AvailableTask(protocol="sts", languages=["eng", "kor"]),
    }
    whole = {"hau": "semrel", "ind": "semrel", "kor": "sts17"}
    closed = spec(languages=["hau", "ind", "kor"], only_languages=True)
    named = spec(columns=[STS | {"languages": [*whole]}])
    for table, reserved in ((closed, []), (spec(open=True), ["eng"]), (named, [])):
        (block,) = planned(table, tasks=tasks, reserved=reserved)
        assert (block.column.label, block.tests) == ("STS", whole)
    assert [block.column.label for block in planned(spec(), tasks=tasks)] == ["STS (semrel)", "STS (sts17)"]


@pytest.mark.parametrize("table", ["table1", "bootstrapping_table12"])
def test_sts_of_paper_000_is_one_column_of_seven_languages_on_the_papers_data(table):
    study = Study.model_validate(yamls.read("config.yaml"))
    blocks = [block for block in TablePlan.get(study, table).blocks if block.column.protocol == "sts"]
    assert [(block.paper_backbone, block.column.label) for block in blocks] == [("XLM-R", "STS"), ("mmBERT", "STS")]
    for block in blocks:
        assert list(block.tests) == ["afr", "hin", "mar", "tel", "ind", "hau", "kor"]
        for code, task in block.tests.items():
            assert any(part.casefold() in study.test(task, code).hub.casefold() for part in block.column.paper_data)


FAULTS = {
    "unknown recipe": ({"recipes": {"xlora": "X"}}, "did you mean 'xllora'"),
    "unknown task": ({"columns": [STS | {"tasks": ["semrle"]}]}, "did you mean 'semrel'"),
    "task of another protocol": ({"columns": [STS | {"tasks": ["flores"]}]}, "'flores' is bitext"),
    "unknown baseline": ({"baseline": "crosslingual"}, "baseline 'crosslingual' is none of its recipes"),
    "one name of two recipes": (
        {"recipes": {"base": "Ours", "xllora": "Ours"}},
        "base and xllora would both be rows 'Ours'; give each recipe a printed name of its own",
    ),
    "the name of an open recipe": (
        {"recipes": {"base": "mine"}, "open": True},
        "base and mine would both be rows 'mine'",
    ),
    "no such backbone": ({"backbones": ["BERT"]}, "for any of its backbones; add one of each"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_table_that_does_not_meet_the_study_is_told_in_one_line(fault):
    changes, told = FAULTS[fault]
    with pytest.raises(UserError) as error:
        planned(spec(**changes))
    assert told in str(error.value) and "\n" not in str(error.value)


def test_a_study_without_a_task_of_the_protocol_is_told():
    with pytest.raises(UserError, match="protocol sts"):
        planned(spec(), tasks={"flores": TASKS["flores"]})
    with pytest.raises(UserError, match="name 'semrel-dev', which has on_request"):
        planned(spec(), tasks={"semrel-dev": TASKS["semrel-dev"]})


def test_ragged_tables_average_what_every_language_has(make, spec):
    study = make(resamples=100)
    ragged = [
        system.updated({"languages": ["hau"]}) if system.recipe == "prompting" else system for system in study.systems
    ]
    table = study.tabulate(spec, systems=ragged)
    rows = table[(table["recipe"] == "prompting") & (table["column"] == "STS")]
    assert list(rows["language"]) == ["hau"] and rows["difference"].notna().all()
    assert (table["language"] == "avg").sum() == 2 * 5


def test_the_average_over_backbones_is_the_mean_of_theirs(make, spec):
    study = make(backbones={"a": "XLM-R", "b": "mmBERT"}, resamples=100)
    table = study.tabulate(spec.model_copy(update={"over_backbones": True}))
    sts = table[(table["column"] == "STS") & (table["language"] == "avg")].set_index(["recipe", "backbone"])["value"]
    for recipe in ("base", "xllora"):
        assert sts[recipe, "avg"] == pytest.approx(np.mean([sts[recipe, "a"], sts[recipe, "b"]]), abs=1e-3)
    assert set(table.loc[table["backbone"] == "avg", "language"]) == {"avg"}


def test_the_columns_metric_must_be_its_protocols():
    with pytest.raises(ValueError, match="no metric 'accuracy' in protocol sts"):
        Column.model_validate(STS | {"metric": "accuracy"})


def test_recipes_that_never_meet_may_have_one_name():
    names = {"base": "Base", "xllora": "Ours", "variant": "Ours"}
    columns = [STS | {"recipes": ["base", "xllora"]}, STS | {"label": "STS 2", "recipes": ["base", "variant"]}]
    assert len(planned(spec(recipes=names, columns=columns))) == 2
    assert len(planned(spec(recipes={"base": "Base", "xllora": "Ours", "lost": "Ours"}, partial=True))) == 1


# ---- classifiers beside encoders

KNN = {"label": "knn", "protocol": "knn", "metric": "accuracy@1"}
TUNED = {"label": "tuned", "protocol": "tuned", "metric": "macro f1"}
BASELINES = [
    AvailableRecipe(recipe=form, language="mul", seeds=[1], backbones=names)
    for form, names in {"random": ["drawn"], "fine-tuned": ["tuned", "small"], "majority": []}.items()
]
CLASSIFIERS = {
    "drawn": AvailableModel(paper="Random"),
    "tuned": AvailableModel(on_request=True),
    "small": AvailableModel(languages=["hau"]),
}


def shown_beside(table, **changes):
    tasks = {**TASKS, "labels": AvailableTask(protocol="knn", languages=["hau", "ind"], k=[1, 5])}
    facts = {"systems": BASELINES, "classifiers": CLASSIFIERS, "tasks": tasks, "baseline": "base"}
    return of_labellers(table, **{**facts, **changes})


def test_classifiers_stand_in_columns_of_neighbours_under_their_own_names():
    (block,) = shown_beside(spec(columns=[STS, KNN], classifiers=["random", "majority", "fine-tuned"]))
    assert (block.backbone, block.column.label, block.names) == ("drawn", "knn", {"random": "drawn"})
    assert [cell[:5] for cell in block.cells()] == [("drawn", "random", "mul", 1, "labels")] * 2
    assert not shown_beside(spec(columns=[STS, KNN]))
    assert not shown_beside(spec(columns=[KNN], classifiers=["fine-tuned"]))


def test_a_column_has_only_classifiers_that_are_asked_in_all_its_languages():
    narrow = spec(columns=[KNN | {"languages": ["hau"]}], classifiers=["fine-tuned"])
    assert [(block.backbone, block.tests) for block in shown_beside(narrow)] == [("small", {"hau": "labels"})]
    assert not shown_beside(spec(columns=[KNN], classifiers=["fine-tuned"]))
    other = {"small": AvailableModel(tasks=["sib"])}
    assert not shown_beside(narrow, classifiers=other)
    named = spec(columns=[KNN], classifiers=["random", "fine-tuned"], backbones=["Random"])
    assert [block.backbone for block in shown_beside(named)] == ["drawn"]


def test_kinds_of_a_classifier_come_in_the_specs_order_and_have_a_baseline_of_their_own():
    kinds = [
        AvailableRecipe(recipe=kind, language="mul", seeds=[1], backbones=["drawn"]) for kind in ("source", "prefixed")
    ]
    facts = {"columns": [KNN], "classifiers": {"prefixed": "LiRA", "source": "backbone"}}
    (block,) = shown_beside(spec(**facts), systems=kinds)
    assert (list(block.names.values()), block.baseline) == (["LiRA", "backbone"], "base")
    assert [system.recipe for system in block.systems] == ["prefixed", "source"]
    (block,) = shown_beside(spec(**facts, baseline_classifier="prefixed"), systems=kinds)
    assert block.baseline == "prefixed"


def test_kinds_of_one_classifier_need_names_of_their_own():
    kinds = [
        AvailableRecipe(recipe=kind, language="mul", seeds=[1], backbones=["gemma"])
        for kind in ("zero-shot", "one-shot")
    ]
    shown = {"systems": kinds, "classifiers": {"gemma": AvailableModel()}}
    with pytest.raises(UserError) as error:
        shown_beside(spec(columns=[KNN], classifiers=["zero-shot", "one-shot"]), **shown)
    told = "table 'T': zero-shot and one-shot would both be rows 'gemma'; give each kind a printed name of its own: "
    assert str(error.value) == told + "`classifiers: {zero-shot: ..., one-shot: ...}`"
    names = {"zero-shot": "Zero", "one-shot": "One"}
    (block,) = shown_beside(spec(columns=[KNN], classifiers=names), **shown)
    assert block.names == names


def test_rows_of_ablations_are_compared_with_lira_itself_and_the_plain_model_comes_first():
    study = Study.model_validate(yamls.read("config/lira.yaml"))
    rows = {}
    for block in TablePlan.get(study, "lira_table8").blocks:
        rows.setdefault(block.column.label, []).extend((one.recipe, block.baseline) for one in block.systems)
    assert rows["STS22"][:2] == [("published", "lira"), ("lira", "lira")]
    assert rows["MGSM"][:2] == [("source", "prefixed"), ("prefixed", "prefixed")]
    assert {baseline for _, baseline in rows["MGSM"]} == {"prefixed"} and len(rows["MGSM"]) == 6


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"columns": [KNN], "classifiers": ["random"], "baseline_classifier": "rando"},
            "baseline_classifier: 'rando' is none.*'random'",
        ),
        ({"columns": [STS], "classifiers": ["random"]}, "column of protocol knn"),
        ({"columns": [TUNED], "classifiers": ["random"]}, "column of protocol knn"),
        (
            {"columns": [KNN], "classifiers": ["random"], "over_backbones": True},
            r"over backbones.*no class",
        ),
    ],
)
def test_a_table_that_cannot_show_classifiers(changes, told):
    with pytest.raises(ValueError, match=told):
        spec(**changes)


def test_a_column_asks_for_neighbours_that_its_task_has() -> None:
    tasks = {"labels": AvailableTask(protocol="knn", languages=["hau"], k=[1, 5])}
    shown = spec(columns=[KNN | {"metric": "accuracy@5"}], open=True)
    assert planned(shown, tasks=tasks)
    with pytest.raises(UserError, match=r"tasks.labels.k: \[1, 5\]; column 'knn'.*add 10"):
        planned(spec(columns=[KNN | {"metric": "accuracy@10"}], open=True), tasks=tasks)
