"""A backbone with a tokenizer of one language: learnt the same byte for byte, in the form of the old one, refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertConfig, BertModel, PreTrainedTokenizerFast
from transformers import PreTrainedTokenizerBase as Base

from seedbed.corpora.select.subset import subset
from seedbed.encoders.models import loading
from seedbed.encoders.objectives.vocabulary import Vocabulary
from seedbed.encoders.vocabulary import replace, tokenizer
from seedbed.encoders.vocabulary.corpus import CorpusSentences
from seedbed.io import UserError, read_json, sha256
from tests import tiny

SMALL = Vocabulary(size=75, threads=2, dimensions=8, epochs=2, min_count=2, bucket=500)
NAMES = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
TEXTS = tiny.sentences("hau", 200)
HINDI = ["मैं घर जा रहा हूँ और वह बाज़ार गई।", "कल बारिश होगी तो हम नहीं जाएँगे।", "बच्चे मैदान में खेल रहे हैं।"] * 5


def wordpiece() -> PreTrainedTokenizerFast:
    """As LaBSE's: cased, `##` inside words; the special tokens are not the first ones."""
    bare = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    bare.normalizer, bare.pre_tokenizer = normalizers.BertNormalizer(lowercase=False), pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[unused1]", *list(NAMES.values())[1:]]
    bare.train_from_iterator(
        tiny.texts(), trainers.WordPieceTrainer(vocab_size=250, special_tokens=special, show_progress=False)
    )
    bare.post_processor = processors.BertProcessing(
        ("[SEP]", bare.token_to_id("[SEP]")), ("[CLS]", bare.token_to_id("[CLS]"))
    )
    bare.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(tokenizer_object=bare, **NAMES, model_max_length=64)


def bpe() -> PreTrainedTokenizerFast:
    """As ModernBERT's: of bytes, Ġ for a blank."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer, bare.decoder = pre_tokenizers.ByteLevel(add_prefix_space=True), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=list(NAMES.values()), initial_alphabet=alphabet, show_progress=False
    )
    bare.train_from_iterator(tiny.texts(), trainer)
    parts = [(name, bare.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    bare.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=parts)
    return PreTrainedTokenizerFast(tokenizer_object=bare, **NAMES, model_max_length=64)


@pytest.fixture(scope="module")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny BERT of the workflow's tests, with its head."""
    return tiny.backbone(tmp_path_factory.mktemp("unigram") / "weights")


@pytest.fixture(scope="module")
def sources(unigram: Path) -> dict[str, Base]:
    return {"unigram": AutoTokenizer.from_pretrained(unigram), "wordpiece": wordpiece(), "bpe": bpe()}


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., CorpusSentences]:
    def make(texts: list[str] = TEXTS, most: int = 1000) -> CorpusSentences:
        file = tmp_path / "text.tsv"
        pd.DataFrame({"id": range(len(texts)), "text": texts}).to_csv(file, sep="\t", index=False)
        return CorpusSentences(file, most)

    return make


SIZES = {"unigram": 75, "wordpiece": 90, "bpe": 320}


def text_of(tokenizer: Base) -> str:
    return tokenizer.backend_tokenizer.to_str()


@pytest.mark.parametrize("kind", SIZES)
def test_a_tokenizer_is_learnt_twice_to_the_same_bytes(sources, kind):
    settings = SMALL.updated({"size": SIZES[kind]})
    one, other = (tokenizer.train_tokenizer(sources[kind], lambda: iter(TEXTS), settings) for _ in range(2))
    assert text_of(one) == text_of(other) and len(one) == SIZES[kind]
    assert sorted(one.get_vocab().values()) == [*range(SIZES[kind])]


