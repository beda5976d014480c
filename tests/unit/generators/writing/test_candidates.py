"""Candidates: what translators of every kind write, each text once, whatever is killed; and what is none."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, M2M100Tokenizer

from scripts import judge as judging_script
from scripts import train_language_adapter
from scripts import translate as script
from seedbed import manifests
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.generators.settings import Generator
from seedbed.generators.weights.fetch import fetch
from seedbed.generators.writing.backends import Backend, Completion, Request, open_backend
from seedbed.generators.writing.journal import answers
from seedbed.generators.writing.judge import judgements
from seedbed.generators.writing.prompts import begun_thoughts, require_visible_thoughts, without_thoughts
from seedbed.generators.writing.translate import Tongue, Writer, sentence, translations
from seedbed.generators.writing.translations import candidates, finish, text_id, texts_of
from seedbed.io import UserError, read_json, read_table, write_table
from tests import tiny
from tests.programs import call

TONGUES = {"eng": Tongue("English"), "hau": Tongue("Hausa"), "swh": Tongue("Swahili")}


def generator(base: Path | None = None, **sampling: Any) -> Generator:
    limits = {"temperature": 0, "max_new_tokens": 12} | sampling
    fixed = {"source": {"file": str(base or "x")}, "prompts": "plain", "dtype": "float32", "batch_size": 4}
    return Generator.model_validate(fixed | {"sampling": limits}).greedy()


# ---- Encoder-decoders, fetched from pickles as they stand on the hub.


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("fetched")

    def made(name: str) -> Path:
        if not (root / name).is_dir():
            source = Source(file=str(getattr(tiny, name)(root / f"{name} on the hub")), convert=True)
            fetch(source, Store(root / "downloads", root / "lock.json"), root / name)
        return root / name

    return made


@pytest.mark.parametrize("name", ["opus", "m2m"])
def test_a_pickled_translator_writes_what_generate_does(fetched: Callable, name: str, tmp_path: Path) -> None:
    base = fetched(name)
    assert manifests.of(base)["converted"].keys() == {"pytorch_model.bin"}
    tokenizer, model = AutoTokenizer.from_pretrained(base), AutoModelForSeq2SeqLM.from_pretrained(base).eval()
    forced, reads = {}, "text"
    tongues = {"eng": Tongue("English", "__en__"), "hau": Tongue("Hausa", "__ha__")}
    if isinstance(tokenizer, M2M100Tokenizer):
        tokenizer.src_lang, reads = "ha", "codes"
        forced = {"forced_bos_token_id": tokenizer.get_lang_id("en")}
    texts = dict.fromkeys([*tiny.sentences("hau", 9), "ruwa", "yara mata"], "hau")
    opened = {"open": lambda: open_backend(generator(base), base), "weights": "w", "state": tmp_path / "state"}
    table, _ = translations(texts, tongues, "eng", Writer(generator(base), reads, **opened))
    wanted = []
    for text in texts:
        read = tokenizer(text, return_tensors="pt")["input_ids"]
        new = model.generate(read, num_beams=1, do_sample=False, max_new_tokens=12 + bool(forced), **forced)[0]
        written = new[1 + bool(forced) :]  # behind what the decoder begins with
        wanted.append(sentence(tokenizer.decode(written, skip_special_tokens=True)))
    assert [*table["english"]] == wanted and len({*wanted}) > 3


def test_a_language_without_a_token_is_told(fetched: Callable, tmp_path: Path) -> None:
    base = fetched("m2m")
    opened = {"open": lambda: open_backend(generator(base), base), "weights": "w", "state": tmp_path}
    tongues = {"eng": Tongue("English", "__en__"), "kaz": Tongue("Kazakh", "__kk_no__")}
    with pytest.raises(UserError, match="no token for language '__kk_no__'"):
        translations({"su": "kaz"}, tongues, "eng", Writer(generator(base), "codes", **opened))


# ---- Language models.


def test_a_base_model_translates_by_the_adapter_that_learnt_it(tiny_generator: Path, tmp_path: Path) -> None:
    texts = tiny.sentences("hau", 12)
    write_table(
        pd.DataFrame({"id": range(12), "text": texts, "pivot": tiny.sentences("eng", 12)}), tmp_path / "pairs.tsv"
    )
    lora = {"rank": 2, "examples": 12, "epochs": 1, "batch_size": 4, "micro_batch_size": 4, "learning_rate": 0.05}
    words = ["--base", str(tiny_generator), "--name", "tiny", "--texts", str(tmp_path / "pairs.tsv"), "--kind"]
    words += ["translations", "--loss", "response", "--language", "Hausa", "--pivot", "English", "--style", "plain"]
    words += ["--dtype", "float32", "--lora", json.dumps(lora), "--state", str(tmp_path / "state")]
    call(train_language_adapter, [*words, "--output", str(tmp_path / "adapter")])
    assert read_json(tmp_path / "adapter/seedbed.json")["pivot"] == "English"
    common = ["--name", "t", "--texts", str(tmp_path / "pairs.tsv"), "--columns", "text=hau", "pivot=eng"]
    common += ["--languages", json.dumps({"eng": {"name": "English"}, "hau": {"name": "Hausa"}}), "--pivot", "eng"]
    common += ["--generator", generator(tiny_generator).dump(), "--base", str(tiny_generator)]
    common += ["--state", str(tmp_path / "state"), "--record", str(tmp_path / "record.json")]
    call(script, [*common, "--output", str(tmp_path / "plain.tsv")])
    call(script, [*common, "--adapters", f"hau={tmp_path / 'adapter'}", "--output", str(tmp_path / "adapted.tsv")])
    plain, adapted = (read_table(tmp_path / f"{name}.tsv", ["english"]) for name in ("plain", "adapted"))
    assert not plain["english"][:12].equals(adapted["english"][:12]), "the journal of one is not the other's"
    assert [*plain["text"]] == [*adapted["text"]] and {*plain["finish"][12:]} == {"own"}


def test_a_likelihood_judge_by_hand_and_by_its_program(tiny_generator: Path, tmp_path: Path) -> None:
    """Two translators, one text in both corpora; what is judged is judged again from the journal alone."""
    texts = dict.fromkeys(tiny.sentences("hau", 3), "hau")
    write_table(pd.DataFrame({"id": range(3), "text": [*texts]}), tmp_path / "texts.tsv")
    english = {"a": tiny.sentences("eng", 3), "b": [tiny.sentences("eng", 3)[0], "", *tiny.sentences("eng", 1, 5)]}
    for name, column in english.items():
        ends = ["stop" if text else "empty" for text in column]
        rows = {"id": map(text_id, texts), "text": [*texts], "english": column, "finish": ends}
        write_table(pd.DataFrame(rows), tmp_path / f"{name}.tsv")
    words = ["--name", "j", "--texts", str(tmp_path / "texts.tsv"), "--columns", "text=hau", "--pivot", "eng"]
    words += ["--languages", json.dumps({"eng": {"name": "English"}, "hau": {"name": "Hausa"}})]
    words += ["--translations", *(f"{name}={tmp_path / name}.tsv" for name in english), "--generator"]
    words += [generator(tiny_generator).dump(), "--state", str(tmp_path / "state")]
    words += ["--record", str(tmp_path / "record.json"), "--output", str(tmp_path / "judged.tsv")]
    call(judging_script, [*words, "--base", str(tiny_generator)])
    before = (tmp_path / "judged.tsv").read_bytes()
    assert read_json(tmp_path / "record.json")["counts"] == {"judged": 5, "unscored": 0, "not judged": 1}
    files = {name: tmp_path / f"{name}.tsv" for name in english}
    found = candidates(files, tmp_path / "judged.tsv")
    scores = found[["semantic", "emotional", "pragmatic"]]
    assert ((scores > 1) & (scores < 10)).all(axis=1).equals(found["usable"])
    assert (scores.iloc[0] == scores.iloc[1]).all(), "both wrote the same"
    (tmp_path / "judged.tsv").unlink()
    Backend.__init__, kept = None, Backend.__init__
    try:
        call(judging_script, [*words, "--base", str(tiny_generator)])
    finally:
        Backend.__init__ = kept
    assert (tmp_path / "judged.tsv").read_bytes() == before


# ---- What is asked, and what is not.


class Echo(Backend):
    """Says a text backwards, and may be killed after `lives` completions."""

    style = "plain"

    def __init__(self, lives: int = 10**9, said: Callable[[str], str] = lambda text: text[::-1]) -> None:
        self.lives, self.asked, self.said = lives, [], said

    def encode(self, prompt: str, *, bos: bool = True) -> str:
        return prompt

    def write(self, requests: list[Request], adapter: Path | None) -> Any:
        for request in requests:
            if not self.lives:
                raise KeyboardInterrupt
            self.lives -= 1
            self.asked.append(request.prompt)
            text = request.prompt.partition(": ")[2].partition("\n")[0]
            yield Completion(request.id, self.said(text), finished=True)


def writer(backend: Echo, state: Path, **sampling: Any) -> Writer:
    return Writer(generator(**sampling), "prompt", open=lambda: backend, weights="w", state=state)


def test_a_killed_job_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    texts = dict.fromkeys(tiny.sentences("hau", 300), "hau")
    whole, _ = translations(texts, TONGUES, "eng", writer(Echo(), tmp_path / "whole"))
    killed, asked = tmp_path / "killed", []
    for lives in (70, 5, 1, 150, 10**9):
        backend = Echo(lives)
        asked.append(backend.asked)
        try:
            table, _ = translations(texts, TONGUES, "eng", writer(backend, killed))
        except KeyboardInterrupt:
            continue
    assert table.equals(whole) and sum(map(len, asked)) == 300
    again = Echo()
    fewer, _ = translations(dict(list(texts.items())[50:60]), TONGUES, "eng", writer(again, killed))
    assert fewer.equals(whole[50:60].reset_index(drop=True)) and not again.asked


def test_a_killed_judge_goes_on_and_ends_with_the_same_bytes(tiny_generator: Path, tmp_path: Path, monkeypatch) -> None:
    texts = dict.fromkeys(tiny.sentences("hau", 50), "hau")
    english = pd.DataFrame({"id": [*map(text_id, texts)], "text": [*texts], "english": tiny.sentences("eng", 50)})
    tables = {
        name: english.assign(finish="stop", english=english["english"] + tail) for name, tail in (("a", ""), ("b", "?"))
    }
    backend = open_backend(generator(tiny_generator), tiny_generator)

    def run(state: Path, lives: int = 10**9) -> pd.DataFrame:
        count, means = iter(range(lives)), __import__("seedbed.generators.writing.judge", fromlist=["scored"]).scored

        def mortal(*given: Any) -> np.ndarray:
            if next(count, None) is None:
                raise KeyboardInterrupt
            return means(*given)

        with monkeypatch.context() as patch:
            patch.setattr("seedbed.generators.writing.judge.scored", mortal)
            judge = Writer(generator(tiny_generator), "likelihood", open=lambda: backend, weights="w", state=state)
            return judgements(tables, texts, TONGUES, "eng", judge)[0]

    whole = run(tmp_path / "whole")
    for lives in (40, 3):
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "killed", lives)
    assert run(tmp_path / "killed", 18).equals(whole), "32 texts were on the disk"


def test_the_bar_of_a_judge_that_writes_numbers_moves(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    texts = tiny.sentences("hau", 100)
    table = pd.DataFrame({"id": texts, "text": texts, "english": texts, "finish": "stop"})
    judge = Writer(generator(), "numbers", open=lambda: Echo(70, lambda text: "8, 7, 6"), weights="w", state=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        judgements({"t": table}, dict.fromkeys(texts, "hau"), TONGUES, "eng", judge)
    assert "| 70/100 [" in capsys.readouterr().err


def test_what_an_answer_depends_on_asks_anew(tmp_path: Path) -> None:
    texts = dict.fromkeys(tiny.sentences("hau", 3), "hau")
    first, second, third = Echo(), Echo(), Echo()
    translations(texts, TONGUES, "eng", writer(first, tmp_path))
    translations(texts, TONGUES, "eng", writer(second, tmp_path, max_new_tokens=13))
    translations(dict.fromkeys(texts, "swh"), TONGUES, "eng", writer(third, tmp_path))
    assert len(first.asked) == len(second.asked) == len(third.asked) == 3
    assert third.asked[0].startswith("Swahili: ") and third.asked[0].endswith("\nEnglish:")


def hold(state: Path) -> None:
    with answers(state, {"made": "by"}) as journal:
        (state / "held").touch()
        time.sleep(1)
        journal.commit([Completion("a", "b", True)])


def test_a_second_job_waits_and_finds_what_the_first_was_told(tmp_path: Path) -> None:
    other = multiprocessing.get_context("fork").Process(target=hold, args=(tmp_path,))
    other.start()
    while not (tmp_path / "held").exists():
        time.sleep(0.01)
    with answers(tmp_path, {"made": "by"}) as journal:
        assert [*journal.done] == ["a"]
    other.join()


@pytest.mark.parametrize(
    ("written", "english"),
    [
        ("<think>\nYara means children.\n</think>\n\nThe children.", "The children."),
        ("Yara means children.\n</think>\nThe children.", "The children."),
        ("<think>a</think><think>b</think>“The children.”", "The children."),
        ("<think>Yara means children", ""),
        ("[THINK]hm[/THINK]The children.", "The children."),
        ("<Think>hm</THINK>The children.", "The children."),
        ("<thought>hm</thought>The children.", "The children."),
        ("<reasoning>hm</reasoning>The children.", "The children."),
        ("◁think▷hm◁/think▷The children.", "The children."),
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>The children.",
            "The children.",
        ),
        ("<|channel|>analysis<|message|>Yara means", ""),
        ("\n The children\n go.\n", "The children go."),
        ("'The' and 'children'", "'The' and 'children'"),
    ],
)
def test_no_thought_becomes_a_translation(written: str, english: str) -> None:
    assert sentence(written) == english


def test_thoughts_that_cannot_be_told_are_refused(tiny_generator: Path) -> None:
    require_visible_thoughts(AutoTokenizer.from_pretrained(tiny_generator))
    tokenizer = AutoTokenizer.from_pretrained(tiny_generator)
    tokenizer.add_special_tokens({"additional_special_tokens": ["</think>"]})
    with pytest.raises(UserError, match=r"</think>.*special token"):
        require_visible_thoughts(tokenizer)
    assert without_thoughts("no thoughts") == "no thoughts"
    tokenizer = AutoTokenizer.from_pretrained(tiny_generator)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|channel|>"]})
    with pytest.raises(UserError, match=r"<\|channel\|> is a special token"):
        require_visible_thoughts(tokenizer)


def test_thoughts_that_the_template_begins_have_to_end(tiny_chat_generator: Path, tmp_path: Path) -> None:
    """DeepSeek-R1's template writes the opening mark itself; an answer that stops without the closing one has none."""
    tokenizer = AutoTokenizer.from_pretrained(tiny_chat_generator)
    assert begun_thoughts(tokenizer, "chat") == ""
    tokenizer.chat_template += "{% if add_generation_prompt %}<think>\n{% endif %}"
    assert begun_thoughts(tokenizer, "chat") == "<think>" and begun_thoughts(tokenizer, "plain") == ""
    said = {"one": "One means", "two": "Two means </think>\n\nThe second."}
    echo = Echo(said=said.__getitem__)
    echo.tokenizer, echo.style, echo.template = tokenizer, "chat", {}
    table, _ = translations(dict.fromkeys(said, "hau"), TONGUES, "eng", writer(echo, tmp_path))
    assert table[["english", "finish"]].to_numpy().tolist() == [["", "empty"], ["The second.", "stop"]]
    again, _ = translations(dict.fromkeys(said, "hau"), TONGUES, "eng", writer(Echo(0), tmp_path))
    assert again.equals(table), "from the journal alone"


