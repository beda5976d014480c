"""Texts that lose some of their tokens in training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from seedbed.encoders.losses.contrastive import SimCSELoss


def cut_off(features: dict[str, Any], share: float, special: Sequence[int]) -> dict[str, Any]:
    """Tokenised texts of which tokens, drawn anew at each call, are neither attended to nor pooled (token cutoff).

    What is left keeps its positions. Source: Shen et al. (2020, "A Simple but Tough-to-Beat Data Augmentation Approach
    for Natural Language Understanding and Generation"); Yan et al. (2021, "ConSERT"), section 3.2.

    Args:
        features: with `input_ids` and `attention_mask` (batch, tokens), and maybe `prompt_length`.
        share: the probability that a token is cut off.
        special: ids of tokens that stay, as those of the prompt do.
    """
    ids, mask = features["input_ids"], features["attention_mask"]
    # Drawn on the CPU, whose generator is the same everywhere.
    stays = (torch.rand(ids.shape) >= share).to(ids.device) | torch.isin(ids, torch.tensor(special, device=ids.device))
    stays[:, : int(torch.as_tensor(features.get("prompt_length", 0)).max())] = True
    return features | {"attention_mask": mask * stays.to(mask.dtype)}


class CutoffLoss(SimCSELoss):
    """`SimCSELoss` of texts that lose tokens, see `cut_off`; `cutoff` is the share, other arguments are as there."""

    def __init__(self, *args: Any, cutoff: float) -> None:
        super().__init__(*args)
        self.cutoff = cutoff

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor | None = None) -> Tensor:
        """The loss of one batch; arguments as in `SimCSELoss`."""
        special = self.model.tokenizer.all_special_ids
        return super().forward([cut_off(column, self.cutoff, special) for column in features], rows)


def contrast(encoder: nn.Module, temperature: float, negatives: Tensor | None, cutoff: float) -> SimCSELoss:
    """`SimCSELoss`, or `CutoffLoss` where texts lose a share of their tokens."""
    given = (encoder, temperature, negatives)
    return CutoffLoss(*given, cutoff=cutoff) if cutoff else SimCSELoss(*given)
