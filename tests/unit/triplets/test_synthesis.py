"""Synthesis: whatever kills a job, the next one goes on and the triplets are those of an unbroken run."""

from __future__ import annotations

import json
import resource
import signal

import pandas as pd
import pytest

from scripts import build_xllora_examples, join_triplets
from scripts import synthesise as script
from seedbed.corpora.select.subset import subset
from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Backend, Completion
from seedbed.generators.writing.journal import COMMIT_ROWS, Journal
from seedbed.generators.writing.prompts import prompter
from seedbed.generators.writing.triplets import complete
from seedbed.io import UserError, read_table, write_table
from seedbed.precision import precision
from seedbed.triplets.shards import shard, write_shard
from tests import tiny
from tests.programs import call, signalled

ADAPTERS = {"positive": None, "negative": None}


class Letters:
    """A tokenizer of characters."""

    bos_token_id, eos_token_id, chat_template, added_tokens_decoder = 2, 1, None, {}

    def __call__(self, text, add_special_tokens):
        return {"input_ids": [ord(letter) for letter in text]}


class Echo(Backend):
    """A back end that writes the row's name, in reverse order, and may be killed after `lives` completions."""

    tokenizer, style, template = Letters(), "plain", {}

    def __init__(self, lives=10**9, text="{}"):
        self.lives, self.text, self.written, self.adapters = lives, text, [], set()

    def write(self, requests, adapter):
        for request in reversed(requests):
            if not self.lives:
                raise KeyboardInterrupt
            self.lives -= 1
            self.written.append(request.id)
            self.adapters.add((request.id.partition("/")[0], adapter))
            yield Completion(request.id, self.text.format(request.id), finished=not request.id.endswith("3"))


@pytest.fixture
def anchors():
    rows = [f"r{number}" for number in range(138)]
    return pd.DataFrame({"id": rows, "text": [f"Anchor {row}." for row in rows]})


def generator(**changes):
    return Generator.model_validate({"source": {"file": "x"}, "prompts": "plain"} | changes)


def run(backend, anchors, directory, adapters=ADAPTERS, language="Hausa", weights="w", **changes):
    output = directory / "out.tsv"
    ask = prompter("composition", language, "plain", 1)
    how = {"generator": generator(**changes), "weights": weights, "state": directory / "state"}
    write_shard(complete(backend, anchors, ask, adapters, **how), "gemma", "composition", output)
    return output.read_bytes()


def test_the_table(anchors, tmp_path):
    run(Echo(), anchors, tmp_path)
    table = read_table(tmp_path / "out.tsv", [])
    assert list(table.columns) == [
        *("id", "anchor", "positive", "negative", "positive_finished", "negative_finished"),
        *("generator", "method", "prompt"),
    ]
    assert list(table["id"]) == list(anchors["id"]) and list(table["anchor"]) == list(anchors["text"])
    assert list(table["negative"]) == [f"negative/{row}" for row in anchors["id"]]
    assert list(table["positive_finished"][:5]) == ["true", "true", "true", "false", "true"]
    assert set(table["generator"]) == {"gemma"} and set(table["method"]) == {"composition"}
    assert table["prompt"].is_unique


def test_each_polarity_has_its_adapter(anchors, tmp_path):
    adapters = {polarity: tmp_path / polarity for polarity in ADAPTERS}
    for folder in adapters.values():
        folder.mkdir()
        (folder / "adapter_model.safetensors").write_text(folder.name)
    backend = Echo()
    run(backend, anchors[:3], tmp_path, adapters)
    assert backend.adapters == set(adapters.items())


@pytest.mark.parametrize("text", ['"{}"\nAnd more', "\n\n {} \t\r\n", "{}\u2028x", "{}\x85\n"])
def test_completions_become_one_line(anchors, tmp_path, text):
    run(Echo(text=text), anchors[:3], tmp_path)
    assert list(read_table(tmp_path / "out.tsv", [])["positive"]) == [f"positive/r{number}" for number in range(3)]