@pytest.mark.parametrize(
    ("text", "english", "how", "end"),
    [
        ("Ina kwana", "Good morning", "stop", "stop"), ("Ina kwana", "ina  kwana!", "stop", "copied"),
        ("Ruwan sama ya sauka.", "Hausa: ruwan sama ya sauka", "stop", "copied"),
        ("Ruwan sama ya", "Hausa: ruwan sama ya", "stop", "stop"), ("Ruwan sama ya sauka", "ruwan sama ya saukar", "stop", "stop"),
        ("Ina kwana", "", "given", "empty"), ("Ina kwana", "Ina kwana", "given", "copied"),
        ("2024", "2024", "stop", "stop"), ("Ina kwana", "Good", "length", "length"), ("Hi", "Hi", "own", "own"),
    ],
)  # fmt: skip
def test_how_a_translation_ends(text: str, english: str, how: str, end: str) -> None:
    assert finish(text, english, how) == end


def test_a_text_that_is_too_long_is_not_sent(tiny_generator: Path, tmp_path: Path) -> None:
    texts = {"yara mata": "hau", "yara mata " * 20: "hau"}
    settings = generator(tiny_generator, max_prompt_tokens=40)
    opened = {"open": lambda: open_backend(settings, tiny_generator), "weights": "w", "state": tmp_path}
    table, counts = translations(texts, TONGUES, "eng", Writer(settings, "prompt", **opened))
    assert table["finish"][1] == "empty" and counts["texts"] == 2 and counts["empty"] == 1


