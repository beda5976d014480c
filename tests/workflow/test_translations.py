"""Translations and judgements as stages: what a counting server is asked, once a text, and never again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pandas as pd
import pytest

from seedbed.generators.writing.translations import candidates, text_id
from seedbed.io import read_json, read_table
from tests.serving import Serving
from tests.workflow.conftest import STUDY, Project, copy_project

ROOT = "results/lira"


class Server(Serving):
    """Puts a text into "English" by its own words in capitals, and judges by the number of words; counts both."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str]] = []
        """Model and message."""
        self.lock = threading.Lock()

    def count(self, model: str) -> int:
        """Messages to a model since the last time; none is repeated, ever."""
        messages = [message for to, message in self.asked if to == model]
        assert len({*messages}) == len(messages)
        before, self.before[model] = self.before.get(model, 0), len(messages)
        return len(messages) - before

    before: dict[str, int] = {}


def thought(text: str) -> str:
    """What the thinker says: no word of the text."""
    return f"{text.upper().replace(' ', '')} indeed"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model, message = body["model"], body["messages"][-1]["content"]
        with self.server.lock:
            self.server.asked.append((model, message))
        reason, text = "stop", message.strip().splitlines()[-1]
        if model == "judge":
            lines = [line for line in message.splitlines() if line.startswith("Translation: ")]
            said = f"<think>hm, 3?</think>{1 + len(lines[0]) % 10}, 7, 8"
            said = {"0": "8, 11, 3", "1": "It is fine."}.get(str(len(lines[0]) % 9), said)
        elif model == "thinker":
            said, reason = f"<think>\n{text} means\n</think>\n\n“{thought(text)}”", "stop"
        else:
            # Of every fifth letter count nothing, a copy, or half a sentence.
            odd = len(text) % 5
            said = {0: "", 1: text}.get(odd, f"{text[::-1]} plainly")
            reason = "length" if odd == 2 else "stop"
        choice = {"message": {"role": "assistant", "content": said}, "finish_reason": reason}
        payload = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Project:
    """The study before anything is made."""
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    model = {"backend": "openai-chat", "endpoint": url, "batch_size": 4}
    config = STUDY | {
        "results": ROOT,
        "languages": {"hau": {}, "swh": {}},
        "generators": {
            "thinker": model | {"served_model": "thinker", "template": {"enable_thinking": True}},
            "plain": model | {"served_model": "plain"},
            "judge": model | {"served_model": "judge"},
        },
        "translators": {
            "thinker": {"generator": "thinker"},
            "plain": {"generator": "plain"},
            "human": {"given": {"file": "own/{lang}-eng.tsv", "columns": {"text": "text", "english": "pivot"}}},
        },
        "judges": {"judge": {"generator": "judge", "answer": "numbers"}},
        "recipes": {"base": {}},
        "tasks": {
            "own-sts": {"protocol": "sts", "source": {"file": "own/{lang}.sts.tsv"}},
            "own-bitext": {"protocol": "bitext", "source": {"file": "own/{lang}-eng.tsv"}},
        },
        "corpora": {"parallel": {"file": "own/{lang}-eng.tsv"}},
        "classifiers": {},
        "tables": [],
        "figures": [],
    }  # fmt: skip
    return copy_project(tmp_path_factory.mktemp("lira"), config)


def translated(*names: str, corpus: str = "own-sts", lang: str = "hau") -> list[str]:
    return [f"{ROOT}/generators/{name}/translations/{lang}/{corpus}.tsv" for name in names]


def judged(corpus: str = "own-sts", lang: str = "hau") -> str:
    return f"{ROOT}/generators/judge/judgements/{lang}/{corpus}.tsv"


def made(study: Project, *targets: str) -> None:
    done = study.snakemake(*targets)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]


def texts(
    study: Project, name: str = "hau.sts.tsv", columns: tuple[str, ...] = ("sentence1", "sentence2")
) -> list[str]:
    table = pd.read_csv(study.root / "own" / name, sep="\t", dtype=str)
    return [*dict.fromkeys(text for column in columns for text in table[column])]


def test_every_text_is_asked_once_a_translator_and_then_never(study: Project, server: Server) -> None:
    count, files = len(texts(study)), translated("thinker", "plain", "human")
    made(study, *files)
    assert [server.count("thinker"), server.count("plain")] == [count, count]
    # Both sides of the bitext task, whose texts are first sentences of the other; and training data of the same texts.
    made(study, *translated("thinker", "plain", corpus="own-bitext"), *translated("plain", corpus="parallel"))
    assert [server.count("thinker"), server.count("plain")] == [0, 0]
    before = [(study.root / file).read_bytes() for file in files]
    for file in files:
        (study.root / file).unlink()
    made(study, *files)
    assert [server.count("thinker"), server.count("plain")] == [0, 0]
    assert [(study.root / file).read_bytes() for file in files] == before
    made(study, *translated("thinker", lang="swh"))
    assert server.count("thinker") == len(texts(study, "swh.sts.tsv")) and not server.count("plain")


