"""Prompts before whose words stand vectors that are no token's, as an adaptor gives them (LiRA, paper 002)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel


class Prefixed(list[int]):
    """The tokens of a prompt, of which some only hold the places of vectors that are read in their stead.

    Args:
        prompt: token ids.
        vectors: (s, d), in the space of the model's input embeddings.
        place: the token before which they stand.
    """

    def __init__(self, prompt: Sequence[int], vectors: Tensor, place: int = 0) -> None:
        super().__init__([*prompt[:place], *[prompt[0]] * len(vectors), *prompt[place:]])
        self.vectors, self.place = vectors, place


@torch.inference_mode()
def read(model: PreTrainedModel, tokens: Tensor, prompts: Sequence[Sequence[int]]) -> dict[str, Tensor]:
    """What a model is given of prompts: their tokens, or where one has vectors the input embeddings of all.

    Args:
        tokens: (b, t), the prompts' own, filled up on the left.
    """
    if not any(isinstance(prompt, Prefixed) for prompt in prompts):
        return {"input_ids": tokens}
    found = model.get_input_embeddings()(tokens).clone()
    for row, prompt in enumerate(prompts):
        if isinstance(prompt, Prefixed):
            first = tokens.shape[1] - len(prompt) + prompt.place
            found[row, first : first + len(prompt.vectors)] = prompt.vectors.to(found)
    return {"inputs_embeds": found}
