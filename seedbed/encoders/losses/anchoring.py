"""Training of an adaptor and of a policy that chooses translations, on kept states (paper 002, section 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import batch_to_device
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, normalize

from seedbed.encoders.models import memory
from seedbed.encoders.models.two_paths import FeaturePath, pool_time
from seedbed.encoders.translations.candidates import Candidates
from seedbed.encoders.translations.rewards import Actor, anchor_loss, policy_loss, reward
from seedbed.io import UserError

if TYPE_CHECKING:
    from seedbed.encoders.objectives.anchoring import Anchoring

ACTOR = "actor.safetensors"
"""The policy, beside the encoder that it was trained with."""
BATCH = 64
"""Texts whose states are made together."""
SHARE = 0.5
"""The share of the memory that kept states may take."""


def require_room(settings: Anchoring, texts: int, translations: int, source: int, width: int) -> None:
    """What is kept of all texts and translations fits the memory.

    Args:
        source, width: numbers of a state of a text, and of a translation.

    Raises:
        UserError: it does not.
    """
    needed, has = settings.kept_bytes(texts, translations, source, width), memory.machine()
    if needed <= SHARE * has:
        return
    size = settings.pool_size
    numbers = f"4 bytes x {size} states x ({texts} texts x {source} + {translations} translations x {width})"
    fitting = int(size * SHARE * has / needed)
    raise UserError(
        f"anchoring.pool_size: {numbers} = {needed / memory.GIB:.1f} GiB to be kept, and this machine has "
        f"{has / memory.GIB:.1f}, of which half may be taken; give {max(1, fitting)} or less, or fewer rows"
    )


@torch.no_grad()
def pooled_states(encoder: SentenceTransformer, texts: Sequence[str], size: int) -> Tensor:
    """What a transformer makes of texts, with the encoder's prompt before them, as (n, size, d), on the CPU."""
    return _by_batches(encoder, texts, lambda tokens: _states(encoder, tokens, size))


def _states(encoder: SentenceTransformer, tokens: dict[str, Any], size: int) -> Tensor:
    made = encoder[0](dict(tokens))
    return pool_time(made["token_embeddings"], made["attention_mask"], size)


@torch.no_grad()
def pooled_inputs(encoder: SentenceTransformer, texts: Sequence[str], size: int) -> Tensor:
    """Input embeddings of texts, as (n, size, d): v of equation 6, without what A.4 does not have."""
    look_up = encoder[0].auto_model.get_input_embeddings()
    return _by_batches(
        encoder, texts, lambda tokens: pool_time(look_up(tokens["input_ids"]), tokens["attention_mask"], size)
    )


@torch.no_grad()
def features(encoder: SentenceTransformer, texts: Sequence[str]) -> Tensor:
    """What an anchored encoder's adaptor makes of texts, (n, size, width); UserError: it was not anchored."""
    if not isinstance(encoder[-1], FeaturePath):
        raise UserError("features: this encoder was anchored to no English one; take one of a recipe that anchors")
    return _by_batches(encoder, texts, lambda tokens: encoder(dict(tokens))["prefix"])


@torch.no_grad()
def unit_vectors(encoder: SentenceTransformer, texts: Sequence[str]) -> Tensor:
    """Vectors of texts (n, d), of length one: h."""
    return _by_batches(encoder, texts, lambda tokens: normalize(encoder(dict(tokens))["sentence_embedding"], dim=1))


def _by_batches(encoder: SentenceTransformer, texts: Sequence[str], make: Any) -> Tensor:
    """What `make` gives of tokens, in the order of the texts; batches are of texts of like length.

    The result is there once: states may take half of the memory.
    """
    encoder.eval()
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    prompt = encoder.prompts.get(encoder.default_prompt_name) or None
    found = torch.empty(0)
    for start in range(0, len(order), BATCH):
        places = order[start : start + BATCH]
        tokens = encoder.preprocess([texts[place] for place in places], prompt=prompt)
        made = make(batch_to_device(tokens, encoder.device)).float().cpu()
        found = found if start else made.new_empty(len(texts), *made.shape[1:])
        found[places] = made
    return found


