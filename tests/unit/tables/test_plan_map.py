"""Which encoders and texts a map shows of a study."""

import pytest

from seedbed.io import UserError
from seedbed.tables.maps import plan_map
from seedbed.tables.plan import Offered, System
from seedbed.tables.specs import FigureSpec

SYSTEMS = [
    System(recipe="published", language="mul", seeds=[0]),
    System(recipe="crosslingual", language="eng", seeds=[13, 21], backbones=["xlmr"]),
    System(recipe="xllora", language="*", seeds=[13]),
]
BACKBONES = {
    "labse": Offered(paper="LaBSE"),
    "both": Offered(paper="DistFuse (2)", tasks=["t"]),
    "xlmr": Offered(paper="XLM-R"),
    "bought": Offered(paper="Cohere", on_request=True),
}
TASKS = {"nusax-knn": ["ace", "ind"]}


def figure(**changes):
    known = {"kind": "map", "title": "T", "map": {"task": "nusax-knn"}, "palette": ["#000000"]}
    return FigureSpec.model_validate(known | changes)


def mapped(**changes):
    return plan_map(figure(**changes), SYSTEMS, BACKBONES, TASKS)


def test_all_that_have_embeddings_are_shown():
    shown = mapped()
    assert shown.backbones == ["labse", "xlmr"]
    assert (shown.folder, shown.seed, shown.languages) == ("mul", 0, ["ace", "ind"])


def test_the_named_are_shown_in_the_order_of_the_study_but_not_those_on_request():
    assert mapped(backbones=["Cohere", "XLM-R", "labse", "BERT"]).backbones == ["labse", "xlmr"]


def test_the_first_seed_of_a_recipe_with_one_encoder_for_all():
    shown = mapped(map={"task": "nusax-knn", "recipe": "crosslingual"})
    assert (shown.folder, shown.seed, shown.backbones) == ("eng", 13, ["xlmr"])


FAULTS = {
    "no such task": (
        {"map": {"task": "nusax"}},
        "no task 'nusax' with training sets in its own languages; did you mean 'nusax-knn'",
    ),
    "no such recipe": ({"map": {"task": "nusax-knn", "recipe": "publish"}}, "did you mean 'published'"),
    "a recipe by language": (
        {"map": {"task": "nusax-knn", "recipe": "xllora"}},
        "xllora has an encoder for each language",
    ),
    "a fusion": ({"backbones": ["LaBSE", "DistFuse (2)"]}, "both is a fusion, which has distances alone"),
    "none of them": ({"backbones": ["BERT"]}, "none of its backbones, BERT"),
    "on request alone": ({"backbones": ["Cohere"]}, "but on request; it has labse, both, xlmr, bought"),
    "a figure of a table": ({"kind": "dots", "map": None, "table": "t"}, "kind dots is drawn from a table"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_in_one_line(fault):
    changes, told = FAULTS[fault]
    with pytest.raises(UserError) as error:
        mapped(**changes)
    assert told in str(error.value) and "\n" not in str(error.value)


def test_a_study_without_labelled_texts_is_told():
    with pytest.raises(UserError, match="the study has none"):
        plan_map(figure(), SYSTEMS, BACKBONES, {})
