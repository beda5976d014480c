"""Translations in the graph: what is translated, by whom, in how many shards, and who learns what."""

from __future__ import annotations

import pytest
import yaml

from seedbed.generators.settings import TRANSLATION
from seedbed.study.graph import alignment, cards, encoders, generators, tables, triplets
from seedbed.study.model import Study
from tests.asking import TOLD, Wildcards, asking, study_of

PLAIN = yaml.safe_load("""
pivot: eng
languages: {eng: {}, hau: {corpora: {human: {file: own/people.tsv}}}, kaz: {}}
corpora:
  text: {file: "own/{lang}.tsv"}
  others:
    paraphrases: {rows: 95, sets: {nli: {file: own/nli.tsv, licence: MIT}, quora: {file: own/quora.tsv, licence: Q}}}
    human: {file: "own/{lang}.human.tsv"}
anchors: {count: 60}
generators:
  llm: {source: {file: own/llm}}
  nllb: {source: {file: own/nllb, licence: CC-BY-NC-4.0}, prompts: plain, shard_rows: 10}
backbones: {bert: {source: {file: own/bert, licence: Apache-2.0}}}
recipes:
  multi-m: {data: {translated: paraphrases}, generator: nllb}
  multi-mc: {data: {translated: paraphrases}, generator: nllb}
  by-people: {method: multi-mc, from: multi-m, data: {paraphrases: human}}
  written: {method: prompting, generator: llm}
tasks: {sts: {protocol: sts, source: {file: own/sts.tsv}}}
tables: []
figures: []
""")
MADE = {"generator": "nllb", "method": TRANSLATION, "lang": "kaz"}
WRITTEN = {"generator": "llm", "method": "prompting", "lang": "kaz"}


@pytest.fixture(scope="module")
def study() -> Study:
    return Study.model_validate(PLAIN)


@pytest.fixture(scope="module")
def ask(study: Study):
    return asking(study)


def own(recipe: str, lang: str) -> dict[str, str]:
    return {"backbone": "bert", "recipe": recipe, "lang": lang, "seed": "1"}


def test_the_pivots_rows_are_translated_and_compared_with(ask) -> None:
    assert ask(triplets.translated, **MADE) == "paraphrases" and ask(triplets.translated, **WRITTEN) == ""
    assert ask(triplets.anchors, **MADE) == ask(triplets.source, **MADE) == "corpora/eng/paraphrases.tsv"
    assert ask(triplets.anchors, **WRITTEN) == "corpora/kaz/anchors.tsv" and ask(triplets.source, **WRITTEN) == []
    assert ask(triplets.translation, **MADE) == ["eng_Latn", "kaz_Cyrl"]
    assert ask(triplets.translation, **WRITTEN) == [] and ask(generators.prompts, **MADE) == ""


def test_shards_are_as_many_as_the_source_says_rows(ask) -> None:
    """All rows are translated, if no recipe learns fewer; the anchors' number is of no account."""
    assert (ask(triplets.rows, **MADE), ask(triplets.shards, **MADE)) == (0, 10)
    recipes = {name: {**recipe, "rows": 25} for name, recipe in PLAIN["recipes"].items()}
    few = asking(Study.model_validate(PLAIN | {"recipes": recipes}))
    assert (few(triplets.rows, **MADE), few(triplets.shards, **MADE)) == (25, 3)
    others = {**PLAIN["corpora"]["others"], "paraphrases": {"file": "own/nli.tsv"}}
    unknown = asking(Study.model_validate(PLAIN | {"corpora": {**PLAIN["corpora"], "others": others}}))
    assert (unknown(triplets.rows, **MADE), unknown(triplets.shards, **MADE)) == (0, 6)


def test_the_pivot_learns_the_rows_themselves(study: Study, ask) -> None:
    assert ask(encoders.texts, **own("multi-m", "kaz")) == f"triplets/nllb/{TRANSLATION}/kaz.tsv"
    assert ask(encoders.texts, **own("multi-m", "eng")) == "corpora/eng/paraphrases.tsv"
    assert [encoders.writes(study, "multi-m", code) for code in ("kaz", "eng")] == [True, False]
    assert encoders.writes(study, "written", "eng") and not encoders.writes(study, "by-people", "kaz")
    assert ask(encoders.texts, **own("by-people", "kaz")) == "corpora/kaz/human.tsv"
    assert encoders.published_for(study, Wildcards(**own("multi-m", "kaz"))) is None
    assert (
        study.corpus("human", "hau").file == "own/people.tsv"
        and study.corpus("human", "kaz").file == "own/kaz.human.tsv"
    )


def test_translations_are_aligned_with_the_pivots_rows(ask) -> None:
    assert ask(alignment.pivot_rows, **own("multi-mc", "kaz")) == "corpora/eng/paraphrases.tsv"
    assert ask(encoders.references, **own("multi-mc", "kaz")) == {
        "pivot": "encoders/bert/multi-m/pivot/paraphrases/eng/1/seedbed.json"
    }
    assert ask(alignment.pivot_columns, corpus="paraphrases") == ["anchor", "positive", "negative"]


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
    ask, recipe: str, lang: str, licences: list
) -> None:
    """The text of adaptation first; what it started from counts, each source once."""
    about = ask(cards.lineage, **own(recipe, lang))
    assert [one["licence"] for one in about["data"]] == licences
    assert ("generator" in about) == (recipe != "by-people" and lang != "eng")


def test_a_report_shows_no_translations_of_the_pivot(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = {("bert", "multi-m", code, 1) for code in ("eng", "kaz")}
    monkeypatch.setattr(tables, "shown_encoders", lambda study: shown)
    assert tables.shown_triplets(study, "{generator}/{method}/{lang}") == [f"nllb/{TRANSLATION}/kaz"]


def test_other_recipes_are_told_of_no_translation() -> None:
    ask = asking(study_of(TOLD))
    assert ask(triplets.translation, generator="tiny", method="xllora", lang="hin") == []
    assert ask(triplets.anchors, generator="tiny", method="xllora", lang="hin") == "corpora/hin/anchors.tsv"
