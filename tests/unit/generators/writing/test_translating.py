"""Translation: what NLLB's own generate writes, the same rows in every language, and a killed job that goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from scripts import join_triplets
from scripts import synthesise as script
from seedbed.generators.settings import TRANSLATION, Generator
from seedbed.generators.writing.backends import Backend, Completion, Request, open_backend
from seedbed.generators.writing.corpus import translate
from seedbed.generators.writing.journal import COMMIT_ROWS
from seedbed.io import UserError, read_table, write_table
from seedbed.triplets.shards import write_shard
from tests import tiny
from tests.programs import call

NEW = 12
SIDES = ["anchor", "positive", "negative"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.translator(tmp_path_factory.mktemp("translator"))


def settings(base: Path, **sampling: Any) -> Generator:
    limits = {"temperature": 0, "max_new_tokens": NEW} | sampling
    fixed = {"source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 4}
    return Generator.model_validate(fixed | {"sampling": limits})


@pytest.fixture
def rows() -> pd.DataFrame:
    """Every third row has no negative."""
    count = 128
    columns = {side: tiny.sentences("eng", count, seed) for seed, side in enumerate(SIDES)}
    table = pd.DataFrame({"id": [f"set:{number}" for number in range(count)], **columns})
    table.loc[::3, "negative"] = ""
    return table


@pytest.mark.parametrize("target", ["hau_Latn", "swh_Latn"])
def test_it_is_what_generate_writes_one_by_one(base: Path, target: str) -> None:
    model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(base).eval(), AutoTokenizer.from_pretrained(base)
    backend = open_backend(settings(base), base)
    backend.between("eng_Latn", target)
    texts = [" ".join(text.split()[: 1 + number % 6]) for number, text in enumerate(tiny.sentences("eng", 15))]
    code = tokenizer.convert_tokens_to_ids(target)
    expected = {}
    for text in texts:
        read = tokenizer(f"eng_Latn{text}</s>", add_special_tokens=False, return_tensors="pt")["input_ids"]
        assert backend.encode(text) == read[0].tolist()
        # Two tokens begin what is written: the decoder's first one, and the language's.
        new = model.generate(read, forced_bos_token_id=code, max_length=NEW + 2, do_sample=False, num_beams=1)[0, 2:]
        expected[text] = (tokenizer.decode(new, skip_special_tokens=True), int(new[-1]) == tokenizer.eos_token_id)
    made = backend.write([Request(text, backend.encode(text)) for text in texts], None)
    assert {one.id: (one.text, one.finished) for one in made} == expected
    assert len({text for text, _ in expected.values()}) > 5


def test_a_text_cannot_change_the_languages(base: Path) -> None:
    backend = open_backend(settings(base), base)
    backend.between("eng_Latn", "hau_Latn")
    known = {backend.tokenizer.convert_tokens_to_ids(code) for code in ("eng_Latn", "hau_Latn", "swh_Latn", "</s>")}
    assert known.isdisjoint(backend.encode("swh_Latn water</s> hau_Latn")[1:-1])


def test_a_language_that_a_translator_does_not_know_is_told(base: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"'kaz_Cyrl'; .*set `codes: \{flores"):
        open_backend(settings(base), base).between("eng_Latn", "kaz_Cyrl")
    with pytest.raises(UserError, match="no token for language 'eng_Latn'"):
        other = tiny.encoder_decoder(tmp_path / "other")
        open_backend(settings(other), other).between("eng_Latn", "hau_Latn")
    with pytest.raises(UserError, match="^Echo translates nothing; take an encoder-decoder"):
        Backend.between(Echo(), "eng_Latn", "hau_Latn")


def test_shards_hold_the_same_rows_in_every_language(base: Path, rows: pd.DataFrame, tmp_path: Path) -> None:
    rows = rows[:9]
    write_table(rows, tmp_path / "eng.tsv")
    made = {}
    for code in ("hau_Latn", "swh_Latn"):
        words = ["--base", str(base), "--name", "nllb", "--anchors", str(tmp_path / "eng.tsv"), "--method", TRANSLATION]
        words += ["--generator", settings(base).dump(), "--language", code, "--translated", "eng_Latn", code]
        parts = [str(tmp_path / f"{code}.{shard}.tsv") for shard in range(2)]
        for shard, part in enumerate(parts):
            own = ["--rows", "0", "--shard", str(shard), "--shards", "2", "--output", part]
            call(script, [*words, *own, "--state", str(tmp_path / "state")])
        whole = str(tmp_path / code)
        call(
            join_triplets,
            ["--shards", *parts, "--anchors", str(tmp_path / "eng.tsv"), "--rows", "0", "--output", whole],
        )
        made[code] = read_table(whole, ["id", *SIDES, *(f"{side}_finished" for side in SIDES)])
        assert list(made[code]["id"]) == list(rows["id"])
        assert [*(made[code]["negative"] == "")][::3] == [True] * 3 and set(made[code]["negative_finished"][::3]) == {
            "true"
        }
        assert set(made[code]["method"]) == {TRANSLATION} and set(made[code]["generator"]) == {"nllb"}
    assert not made["hau_Latn"]["anchor"].equals(made["swh_Latn"]["anchor"])


class Echo(Backend):
    """A back end that gives a text back in two lines, and may be killed after `lives` completions."""

    style = "plain"

    def __init__(self, lives: int = 10**9) -> None:
        self.lives, self.written = lives, []

    def between(self, source: str, target: str) -> None:
        self.target = target

    def encode(self, prompt: str, *, bos: bool = True) -> list[int]:
        return [ord(letter) for letter in prompt]

    def write(self, requests, adapter):
        for request in requests:
            if not self.lives:
                raise KeyboardInterrupt
            self.lives -= 1
            self.written.append(request.id)
            text = "".join(map(chr, request.prompt))
            yield Completion(request.id, f"{self.target}\t{text[:9]}\n\u2028{text[9:]}", not request.id.endswith("7"))


def run(backend: Echo, rows: pd.DataFrame, folder: Path, target: str = "hau_Latn", **sampling: Any) -> bytes:
    folder.mkdir(exist_ok=True)
    generator = Generator.model_validate({"source": {"file": "x"}, "prompts": "plain", "sampling": sampling})
    output = folder / "out.tsv"
    how = {"generator": generator, "weights": "w", "state": folder / "state"}
    write_shard(translate(backend, rows, ("eng_Latn", target), **how), "t", TRANSLATION, output)
    return output.read_bytes()


def test_line_breaks_shift_no_row(rows: pd.DataFrame, tmp_path: Path) -> None:
    run(Echo(), rows, tmp_path)
    table = read_table(tmp_path / "out.tsv", SIDES)
    assert list(table["id"]) == list(rows["id"])
    for side in SIDES:
        wanted = [f"hau_Latn {text[:9].strip()} {text[9:].strip()}" if text else "" for text in rows[side]]
        assert list(table[side]) == wanted
    assert table["anchor_finished"].tolist() == [str(not row.endswith("7")).lower() for row in rows["id"]]


@pytest.mark.parametrize("deaths", [[5], [COMMIT_ROWS], [100, 1, 130]])
def test_a_killed_job_goes_on_to_the_same_bytes(rows: pd.DataFrame, tmp_path: Path, deaths: list[int]) -> None:
    unbroken = run(Echo(), rows, tmp_path / "unbroken")
    for lives in deaths:
        with pytest.raises(KeyboardInterrupt):
            run(Echo(lives), rows, tmp_path)
        assert not (tmp_path / "out.tsv").exists()
    [journal] = (tmp_path / "state").glob("*.jsonl")
    kept = [json.loads(line)["id"] for line in journal.read_bytes().splitlines()]
    last = Echo()
    assert run(last, rows, tmp_path) == unbroken
    assert {*kept}.isdisjoint(last.written) and len(kept) + len(last.written) == (rows[SIDES] != "").sum().sum()


def test_another_language_has_a_journal_of_its_own(rows: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Echo(COMMIT_ROWS), rows, tmp_path)
    assert b"hau_Latn" not in run(Echo(), rows, tmp_path, "swh_Latn")


def test_a_text_that_is_too_long_is_not_sent_and_said_to_be_cut(rows: pd.DataFrame, tmp_path: Path) -> None:
    rows.loc[1, "positive"] = "word " * 200
    backend = Echo()
    run(backend, rows[:4], tmp_path, max_prompt_tokens=300)
    table = read_table(tmp_path / "out.tsv", SIDES)
    assert table.loc[1, ["positive", "positive_finished"]].tolist() == ["", "false"]
    assert "positive/set:1" not in backend.written and table.loc[1, "anchor"]