# ---- Files.


def test_the_texts_of_a_set_are_distinct_and_have_languages(tmp_path: Path) -> None:
    rows = {"id": range(3), "text": ["a", "b", "a"], "pivot": ["c", "b", ""]}
    write_table(pd.DataFrame(rows), tmp_path / "x.tsv")
    assert texts_of(tmp_path / "x.tsv", {"text": "hau", "pivot": "eng"}, "eng") == {"a": "hau", "b": "eng", "c": "eng"}
    write_table(pd.DataFrame({"id": ["1"], "text": [""], "other": ["x"]}), tmp_path / "y.tsv")
    with pytest.raises(UserError, match="no text in text; expected"):
        texts_of(tmp_path / "y.tsv", {"text": "hau"}, "eng")


def test_given_translations_are_of_these_texts(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"text": ["a b", "a b", "c"], "english": ["one", "two", ""]}), tmp_path / "given.tsv")
    tongues = TONGUES | {"hau": Tongue("Hausa", given=tmp_path / "given.tsv")}
    table, counts = translations({"a  b": "hau", "c": "hau", "d": "hau", "e": "eng"}, tongues, "eng", None)
    assert table[["english", "finish"]].to_numpy().tolist() == [
        ["one", "given"], ["", "empty"], ["", "missing"], ["e", "own"],
    ]  # fmt: skip
    assert counts == {"texts": 4, "given": 1, "empty": 1, "missing": 1, "own": 1}
    with pytest.raises(UserError, match=r"given.tsv:.*none of the 2 in Hausa"):
        translations({"x": "hau", "y": "hau"}, tongues, "eng", None)
    assert translations({"x": "swh"}, tongues, "eng", None)[1] == {"texts": 1, "missing": 1}


