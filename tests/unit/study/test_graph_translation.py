"""Translations in the graph: what is translated, by whom, in how many shards, and who learns what."""

from __future__ import annotations

import pytest
import yaml

from seedbed.generators.settings import TRANSLATION
from seedbed.study.graph.aligned import PivotVectors
from seedbed.study.graph.encoder import Encoder
from seedbed.study.graph.report import Report
from seedbed.study.graph.triplet import RawTriplets, Shard, Triplets
from seedbed.study.model import Study
from seedbed.study.recipe import StudyRecipe
from tests.asking import TOLD, study_of, within

PLAIN = yaml.safe_load("""
pivot: eng
languages: {eng: {}, hau: {corpora: {human: {file: own/people.tsv}}}, kaz: {}}
corpora:
  text: {file: "own/{lang}.tsv"}
  others:
    paraphrases:
      kind: paraphrases
      rows: 95
      sets: {nli: {file: own/nli.tsv, licence: MIT}, quora: {file: own/quora.tsv, licence: Q}}
    human: {kind: paraphrases, file: "own/{lang}.human.tsv"}
anchors: {count: 60}
generators:
  llm: {source: {file: own/llm}}
  nllb: {source: {file: own/nllb, licence: CC-BY-NC-4.0}, prompts: plain, shard_rows: 10}
backbones: {bert: {source: {file: own/bert, licence: Apache-2.0}}}
recipes:
  multi-m: {data: {corpus: paraphrases, by: nllb}}
  multi-mc: {data: {corpus: paraphrases, by: nllb}}
  by-people: {like: multi-mc, from: multi-m, data: {corpus: human}}
  written: {like: prompting, data: {by: llm}}
tasks: {sts: {protocol: sts, source: {file: own/sts.tsv}}}
tables: []
figures: []
""")
MADE = ("nllb", TRANSLATION, "kaz")
WRITTEN = ("llm", "prompting", "kaz")


@pytest.fixture(scope="module")
def study() -> Study:
    return Study.model_validate(PLAIN)


def own(study: Study, recipe: str, lang: str) -> Encoder:
    return Encoder.get(study, "bert", recipe, lang, 1)


def test_the_pivots_rows_are_translated_and_compared_with(study: Study) -> None:
    made, written = Shard.get(study, *MADE, "0"), Shard.get(study, *WRITTEN, "0")
    assert made.translated == "paraphrases" and written.translated == ""
    assert within(made.anchors, study) == "corpora/eng/paraphrases.tsv"
    assert within(Triplets.get(study, *MADE).inputs()["source"], study) == "corpora/eng/paraphrases.tsv"
    assert within(written.anchors, study) == "corpora/kaz/anchors.tsv"
    assert Triplets.get(study, *WRITTEN).inputs()["source"] == ""
    assert made.settings()["translated"] == ["eng_Latn", "kaz_Cyrl"]
    assert written.settings()["translated"] == [] and made.code().data == ("",)


def test_shards_are_as_many_as_the_source_says_rows(study: Study) -> None:
    """All rows are translated, if no recipe learns fewer; the anchors' number is of no account."""

    def counted(**changes: dict) -> tuple[int, int]:
        raw = RawTriplets.get(Study.model_validate(PLAIN | changes), *MADE)
        return raw.rows, raw.shards

    assert counted() == (0, 10)
    fewer = {name: recipe | {"data": recipe["data"] | {"rows": 25}} for name, recipe in PLAIN["recipes"].items()}
    assert counted(recipes=fewer) == (25, 3)
    others = {**PLAIN["corpora"]["others"], "paraphrases": {"kind": "paraphrases", "file": "own/nli.tsv"}}
    assert counted(corpora={**PLAIN["corpora"], "others": others}) == (0, 6)


def test_the_pivot_learns_the_rows_themselves(study: Study) -> None:
    assert within(own(study, "multi-m", "kaz").texts, study) == f"triplets/nllb/{TRANSLATION}/kaz.tsv"
    assert within(own(study, "multi-m", "eng").texts, study) == "corpora/eng/paraphrases.tsv"
    multi, written, people = (StudyRecipe.get(study, name) for name in ("multi-m", "written", "by-people"))
    assert [multi.is_written(code) for code in ("kaz", "eng")] == [True, False]
    assert written.is_written("eng") and not people.is_written("kaz")
    assert within(own(study, "by-people", "kaz").texts, study) == "corpora/kaz/human.tsv"
    assert own(study, "multi-m", "kaz").published is None
    assert (
        study.corpus("human", "hau").file == "own/people.tsv"
        and study.corpus("human", "kaz").file == "own/kaz.human.tsv"
    )


def test_translations_are_aligned_with_the_pivots_rows(study: Study) -> None:
    aligned = own(study, "multi-mc", "kaz")
    assert within(aligned.pivot_rows, study) == "corpora/eng/paraphrases.tsv"
    assert within(aligned.references, study) == {"pivot": "encoders/bert/multi-m/pivot/paraphrases/eng/1/seedbed.json"}
    vectors = PivotVectors.get(study, "bert", "multi-m", "paraphrases", "eng", 1)
    assert vectors.columns == ["anchor", "positive", "negative"]


@pytest.mark.parametrize(
    ("recipe", "lang", "licences"),
    [
        ("multi-m", "kaz", ["", "MIT; Q", "CC-BY-NC-4.0"]),
        ("multi-mc", "kaz", ["", "MIT; Q", "CC-BY-NC-4.0"]),
        ("by-people", "kaz", ["", "MIT; Q", "CC-BY-NC-4.0", ""]),
        ("multi-m", "eng", ["", "MIT; Q"]),
    ],
)
def test_a_card_has_the_licences_of_all_that_an_encoder_learnt_from(
    study: Study, recipe: str, lang: str, licences: list
) -> None:
    """The text of adaptation first; what it started from counts, each source once."""
    about = own(study, recipe, lang).lineage()
    assert [one["licence"] for one in about["data"]] == licences
    assert ("generator" in about) == (recipe != "by-people" and lang != "eng")


def test_a_report_shows_no_translations_of_the_pivot(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [Encoder.get(study, "bert", "multi-m", code, 1) for code in ("eng", "kaz")]
    monkeypatch.setattr(Report, "encoders", shown)
    assert Report.get(study).triplets("{generator}/{method}/{lang}") == [f"nllb/{TRANSLATION}/kaz"]


def test_other_recipes_are_told_of_no_translation() -> None:
    study = study_of(TOLD)
    shard = Shard.get(study, "tiny", "xllora", "hin", "0")
    assert shard.settings()["translated"] == []
    assert within(shard.anchors, study) == "corpora/hin/anchors.tsv"
