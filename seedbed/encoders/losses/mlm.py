"""Masked language modelling: masks, the loss of masked tokens, and that in addition to a contrastive loss."""

from collections.abc import Iterable
from typing import Any

import torch
from sentence_transformers.base.losses.merged_forward import merge_feature_batches
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import DataCollatorForLanguageModeling, PreTrainedModel, PreTrainedTokenizerBase

from seedbed.encoders.losses.contrastive import SimCSELoss


class Masking:
    """Chooses each token with a probability, special ones never: of those chosen, 80 % are replaced by the mask, 10 %
    by a random token, and 10 % are unchanged.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, probability: float) -> None:
        self.mask = DataCollatorForLanguageModeling(tokenizer, mlm_probability=probability).torch_mask_tokens
        self.special = torch.tensor(tokenizer.all_special_ids)

    def __call__(self, ids: Tensor, attended: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Token ids (n, t) with masks, and the original token where one was chosen, -100 elsewhere.

        Padding, where the attention mask `attended` (n, t) is 0, is never chosen.
        """
        on_cpu = ids.cpu()
        kept = torch.isin(on_cpu, self.special)
        if attended is not None:
            kept |= attended.cpu() == 0
        masked, targets = self.mask(on_cpu.clone(), kept)
        return masked.to(ids.device), targets.to(ids.device)


def masked_cross_entropy(head: PreTrainedModel, states: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy of masked tokens, from their last states (n, width) and the tokens (n,) that belong there.

    `head` is that of `mlm_head.load_head` or `head_of`. The states are of masked tokens only, because scores of a
    vocabulary of 250,000 for every token would fill a GPU.
    """
    scores = head(inputs_embeds=states[None]).logits[0]
    return cross_entropy(scores.to(torch.promote_types(scores.dtype, torch.float32)), targets)


class WithMaskedLM(nn.Module):
    """A contrastive loss plus a weighted masked-language-modelling loss on the same texts.

    A second forward pass encodes the batch with masked tokens (`Masking`), and `head`, from `mlm_head.load_head`,
    predicts them; `weight` times the mean cross-entropy of the chosen tokens is added. With `half` the head's matrix
    products are in bfloat16.

    Source: princeton-nlp/SimCSE, `train.py`, `mask_tokens`, and `simcse/models.py`, `cl_forward`; paper 000, table 6.
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
        self.mask = Masking(self.model.tokenizer, probability)

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor | None = None) -> Tensor:
        """Compute the loss of one batch; if no token was chosen, it is the contrastive loss alone.

        Args:
            features: tokenised texts of two or three columns: anchors, positives, perhaps negatives.
            rows: positions (batch,) of the rows in the table; needed if only some rows have a negative.
        """
        columns = list(features)
        # Copies, since a pass may leave its states in the features.
        loss = self.contrast([dict(column) for column in columns], rows)
        merged = merge_feature_batches(columns)
        chosen = [self._masked(column) for column in (columns if merged is None else [merged])]
        states, targets = (torch.cat(parts) for parts in zip(*chosen, strict=True))
        if not len(targets):
            return loss
        with torch.autocast(states.device.type, torch.bfloat16, enabled=self.half):
            return loss + self.weight * masked_cross_entropy(self.head, states, targets)

    def _masked(self, features: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Last states (masked tokens, width) of the texts with masks in them, and the tokens that belong there."""
        masked, targets = self.mask(features["input_ids"], features["attention_mask"])
        chosen = targets != -100
        return self.model(features | {"input_ids": masked})["token_embeddings"][chosen], targets[chosen]