@pytest.mark.parametrize("kind", SIZES)
def test_it_has_the_form_of_the_old_one(sources, kind, tmp_path):
    source = sources[kind]
    tokenizer.train_tokenizer(source, lambda: iter(TEXTS), SMALL.updated({"size": SIZES[kind]})).save_pretrained(
        tmp_path
    )
    found = AutoTokenizer.from_pretrained(tmp_path)
    assert found.special_tokens_map == source.special_tokens_map and found.model_max_length == 64
    ids = found(TEXTS[0])["input_ids"]
    assert ids[0] == found.cls_token_id and ids[-1] == found.sep_token_id
    assert found.decode(ids, skip_special_tokens=True).strip() == TEXTS[0]
    assert len(ids) < len(source(TEXTS[0])["input_ids"])  # it knows the words of the language
    # Special tokens come first, in their old order.
    known = sorted(NAMES.values() if kind != "unigram" else source.all_special_tokens, key=source.convert_tokens_to_ids)
    assert sorted(map(found.convert_tokens_to_ids, known)) == [found.convert_tokens_to_ids(token) for token in known]
    mine, theirs = (json.loads(text_of(one)) for one in (found, source))
    assert {key: mine[key] for key in ("normalizer", "pre_tokenizer", "decoder")} == {
        key: theirs[key] for key in ("normalizer", "pre_tokenizer", "decoder")
    }


def test_tokens_are_compared_by_their_text_and_a_words_beginning(sources):
    found = tokenizer.comparable_forms(sources["wordpiece"])
    assert found["##a"] == "a" and found["Y"] == "▁Y" and found["[PAD]"] == "▁[PAD]"
    unigram, level = tokenizer.comparable_forms(sources["unigram"]), tokenizer.comparable_forms(sources["bpe"])
    starts = {token for token in unigram if token.startswith("▁")}
    assert all(unigram[token] == token for token in starts) and level["Ġ"] == "▁"
    shared = {*unigram.values()} & {*level.values()} & {*found.values()}
    assert any(form.startswith("▁") and len(form) > 3 for form in shared)  # of the three kinds


def test_tokens_of_bytes_get_the_row_of_the_same_bytes_and_no_other():
    """All parts of characters decode to one text, and blanks are no beginning of a word."""
    old = bpe()
    new = tokenizer.train_tokenizer(old, lambda: iter(HINDI), SMALL.updated({"size": 310}))
    mine, ids, found = new.get_vocab(), old.get_vocab(), tokenizer.match_tokens(old, new)
    assert len({*mine} & {*ids}) > 256
    assert found == {token: ids[token] for token in mine if token in ids}
    old.add_tokens(["ĠĠ", "ĠĊ"])
    assert tokenizer.match_tokens(old, new) == found, "two blanks are not one, nor are a blank and a line break"
    forms = tokenizer.comparable_forms(old)
    assert forms["Ġ"] == "▁" and forms["ĠĠ"] == "▁▁"


def test_of_several_old_tokens_with_one_form_the_highest_id_wins(sources, monkeypatch):
    forms = {"old": {"x": "X", "y": "X", "z": "Z"}, "new": {"a": "X", "b": "Z", "c": "other", "d": "X"}}
    monkeypatch.setattr(tokenizer, "comparable_forms", lambda tokenizer: forms[tokenizer.name])
    old = type("Old", (), {"name": "old", "get_vocab": lambda self: {"y": 7, "x": 3, "z": 1}})()
    new = type("New", (), {"name": "new"})()
    assert tokenizer.match_tokens(old, new) == {"a": 7, "d": 7, "b": 1}


def test_pieces_are_those_that_the_old_tokenizer_makes(sources):
    source = sources["unigram"]
    target = tokenizer.train_tokenizer(source, lambda: iter(TEXTS), SMALL)
    made = tokenizer.pieces(source, target)
    assert {*made} == {*target.get_vocab()}
    word = next(token for token in made if token.startswith("▁") and len(made[token]) > 1)
    assert source.convert_ids_to_tokens(made[word]) == source.tokenize(word[1:])