def test_what_is_no_translation_is_none(study: Project) -> None:
    tables = {name: read_table(study.root / file, ["text", "english", "finish"])
              for name, file in zip(("thinker", "plain", "human"), translated("thinker", "plain", "human"), strict=True)}  # fmt: skip
    assert [*tables["plain"]["text"]] == texts(study) and [*tables["plain"]["id"]] == [*map(text_id, texts(study))]
    for text, english, finish in tables["thinker"][["text", "english", "finish"]].itertuples(index=False):
        assert (english, finish) == (thought(text), "stop")
    ends = {text: {0: "empty", 1: "copied", 2: "length"}.get(len(text) % 5, "stop") for text in texts(study)}
    assert dict(zip(tables["plain"]["text"], tables["plain"]["finish"], strict=True)) == ends
    record = read_json(study.root / translated("plain")[0].replace(".tsv", ".json"))
    assert record["counts"] == {"texts": len(ends), **{end: [*ends.values()].count(end) for end in {*ends.values()}}}
    known = dict(
        zip(*pd.read_csv(study.root / "own/hau-eng.tsv", sep="\t")[["text", "pivot"]].to_numpy().T, strict=True)
    )
    assert [*tables["human"]["english"]] == [known.get(text, "") for text in texts(study)]
    assert {*tables["human"]["finish"]} == {"given", "missing"}


def test_english_texts_are_their_own_only_candidates(study: Project) -> None:
    files = {name: study.root / file for name, file in
             zip(("thinker", "plain"), translated("thinker", "plain", corpus="own-bitext"), strict=True)}  # fmt: skip
    found = candidates(files)
    english = {*texts(study, "hau-eng.tsv", ("pivot",))}
    own = found[found["text"].isin(english)]
    assert len(own) == 2 * len(english) and (own["english"] == own["text"]).all()
    assert [*own["usable"]] == [True, False] * len(english)
    assert [*found["translator"]] == ["thinker", "plain"] * (len(found) // 2)


def test_each_candidate_is_judged_once(study: Project, server: Server) -> None:
    made(study, judged())
    files = {name: study.root / file for name, file in
             zip(("thinker", "plain", "human"), translated("thinker", "plain", "human"), strict=True)}  # fmt: skip
    found = candidates(files, study.root / judged())
    usable = found[found["usable"]]
    assert server.count("judge") == len(usable.drop_duplicates(["text", "english"]))
    # An 11, and an answer without numbers, leave no score; nor has one what is no candidate.
    lengths = usable["english"].map(lambda english: len(f"Translation: {english}"))
    unscored = lengths % 9 < 2
    assert 0 < unscored.sum() < len(usable)
    assert usable[unscored][["semantic", "emotional", "pragmatic"]].isna().all(axis=None)
    scored = usable[~unscored]
    assert (scored["semantic"] == 1 + lengths[~unscored] % 10).all() and {*scored["emotional"]} == {7.0}
    assert found[~found["usable"]]["semantic"].isna().all()
    counts = read_json(study.root / judged().replace(".tsv", ".json"))["counts"]
    assert counts == {
        "judged": len(scored),
        "unscored": int(unscored.sum()),
        "not judged": int((~found["usable"]).sum()),
    }
    made(study, judged("own-bitext"))
    assert server.count("judge") == 0


def test_a_translator_more_is_asked_alone(study: Project, server: Server) -> None:
    study.edit(
        {"generators/third": {"like": "plain", "served_model": "third"}, "translators/third": {"generator": "third"}}
    )
    made(study, *translated("third", "plain", "thinker"), judged())
    assert [server.count(name) for name in ("third", "plain", "thinker")] == [len(texts(study)), 0, 0]
    # It says what plain says: the judge knows that already.
    assert server.count("judge") == 0 and len(read_table(study.root / judged(), ["id"], unique=None)) == 4 * len(
        texts(study)
    )


def test_scores_of_encoders_that_read_translations_ask_nobody(study: Project, server: Server) -> None:
    from tests import tiny

    tiny.backbone(study.root / "own/english")
    small, english = ({"source": {"file": f"own/{name}"}} for name in ("backbone", "english"))
    read = {"translators": ["thinker", "plain"], "choose": "judge", "judge": "judge"}
    changes = {
        "backbones": {"small": small, "english": english, "both": {"pair": {"multilingual": "small", "english": "english"}}},
        "recipes": {"base": {}, "judged": {"english": read | {"fusion": "english"}}, "two": {"english": read | {"fusion": "none"}}},
    }  # fmt: skip
    scores = [f"{ROOT}/scores/both/{recipe}/mul/hau.all.json" for recipe in ("judged", "two")]
    done = study.snakemake(*scores, config=study.edit(changes, target="scored.yaml"))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert [server.count(name) for name in ("thinker", "plain", "judge")] == [0, 0, 0]
