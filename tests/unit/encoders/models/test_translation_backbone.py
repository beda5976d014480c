"""The encoder half of a translation model as a backbone, as SONAR is one: an M2M100 with NLLB's tokenizer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import M2M100Model
from transformers.models.m2m_100.modeling_m2m_100 import M2M100Encoder

from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading
from seedbed.io import UserError
from tests import tiny

TEXTS = ["hello world", "low"]
CODES = ("eng_Latn", "kaz_Cyrl")


def test_it_is_read_pooled_saved_and_opened_again(tmp_path: Path) -> None:
    encoder = loading.load(tiny.sonar(tmp_path / "weights", CODES), pooling="mean")
    body = encoder[0].auto_model.eval()
    assert isinstance(body, M2M100Encoder) and encoder.get_embedding_dimension() == 16
    found = encoder.encode(TEXTS)
    for vector, text in zip(found, TEXTS, strict=True):
        ids = torch.tensor([encoder.tokenizer(text)["input_ids"]])
        assert encoder.tokenizer.convert_ids_to_tokens(ids[0].tolist())[0] == "eng_Latn", "one language token a text"
        with torch.no_grad():
            mean = body(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0].mean(dim=0)
        assert np.allclose(vector, mean.numpy(), atol=1e-5)
    save(encoder, tmp_path / "saved", {}, {})
    assert np.array_equal(loading.open_encoder(tmp_path / "saved").encode(TEXTS), found)


def test_a_whole_translation_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="m2m_100 is an encoder-decoder"):
        loading.load(tiny.sonar(tmp_path / "weights", CODES, M2M100Model), pooling="mean")
