"""Texts and their translations in the graph: which texts a set has, in which languages, and who is asked."""

from __future__ import annotations

import pytest
import yaml

from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.study import translators
from seedbed.study.graph import corpora, generators, translations
from seedbed.study.loading import load
from seedbed.study.model import Study
from tests.asking import asking
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


@pytest.fixture(scope="module")
def ask(study: Study):
    return asking(study)


def edited(**groups: dict) -> dict:
    return PLAIN | {name: {**PLAIN.get(name, {}), **entries} for name, entries in groups.items()}


def test_a_set_is_a_tasks_or_a_corpus(study: Study, ask) -> None:
    files = {name: ask(translations.text_files, name, "hau") for name in ("sts", "voted", "voted_train", "parallel")}
    assert files == {
        "sts": ["corpora/hau/sts.tsv"],
        "voted": ["corpora/hau/knn.tsv"],
        "voted_train": ["corpora/hau/knn_train.tsv"],
        "parallel": ["corpora/hau/parallel.tsv"],
    }
    assert {"sts", "knn_train", "parallel", "seed_pairs", "text"} <= {*translations.text_sets(study)}
    job = {"translator": "chat", "corpus": "seed_pairs", "lang": "swh"}
    assert ask(translations.texts, **job) == ["corpora/swh/seed_pairs.tsv"]


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
def test_columns_have_languages(ask, corpus: str, lang: str, columns: dict) -> None:
    assert ask(translations.columns_of, corpus, lang) == columns
    assert ask(translations.translated, corpus, lang) == sorted({*columns.values()} - {"eng"})
    assert ask(translations.columns, corpus=corpus, lang=lang) == columns


def test_files_stand_under_who_made_them(ask) -> None:
    assert ask(translations.translations, ["far", "chat"], "sts", "hau") == [
        "generators/far/translations/hau/sts.tsv",
        "generators/chat/translations/hau/sts.tsv",
    ]
    judged = {name: [*ask(translations.candidates, judge=name, lang="hau", corpus="sts")] for name in PLAIN["judges"]}
    assert judged == {"likely": [*PLAIN["translators"]], "strict": ["people", "far"]}


def test_who_writes_writes_greedily(ask) -> None:
    chat = ask(translations.generator, translator="chat", lang="hau", corpus="sts")
    assert isinstance(chat, Generator) and chat.sampling.temperature == 0 and chat.sampling.top_p == 1
    assert chat.sampling.max_new_tokens == 99
    assert ask(generators.writer, judge="strict", translator="chat") == "server"
    assert ask(generators.writer, translator="people") == "" and ask(generators.writer, generator="chat") == "chat"
    assert ask(generators.back_end, translator="people") == []
    assert ask(generators.environment, translator="people") == ask(generators.environment, judge="likely") == "main"


def test_what_is_in_the_pivot_or_given_needs_no_model(ask) -> None:
    here, there = {"lang": "hau", "corpus": "bitext"}, {"lang": "eng", "corpus": "knn_train"}
    assert ask(translations.base, translator="chat", **here) == "generators/chat/weights/seedbed.json"
    assert ask(translations.base, translator="far", **here) == ask(translations.base, translator="people", **here) == []
    assert ask(translations.base, translator="chat", **there) == []
    assert ask(translations.generator, judge="likely", **there) is None
    assert [ask(translations.writes, translator=name, **here) for name in ("chat", "far", "people")] == [
        True,
        True,
        False,
    ]
    assert ask(translations.reads, translator="opus", **here) == "text"


def test_a_language_has_its_adapter_or_its_file(ask) -> None:
    both = {"lang": "hau-swh", "corpus": "sts"}
    assert ask(translations.adapters, translator="learnt", **both) == {
        code: f"generators/base/language/{code}/seedbed.json" for code in ("hau", "swh")
    }
    assert ask(translations.adapters, translator="chat", **both) == {}
    # The registry has no name for Swahili there.
    assert ask(translations.given, translator="people", **both) == {"hau": "corpora/hau/people+given.tsv"}
    assert ask(translations.given, translator="chat", **both) == {}
    job = {"corpus": "people+given", "lang": "hau"}
    assert ask(corpora.source, **job).file == "own/hau.tsv"
    assert ask(corpora.form, **job) == {"kind": "translations", "test": True}
    assert ask(translations.given_source, "chat+given", "hau") is None


def test_adapters_learn_to_translate_in_the_words_of_translators(ask) -> None:
    assert ask(generators.language_texts, generator="base", lang="hau") == "corpora/hau/parallel.tsv"
    assert ask(generators.translated_into, generator="base") == "English"
    assert ask(generators.language_prompts, generator="base").name == "translation.yaml"
    assert ask(generators.translated_into, generator="chat") == ""
    assert not ask(generators.translates, generator="chat")


def test_languages_have_the_codes_of_their_translator(study: Study, ask) -> None:
    job = {"lang": "hau", "corpus": "sts"}
    assert ask(translations.languages, translator="nllb", **job) == {
        "eng": {"name": "English", "code": "eng_Latn"}, "hau": {"name": "Hausa", "code": "hau_Latn"},
    }  # fmt: skip
    assert ask(translations.languages, translator="m2m", **job)["hau"]["code"] == "__ha__"
    assert ask(translations.languages, translator="chat", **job)["hau"] == {"name": "Hausa"}
    assert ask(translations.languages, judge="likely", **job)["hau"] == {"name": "Hausa"}
    with pytest.raises(UserError, match=r"^translators.m2m.code:.*__\{iso1\}__.*set"):
        translations.code_of(study, "m2m", "arq")
    odd = Study.model_validate(edited(translators={"m2m": {"generator": "coded", "reads": "codes", "code": "{none}"}}))
    with pytest.raises(UserError, match="'{none}' names no registry column; known: "):
        translations.code_of(odd, "m2m", "hau")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"translators": {"chat": {"generator": "chats"}}}, "translators.chat.generator: ... 'chats' ... 'chat'"),
        ({"translators": {"chat": {}}}, "translators.chat: ... generator and given"),
        ({"translators": {"chat": {"generator": "chat", "adapter": True}}}, "translators.chat.adapter: ... set its `language_data: translations`"),
        ({"translators": {"far": {"generator": "server", "reads": "codes"}}}, "translators.far.reads: ... codes ... encoder-decoder"),
        ({"translators": {"nllb": {"generator": "base", "adapter": True, "reads": "text"}}}, "translators.nllb: adapter: ... prompt alone"),
        ({"judges": {"strict": {"generator": "server"}}}, "judges.strict.answer: ... openai-chat ... no likelihoods; take numbers"),
        ({"judges": {"strict": {"generator": "server", "answer": "numbers", "translators": ["peopel"]}}}, "judges.strict.translators: ... 'peopel' ... 'people'"),
        ({"judges": {"chat": {"generator": "chat"}}}, "judges.chat: ... translator ... give it another"),
        ({"generators": {"base": {"source": {"file": "x"}, "template": {"thinking": False}, "language_data": "translations"}}}, "generators.base.template: ... learn without; leave it out"),
        ({"generators": {"chat": {"source": {"file": "x"}, "backend": "published"}}}, "translators.chat.generator: ... published ... take another"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(changes: dict, message: str) -> None:
    with pytest.raises(UserError) as error:
        load(edited(**changes))
    assert tells(str(error.value), message)


def test_a_study_that_fits_is_consistent(study: Study) -> None:
    translators.consistent(study)