def test_tabs_inside_become_blanks(anchors, tmp_path):
    run(Echo(text="a\tb  {}"), anchors[:1], tmp_path)
    assert read_table(tmp_path / "out.tsv", [])["positive"][0] == "a b positive/r0"


def test_a_long_prompt_is_refused_and_its_row_marked(anchors, tmp_path):
    anchors.loc[1, "text"] = "word " * 200
    backend = Echo()
    run(backend, anchors[:3], tmp_path, sampling={"max_prompt_tokens": 100})
    table = read_table(tmp_path / "out.tsv", [])
    assert list(table["positive"]) == ["positive/r0", "", "positive/r2"]
    assert list(table["negative_finished"]) == ["true", "false", "true"]
    assert len(backend.written) == 4


def test_a_shard_whose_only_anchor_is_too_long_is_written(anchors, tmp_path):
    anchors.loc[0, "text"] = "word " * 200
    run(Echo(), anchors[:1], tmp_path, sampling={"max_prompt_tokens": 100})
    table = read_table(tmp_path / "out.tsv", [])
    assert list(table["positive"]) == [""] and list(table["positive_finished"]) == ["false"]


def test_all_prompts_too_long_is_a_mistake(anchors, tmp_path):
    with pytest.raises(UserError, match=r"max_prompt_tokens: 20.*the shortest has"):
        run(Echo(), anchors, tmp_path, sampling={"max_prompt_tokens": 20})


@pytest.mark.parametrize("deaths", [[5], [COMMIT_ROWS], [100, 1, 130], [138], [200, 70]])
def test_a_killed_job_goes_on(anchors, tmp_path, deaths):
    unbroken = run(Echo(), anchors, tmp_path / "unbroken")
    kept, written = 0, 0
    for lives in deaths:
        backend = Echo(lives)
        with pytest.raises(KeyboardInterrupt):
            run(backend, anchors, tmp_path)
        written += len(backend.written)
        kept = sum(len(path.read_text().splitlines()) for path in (tmp_path / "state").iterdir())
        assert not (tmp_path / "out.tsv").exists()
    last = Echo()
    assert run(last, anchors, tmp_path) == unbroken
    assert len(last.written) == 2 * len(anchors) - kept
    assert written - kept < COMMIT_ROWS * len(deaths)


