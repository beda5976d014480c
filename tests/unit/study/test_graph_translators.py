"""Texts and their translations in the graph: which texts a set has, in which languages, and who is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.study.checks.generators import of_translators
from seedbed.study.checks.sources import of_sources
from seedbed.study.graph.adapter import LanguageAdapter, TaskAdapter
from seedbed.study.graph.corpus import Corpus
from seedbed.study.graph.translation import (
    Judgements,
    StudyTranslator,
    Translations,
    text_sets,
    translations_of,
)
from seedbed.study.loading import load
from seedbed.study.model import Study
from tests.asking import within
from tests.refusals import tells

PLAIN = yaml.safe_load("""
languages: {hau: {}, swh: {}, arq: {}}
corpora:
  text: {file: "own/{lang}.tsv"}
  parallel: {file: "own/{lang}-eng.tsv"}
generators:
  chat: {source: {file: own/chat}, sampling: {temperature: 0.7, top_p: 0.5, max_new_tokens: 99}}
  base: {source: {file: own/base}, prompts: plain, language_data: translations}
  coded: {source: {file: own/nllb}, prompts: plain}
  server: {backend: openai-chat, endpoint: "http://host/v1", served_model: m}
translators:
  chat: {generator: chat}
  learnt: {generator: base, adapter: true}
  nllb: {generator: coded, reads: codes}
  opus: {generator: coded, reads: text}
  m2m: {generator: coded, reads: codes, code: "__{iso1}__"}
  far: {generator: server}
  people: {given: {file: "own/{semrel}.tsv"}}
judges:
  likely: {generator: chat}
  strict: {generator: server, answer: numbers, translators: [people, far]}
backbones: {bert: {source: {file: own/bert}}}
recipes: {base: {}}
tasks:
  sts: {protocol: sts, source: {file: "own/{lang}.sts.tsv"}, pairs: {hau-swh: {file: own/both.tsv}}}
  search: {protocol: retrieval, source: {file: "own/{lang}.search.tsv"}}
  bitext: {protocol: bitext, source: {file: "own/{lang}-eng.tsv"}}
  knn: {protocol: knn, source: {file: "own/{lang}.knn.tsv"}, train: {file: "own/{lang}.train.tsv"}}
  voted: {protocol: knn, set_of: knn}
