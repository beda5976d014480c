"""Training losses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from sentence_transformers.base.losses.merged_forward import embed_columns, merge_feature_batches
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize
from transformers import DataCollatorForLanguageModeling, PreTrainedModel

from seedbed.io import UserError


def simcse(anchor: Tensor, positive: Tensor, negative: Tensor | None = None, *, temperature: float) -> Tensor:
    """Contrastive loss of SimCSE: each anchor against all positives and, if given, all negatives of the batch.

    The mean over i of -log(e^{cos(a_i, p_i)/t} / sum_j (e^{cos(a_i, p_j)/t} + e^{cos(a_i, n_j)/t})), from anchor to
    candidate only. Source: paper 000, equation 1, with n_j where the paper prints n_i: SimCSE's code
    (`simcse/models.py`, `cl_forward`, hard_negative_weight 0) contrasts with all negatives.

    Args:
        anchor, positive, negative: sentence vectors, all (batch, width); row i of each belongs to triplet i.
        temperature: tau.

    Returns:
        A scalar, computed in float32 at least.

    Raises:
        UserError: the shapes differ, or are not (batch, width).
    """
    columns = [anchor, positive] if negative is None else [anchor, positive, negative]
    shapes = [tuple(column.shape) for column in columns]
    if anchor.ndim != 2 or len(set(shapes)) > 1:
        raise UserError(f"simcse: shapes {', '.join(map(str, shapes))}; all must be the same (batch, width)")
    precision = torch.promote_types(anchor.dtype, torch.float32)
    # A matrix product under autocast is bfloat16: a cosine over 0.05 would keep two digits.
    with torch.autocast(anchor.device.type, enabled=False):
        query, *candidates = (normalize(column.to(precision), dim=-1) for column in columns)
        logits = query @ torch.cat(candidates).T / temperature
        return cross_entropy(logits, torch.arange(len(anchor), device=anchor.device))


class SimCSELoss(nn.Module):
    """`simcse` as a sentence-transformers loss for pairs or triplets of texts."""

    def __init__(self, model: nn.Module, temperature: float) -> None:
        super().__init__()
        self.model = model
        self.temperature = temperature

    def forward(self, features: Iterable[dict[str, Any]], labels: Tensor | None = None) -> Tensor:
        """The loss of one batch.

        Args:
            features: tokenised texts of two or three columns (anchor, positive, perhaps negative).
            labels: not used; the trainer passes them.
        """
        # All columns in one forward pass: a trained word-embedding matrix then gets one dense gradient, not three.
        # Measured on a random BERT (12 x 384, vocabulary 250,002; 32 triplets, one CPU thread, bfloat16 autocast), in
        # CPU seconds a step: 1.76 together, 1.91 with the anchors apart (sentence-transformers' default), 1.97 column
        # by column; with the matrix frozen 1.55, 1.63 and 1.62.
        return simcse(*embed_columns(self.model, features, separate_first=False), temperature=self.temperature)


class WithMaskedLM(nn.Module):
    """SimCSE's loss plus a multiple of masked language modelling on the same texts.

    A second forward pass reads all columns of the batch with masked tokens; the mean cross-entropy of the masked ones
    is added. Of the tokens that are chosen, 80 % become the mask, 10 % any token, and 10 % stay. Source:
    princeton-nlp/SimCSE, `train.py`, `mask_tokens`, and `simcse/models.py`, `cl_forward`; paper 000, table 6.

    Args:
        contrast: the loss that this one adds to.
        head: see `backbone.load_head`.
        weight: of the added loss.
        probability: that a token is chosen; special tokens and padding never are.
        half: let the head's matrix products run in bfloat16.
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

    def forward(self, features: Iterable[dict[str, Any]], labels: Tensor | None = None) -> Tensor:
        """The loss of one batch; arguments as in `SimCSELoss`. A batch without masked tokens has the contrast alone."""
        columns = list(features)
        # Copies: where columns cannot be read together, each pass leaves its states in them.
        loss = self.contrast([dict(column) for column in columns])
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
