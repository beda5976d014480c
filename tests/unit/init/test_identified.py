"""The language of a text by CLD2: under the codes of the registry, and only where it is sure."""

from __future__ import annotations

import pandas as pd
import pytest

from seedbed.init.identified import code_of, identified
from seedbed.resources import resource


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


def test_signs_that_are_no_letters_change_nothing() -> None:
    """CLD2 takes text for HTML unless it is told, and reads no control characters."""
    texts = pd.read_csv(resource("demo/sts.ind.tsv"), sep="\t")["sentence1"].tolist()
    assert identified(["Bei 5 < 7 ni.", "\x92\ufffe\ufdd0", *texts], "hau").name == "Indonesian"


def test_chinese_is_chinese_in_both_scripts() -> None:
    found = identified(["這個國家的學生們正在學習歷史和語言。", "我們明天去圖書館讀書。"] * 10, "zho")
    assert found.name == "Chinese" and found.expected > 0.9
    assert (code_of("nob"), code_of("ven")) == ("no", "ve")