def similarities(prefix: Tensor, values: Tensor) -> Tensor:
    """Equation 7: cosines (b, k) of features (b, s, d) with candidates (b, k, s, d), each flattened."""
    with torch.autocast(prefix.device.type, enabled=False):
        return cosine_similarity(prefix.float().flatten(1)[:, None], values.float().flatten(2), dim=2)


class Policy:
    """What a policy is shown and rewarded for, beyond a similarity.

    Args:
        candidates: whose scores are looked at, where somebody judged.
        weights, similarity_weight: of `rewards.reward`.
    """

    def __init__(self, candidates: Candidates, weights: tuple[float, float, float], similarity_weight: float) -> None:
        scores, self.mask = candidates.scores, candidates.mask
        zero = torch.zeros(*self.mask.shape)
        self.judged = zero if scores is None else reward(scores, zero, weights=weights).nan_to_num()
        self.shown = torch.zeros(*self.mask.shape, 3) if scores is None else scores.nan_to_num() / 10
        self.weight = similarity_weight

    def features(self, rows: Tensor, similarity: Tensor) -> Tensor:
        """c of equation 9 (b, k, 4); a judge's scores as fractions of 10."""
        return torch.cat([self.shown[rows].to(similarity), similarity[..., None]], dim=2)

    def rewards(self, rows: Tensor, similarity: Tensor) -> Tensor:
        """R of equation 10 (b, k)."""
        return self.judged[rows].to(similarity) + self.weight * similarity


