"""Similarity (n, k) of each text and its candidate translations."""

from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import normalize

from seedbed.encoders.models.inference import opened
from seedbed.encoders.models.loading import open_encoder
from seedbed.encoders.models.lookup import lookup
from seedbed.encoders.models.two_paths import FeaturePath
from seedbed.encoders.translations.candidates import Candidates
from seedbed.encoders.translations.policy import BATCH, pooled_inputs, pooled_states, similarities
from seedbed.io import UserError


def given_similarity(candidates: Candidates, folder: Path | None, state: Path | None = None) -> Tensor:
    """Cosines (n, k) of texts with their candidates by an encoder of both languages.

    Args:
        candidates: the texts with their candidates.
        folder: the encoder's folder; None: all cosines are 0.
        state: folder of the cache of embeddings, so that several choices encode a text once; None: no caching.

    Raises:
        UserError: an encoder that cannot be read, or that needs a language.
    """
    shape = candidates.mask.shape
    if folder is None:
        return torch.zeros(*shape)
    encode = opened(folder, BATCH, state).encode
    distinct, places = candidates.distinct()
    vectors = normalize(torch.as_tensor(encode([*candidates.texts, *distinct])), dim=1)
    texts, english = vectors.split([len(candidates.texts), len(distinct)])
    return torch.einsum("nd,nkd->nk", texts, english[places])


def adaptor_similarity(candidates: Candidates, folder: Path, english: Path) -> Tensor:
    """Cosines (n, k) of texts with their candidates by an encoder that was anchored to an English one.

    Source: paper 002, equation 7.

    Args:
        candidates: the texts with their candidates.
        folder: the anchored encoder's folder.
        english: the weights of the English encoder, of which the input embeddings alone are read.

    Raises:
        UserError: it was not anchored, or to one of another width.
    """
    encoder, other = open_encoder(folder), lookup(english)
    path = encoder[-1]
    if not isinstance(path, FeaturePath):
        raise UserError(f"{folder}: it was anchored to no English encoder; take one of a recipe that anchors")
    if path.width != other[0].auto_model.get_input_embeddings().embedding_dim:
        raise UserError(f"{folder}: features of width {path.width}, and {english} has another; take its own encoder")
    distinct, places = candidates.distinct()
    values = pooled_inputs(other, distinct, path.size)
    states, found = pooled_states(encoder, candidates.texts, path.size), []
    with torch.no_grad():
        for rows in torch.arange(len(states)).split(BATCH):
            prefix = path.adaptor(states[rows].to(encoder.device)).float().cpu()
            found.append(similarities(prefix, values[places[rows]]))
    return torch.cat(found)
