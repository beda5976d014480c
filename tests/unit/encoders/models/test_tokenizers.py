"""Backbones whose vocabulary is a sentencepiece model alone, as Glot-500's and the multilingual MiniLM's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from transformers import AutoTokenizer, BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel

from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.encoders.models import loading
from seedbed.generators.weights.fetch import fetch
from tests import tiny

SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    # As the hub has it: a BERT with the tokenizer of XLM-R, whose configuration is empty.
    "minilm": (BertModel(BertConfig(vocab_size=204, **SHAPE)), {"tokenizer_class": "XLMRobertaTokenizer"}),
    "glot500": (XLMRobertaModel(XLMRobertaConfig(vocab_size=204, max_position_embeddings=514, **SHAPE)), {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_vocabulary_of_sentencepiece_is_read(tmp_path: Path, kind: str) -> None:
    """It takes sentencepiece and protobuf, which transformers asks for when it reads one."""
    model, about = KINDS[kind]
    model.save_pretrained(folder := tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | about))
    (folder / "tokenizer_config.json").write_text("{}")
    vocabulary = folder / "sentencepiece.bpe.model"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=tiny.texts(), model_prefix=str(tmp_path / "m"), vocab_size=200, minloglevel=2
    )
    (tmp_path / "m.model").rename(vocabulary)
    fetch(Source(file=str(folder)), Store(tmp_path / "downloads", tmp_path / "lock.json"), tmp_path / "out")
    text = tiny.sentences("hau", 1)[0]
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(vocabulary)).encode(text)
    encoder = loading.load(tmp_path / "out", pooling="own")
    # fairseq's numbers: <s>, <pad>, </s> and <unk> come first, sentencepiece's own are one less.
    assert encoder.tokenizer(text)["input_ids"] == [0, *(piece + 1 for piece in pieces), 2]
    vectors = encoder.encode([text])
    encoder.save_pretrained(str(tmp_path / "saved"), create_model_card=False)
    assert (tmp_path / "saved" / "tokenizer.json").is_file(), "what is made of it needs no other library"
    assert AutoTokenizer.from_pretrained(tmp_path / "saved", trust_remote_code=False)(text) == encoder.tokenizer(text)
    assert (loading.open_encoder(tmp_path / "saved").encode([text]) == vectors).all()
