"""Tiny models and a tokenizer, built here: no test reads the network or a download."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    BertConfig,
    ModernBertConfig,
    PretrainedConfig,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
)

SPECIAL = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}
SENTENCES = [
    "Ruwan sama ya sauka a daren jiya.",
    "The rain came down last night.",
    "Yara suna wasa a filin makaranta.",
    "Children play in the school yard, and nobody calls them in before the sun has gone down.",
    "Kasuwa ta cika da mutane.",
    "The market is full of people.",
    "Manoma sun fara girbi.",
    "Farmers began the harvest early this year because the river rose.",
]


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    return SENTENCES


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    """A unigram tokenizer with XLM-R's first ids (`<pad>` is 1)."""
    unigram = Tokenizer(models.Unigram())
    unigram.normalizer = normalizers.NFKC()
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    special = list(SPECIAL.values())
    unigram.train_from_iterator(
        SENTENCES, trainers.UnigramTrainer(vocab_size=120, special_tokens=special, unk_token="<unk>")
    )
    unigram.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", special.index("<s>")), ("</s>", special.index("</s>"))]
    )
    return PreTrainedTokenizerFast(tokenizer_object=unigram, **SPECIAL)


@pytest.fixture(scope="session")
def make_weights(tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Write a directory of random weights: `make_weights("bert")`, and with a head `make_weights("bert", head=True)`."""

    def make(architecture: str, *, head: bool = False) -> Path:
        directory = tmp_path_factory.mktemp(architecture) / "weights"
        torch.manual_seed(1)
        kind = AutoModelForMaskedLM if head else AutoModel
        kind.from_config(_config(architecture, len(tokenizer))).save_pretrained(directory)
        tokenizer.save_pretrained(directory)
        return directory

    return make


def _config(architecture: str, vocabulary: int) -> PretrainedConfig:
    classes = {"bert": BertConfig, "xlm-roberta": XLMRobertaConfig, "modernbert": ModernBertConfig}
    return classes[architecture](
        vocab_size=vocabulary,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        pad_token_id=1,
    )


@pytest.fixture(scope="session")
def weights(make_weights: Callable[..., Path]) -> Path:
    return make_weights("bert")


@pytest.fixture(scope="session")
def triplets() -> pd.DataFrame:
    """Eight triplets; with a batch size of 3, three steps an epoch, the last of two rows."""
    turned = SENTENCES[1:] + SENTENCES[:1]
    return pd.DataFrame({"anchor": SENTENCES, "positive": turned, "negative": SENTENCES[::-1]})
