"""Language models as classifiers of pairs: the label with the most likely text."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch

from seedbed.corpora.shape.labels import LABELS
from seedbed.generators.lora.data import Texts
from seedbed.generators.settings import Style
from seedbed.generators.weights.folder import refuse_encoder_decoder
from seedbed.generators.weights.models import open_adapter, open_language_model
from seedbed.generators.writing.likelihood import log_likelihoods
from seedbed.generators.writing.prompts import encode, encode_completion, pair_prompt
from seedbed.weights import open_tokenizer

BATCH = 32
"""Pairs of a batch."""


def label_scores(base: Path, rows: Iterable[Texts], *, adapter: Path | None, language: str, style: Style) -> np.ndarray:
    """Log-likelihoods (n, labels) of each of LABELS as the answer to each of n pairs, in nats; computed in float32.

    The answer is the label's number, from 0. The end-of-answer token does not count, because a base model need not know
    it.

    Args:
        base: folder of the language model.
        rows: premise and hypothesis.
        adapter: folder of the task's adapter, composed or not; None: there is none.
        language: the English name of the pairs' language.
        style: form of the prompts.

    Raises:
        UserError: the model is an encoder-decoder, or cannot be loaded.
    """
    tokenizer = open_tokenizer(base)
    refuse_encoder_decoder(base)
    model = open_language_model(base, dtype=torch.float32)
    model = open_adapter(model, adapter) if adapter else model
    model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    answers = [encode_completion(tokenizer, str(number), style)[:-1] for number in range(len(LABELS))]
    texts = [pair_prompt(row["premise"], row["hypothesis"], language, style) for row in rows]
    return log_likelihoods(model, [encode(tokenizer, text, style) for text in texts], answers, BATCH)