def of(path: Path, texts: list[str], ends: list[str]) -> Path:
    rows = {"id": map(text_id, texts), "text": texts, "english": [f"E {text}" for text in texts], "finish": ends}
    write_table(pd.DataFrame(rows), path)
    return path


def test_candidates_stand_text_by_text_in_the_translators_order(tmp_path: Path) -> None:
    files = {
        "z": of(tmp_path / "z", ["a", "b"], ["stop", "own"]),
        "y": of(tmp_path / "y", ["a", "b"], ["length", "own"]),
    }
    found = candidates(files)
    assert found[["text", "translator", "usable"]].to_numpy().tolist() == [
        ["a", "z", True], ["a", "y", False], ["b", "z", True], ["b", "y", False],
    ]  # fmt: skip
    assert "semantic" not in found
    judged = {"id": [text_id("a")] * 2 + [text_id("b")] * 2, "translator": ["y", "z"] * 2}
    judged |= {aspect: ["", "7.5", "", ""] for aspect in ("semantic", "emotional", "pragmatic")}
    write_table(pd.DataFrame(judged), tmp_path / "j")
    found = candidates(files, tmp_path / "j")
    assert found["semantic"].fillna(0).tolist() == [7.5, 0, 0, 0]
    assert {*map(str, found.dtypes[-3:])} == {"float64"}