def test_lines_are_those_that_a_draw_takes_and_one_in_a_hundred_is_held_out(lines):
    drawn = lines(most=150)
    table = pd.DataFrame({"id": [str(place) for place in range(200)], "text": TEXTS})
    assert list(drawn.all()) == list(subset(table, 150)["text"]) and drawn.count == 150
    held = list(drawn.held_out())
    assert held == list(drawn.all())[::100] and sorted([*held, *drawn.training()]) == sorted(drawn.all())
    assert lines().count == 200
    with pytest.raises(UserError, match="1 sentence; expected two or more"):
        lines(TEXTS[:1])


@pytest.mark.parametrize("way", ["focus", "pieces"])
def test_a_backbone_has_new_rows_and_is_else_as_it_was(unigram, lines, way, tmp_path):
    settings = SMALL.updated({"initialisation": way})
    original, about = loading.Original(unigram), {"language": "hau"}
    said = replace.replace_vocabulary(original, lines(), settings, tmp_path / "one", about=about)
    replace.replace_vocabulary(original, lines(), settings, tmp_path / "other", about=about)
    assert (
        sha256(tmp_path / "one") == sha256(tmp_path / "other")
        and said == read_json(tmp_path / "one/seedbed.json")["training"]
    )
    old, new = (AutoModelForMaskedLM.from_pretrained(folder) for folder in (unigram, tmp_path / "one"))
    tokenizers = [AutoTokenizer.from_pretrained(folder) for folder in (unigram, tmp_path / "one")]
    weights, state = (model.state_dict() for model in (old, new))
    changed = {name for name in weights if weights[name].shape != state[name].shape}
    embedded = "bert.embeddings.word_embeddings.weight"
    assert changed == {
        embedded,
        "cls.predictions.bias",
        "cls.predictions.decoder.weight",
        "cls.predictions.decoder.bias",
    }
    assert all(torch.equal(weights[name], state[name]) for name in {*weights} - changed)
    assert new.config.vocab_size == 75 and new.config.pad_token_id == tokenizers[1].pad_token_id == 1
    assert (
        new.get_output_embeddings().weight is new.get_input_embeddings().weight
        and not state["cls.predictions.bias"].any()
    )
    rows, matched = said["rows"], tokenizer.match_tokens(*tokenizers)
    assert rows["copied"] == len(matched) and rows["copied"] + rows[way] + rows["random"] == 75
    for token, place in matched.items():
        assert torch.equal(state[embedded][tokenizers[1].convert_tokens_to_ids(token)], weights[embedded][place])
    assert said["tokens_of_a_word"]["new"] < said["tokens_of_a_word"]["old"]
    encoder = loading.open_encoder(tmp_path / "one")
    again = loading.load(tmp_path / "one", pooling="mean")
    np.testing.assert_array_equal(encoder.encode(TEXTS[:2]), again.encode(TEXTS[:2]))
    assert np.isfinite(again.encode(TEXTS[:2])).all()


def test_a_backbone_without_a_head_stays_without_one(sources, lines, tmp_path):
    source = sources["wordpiece"]
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
    BertModel(BertConfig(vocab_size=len(source), pad_token_id=0, **shape)).save_pretrained(tmp_path / "bare")
    source.save_pretrained(tmp_path / "bare")
    settings = SMALL.updated({"size": 70})
    original = loading.Original(tmp_path / "bare")
    said = replace.replace_vocabulary(original, lines(), settings, tmp_path / "new", about={})
    assert read_json(tmp_path / "new/config.json")["architectures"] == ["BertModel"]
    assert said["rows"]["copied"] > 30


def refused(source: Base, message: str, *, texts: list[str] = TEXTS, mask: bool = True, **settings) -> None:
    with pytest.raises(UserError) as fault:
        tokenizer.train_tokenizer(source, lambda: iter(texts), SMALL.updated(settings), mask=mask)
    assert message in str(fault.value) and "\n" not in str(fault.value)


def unmasked() -> PreTrainedTokenizerFast:
    """With `<mask>` as a plain piece."""
    source = wordpiece()
    form = json.loads(text_of(source))
    form["added_tokens"] = [token for token in form["added_tokens"] if token["content"] != "[MASK]"]
    names = {name: token for name, token in NAMES.items() if name != "mask_token"}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(form)), **names)


