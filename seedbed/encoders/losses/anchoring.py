"""Losses of the objective `anchoring`: an adaptor and a policy that chooses among translations (paper 002, section
4.1).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from seedbed.encoders.models.two_paths import FeaturePath
from seedbed.encoders.translations.candidates import Candidates
from seedbed.encoders.translations.policy import (
    ACTOR,
    BATCH,
    Actor,
    Environment,
    pooled_inputs,
    pooled_states,
    similarities,
    unit_vectors,
)
from seedbed.io import UserError


def policy_loss(
    logits: Tensor,
    rewards: Tensor,
    actions: Tensor | None = None,
    *,
    mask: Tensor | None = None,
    baseline: Literal["none", "mean"] = "none",
) -> Tensor:
    """REINFORCE loss of a policy that chooses one candidate of each row: mean of -log pi(a) (R_a - baseline).

    Without `actions` the loss is the expectation, -sum_k pi(k) (R_k - baseline); sampled actions have the same gradient
    on average. Source: paper 002, equation 11, which has no baseline.

    Args:
        logits: the policy's scores of the candidates, (b, k).
        rewards: (b, k); no gradient flows into them.
        actions: the index of each row's sampled candidate, (b,); None: the expectation over all candidates.
        mask: booleans (b, k), True where there is a candidate, at least one in each row; None: everywhere. Logits and
            rewards elsewhere are ignored.
        baseline: "mean" subtracts the policy's expected reward of the row, "none" nothing.

    Returns:
        A scalar, in float32 or more precise.

    Raises:
        UserError: shapes that do not fit.
    """
    mask = torch.ones_like(logits, dtype=torch.bool) if mask is None else mask
    shapes = [tuple(x.shape) for x in (logits, rewards, mask)]
    if logits.ndim != 2 or not logits.numel() or len({*shapes}) > 1 or mask.dtype != torch.bool:
        raise UserError(
            f"policy_loss: shapes {', '.join(map(str, shapes))}, mask {mask.dtype}; all must be the same (b, k), the "
            "mask torch.bool"
        )
    precision = torch.promote_types(logits.dtype, torch.float32)
    logs = logits.to(precision).masked_fill(~mask, -torch.inf).log_softmax(dim=1)
    chances, rewards = logs.exp(), rewards.detach().to(precision).masked_fill(~mask, 0)
    if baseline == "mean":
        rewards = rewards - (chances.detach() * rewards).sum(dim=1, keepdim=True)
    if actions is None:
        return -(chances * rewards).sum(dim=1).mean()
    return -(logs.gather(1, actions[:, None]) * rewards.gather(1, actions[:, None])).mean()


def anchor_loss(features: Tensor, documents: Tensor, *, form: Literal["squared", "cosine"] = "squared") -> Tensor:
    """Distance between the mean of a feature path's states and the vector of the translation.

    The mean over rows of |g - h|^2 ("squared"), or of 1 - cos(g, h) ("cosine"). Source: paper 002, equations 3 and 5;
    the cosine is in the paper's second version (v2).

    Args:
        features: states at the positions of the prefix, (b, s, d); g is their mean over s.
        documents: vectors h of the translations, (b, d).
        form: "squared" or "cosine".

    Returns:
        A scalar, in float32 or more precise.

    Raises:
        UserError: shapes that do not fit.
    """
    if (
        features.ndim != 3
        or features[:, 0:1].shape != (len(documents), 1, *documents.shape[1:])
        or not features.numel()
    ):
        shapes = f"features {tuple(features.shape)}, documents {tuple(documents.shape)}"
        raise UserError(f"anchor_loss: {shapes}; expected (b, s, d) and (b, d)")
    precision = torch.promote_types(features.dtype, torch.float32)
    g, h = features.to(precision).mean(dim=1), documents.to(precision)
    if form == "squared":
        return (g - h).square().sum(dim=1).mean()
    return (1 - cosine_similarity(g, h, dim=1)).mean()


class AnchoringLoss(nn.Module):
    """The loss L_RL + eta L_enc + lambda L_anchor of a batch: policy, alignment and anchoring. Source: paper 002,
    equations 3 to 12.

    Further keywords are settings of `objectives.anchoring.Anchoring`.

    Args:
        encoder: the encoder in training: a transformer followed by a `FeaturePath`.
        candidates: the candidate translations of all rows of the table.
        english: a frozen encoder of the translations; the saved encoder does not contain it.
        given: similarities (n, k) of texts and candidates that replace the adaptor's in the policy's features and
            rewards; None: the adaptor's.
        kept: True if the transformer is frozen; its states of the texts are then computed once and cached.
    """

    def __init__(
        self,
        encoder: SentenceTransformer,
        candidates: Candidates,
        english: SentenceTransformer,
        *,
        given: Tensor | None = None,
        kept: bool = True,
        weights: tuple[float, float, float],
        similarity_weight: float,
        alignment_weight: float,
        anchor_weight: float,
        form: Literal["squared", "cosine"],
        baseline: Literal["none", "mean"],
        actions: Literal["drawn", "expected"],
    ) -> None:
        super().__init__()
        self.model, self.candidates, self.kept = encoder, candidates, kept
        self.alignment_weight, self.anchor_weight, self.form = alignment_weight, anchor_weight, form
        self.baseline, self.actions = baseline, actions
        self.path: FeaturePath = encoder[1]
        self.actor, self.given = Actor().to(encoder.device), given
        size = self.path.size
        distinct, self.places = candidates.distinct()
        self.values, self.documents = pooled_inputs(english, distinct, size), unit_vectors(english, distinct)
        self.environment = Environment(candidates, weights, similarity_weight)
        self.states = pooled_states(encoder, candidates.texts, size)
        with torch.no_grad():
            self.before = self._outcome()

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """Compute equation 12 for one batch, a scalar; rows without a candidate are left out. `features`, its tokenised
        texts, are used only if the transformer's states are not cached.
        """
        there = self.environment.mask[rows.cpu()].any(dim=1)
        prefix = self._adapted(rows.cpu()) if self.kept else self.model(dict(next(iter(features))))["prefix"]
        if not there.any():
            return 0 * prefix.sum()
        rows, prefix = rows.cpu()[there], prefix[there.to(prefix.device)]
        own, shown, logits = self._scored(rows, prefix)
        mask = self.environment.mask[rows].to(logits.device)
        actions = logits.detach().masked_fill(~mask, -torch.inf).softmax(dim=1).multinomial(1)[:, 0]
        drawn = None if self.actions == "expected" else actions
        rewards = self.environment.rewards(rows, shown)
        policy = policy_loss(logits, rewards, drawn, mask=mask, baseline=self.baseline)
        alignment = -own.gather(1, actions[:, None]).mean()
        chosen = self.documents[self.places[rows].gather(1, actions.cpu()[:, None])[:, 0]].to(prefix.device)
        anchor = anchor_loss(prefix, chosen, form=self.form)
        return policy + self.alignment_weight * alignment + self.anchor_weight * anchor

    def _adapted(self, rows: Tensor) -> Tensor:
        """Features (b, s, d) of rows by their cached states."""
        return self.path.adaptor(self.states[rows].to(self.path.adaptor.layers[0].weight.device))

    def _scored(self, rows: Tensor, prefix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The adaptor's similarities of rows with their candidates, those that the policy is given, and its logits,
        (b, k) each, by the rows' features (b, s, d).
        """
        own = similarities(prefix, self.values[self.places[rows]].to(prefix.device))
        shown = own.detach() if self.given is None else self.given[rows].to(own)
        return own, shown, self.actor(self.environment.features(rows, shown)).float()

    @torch.no_grad()
    def _outcome(self) -> dict[str, Tensor]:
        """Current output of adaptor and policy for all rows: probabilities and rewards (n, k), and g (n, d)."""
        parts = []
        for rows in torch.arange(len(self.states)).split(BATCH):
            prefix, mask = self._adapted(rows).float(), self.environment.mask[rows]
            _, shown, logits = self._scored(rows, prefix)
            chances = logits.cpu().masked_fill(~mask, -torch.inf).softmax(dim=1).nan_to_num()
            parts.append((chances, self.environment.rewards(rows, shown).cpu() * mask, prefix.mean(dim=1).cpu()))
        return dict(zip(("chances", "rewards", "g"), map(torch.cat, zip(*parts, strict=True)), strict=True))

    def findings(self) -> dict[str, Any]:
        """Facts for the encoder's manifest at the end of training.

        Returns:
            A mapping with `translators` (names), `texts_without_candidate` and `candidates_left_out` (counts),
            `policy_distance` (mean total variation between the policy now and before training), `mean_reward` and
            `start_reward` (expected under the policy now and before training), and `epsilon1`: the mean |g - h| over
            texts, with h of the likeliest candidate, `before` and `after` training and for g = `zero`.
        """
        if not self.kept:
            self.states = pooled_states(self.model, self.candidates.texts, self.path.size)
        now, before, mask = self._outcome(), self.before, self.environment.mask
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

    def write_files(self, folder: Path) -> None:
        """Write the policy's weights into the folder of the saved encoder."""
        state = {name: weight.detach().cpu().contiguous() for name, weight in self.actor.state_dict().items()}
        save_file(state, folder / ACTOR)


def _rounded(number: Tensor) -> float:
    return round(float(number), 6)
