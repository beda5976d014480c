"""States of texts and translations, the policy that chooses a translation by them, and what it is rewarded for (paper
002, section 4.1).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import batch_to_device
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, normalize

from seedbed.batching import by_length
from seedbed.encoders.models.two_paths import FeaturePath, pool_time
from seedbed.encoders.translations.candidates import Candidates
from seedbed.io import UserError

ACTOR = "actor.safetensors"
"""File of the policy in the folder of the encoder that it was trained with."""
BATCH = 64
"""Texts whose states are made together."""


def pooled_states(encoder: SentenceTransformer, texts: Sequence[str], size: int) -> Tensor:
    """The transformer's states of texts after the encoder's prompt, pooled by `pool_time`: (n, size, d), on the CPU."""

    def pooled(tokens: dict[str, Any]) -> Tensor:
        made = encoder[0](dict(tokens))
        return pool_time(made["token_embeddings"], made["attention_mask"], size)

    return _by_batches(encoder, texts, pooled)


def pooled_inputs(encoder: SentenceTransformer, texts: Sequence[str], size: int) -> Tensor:
    """Input embeddings of texts without a prompt, pooled by `pool_time`: (n, size, d), on the CPU.

    These are v of paper 002, equation 6, but without its projection, as in appendix A.4.
    """
    look_up = encoder[0].auto_model.get_input_embeddings()

    def pooled(tokens: dict[str, Any]) -> Tensor:
        return pool_time(look_up(tokens["input_ids"]), tokens["attention_mask"], size)

    return _by_batches(encoder, texts, pooled, prompted=False)


def features(encoder: SentenceTransformer, texts: Sequence[str]) -> Tensor:
    """Outputs (n, size, width) of an anchored encoder's adaptor for texts; UserError: it was not anchored."""
    if not isinstance(encoder[-1], FeaturePath):
        raise UserError("features: this encoder was anchored to no English one; take one of a recipe that anchors")
    return _by_batches(encoder, texts, lambda tokens: encoder(dict(tokens))["prefix"])


def unit_vectors(encoder: SentenceTransformer, texts: Sequence[str]) -> Tensor:
    """Vectors (n, d), of length one and on the CPU, of texts after the encoder's prompt: h of equations 3 and 5."""
    return _by_batches(encoder, texts, lambda tokens: normalize(encoder(dict(tokens))["sentence_embedding"], dim=1))


@torch.no_grad()
def _by_batches(encoder: SentenceTransformer, texts: Sequence[str], make: Any, *, prompted: bool = True) -> Tensor:
    """The results of `make` for all texts, in their order; it is called with batches of texts of similar length, after
    the encoder's prompt if they are `prompted`.

    The result is in memory only once, because states may take half of the memory.
    """
    encoder.eval()
    prompt = (encoder.prompts.get(encoder.default_prompt_name) or None) if prompted else None
    found = None
    for places in by_length([len(text) for text in texts], BATCH):
        tokens = encoder.preprocess([texts[place] for place in places], prompt=prompt)
        made = make(batch_to_device(tokens, encoder.device)).float().cpu()
        found = made.new_empty(len(texts), *made.shape[1:]) if found is None else found
        found[places] = made
    return torch.empty(0) if found is None else found


def similarities(prefix: Tensor, values: Tensor) -> Tensor:
    """Cosines (b, k) in float32 of features (b, s, d) with candidates (b, k, s, d), each flattened. Source: paper 002,
    equation 7.
    """
    with torch.autocast(prefix.device.type, enabled=False):
        return cosine_similarity(prefix.float().flatten(1)[:, None], values.float().flatten(2), dim=2)


class Actor(nn.Module):
    """Logits of candidates (b, k) from their features (b, k, 4), each candidate separately.

    Features are a judge's three scores as fractions of 10 and the similarity. Linear, ReLU, LayerNorm, Linear. Source:
    paper 002, section 4.1.3 and appendix A.4.
    """

    def __init__(self, hidden: int = 16) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.LayerNorm(hidden), nn.Linear(hidden, 1))

    def forward(self, features: Tensor) -> Tensor:
        """Logits (b, k)."""
        return self.layers(features)[..., 0]


def judged(scores: Tensor, weights: tuple[float, float, float]) -> Tensor:
    """A judge's part (n, k) of the reward of each candidate: 0.1 (a semantic + b emotional + c pragmatic).

    Args:
        scores: (n, k, 3) from 1 to 10: semantic, emotional, pragmatic; nan where there is no candidate.
        weights: a, b, c.
    """
    precision = torch.promote_types(scores.dtype, torch.float32)
    factors = torch.tensor(weights, dtype=precision, device=scores.device)
    return 0.1 * (scores.to(precision) * factors).sum(dim=-1)


class Environment:
    """Input features and rewards of a policy: a judge's scores of candidates, and a similarity.

    Args:
        candidates: the candidates, with the judge's scores if there are any.
        weights: a, b and c of `judged`.
        similarity_weight: d of equation 10.
    """

    def __init__(self, candidates: Candidates, weights: tuple[float, float, float], similarity_weight: float) -> None:
        scores, self.mask = candidates.scores, candidates.mask
        self.judged = torch.zeros(*self.mask.shape) if scores is None else judged(scores, weights).nan_to_num()
        self.shown = torch.zeros(*self.mask.shape, 3) if scores is None else scores.nan_to_num() / 10
        self.weight = similarity_weight

    def features(self, rows: Tensor, similarity: Tensor) -> Tensor:
        """The policy's input (b, k, 4) for texts with the indices `rows` (b,): a judge's three scores as fractions of
        10, and `similarity` (b, k). Source: paper 002, equation 9.
        """
        return torch.cat([self.shown[rows].to(similarity), similarity[..., None]], dim=2)

    def rewards(self, rows: Tensor, similarity: Tensor) -> Tensor:
        """Rewards (b, k) for texts with the indices `rows` (b,): the judge's part + d `similarity` (b, k).

        Source: paper 002, equation 10.
        """
        return self.judged[rows].to(similarity) + self.weight * similarity


def read_actor(folder: Path) -> Actor:
    """Load the policy from an encoder's folder.

    Raises:
        UserError: the folder has none.
    """
    try:
        state = load_file(folder / ACTOR)
        actor = Actor(len(state["layers.0.bias"]))
        actor.load_state_dict(state)
    except (OSError, KeyError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:120]
        advice = "take an encoder of a recipe that trains one"
        raise UserError(f"{folder}: no policy in {ACTOR} ({reason}); {advice}") from None
    return actor.eval()
