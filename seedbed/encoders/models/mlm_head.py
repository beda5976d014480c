"""A backbone's head for masked language modelling, separated from its transformer."""

import copy
from pathlib import Path
from typing import Any

from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForMaskedLM, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from seedbed.encoders.models.loading import directory_of
from seedbed.io import UserError
from seedbed.weights import LOCAL, open_with_head, opening


def open_masked(folder: Path, advice: str) -> tuple[PreTrainedModel, list[str]]:
    """Load a model for masked language modelling in float32; its head is new where the folder has none.

    Args:
        folder: the transformer's folder.
        advice: the end of the message if this type of model has no masked language modelling.

    Returns:
        The model, and the names of the head's weights that the folder lacks.

    Raises:
        UserError: its type has no masked language modelling, or as `weights.open_with_head`.
    """
    with opening(folder):
        if type(AutoConfig.from_pretrained(folder, **LOCAL)) not in AutoModelForMaskedLM._model_mapping:
            raise UserError(f"{folder}: this type of model has no masked language modelling; {advice}")
    model, missing = open_with_head(folder, AutoModelForMaskedLM)
    return model, [name for name in missing if not name.startswith(f"{model.base_model_prefix}.")]


def load_head(weights: Path, encoder: SentenceTransformer) -> PreTrainedModel:
    """Load a backbone's head for masked language modelling, to be used on the token states of an encoder that `load`
    made of the same weights.

    It is the backbone's `...ForMaskedLM` without its transformer: `head(inputs_embeds=states).logits` are the scores
    (1, tokens, vocabulary) of last states (1, tokens, width). If the decoder is tied to the word embeddings, it is tied
    to the encoder's.

    Raises:
        UserError: weights that cannot be loaded or have no such head, or a tokenizer without a mask token.
    """
    advice = "set training.mlm_weight to 0, or take a backbone that was saved with its head"
    if encoder.tokenizer.mask_token is None:
        raise UserError(f"{weights}: its tokenizer has no mask token; {advice}")
    head, missing = open_masked(directory_of(Path(weights)), advice)
    if missing:
        raise UserError(f"{weights}: no head for masked language modelling ({missing[0]} is missing); {advice}")
    decoder = head.get_output_embeddings()
    if decoder.weight is head.get_input_embeddings().weight:
        decoder.weight = encoder[0].auto_model.get_input_embeddings().weight
    setattr(head, head.base_model_prefix, _Given())
    return head


def head_of(model: PreTrainedModel) -> PreTrainedModel:
    """The head of a `...ForMaskedLM`, which is called as that of `load_head` and shares the model's weights."""
    head = copy.copy(model)
    head._modules = {**model._modules, model.base_model_prefix: _Given()}
    return head


class _Given(nn.Module):
    """In the transformer's place: the states are those that are given."""

    def forward(self, *args: Any, inputs_embeds: Tensor, **kwargs: Any) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=inputs_embeds)