tables: []
figures: []
""")


@pytest.fixture(scope="module")
def study() -> Study:
    return Study.model_validate(PLAIN)


def edited(**groups: dict) -> dict:
    return PLAIN | {name: {**PLAIN.get(name, {}), **entries} for name, entries in groups.items()}


def test_a_set_is_a_tasks_or_a_corpus(study: Study) -> None:
    names = ("sts", "voted", "voted_train", "parallel")
    assert {name: within(Translations.get(study, "chat", "hau", name).texts, study) for name in names} == {
        "sts": "corpora/hau/sts.tsv",
        "voted": "corpora/hau/knn.tsv",
        "voted_train": "corpora/hau/knn_train.tsv",
        "parallel": "corpora/hau/parallel.tsv",
    }
    assert {"sts", "knn_train", "parallel", "seed_pairs", "text"} <= {*text_sets(study)}
    read = Translations.get(study, "chat", "swh", "seed_pairs").inputs()
    assert within(read["texts"], study) == "corpora/swh/seed_pairs.tsv"


@pytest.mark.parametrize(
    ("corpus", "lang", "columns"),
    [
        ("sts", "hau", {"sentence1": "hau", "sentence2": "hau"}),
        ("sts", "swh-hau", {"sentence1": "swh", "sentence2": "hau"}),
        ("search", "hau", {"query": "hau", "document": "hau"}),
        ("bitext", "hau", {"text": "hau", "pivot": "eng"}),
        ("seed_pairs", "swh", {"text": "swh", "pivot": "eng"}),
        ("knn_train", "eng", {"text": "eng"}),
    ],
)
def test_columns_have_languages(study: Study, corpus: str, lang: str, columns: dict) -> None:
    texts = Translations.get(study, "chat", lang, corpus)
    assert texts.settings()["columns"] == texts.columns == columns
    assert texts.translated == sorted({*columns.values()} - {"eng"})


def test_files_stand_under_who_made_them(study: Study) -> None:
    found = within(translations_of(study, ["far", "chat"], "sts", "hau"), study)
    assert [*found.items()] == [
        ("far", "generators/far/translations/hau/sts.tsv"),
        ("chat", "generators/chat/translations/hau/sts.tsv"),
    ]
    judged = {name: Judgements.get(study, name, "hau", "sts").inputs()["translations"] for name in PLAIN["judges"]}
    assert {name: [*files] for name, files in judged.items()} == {
        "likely": [*PLAIN["translators"]],
        "strict": ["people", "far"],
    }


def test_who_writes_writes_greedily(study: Study) -> None:
    chat = Translations.get(study, "chat", "hau", "sts").settings()["generator"]
    assert isinstance(chat, Generator) and chat.sampling.temperature == 0 and chat.sampling.top_p == 1
    assert chat.sampling.max_new_tokens == 99
    strict, likely = (Judgements.get(study, name, "hau", "sts") for name in ("strict", "likely"))
    people = Translations.get(study, "people", "hau", "sts")
    assert (strict.writer, likely.writer, people.writer) == ("server", "chat", "")
    assert people.code().modules == () and strict.code().modules == ("seedbed/generators/writing/backends/openai.py",)
    assert people.environment == likely.environment == "main"


def test_what_is_in_the_pivot_or_given_needs_no_model(study: Study) -> None:
    here = {name: Translations.get(study, name, "hau", "bitext") for name in ("chat", "far", "people", "opus")}
    bases = {name: within(one.inputs()["base"], study) for name, one in here.items() if name != "opus"}
    assert bases == {"chat": "generators/chat/weights/seedbed.json", "far": "", "people": ""}
    assert Translations.get(study, "chat", "eng", "knn_train").inputs()["base"] == ""
    assert Judgements.get(study, "likely", "eng", "knn_train").settings()["generator"] is None
    assert [here[name].writes for name in ("chat", "far", "people")] == [True, True, False]
    assert here["opus"].settings()["reads"] == "text"


def test_a_language_has_its_adapter_or_its_file(study: Study) -> None:
    every = (Translations.get(study, name, "hau-swh", "sts") for name in ("learnt", "chat", "people"))
    learnt, chat, people = (within(one.inputs(), study) for one in every)
    assert learnt["adapters"] == {code: f"generators/base/language/{code}/seedbed.json" for code in ("hau", "swh")}
    # The registry has no name for Swahili there.
    assert people["given"] == {"hau": "corpora/hau/people+given.tsv"}
    assert chat["adapters"] == chat["given"] == {}
    corpus = Corpus.get(study, "hau", "people+given")
    assert corpus.source.file == "own/hau.tsv"
    assert corpus.form == {"kind": "translations", "test": True}
    assert StudyTranslator.get(study, "chat").given("hau") is None


def test_given_translations_of_the_pivot_are_not_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """English text is its own translation."""
    monkeypatch.chdir(tmp_path)
    Path("own").mkdir()
    for name in ("hau.sts.tsv", "eng.sts.tsv"):
        Path("own", name).touch()
    weights = {"source": {"file": "."}}
    task = {"sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}}}
    people = {"people": {"given": {"file": "own/{lang}-eng.tsv"}}}
    study = Study.model_validate({
        "languages": {"hau": {}, "eng": {}}, "backbones": {"bert": weights}, "recipes": {"base": {}}, "tasks": task,
        "translators": people,
    })  # fmt: skip
    with pytest.raises(UserError, match=r"^translators.people.given for hau: no such file own/hau-eng.tsv"):
        of_sources(study)
    Path("own/hau-eng.tsv").touch()
    of_sources(study)


def test_adapters_learn_to_translate_in_the_words_of_translators(study: Study) -> None:
    base, chat = (LanguageAdapter.get(study, name, "hau") for name in ("base", "chat"))
    assert within(base.inputs()["texts"], study) == "corpora/hau/parallel.tsv"
    assert base.translates and base.settings()["pivot"] == "English"
    assert [file.name for file in base.code().data] == ["translation.yaml"]
    assert not chat.translates and chat.settings()["pivot"] == ""
    assert chat.prompts == TaskAdapter.get(study, "chat", "both").prompts


def test_languages_have_the_codes_of_their_translator(study: Study) -> None:
    named = {name: Translations.get(study, name, "hau", "sts").languages for name in ("nllb", "m2m", "chat")}
    assert named["nllb"] == {
        "eng": {"name": "English", "code": "eng_Latn"}, "hau": {"name": "Hausa", "code": "hau_Latn"},
    }  # fmt: skip
    assert named["m2m"]["hau"]["code"] == "__ha__"
    assert named["chat"]["hau"] == {"name": "Hausa"}
    assert Judgements.get(study, "likely", "hau", "sts").languages["hau"] == {"name": "Hausa"}
    with pytest.raises(UserError, match=r"^translators.m2m.code:.*__\{iso1\}__.*set"):
        StudyTranslator.get(study, "m2m").code("arq")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"translators": {"chat": {"generator": "chats"}}}, "translators.chat.generator: ... 'chats' ... 'chat'"),
        ({"translators": {"chat": {}}}, "translators.chat: ... generator and given"),
        ({"translators": {"m2m": {"generator": "coded", "reads": "codes", "code": "{none}"}}}, "translators.m2m.code: ... 'none' ... known: "),
        ({"translators": {"m2m": {"generator": "coded", "reads": "codes", "code": "{iso1.none}"}}}, "translators.m2m.code: ... like __{iso1}__"),
        ({"translators": {"chat": {"generator": "chat", "adapter": True}}}, "translators.chat.adapter: ... set its `language_data: translations`"),
        ({"translators": {"far": {"generator": "server", "reads": "codes"}}}, "translators.far.reads: ... codes ... encoder-decoder"),
        ({"translators": {"nllb": {"generator": "base", "adapter": True, "reads": "text"}}}, "translators.nllb: adapter: ... prompt alone"),
        ({"judges": {"strict": {"generator": "server"}}}, "judges.strict.answer: ... openai-chat ... no likelihoods; take numbers"),
        ({"judges": {"strict": {"generator": "server", "answer": "numbers", "translators": ["peopel"]}}}, "judges.strict.translators: ... 'peopel' ... 'people'"),
        ({"judges": {"chat": {"generator": "chat"}}}, "judges.chat: ... translator ... give it another"),
        ({"generators": {"base": {"source": {"file": "x"}, "template": {"thinking": False}, "language_data": "translations"}}}, "generators.base.template: ... trained without; leave it out"),
        ({"generators": {"chat": {"source": {"file": "x"}, "backend": "published"}}}, "translators.chat.generator: ... published ... take another"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(changes: dict, message: str) -> None:
    with pytest.raises(UserError) as error:
        load(edited(**changes))
    assert tells(str(error.value), message)


def test_a_study_that_fits_is_consistent(study: Study) -> None:
    of_translators(study)
