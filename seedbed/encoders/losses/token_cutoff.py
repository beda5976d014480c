"""Token cutoff: texts lose a random share of their tokens in training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from seedbed.encoders.losses.contrastive import SimCSELoss


def cut_off(features: dict[str, Any], share: float, special: Sequence[int]) -> dict[str, Any]:
    """Mask a random share of each text's tokens, so that they are neither attended to nor pooled (token cutoff).

    Other tokens keep their positions. Tokens are sampled anew at each call. Source: Shen et al. (2020, "A Simple but
    Tough-to-Beat Data Augmentation Approach for Natural Language Understanding and Generation"); Yan et al. (2021,
    "ConSERT"), section 3.2.

    Args:
        features: tokenised texts with `input_ids` and `attention_mask` (batch, tokens), and maybe `prompt_length`.
        share: the probability that a token is masked.
        special: ids of special tokens, which are never masked; nor are those of the prompt.

    Returns:
        The features with another `attention_mask`.
    """
    ids, mask = features["input_ids"], features["attention_mask"]
    # Sampled on the CPU, whose generator is the same on all machines.
    stays = (torch.rand(ids.shape) >= share).to(ids.device) | torch.isin(ids, torch.tensor(special, device=ids.device))
    prompt = torch.as_tensor(features.get("prompt_length", 0), device=ids.device).reshape(-1, 1)
    stays |= mask.cumsum(dim=1) <= prompt  # the first tokens after padding, if that is on the left
    return features | {"attention_mask": mask * stays.to(mask.dtype)}


class CutoffLoss(SimCSELoss):
    """`SimCSELoss` of texts that lose tokens in each step, see `cut_off`.

    Args:
        *args: those of `SimCSELoss`.
        cutoff: the share of tokens that a text loses.
    """

    def __init__(self, *args: Any, cutoff: float) -> None:
        super().__init__(*args)
        self.cutoff = cutoff

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor | None = None) -> Tensor:
        """Compute the loss of one batch, a scalar.

        Args:
            features: tokenised texts of two or three columns: anchors, positives, perhaps negatives.
            rows: positions (batch,) of the rows in the table; needed if only some rows have a negative.
        """
        special = self.model.tokenizer.all_special_ids
        return super().forward([cut_off(column, self.cutoff, special) for column in features], rows)


def simcse_with_cutoff(encoder: nn.Module, temperature: float, negatives: Tensor | None, cutoff: float) -> SimCSELoss:
    """Make the SimCSE loss of an encoder, with token cutoff if a share of tokens is to be masked.

    Args:
        encoder: the encoder in training.
        temperature: what cosines are divided by.
        negatives: booleans (rows,), which rows of the table have a negative; None: all.
        cutoff: the share of tokens that a text loses; 0: a plain `SimCSELoss`.
    """
    given = (encoder, temperature, negatives)
    return CutoffLoss(*given, cutoff=cutoff) if cutoff else SimCSELoss(*given)
