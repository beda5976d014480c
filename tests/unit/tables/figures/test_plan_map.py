"""Which encoders and texts a map shows of a study."""

import pytest

from seedbed.io import UserError
from seedbed.tables.figures.maps import plan_map
from seedbed.tables.figures.specs import FigureSpec
from seedbed.tables.plan import AvailableModel, AvailableRecipe

SYSTEMS = [
    AvailableRecipe(recipe="published", language="mul", seeds=[0]),
    AvailableRecipe(recipe="crosslingual", language="eng", seeds=[13, 21], backbones=["xlmr"]),
    AvailableRecipe(recipe="xllora", language="*", seeds=[13]),
]
BACKBONES = {
    "labse": AvailableModel(paper="LaBSE"),
    "both": AvailableModel(paper="DistFuse (2)", fused=True),
    "xlmr": AvailableModel(paper="XLM-R"),
    "bought": AvailableModel(paper="Cohere", on_request=True),
}
TASKS = {"labelled_texts": {"nusax-knn": ["ace", "fra", "ind"]}, "parallel": {"tatoeba": ["ace", "fra", "swh"]}}
RESERVED = {"fra"}


def figure(**changes):
    known = {"kind": "map", "title": "T", "map": {"task": "nusax-knn"}, "palette": ["#000000"]}
    content = {name: value for name, value in (known | changes).items() if value is not None}
    return FigureSpec.of(content).model_validate(content)


def mapped(**changes):
    return plan_map(figure(**changes), SYSTEMS, BACKBONES, TASKS, RESERVED)


def test_all_that_have_embeddings_are_shown():
    shown = mapped()
    assert shown.backbones == ["labse", "xlmr"]
    assert shown.systems == {"published": SYSTEMS[0]} and shown.languages == ["ace", "ind"]


def test_the_named_are_shown_in_the_order_of_the_study_but_not_those_on_request():
    assert mapped(backbones=["Cohere", "XLM-R", "labse", "BERT"]).backbones == ["labse", "xlmr"]


def test_recipes_in_the_order_of_the_spec_by_the_backbones_that_all_have():
    shown = mapped(recipes={"crosslingual": "Ours", "published": "Theirs"})
    assert list(shown.systems) == ["crosslingual", "published"] and shown.backbones == ["xlmr"]
    assert (shown.systems["crosslingual"].language, shown.systems["crosslingual"].seeds) == ("eng", [13, 21])


def test_pairs_are_of_tasks_with_translations():
    assert mapped(map=PAIRS).languages == ["ace", "swh"]


def test_a_language_on_request_is_shown_where_it_is_named_and_those_named_in_their_order():
    assert mapped(map=PAIRS, languages=["swh", "fra", "zul"]).languages == ["swh", "fra"]
    assert mapped(languages=["ind", "fra"]).languages == ["ind", "fra"]


PAIRS = {"task": "tatoeba", "pairs": 8}
FAULTS = {
    "no such task": (
        {"map": {"task": "nusax"}},
        "no task 'nusax' with training sets in its own languages; did you mean 'nusax-knn'",
    ),
    "texts of pairs": (
        {"map": {"task": "tatoeba"}},
        "no task 'tatoeba' with training sets in its own languages; it has",
    ),
    "pairs of texts": ({"map": PAIRS | {"task": "nusax-knn"}}, "no task 'nusax-knn' with pairs; known: tatoeba"),
    "no such language": (
        {"map": PAIRS, "languages": ["hau", "zul"]},
        "languages: task tatoeba has none of hau, zul; it has ace, fra, swh",
    ),
    "too few texts": (
        {"map": {"task": "nusax-knn", "texts": 30}},
        "map: perplexity 30 needs more than 30 texts, there are 30; raise `texts` or lower `perplexity`",
    ),
    "too few pairs": ({"map": PAIRS | {"pairs": 7}}, "there are 28; raise `pairs`"),
    "no such recipe": ({"recipes": {"publish": "P"}}, "recipes: no recipe 'publish'; did you mean 'published'"),
    "a recipe by language": ({"recipes": {"xllora": "X"}}, "xllora has an encoder for each language"),
    "a fusion": ({"backbones": ["LaBSE", "DistFuse (2)"]}, "both is a fusion, which has distances alone"),
    "none of them": ({"backbones": ["BERT"]}, "none of its backbones, BERT"),
    "on request alone": ({"backbones": ["Cohere"]}, "without `on_request`; it has labse, both, xlmr, bought"),
    "a figure of a table": ({"kind": "dots", "map": None, "table": "t"}, "kind dots is plotted from a table"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_in_one_line(fault):
    changes, told = FAULTS[fault]
    with pytest.raises(UserError) as error:
        mapped(**changes)
    assert told in str(error.value) and "\n" not in str(error.value)


def test_a_study_without_labelled_texts_is_told():
    with pytest.raises(UserError, match="the study has none"):
        plan_map(figure(), SYSTEMS, BACKBONES, {"labelled_texts": {}, "parallel": {}})
