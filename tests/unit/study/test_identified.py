"""The language of a text by CLD2: under the codes of the registry, and only where it is sure."""

from __future__ import annotations

import pandas as pd
import pytest

from seedbed.resources import resource
from seedbed.study.identified import code_of, identified


@pytest.mark.parametrize(("code", "name"), [("hau", "Hausa"), ("ind", "Indonesian")])
def test_a_text_is_read_as_its_language(code: str, name: str) -> None:
    texts = pd.read_csv(resource(f"demo/sts.{code}.tsv"), sep="\t")["sentence1"].tolist()
    found = identified(texts, code)
    assert found.name == name and found.share == found.expected > 0.9
    assert identified(texts, "swh").expected == 0


def test_salad_is_no_language() -> None:
    assert identified(["%%% 123", "— 7"], "hau") is None
    assert identified([], "hau") is None


def test_languages_go_by_the_codes_of_the_registry() -> None:
    codes = {"hau": "ha", "kin": "rw", "jav": "jw", "heb": "iw", "ceb": "ceb", "bjn": "", "xyz": ""}
    assert {code: code_of(code) for code in codes} == codes
