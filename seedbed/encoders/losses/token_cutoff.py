"""Token cutoff: texts lose a random share of their tokens in training."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from seedbed.encoders.models.two_paths import SOURCE, TwoPaths


def cut_texts(encoder: nn.Module, features: dict[str, Any], share: float) -> dict[str, Any]:
    """Mask a random share of the tokens of an encoder's texts, see `cut_off`; of a two-path encoder, those of each text
    and of its translation.
    """
    if not isinstance(encoder[0], TwoPaths):
        return cut_off(features, share, encoder.tokenizer.all_special_ids)
    found = features
    for name, side in encoder[0].sides.items():
        ending = SOURCE if name == "source" else ""
        own = {key.removesuffix(ending): value for key, value in features.items() if key.endswith(ending)}
        mask = cut_off(own, share, side.tokenizer.all_special_ids)["attention_mask"]
        found = found | {f"attention_mask{ending}": mask}
    return found


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
