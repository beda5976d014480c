"""Backbones with a classification head: loading them, their maximum length, and their logits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from seedbed.batching import by_length
from seedbed.encoders.models.loading import directory_of, max_tokens
from seedbed.weights import open_tokenizer, open_with_head

SCORED_AT_ONCE = 32
"""Texts of a batch when nothing is trained."""


def load(kind: Any, base: Path, **options: Any) -> tuple[PreTrainedModel, list[str]]:
    """Load a backbone as `weights.open_with_head`, for answers of the head alone."""
    model, missing = open_with_head(directory_of(base), kind, **options)
    model.config.output_hidden_states = False  # an encoder that pools several blocks says that it gives all of them
    return model, missing


def tokenizer_of(base: Path) -> Any:
    """The backbone's tokenizer, with padding on the right."""
    tokenizer = open_tokenizer(directory_of(base))
    tokenizer.padding_side = "right"
    return tokenizer


def limit_of(model: nn.Module, tokenizer: Any) -> int:
    """The maximum number of tokens of a model: the lowest limit of tokenizer, config and position embeddings."""
    return max_tokens(model, min(tokenizer.model_max_length, model.config.max_position_embeddings))


@torch.inference_mode()
def logits(model: nn.Module, tokenizer: Any, encoded: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Logits (n, labels), in float64, of tokenised texts, in their order; they are computed without dropout, in batches
    of texts of similar length. The model is moved to a GPU, if there is one, and left in evaluation mode.
    """
    model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    found = np.zeros((len(encoded), model.config.num_labels))
    for indices in by_length([len(one["input_ids"]) for one in encoded], SCORED_AT_ONCE):
        batch = tokenizer.pad([dict(encoded[index]) for index in indices], return_tensors="pt").to(model.device)
        found[indices] = model(**batch).logits.double().cpu().numpy()
    return found
