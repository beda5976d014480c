"""What stands before a text because of its language: in a tokenizer, in training, in use, and on the disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import NllbTokenizer
from transformers.models.m2m_100.modeling_m2m_100 import M2M100Encoder

from scripts import map_texts
from seedbed import manifests
from seedbed.encoders import objectives, prompts
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading
from seedbed.encoders.models.digests import embeddings_folder
from seedbed.encoders.models.inference import opened
from seedbed.encoders.settings import Training
from seedbed.encoders.training import batches
from seedbed.evaluation import maps
from seedbed.io import UserError, write_table
from seedbed.languages import filled, placeholders, registry
from tests import tiny, trainings

LANGUAGES = {"eng": "eng_Latn", "kaz": "kaz_Cyrl", "yue": "yue_Hant"}
TEXTS = ["hello world", "low", " low", "  hello  low ", "", "<s> low", "hello kaz_Cyrl low", "xyz hello"]
MAPPED = ("low", "low", "hello")
TEACHER = {"backbone": "bert", "recipe": "base"}
SETTINGS = Training(epochs=2, batch_size=4, pooling="mean", precision="float32", max_length=16)


def tokenizer() -> NllbTokenizer:
    return tiny.nllb_tokenizer((*LANGUAGES.values(),))


@pytest.fixture(scope="module")
def sonar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The encoder half of a translation model, of random weights."""
    return tiny.sonar(tmp_path_factory.mktemp("sonar"), (*LANGUAGES.values(),))