class AnchoringLoss(nn.Module):
    """L_RL + eta L_enc + lambda L_anchor of a batch. Source: paper 002, equations 3 to 12.

    Args:
        encoder: a transformer and a `FeaturePath`, in training.
        settings: of the objective.
        candidates: of all rows.
        english: encoder of the translations; it stays as it is, and is not kept.
        given: similarities (n, k) that stand in the place of the adaptor's in features and rewards; None: its own.
        kept: the transformer stays as it is, so that states of the texts are made once.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        settings: Anchoring,
        candidates: Candidates,
        english: SentenceTransformer,
        *,
        given: Tensor | None = None,
        kept: bool = True,
    ) -> None:
        super().__init__()
        self.model, self.settings, self.candidates, self.kept = encoder, settings, candidates, kept
        self.path: FeaturePath = encoder[1]
        self.actor, self.given = Actor().to(encoder.device), given
        size = self.path.size
        distinct, self.places = candidates.distinct()
        require_room(settings, len(candidates.texts), len(distinct), self.path.source, self.path.width)
        self.values, self.documents = pooled_inputs(english, distinct, size), unit_vectors(english, distinct)
        self.policy = Policy(candidates, settings.weights, settings.similarity_weight)
        self.states = pooled_states(encoder, candidates.texts, size)
        with torch.no_grad():
            self.before = self._outcome()

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """Equation 12 of one batch; rows without a candidate do not count.

        Args:
            features: tokenised texts, which are read where states are not kept.
            rows: their positions (batch,) in the table.
        """
        there = self.policy.mask[rows.cpu()].any(dim=1)
        prefix = self._prefix(next(iter(features)), rows.cpu())
        if not there.any():
            return 0 * prefix.sum()
        rows, prefix = rows.cpu()[there], prefix[there.to(prefix.device)]
        own = similarities(prefix, self.values[self.places[rows]].to(prefix.device))
        shown = own.detach() if self.given is None else self.given[rows].to(own)
        logits = self.actor(self.policy.features(rows, shown)).float()
        mask = self.policy.mask[rows].to(logits.device)
        actions = logits.detach().masked_fill(~mask, -torch.inf).softmax(dim=1).multinomial(1)[:, 0]
        drawn = None if self.settings.actions == "expected" else actions
        options = {"mask": mask, "baseline": self.settings.baseline}
        policy = policy_loss(logits, self.policy.rewards(rows, shown), drawn, **options)
        alignment = -own.gather(1, actions[:, None]).mean()
        chosen = self.documents[self.places[rows].gather(1, actions.cpu()[:, None])[:, 0]].to(prefix.device)
        anchor = anchor_loss(prefix, chosen, form=self.settings.form)
        return policy + self.settings.alignment_weight * alignment + self.settings.anchor_weight * anchor

    def _prefix(self, tokens: dict[str, Any], rows: Tensor) -> Tensor:
        if self.kept:
            return self.path.adaptor(self.states[rows].to(self.path.adaptor.layers[0].weight.device))
        return self.model(dict(tokens))["prefix"]

    @torch.no_grad()
    def _outcome(self) -> dict[str, Tensor]:
        """What adaptor and policy make of all rows now: chances and rewards (n, k), and g (n, d)."""
        parts = []
        for rows in torch.arange(len(self.states)).split(BATCH):
            prefix = self.path.adaptor(self.states[rows].to(self.path.adaptor.layers[0].weight.device)).float()
            own = similarities(prefix, self.values[self.places[rows]].to(prefix.device))
            shown = own if self.given is None else self.given[rows].to(own)
            logits = self.actor(self.policy.features(rows, shown)).float().cpu()
            mask = self.policy.mask[rows]
            chances = logits.masked_fill(~mask, -torch.inf).softmax(dim=1).nan_to_num()
            parts.append((chances, self.policy.rewards(rows, shown).cpu() * mask, prefix.mean(dim=1).cpu()))
        return dict(zip(("chances", "rewards", "g"), map(torch.cat, zip(*parts, strict=True)), strict=True))

    def findings(self) -> dict[str, Any]:
        """What a manifest says when training has ended.

        Returns:
            translators; texts_without_candidate; candidates_left_out; policy_distance, the mean total variation of the
            policy from its start; mean_reward, expected under it, and start_reward; epsilon1, mean |g - h| over texts,
            h of the likeliest candidate, `before` training, `after` it, and of the map to `zero`.
        """
        if not self.kept:
            self.states = pooled_states(self.model, self.candidates.texts, self.path.size)
        now, before, mask = self._outcome(), self.before, self.policy.mask
        there = mask.any(dim=1)
        apart = 0.5 * (now["chances"] - before["chances"]).abs().sum(dim=1)
        h = self.documents[self.places.gather(1, now["chances"].argmax(dim=1)[:, None])[:, 0]][there]
        gs = {"before": before["g"][there], "after": now["g"][there], "zero": torch.zeros_like(h)}
        expected = [(one["chances"] * one["rewards"]).sum(dim=1)[there].mean() for one in (now, before)]
        return {
            "translators": self.candidates.translators,
            "texts_without_candidate": int((~there).sum()),
            "candidates_left_out": int((~mask).sum()),
            "policy_distance": _rounded(apart[there].mean()),
            "mean_reward": _rounded(expected[0]),
            "start_reward": _rounded(expected[1]),
            "epsilon1": {name: _rounded((g - h).norm(dim=1).mean()) for name, g in gs.items()},
        }

    def write_beside(self, folder: Path) -> None:
        """Write the policy into the encoder's folder."""
        state = {name: weight.detach().cpu().contiguous() for name, weight in self.actor.state_dict().items()}
        save_file(state, folder / ACTOR)


def _rounded(number: Tensor) -> float:
    return round(float(number), 6)


def read_actor(folder: Path) -> Actor:
    """The policy beside an encoder; UserError: there is none."""
    try:
        state = load_file(folder / ACTOR)
        actor = Actor(len(state["layers.0.bias"]))
        actor.load_state_dict(state)
    except (OSError, KeyError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:120]
        advice = "take an encoder of a recipe that trains one"
        raise UserError(f"{folder}: no policy in {ACTOR} ({reason}); {advice}") from None
    return actor.eval()