@pytest.mark.parametrize("kind", ["unigram", "wordpiece", "bpe"])
def test_a_vocabulary_that_the_text_cannot_fill_is_refused(sources, kind):
    refused(sources[kind], "vocabulary.size: 2000 tokens, and the text fills", size=2000)
    refused(sources[kind], "vocabulary.size: 4, and", size=4)


def test_a_tokenizer_needs_a_mask_where_masked_words_follow_or_is_told_which_piece_it_is():
    source = unmasked()
    refused(source, "its tokenizer has no mask token", size=70)
    refused(source, "as vocabulary.mask_token", size=70)
    refused(source, "'<mask>' is no token of the backbone", size=70, mask_token="<mask>")
    refused(wordpiece(), "vocabulary.mask_token: 'a', but the backbone's is '[MASK]'", size=70, mask_token="a")
    learn = {"texts": lambda: iter(TEXTS), "settings": SMALL.updated({"size": 70})}
    assert tokenizer.train_tokenizer(source, **learn, mask=False).mask_token is None
    learn["settings"] = SMALL.updated({"size": 70, "mask_token": "[MASK]"})
    found = tokenizer.train_tokenizer(source, **learn)
    assert found.mask_token == "[MASK]" and found.mask_token_id in found.all_special_ids


def test_what_cannot_be_learnt_anew_is_refused(sources):
    refused(type("Slow", (), {"is_fast": False, "name_or_path": "slow"})(), "slow: no fast tokenizer")
    words = Tokenizer(models.WordLevel({name: place for place, name in enumerate(NAMES.values())}, unk_token="[UNK]"))
    refused(PreTrainedTokenizerFast(tokenizer_object=words, **NAMES), "a tokenizer of kind WordLevel; expected one of")
    form = json.loads(text_of(sources["unigram"])) | {"pre_tokenizer": {"type": "Whitespace"}}
    odd = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(form)), mask_token="<mask>")
    refused(odd, "unigram on words of Whitespace; expected Metaspace")
    refused(sources["unigram"], "10 tokens cannot be trained by SentencePiece", size=10)


@pytest.mark.parametrize(
    ("changes", "texts", "message"),
    [
        ({"min_count": 1000}, TEXTS, r"vocabulary.min_count:.*token.*1000"),
        ({"size": 80}, ["ж" * 9, *tiny.sentences("eng", 199)], r"held-out sentences.*unknown"),
        ({"size": 80, "unknown": 0.0}, ["жа", *TEXTS], "unknown, over 0.0%"),
    ],
)
def test_a_text_that_does_not_do_is_refused(unigram, lines, changes, texts, message, tmp_path):
    original = loading.Original(unigram)
    with pytest.raises(UserError, match=message):
        replace.replace_vocabulary(original, lines(texts), SMALL.updated(changes), tmp_path / "new", about={})
    assert not (tmp_path / "new").exists()


def test_another_padding_id_than_the_configurations_is_refused(unigram, lines, tmp_path):
    model, tokenizer = AutoModelForMaskedLM.from_pretrained(unigram), AutoTokenizer.from_pretrained(unigram)
    model.config.pad_token_id = 0
    model.save_pretrained(tmp_path / "other")
    tokenizer.save_pretrained(tmp_path / "other")
    with pytest.raises(UserError, match=r"padding has id 1.*config.json.*0"):
        replace.replace_vocabulary(loading.Original(tmp_path / "other"), lines(), SMALL, tmp_path / "new", about={})


def test_what_stands_around_a_text_has_its_new_ids() -> None:
    ids = {"[CLS]": 7, "[SEP]": 9}
    bert = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    assert tokenizer.renumbered(bert, ids) == {"type": "BertProcessing", "sep": ["[SEP]", 9], "cls": ["[CLS]", 7]}
    several = {"type": "Sequence", "processors": [bert]}
    assert tokenizer.renumbered(several, ids)["processors"] == [tokenizer.renumbered(bert, ids)]
    assert tokenizer.renumbered(None, ids) is None
