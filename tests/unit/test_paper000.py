"""What config.yaml makes of paper 000: readings of its text that no other test holds."""

from pathlib import Path

import yaml

from seedbed.config import Study
from seedbed.tables.specs import FigureSpec

STUDY = Study.model_validate(yaml.safe_load(Path("config.yaml").read_text()))


def test_adapters_are_composed_element_wise_as_equation_2_says_and_by_products_beside_it():
    assert STUDY.generators[STUDY.generator_of("composition")].composition.space == "factors"
    assert STUDY.classifiers["xlm-r-nli"].composition.space == "factors"
    for line, recipes in FigureSpec.load("resources/figures/bootstrapping_figure10.yaml").series.items():
        for recipe, scale in recipes.items():
            composition = STUDY.generators[STUDY.generator_of(recipe)].composition
            assert composition.scale == scale
            assert not scale or composition.space == {"element-wise": "factors", "product": "product"}[line]