@pytest.fixture(scope="module")
def saved(sonar: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "encoder"
    save(loading.load(sonar, pooling="mean", prefix=prompts.by_language("{flores}")), folder, {}, {})
    return folder


def mean(body: M2M100Encoder, ids: list[int]) -> np.ndarray:
    """Token means of one text."""
    given = torch.tensor([ids])
    with torch.no_grad():
        return body(input_ids=given, attention_mask=torch.ones_like(given)).last_hidden_state[0].mean(dim=0).numpy()


@pytest.mark.parametrize("code", LANGUAGES.values())
@pytest.mark.parametrize("text", TEXTS)
def test_a_code_before_a_text_gives_the_tokens_of_its_source_language(code: str, text: str, tmp_path: Path) -> None:
    native = tokenizer()
    native.src_lang = code
    bare = prompts.without_language(native)
    wanted = native(text)["input_ids"]
    assert native.convert_ids_to_tokens(wanted)[0] == code
    assert bare(code + text)["input_ids"] == wanted
    assert bare(text)["input_ids"] == wanted[1:], "no language of its own"
    assert bare(code + text, truncation=True, max_length=4)["input_ids"] == wanted[:3] + wanted[-1:] or len(wanted) <= 4


def test_a_prefix_has_columns_of_the_registry_or_is_the_same_for_all() -> None:
    assert prompts.by_language("query: ") == "query: " and prompts.by_language("{3} ") == "{3} "
    found = prompts.by_language("{flores} in {name}: ", own={"xxx": "other"})
    assert found == {
        code: f"{row['flores']} in {row['name']}: " for code, row in registry().items() if row["flores"]
    } | {"xxx": "other"}
    assert placeholders("{flores} {name}") == ["flores", "name"] and filled("{name}!", {"name": "{code}"}) == "{code}!"


def test_the_vector_of_a_text_is_that_of_its_language(sonar: Path, saved: Path) -> None:
    encoder, native = loading.open_encoder(saved), tokenizer()
    assert set(encoder.prompts) == {*LANGUAGES, "query", "document"}, "of those that the tokenizer knows"
    for language, code in LANGUAGES.items():
        native.src_lang = code
        wanted = [mean(encoder[0].auto_model, native(text)["input_ids"]) for text in TEXTS[:4]]
        assert np.allclose(encoder.encode(TEXTS[:4], prompt_name=language), wanted, atol=1e-5)
        assert np.allclose(opened(saved, 2, language=language).encode(TEXTS[:4]), wanted, atol=1e-5)
    bare = mean(encoder[0].auto_model, native("low")["input_ids"][1:])
    assert np.allclose(encoder.encode(["low"]), [bare], atol=1e-5), "no language is named"
    own = loading.load(sonar, pooling="mean", prefix=prompts.by_language("{flores}"), language="yue")
    every = [own.encode(["low"]), own.encode_query(["low"]), own.encode(["low"], prompt_name="yue")]
    assert np.allclose(every, encoder.encode(["low"], prompt_name="yue"), atol=1e-5), "an encoder of one language"


def test_an_encoder_of_one_language_reads_another_where_that_is_named(sonar: Path, saved: Path) -> None:
    every = loading.open_encoder(saved)
    for language, read in (("", "yue"), ("kaz", "kaz")):
        own = loading.load(sonar, pooling="mean", prefix=prompts.by_language("{flores}"), language="yue")
        assert prompts.set_language(own, language, sonar) == LANGUAGES[read]
        assert np.allclose(own.encode(["low"]), every.encode(["low"], prompt_name=read), atol=1e-5)


def test_each_language_has_embeddings_of_its_own(saved: Path, tmp_path: Path) -> None:
    found = {code: opened(saved, 2, tmp_path, language=code).encode(["low"]) for code in LANGUAGES}
    assert not np.allclose(found["eng"], found["kaz"])
    manifest = manifests.of(saved)
    whole = embeddings_folder(tmp_path, manifest)
    kept = {embeddings_folder(tmp_path, manifest, prompt=prompt) for prompt in LANGUAGES.values()}
    assert set(whole.iterdir()) == kept and not [*whole.glob("*.npz")]
    assert all(len([*path.glob("*.npz")]) == 1 for path in kept)
    for code in LANGUAGES:
        assert np.array_equal(opened(saved, 2, tmp_path, language=code).encode(["low"]), found[code])


@pytest.mark.parametrize(
    ("language", "message"),
    [("hau", "encoder: no prompt for hau, "), ("", "encoder: whose texts")],
)
def test_a_language_without_a_prompt_is_refused(saved: Path, language: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        opened(saved, 2, language=language)


def rows(count: int, **columns: str) -> pd.DataFrame:
    return pd.DataFrame(
        {"id": [str(row) for row in range(count)]} | {name: [text] * count for name, text in columns.items()}
    )


def read_by(
    sonar: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, table, objective: str, **options
) -> list[dict]:
    """The tokens that the loss is given: of each batch the columns, in their order."""
    seen, settings = [], options.pop("settings", {})
    kind = type(objectives.load(objective))
    make = kind.loss

    def loss(self, encoder, *rest):
        module = make(self, encoder, *rest)
        forward = module.forward

        def spy(features, label):
            features = list(features)
            seen.append([encoder.tokenizer.batch_decode(one["input_ids"]) for one in features])
            return forward(features, label)

        module.forward = spy
        return module

    monkeypatch.setattr(kind, "loss", loss)
    trainings.train(
        sonar, table, SETTINGS.updated(settings), objective=objectives.load(objective), seed=1, state=tmp_path / "state",
        output=tmp_path / "made", minutes=60, prefix=prompts.by_language("{flores}"), **options,
    )  # fmt: skip
    return seen


def test_training_reads_the_language_of_each_column(sonar, monkeypatch, tmp_path) -> None:
    table = rows(4, anchor="low", positive="world").assign(negative=["hello", "", "hello", ""])
    languages = {"": "kaz", "positive": "eng"}
    seen = read_by(
        sonar,
        monkeypatch,
        tmp_path,
        table,
        "ranking",
        languages=languages,
    )
    firsts = [{text.split()[0][:8] for text in column} for column in seen[0]]
    assert firsts[:2] == [{"kaz_Cyrl"}, {"eng_Latn"}]
    encoder = loading.open_encoder(tmp_path / "made")
    assert encoder.default_prompt_name == "document" and encoder.prompts["document"] == "kaz_Cyrl"


def test_texts_of_a_map_are_read_in_their_languages(
    saved: Path, sonar: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By an encoder of all languages, and by that of one."""
    for code in ("kaz", "yue"):
        write_table(rows(2, text="low", pivot="hello"), tmp_path / f"{code}.tsv")
    one = loading.load(sonar, pooling="mean", prefix=prompts.by_language("{flores}"), language="kaz")
    save(one, tmp_path / "one", {}, {})
    seen: list[np.ndarray] = []
    monkeypatch.setattr(maps, "to_plane", lambda embeddings, _: seen.append(embeddings) or embeddings[:, :2])
    for encoder in (saved, tmp_path / "one"):
        texts = {code: tmp_path / f"{code}.tsv" for code in ("kaz", "yue")}
        spec = {"task": "bitext", "pairs": 2, "method": "tsne"}
        job = map_texts.Job(
            encoder=encoder, texts=texts, map=spec, pivot="eng", backbone="b", recipe="r", batch_size=4,
            output=tmp_path / "map.tsv",
        )  # fmt: skip
        map_texts.main(job)
    kaz, yue, eng = (
        one.encode([text], prompt_name=code) for code, text in zip(("kaz", "yue", "eng"), MAPPED, strict=True)
    )
    for found in seen:
        np.testing.assert_allclose(found, np.concatenate([kaz, eng, kaz, eng, yue, eng, yue, eng]), atol=1e-5)


def test_a_column_of_two_languages_has_no_prompt_of_one(sonar: Path, tmp_path: Path) -> None:
    table = rows(8, sentence1="hello", sentence2="low").assign(id=[f"translations:{row}" for row in range(8)])
    with pytest.raises(UserError, match="^retention: a column has texts of two languages, and the prompt depends on"):
        trainings.train(
            sonar, table, SETTINGS, objective=objectives.load("retention"), seed=1, state=tmp_path / "state",
            output=tmp_path / "made", minutes=60, prefix=prompts.by_language("{flores}"), languages={"": "kaz"},
        )  # fmt: skip


def test_a_prompt_of_a_language_that_pooling_leaves_out_in_use_is_refused(sonar: Path, tmp_path: Path) -> None:
    encoder = loading.load(sonar, pooling="mean")
    encoder[1].include_prompt = False
    save(encoder, tmp_path / "encoder", {}, {})
    table = rows(8, anchor="hello", positive="low", negative="low hello")
    with pytest.raises(UserError, match="^prefix: .*include_prompt: false"):
        trainings.train(
            tmp_path / "encoder", table, SETTINGS.updated({"pooling": "own"}),
            objective=objectives.load("contrast"), seed=1, state=tmp_path / "state", output=tmp_path / "made",
            minutes=60, prefix=prompts.by_language("{flores}"), languages={"": "kaz"},
        )  # fmt: skip


@pytest.mark.parametrize("prefix", ["", prompts.by_language("{flores}")])
def test_an_objective_without_rows_is_told_whatever_the_prompt(
    sonar: Path, tmp_path: Path, prefix: str | dict[str, str]
) -> None:
    with pytest.raises(UserError, match="^contrast: 0 rows to train on; at least 2 are needed"):
        trainings.train(
            sonar, None, SETTINGS, objective=objectives.load("contrast"), seed=1, state=tmp_path / "state",
            output=tmp_path / "made", minutes=60, prefix=prefix, languages={"": "kaz"},
        )  # fmt: skip


@pytest.mark.parametrize("student", ["{flores}", ""])
def test_a_teacher_reads_the_pivots_sentences_in_the_pivots_language(
    sonar: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, student: str
) -> None:
    kind, labels = type(objectives.load("distillation", {"teacher": TEACHER})), []
    make = kind.loss
    monkeypatch.setattr(kind, "loss", lambda *given: labels.append(make(*given)) or labels[0])
    table = rows(4, text="low low").assign(pivot=["hello world", "world", "hello", "world hello"])
    encoder = loading.load(sonar, pooling="mean", prefix=prompts.by_language("{flores}"), language="kaz")
    save(encoder, tmp_path / "teacher", {}, {})
    trainings.train(
        sonar, table, SETTINGS, objective=kind.model_validate({"teacher": TEACHER}), seed=1, state=tmp_path / "state",
        output=tmp_path / "made", minutes=60, prefix=prompts.by_language(student),
        languages={"": "kaz", "pivot": "eng"}, folders={"teacher": tmp_path / "teacher"},
    )  # fmt: skip
    wanted = encoder.encode(table["pivot"].tolist(), prompt_name="eng")
    np.testing.assert_allclose(labels[0].values, wanted, atol=1e-5)
    assert np.abs(wanted - encoder.encode(table["pivot"].tolist())).max() > 0.01, "its own language is another"


@pytest.mark.parametrize("crosslingual", [False, True])
def test_an_encoder_of_all_languages_reads_that_of_each_sentence(sonar, monkeypatch, tmp_path, crosslingual) -> None:
    words = {"eng": "hello", "kaz": "low", "yue": "world"}
    tables = {code: rows(8, anchor=word, positive=word) for code, word in words.items()}
    seen = read_by(
        sonar,
        monkeypatch,
        tmp_path,
        tables,
        "ranking",
        settings={"crosslingual": crosslingual},
    )
    codes = {word: LANGUAGES[code] for code, word in words.items()}
    found = {text.replace("<pad>", "") for batch in seen for column in batch for text in column}
    assert found and found <= {f"{code} {word}</s>" for word, code in codes.items()} | {
        f"{code}{word}</s>" for word, code in codes.items()
    }
    assert len({text[:8] for column in seen[0] for text in column}) == (3 if crosslingual else 1)
    assert loading.open_encoder(tmp_path / "made").default_prompt_name is None


def test_what_is_written_before_a_sentence_is_of_its_language() -> None:
    tables = {"kaz": rows(8, anchor="k", positive="k"), "eng": rows(8, anchor="e", positive="e")}
    given = Training(batch_size=2, epochs=20, crosslingual=True)
    told, _ = batches.lay_out(tables, ["anchor", "positive"], given, 1, {"kaz": "K", "eng": "E"})
    for name in ("anchor", "positive"):
        assert (told[prompts.BEFORE + name] == told[name].str.upper()).all()
    plain, _ = batches.lay_out(tables, ["anchor", "positive"], given, 1)
    assert plain.equals(told[plain.columns]), "the same rows"
    with pytest.raises(UserError, match="no prompt for eng"):
        batches.lay_out(tables, ["anchor", "positive"], given, 1, {"kaz": "K"})


def test_an_empty_text_stays_empty() -> None:
    table = rows(2, anchor="a").assign(negative=["n", ""])
    found = prompts.prompted(table, ["anchor", "negative", "other"], {"kaz": "K "}, {"": "kaz"})
    assert found["anchor"].tolist() == ["K a", "K a"] and found["negative"].tolist() == ["K n", ""]
    with pytest.raises(UserError, match=r"whose texts.*not given"):
        prompts.prompted(table, ["anchor"], {"kaz": "K "}, {})