def test_files_of_different_texts_are_told(tmp_path: Path) -> None:
    files = {"z": of(tmp_path / "z", ["a", "b"], ["stop"] * 2), "y": of(tmp_path / "y", ["b", "a"], ["stop"] * 2)}
    with pytest.raises(UserError, match=r"y: .*other texts.*z;"):
        candidates(files)
    write_table(
        pd.DataFrame(
            {"id": [text_id("a")], "translator": "z", **dict.fromkeys(("semantic", "emotional", "pragmatic"), "1")}
        ),
        tmp_path / "j",
    )
    with pytest.raises(UserError, match=f"j: no judgement of z's translation of text {text_id('b')}; judge this"):
        candidates({"z": files["z"]}, tmp_path / "j")
    with pytest.raises(UserError, match="no file of translations"):
        candidates({})


def test_likelihoods_of_a_server_are_refused_before_it_is_asked(tmp_path: Path) -> None:
    chat = {"backend": "openai-chat", "endpoint": "http://127.0.0.1:1/v1", "served_model": "m"}
    judge = Writer(Generator.model_validate(chat), "likelihood", open=None, weights="", state=tmp_path)
    table = pd.DataFrame({"id": ["1"], "text": ["a"], "english": ["b"], "finish": ["stop"]})
    with pytest.raises(UserError, match=r"^judge:.*openai-chat.*set `answer: numbers`"):
        judgements({"t": table}, {"a": "hau"}, TONGUES, "eng", judge)


