"""Masked language modelling as an additional loss to a contrastive one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from sentence_transformers.base.losses.merged_forward import merge_feature_batches
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import DataCollatorForLanguageModeling, PreTrainedModel

from seedbed.encoders.losses.contrastive import SimCSELoss


class WithMaskedLM(nn.Module):
    """A contrastive loss plus a weighted masked-language-modelling loss on the same texts.

    A second forward pass encodes the batch with masked tokens; the mean cross-entropy of the chosen tokens is added. Of
    the chosen tokens, 80 % are replaced by the mask, 10 % by a random token and 10 % are unchanged. Source:
    princeton-nlp/SimCSE, `train.py`, `mask_tokens`, and `simcse/models.py`, `cl_forward`; paper 000, table 6.

    Args:
        contrast: the contrastive loss.
        head: the backbone's head for masked language modelling, from `mlm_head.load_head`.
        weight: weight of the masked-language-modelling loss.
        probability: probability that a token is chosen; special tokens and padding never are.
        half: run the head's matrix products in bfloat16.
    """

    def __init__(
        self, contrast: SimCSELoss, head: PreTrainedModel, *, weight: float, probability: float, half: bool = False
    ) -> None:
        super().__init__()
        self.contrast = contrast
        self.model = contrast.model
        self.head = head
        self.weight = weight
        self.half = half
        tokenizer = self.model.tokenizer
        self.mask = DataCollatorForLanguageModeling(tokenizer, mlm_probability=probability).torch_mask_tokens
        self.special = torch.tensor(tokenizer.all_special_ids)

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor | None = None) -> Tensor:
        """Compute the loss of one batch; if no token was chosen, it is the contrastive loss alone.

        Args:
            features: tokenised texts of two or three columns: anchors, positives, perhaps negatives.
            rows: positions (batch,) of the rows in the table; needed if only some rows have a negative.
        """
        columns = list(features)
        # Copies: where columns cannot be read together, each pass leaves its states in them.
        loss = self.contrast([dict(column) for column in columns], rows)
        merged = merge_feature_batches(columns)
        chosen = [self._masked(column) for column in (columns if merged is None else [merged])]
        states, targets = (torch.cat(parts) for parts in zip(*chosen, strict=True))
        return loss + self.weight * self._cross_entropy(states, targets) if len(targets) else loss

    def _masked(self, features: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Last states (masked tokens, width) of the texts with masks in them, and the tokens that belong there."""
        ids = features["input_ids"].cpu()
        kept = torch.isin(ids, self.special) | (features["attention_mask"].cpu() == 0)
        masked, targets = self.mask(ids.clone(), kept)
        device, chosen = features["input_ids"].device, targets != -100
        states = self.model(features | {"input_ids": masked.to(device)})["token_embeddings"]
        return states[chosen.to(device)], targets[chosen].to(device)

    def _cross_entropy(self, states: Tensor, targets: Tensor) -> Tensor:
        # Scores of the masked tokens alone: a vocabulary of 250,000 for every token would fill a GPU.
        with torch.autocast(states.device.type, torch.bfloat16, enabled=self.half):
            scores = self.head(inputs_embeds=states[None]).logits[0]
        return cross_entropy(scores.to(torch.promote_types(scores.dtype, torch.float32)), targets)