def test_a_finished_polarity_is_not_asked_again(anchors, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(Echo(len(anchors)), anchors, tmp_path)
    last = Echo()
    run(last, anchors, tmp_path)
    assert {name.split("/")[0] for name in last.written} == {"negative"}


WHOLE = [Completion("positive/r1", "नमस्ते\n", True), Completion("positive/r2", "b", False)]


@pytest.mark.parametrize(
    "tail", [b'{"id": "r9", "te', b"\0\0\0\0", b"\xff", b'{"id": "r9", "text": "a", "finished": true}']
)
def test_a_torn_last_line_is_cut_off(tmp_path, tail):
    path = tmp_path / "journal.jsonl"
    Journal(path).commit(WHOLE)
    good = path.read_bytes()
    path.write_bytes(good + tail)
    again = Journal(path)
    assert again.done == {completion.id: completion for completion in WHOLE} and path.read_bytes() == good
    again.commit([Completion("positive/r9", "c", True)])
    assert list(Journal(path).done) == ["positive/r1", "positive/r2", "positive/r9"]


@pytest.mark.parametrize(
    "bad",
    [
        b'{"id": "r9", "te',
        b'{"id": "r9"}',
        b"\0\0",
        b"[1]",
        b"\xff",
        b"",
        b'{"id": "a", "text": "", "finished": true, "of": 2}',
    ],
)
@pytest.mark.parametrize("place", [0, 3, 999, 1000])
def test_a_bad_line_is_named_and_no_answer_is_removed(tmp_path, bad, place):
    path = tmp_path / "journal.jsonl"
    Journal(path).commit(Completion(str(number), "an answer", True) for number in range(1000))
    lines = path.read_bytes().splitlines()
    lines.insert(place, bad)
    path.write_bytes(b"\n".join(lines) + b"\n")
    before = path.read_bytes()
    with pytest.raises(UserError, match=rf"journal\.jsonl: line {place + 1} .*remove this line"):
        Journal(path)
    assert path.read_bytes() == before
    del lines[place]
    path.write_bytes(b"\n".join(lines) + b"\n")
    assert len(Journal(path).done) == 1000


def test_a_full_disk_leaves_no_half_line(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.commit(WHOLE)
    good, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(good) + 30, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            journal.keep(Completion(str(number), "an answer", True) for number in range(99))
        assert path.read_bytes() == good
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    journal.commit([Completion("positive/r9", "c", True)])
    assert list(Journal(path).done) == ["positive/r1", "positive/r2", "positive/r9"]


def test_a_journal_belongs_to_all_that_made_it(anchors, tmp_path):
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    runs = [
        {},
        {"language": "English"},
        {"sampling": {"seed": 1}},
        {"dtype": "float32" if precision("auto") == "bfloat16" else "bfloat16"},
        {"source": {"file": "y"}},
        {"weights": "others in the same place"},
        {"adapters": {"positive": adapter, "negative": None}},
    ]
    for number, changes in enumerate(runs, start=1):
        with pytest.raises(KeyboardInterrupt):
            run(Echo(70), anchors, tmp_path, **changes)
        assert len(list((tmp_path / "state").glob("*.jsonl"))) == number
    (adapter / "weights").write_text("other")
    with pytest.raises(KeyboardInterrupt):
        run(Echo(70), anchors, tmp_path, **runs[-1])
    with pytest.raises(KeyboardInterrupt):
        run(Echo(70), anchors[1:], tmp_path)
    assert len(list((tmp_path / "state").glob("*.jsonl"))) == len(runs) + 2
    with pytest.raises(KeyboardInterrupt):
        run(Echo(1), anchors, tmp_path, batch_size=3)
    assert len(list((tmp_path / "state").glob("*.jsonl"))) == len(runs) + 2, "speed is not identity"


@pytest.mark.parametrize(("rows", "shards"), [(10, 1), (10, 3), (10, 10), (275_003, 28)])
def test_shards_are_even_and_whole(rows, shards):
    table = pd.DataFrame({"id": range(rows)})
    parts = [shard(table, number, shards) for number in range(shards)]
    assert pd.concat(parts).equals(table)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


# --- The programs, on a real tiny model ---


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    directory = tmp_path_factory.mktemp("study")
    base = tiny.generator(directory / "base")
    texts = tiny.sentences("hau", 80)
    write_table(pd.DataFrame({"id": [f"a{n}" for n in range(80)], "text": texts}), directory / "anchors.tsv")
    settings = {
        "source": {"file": str(base)}, "prompts": "plain", "dtype": "float32", "batch_size": 16,
        "sampling": {"max_new_tokens": 60},
    }  # fmt: skip
    return directory, json.dumps(settings)


def arguments(study, output, **changes):
    directory, settings = study
    options = {
        "base": directory / "base", "name": "tiny", "generator": settings, "anchors": directory / "anchors.tsv",
        "method": "composition", "language": "Hausa", "state": output.with_suffix(""), "output": output,
    }  # fmt: skip
    return [text for key, value in (options | changes).items() for text in (f"--{key.replace('_', '-')}", str(value))]


def test_a_job_killed_by_the_system_goes_on(study, tmp_path):
    output, unbroken = tmp_path / "killed.tsv", tmp_path / "unbroken.tsv"
    committed = "seedbed.generators.writing.journal:Journal.commit"
    assert signalled(signal.SIGKILL, "synthesise", arguments(study, output), after=committed) == -signal.SIGKILL
    assert not output.exists()
    call(script, arguments(study, output))
    call(script, arguments(study, unbroken))
    assert output.read_bytes() == unbroken.read_bytes()


def test_shards_add_up_to_the_whole(study, tmp_path):
    names = [tmp_path / f"{number}.tsv" for number in range(5)]
    for number, name in enumerate(names[:4]):
        call(script, arguments(study, name, shard=number, shards=20, method="xllora"))
    table = pd.concat([read_table(name, []) for name in names[:4]], ignore_index=True)
    directory, _ = study
    first = read_table(directory / "anchors.tsv", [])[:16]
    write_table(first, tmp_path / "first.tsv")
    call(script, arguments(study, names[4], anchors=tmp_path / "first.tsv", method="xllora"))
    pd.testing.assert_frame_equal(table, read_table(names[4], []))


@pytest.mark.parametrize("rows", [7, 200])
def test_shards_for_fewer_anchors_are_joined(study, tmp_path, rows):
    """Paper 000's ablations write for 50,000 of 275,000 anchors."""
    names = [tmp_path / f"{number}.tsv" for number in range(2)]
    for number, name in enumerate(names):
        call(script, arguments(study, name, shard=number, shards=2, rows=rows, method="xllora"))
    anchors = study[0] / "anchors.tsv"
    joined = ["--anchors", str(anchors), "--output", str(tmp_path / "joined.tsv")]
    call(join_triplets, ["--shards", *map(str, names), "--rows", str(rows), *joined])
    assert list(read_table(tmp_path / "joined.tsv", [])["id"]) == list(subset(read_table(anchors, []), rows)["id"])
    with pytest.raises(UserError, match=r"those of .* are 9"):
        call(join_triplets, ["--shards", *map(str, names), "--rows", "9", *joined])


def test_examples_for_xllora(study, tmp_path):
    from tests.unit.generators.writing.test_backends import adapter

    directory, settings = study
    for lang in ("fra", "swh"):
        rows = {"id": [str(n) for n in range(40)], "text": tiny.sentences(lang, 40), "pivot": tiny.sentences("eng", 40)}
        write_table(pd.DataFrame(rows), tmp_path / f"{lang}.tsv")
    outputs = [tmp_path / "positive.tsv", tmp_path / "negative.tsv"]
    call(build_xllora_examples, [
        *("--base", str(directory / "base"), "--generator", settings, "--count", "8"),
        *("--adapters", f"positive={adapter(directory / 'base', tmp_path / 'p', std=0.2)}"),
        f"negative={adapter(directory / 'base', tmp_path / 'n', std=0.3)}",
        *("--parallel", f"fra={tmp_path / 'fra.tsv'}", f"swh={tmp_path / 'swh.tsv'}"),
        *("--state", str(tmp_path / "state")),
        *("--positive-output", str(outputs[0]), "--negative-output", str(outputs[1])),
    ])  # fmt: skip
    tables = [read_table(output, ["id", "language", "anchor", "target", "source"]) for output in outputs]
    assert len(tables[0]) == len(tables[1]) <= 8
    assert set(tables[0]["language"]) == {"fra", "swh"} and not list((tmp_path / "state").iterdir())


def test_published_examples_for_xllora(study, tmp_path):
    directory, settings = study
    rows = pd.DataFrame({"id": list("abcdef"), "anchor": list("ABCDEF"), "target": list("uvwxyz")})
    write_table(rows, tmp_path / "published.tsv")
    outputs = [tmp_path / "positive.tsv", tmp_path / "negative.tsv"]
    call(build_xllora_examples, [
        *("--base", str(directory / "base"), "--generator", settings, "--count", "4"),
        *("--published", f"positive={tmp_path / 'published.tsv'}", f"negative={tmp_path / 'published.tsv'}"),
        *("--state", str(tmp_path / "state")),
        *("--positive-output", str(outputs[0]), "--negative-output", str(outputs[1])),
    ])  # fmt: skip
    assert len(read_table(outputs[0], ["target"])) == 4
