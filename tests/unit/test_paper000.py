"""What config.yaml makes of paper 000: readings of its text that no other test holds."""

from seedbed import yamls
from seedbed.study.generator import StudyGenerator
from seedbed.study.graph.adapter import LanguageAdapter
from seedbed.study.graph.table import TablePlan
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from seedbed.tables.figures.specs import FigureSpec

STUDY = Study.model_validate(yamls.read("config.yaml"))


def written_by(recipe: str) -> str:
    """The generator whose triplets a recipe trains on."""
    return StudyRecipe.get(STUDY, recipe).writer


def test_figure_10_has_its_half_of_xnli_on_the_development_set():
    (block,) = TablePlan.get(STUDY, "bootstrapping_figure10_xnli").blocks
    series = FigureSpec.load("seedbed/resources/figures/bootstrapping_figure10_xnli.yaml").series["element-wise"]
    assert {cell.recipe for cell in block.cells()} == {*series} and block.tests == {"hin": "xnli-dev"}
    assert STUDY.test("xnli-dev", "hin").split == "validation" and STUDY.test("xnli", "hin").split == "test"
    assert {cell.backbone for cell in block.cells()} == {"gemma-3-1b-nli"}


def test_adapters_are_composed_element_wise_as_equation_2_says_and_by_products_beside_it():
    assert STUDY.generators[written_by("composition")].composition.space == "factors"
    assert STUDY.classifiers["xlm-r-nli"].composition.space == "factors"
    for line, recipes in FigureSpec.load("seedbed/resources/figures/bootstrapping_figure10.yaml").series.items():
        for recipe, scale in recipes.items():
            composed = STUDY.generators[written_by(recipe)].composition
            assert composed.scale == scale
            assert not scale or composed.space == {"element-wise": "factors", "product": "product"}[line]


def test_language_adapters_of_tables_9_and_10_learn_sentences_of_one_collection_in_english_too():
    """And the English task adapter's anchors, which are English's own corpus, are none of them."""
    generators_of = {}
    for table in ("bootstrapping_table9", "bootstrapping_table10"):
        for block in TablePlan.get(STUDY, table).blocks:
            generators_of |= {cell.recipe: written_by(cell.recipe) for cell in block.cells()}
    by_sentences = {
        name for name in generators_of.values() if STUDY.generators[name].language_data in ("text", "passages")
    }
    assert len(by_sentences) == 4
    leipzig, premises = STUDY.corpora.text, STUDY.corpus("text", STUDY.pivot)
    for name in by_sentences:
        for code in ("hin", "tel", "afr", "eng"):
            texts = LanguageAdapter.get(STUDY, name, code).inputs()["texts"]
            assert texts.endswith(f"{code}/sentences.tsv")
            assert STUDY.corpus("sentences", code) == leipzig.resolved(STUDY.facts(code)) != premises
    assert (premises.member, premises.columns) == ("nli_for_simcse.csv", {"text": "sent0"})


def test_a_chosen_lambda_takes_what_figure_10_has_written_and_korean_the_scale_of_the_others():
    (block,) = TablePlan.get(STUDY, "composition_scale").blocks
    assert {cell.recipe for cell in block.cells()} == {"ta-50k", "composition-50k", "composition-dev-50k"}
    assert not {*block.tests.values()} & {"semrel-sts-dev"}
    candidates = StudyGenerator.get(STUDY, "gemma-3-27b-dev").candidates()
    tried = {scale: written_by(recipe) for scale, (recipe, _) in candidates.items()}
    assert tried == {
        0.25: "gemma-3-27b-lambda025", 0.5: "gemma-3-27b-lambda05", 0.75: "gemma-3-27b-lambda075", 1: "gemma-3-27b"
    }  # fmt: skip
    assert STUDY.chosen_on("semrel-sts-dev", "hin") == ["hin"]
    assert STUDY.chosen_on("semrel-sts-dev", "kor") == ["afr", "hau", "hin", "ind", "mar", "tel"]


def test_rows_of_the_aya_collection_are_told_apart_by_their_data_set():
    """Its ids are those of the data sets that it collects: by them alone, rows of one would stand for rows of another."""
    more = STUDY.corpus("instructions", "afr").topped_up()
    assert more.columns == {
        "id": ["dataset_name", "sub_dataset_name", "template_id", "id"], "prompt": "inputs", "response": "targets"
    }  # fmt: skip