def test_a_score_does_not_follow_thoughts_that_the_template_begins(tiny_chat_generator: Path, tmp_path: Path) -> None:
    settings = generator(tiny_chat_generator).model_copy(update={"prompts": "chat"})
    backend = open_backend(settings, tiny_chat_generator)
    judge = Writer(settings, "likelihood", open=lambda: backend, weights="w", state=tmp_path)
    table = pd.DataFrame({"id": ["1"], "text": ["a"], "english": ["b"], "finish": ["stop"]})
    scores, counts = judgements({"t": table}, {"a": "hau"}, TONGUES, "eng", judge)
    assert counts["judged"] == 1 and scores["semantic"].between(1, 10).all()
    backend.tokenizer.chat_template += "{% if add_generation_prompt %}<think>\n{% endif %}"
    table = table.assign(english="another")
    with pytest.raises(UserError, match=r"chat template.*<think>.*score"):
        judgements({"t": table}, {"a": "hau"}, TONGUES, "eng", judge)


@pytest.mark.parametrize(
    ("written", "finished", "scores"),
    [
        ("Meaning: 9\nEmotion: 9\nTone: 1", False, None),  # of 10, digit by digit
        ("Meaning: 9\nEmotion: 9\nTone: 1", True, [9, 9, 1]),
        ("Meaning: 9\nEmotion: 9\nTone: 10. They", False, [9, 9, 10]),
    ],
)
def test_a_score_that_the_length_limit_cuts_is_none(
    tmp_path: Path, written: str, finished: bool, scores: list | None
) -> None:
    class Cut:
        def encode(self, text: str, bos: bool = True) -> str:
            return text

        def write(self, requests: list[Request], adapter: Path | None) -> Iterator[Completion]:
            return (Completion(one.id, written, finished) for one in requests)

    chat = {"backend": "openai-chat", "endpoint": "http://127.0.0.1:1/v1", "served_model": "m"}
    table = pd.DataFrame({"id": ["1"], "text": ["a"], "english": ["b"], "finish": ["stop"]})
    for model in (Cut, None):  # and from the journal alone
        judge = Writer(Generator.model_validate(chat), "numbers", open=model, weights="", state=tmp_path)
        found, counts = judgements({"t": table}, {"a": "hau"}, TONGUES, "eng", judge)
        assert counts["unscored"] == (scores is None)
        assert scores is None or found[["semantic", "emotional", "pragmatic"]].iloc[0].tolist() == scores
