"""Soft prompts: vectors between the tokens of a prompt, as an adaptor makes them (LiRA, paper 002)."""

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel


class Prefixed(list[int]):
    """The token ids of a prompt, some of which are placeholders for vectors of a soft prompt.

    Args:
        prompt: token ids.
        vectors: (s, d), in the space of the model's input embeddings.
        place: index of the token before which the vectors are inserted.
    """

    def __init__(self, prompt: Sequence[int], vectors: Tensor, place: int = 0) -> None:
        super().__init__([*prompt[:place], *[prompt[0]] * len(vectors), *prompt[place:]])
        self.vectors, self.place = vectors, place


def followed(prompt: Sequence[int], tokens: Sequence[int]) -> list[int]:
    """A prompt with further token ids after it, and with the vectors of its soft prompt if it has one."""
    if not isinstance(prompt, Prefixed):
        return [*prompt, *tokens]
    before, after = prompt[: prompt.place], prompt[prompt.place + len(prompt.vectors) :]
    return Prefixed([*before, *after, *tokens], prompt.vectors, prompt.place)


@torch.inference_mode()
def read(model: PreTrainedModel, tokens: Tensor, prompts: Sequence[Sequence[int]]) -> dict[str, Tensor]:
    """The model inputs of prompts, some maybe `Prefixed`: `input_ids`, or `inputs_embeds` of all if any prompt has
    vectors. `tokens` (b, t) are their token ids, padded on the left.
    """
    if not any(isinstance(prompt, Prefixed) for prompt in prompts):
        return {"input_ids": tokens}
    found = model.get_input_embeddings()(tokens).clone()
    for row, prompt in enumerate(prompts):
        if isinstance(prompt, Prefixed):
            first = tokens.shape[1] - len(prompt) + prompt.place
            found[row, first : first + len(prompt.vectors)] = prompt.vectors.to(found)
    return {"inputs_embeds": found}
