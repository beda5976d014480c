"""Choosing one translation for each text."""

import hashlib
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from seedbed.encoders.translations.candidates import Candidates, unpack_candidates
from seedbed.encoders.translations.policy import Environment, read_actor
from seedbed.encoders.translations.settings import WEIGHTS, TranslationChoice
from seedbed.generators.writing.translation_settings import ASPECTS
from seedbed.io import UserError

HUMAN = "human"
"""The translator whose translations are a human's."""


def choose_translations(
    table: pd.DataFrame,
    how: TranslationChoice,
    *,
    similarity: Tensor | None = None,
    actor: Path | None = None,
    seed: int = 0,
    weights: tuple[float, float, float] = WEIGHTS,
) -> pd.DataFrame:
    """Choose one of the candidate translations of each text.

    Args:
        table: n texts with k candidates each, as `candidates.pack_candidates` makes it.
        how: who chooses, see `TranslationChoice`.
        similarity: similarities (n, k) of texts and candidates, for actor and critic; None: there are none.
        actor: the folder of the policy, for actor.
        seed: seed of uniform; a choice depends on it and the text alone.
        weights: weights of a judge's three scores, for judge and actor.

    Returns:
        `id`, `text`, `english`, `translator`, `probability` (of the choice; 1 where nothing is uncertain), and for each
        translator `{translator}:` with `probability` (empty: its English cannot be chosen), ASPECTS if there are
        judgements, `similarity` if there is one.

    Raises:
        UserError: a text without a candidate, or an input of the choice is missing or not finite; or as
            `unpack_candidates`.
    """
    candidates = unpack_candidates(table)
    _require(candidates, how, similarity, actor, table["id"].tolist())
    chances = _chances(candidates, how, similarity, actor, weights)
    best = chances.argmax(dim=1)  # the first of equals
    if how == "uniform":
        best = torch.tensor(
            [_drawn(text, own, seed) for text, own in zip(candidates.texts, candidates.mask, strict=True)]
        )
    chosen = best.tolist()
    found = pd.DataFrame(
        {
            "id": table["id"].to_numpy(),
            "text": candidates.texts,
            "english": [row[k] for row, k in zip(candidates.english, chosen, strict=True)],
            "translator": [candidates.translators[k] for k in chosen],
            "probability": _cells(chances.gather(1, best[:, None])[:, 0]),
        }
    )
    for k, name in enumerate(candidates.translators):
        found[f"{name}:probability"] = _cells(chances[:, k].masked_fill(~candidates.mask[:, k], torch.nan))
        if candidates.scores is not None:
            for place, judged in enumerate(ASPECTS):
                found[f"{name}:{judged}"] = _cells(candidates.scores[:, k, place])
        if similarity is not None:
            found[f"{name}:similarity"] = _cells(similarity[:, k])
    return found


def _require(candidates: Candidates, how: str, similarity: Tensor | None, actor: Path | None, ids: list[str]) -> None:
    without = (~candidates.mask.any(dim=1)).nonzero()[:, 0].tolist()
    if without:
        found = f"{len(without)} of {len(ids)} texts, like {ids[without[0]]} {candidates.texts[without[0]][:60]!r}"
        raise UserError(f"choose: {found}, have no translation that can be chosen; add a translator, or leave them out")
    if how == "actor" and (actor is None or similarity is None):
        raise UserError("choose: actor needs an encoder with a policy; start from a recipe that trains one")
    if how == "judge" and candidates.scores is None:
        raise UserError("choose: judge, and nobody judged; name a `judge`")
    if how == "critic" and similarity is None:
        raise UserError(
            "choose: critic needs a similarity; name an encoder as `similarity`, or start from an anchored one"
        )
    if similarity is not None and not similarity[candidates.mask].isfinite().all():
        raise UserError("choose: a similarity is not finite, so that none is the greatest; the encoder diverged")
    if how == "oracle" and HUMAN not in candidates.translators:
        known = ", ".join(candidates.translators)
        raise UserError(f"choose: oracle takes what translator {HUMAN!r} wrote, and there are {known}")


def _chances(
    candidates: Candidates,
    how: str,
    similarity: Tensor | None,
    actor: Path | None,
    weights: tuple[float, float, float],
) -> Tensor:
    """The chance (n, k) of each candidate."""
    mask = candidates.mask
    if how == "actor":
        environment = Environment(candidates, weights, 1.0)
        with torch.no_grad():
            logits = read_actor(actor)(environment.features(torch.arange(len(mask)), similarity))
        if not logits[mask].isfinite().all():
            raise UserError(f"{actor}: the policy gives chances that are not finite; its training diverged")
        return logits.masked_fill(~mask, -torch.inf).softmax(dim=1)
    if how == "uniform":
        return mask / mask.sum(dim=1, keepdim=True)
    worth = -torch.arange(mask.shape[1], dtype=torch.float32).expand(mask.shape)
    if how == "judge":
        worth = (candidates.scores * torch.tensor(weights)).sum(dim=2)
    elif how == "critic":
        worth = similarity
    elif how == "oracle":
        human = candidates.translators.index(HUMAN)
        own = torch.tensor([row[0] == text for row, text in zip(candidates.english, candidates.texts, strict=True)])
        if lacking := int((~(mask[:, human] | (own & mask[:, 0]))).sum()):  # English is of the first, see `candidates`
            raise UserError(f"choose: oracle, and {lacking} texts have no English of {HUMAN!r}")
        worth = torch.nn.functional.one_hot(torch.full((len(mask),), human), mask.shape[1]).float()
    best = worth.nan_to_num().masked_fill(~mask, -torch.inf).argmax(dim=1)
    return torch.nn.functional.one_hot(best, mask.shape[1]).float()


def _drawn(text: str, mask: Tensor, seed: int) -> int:
    """A candidate at random, by a hash of seed and text."""
    usable = mask.nonzero()[:, 0].tolist()
    return usable[int(hashlib.sha256(f"{seed} {text}".encode()).hexdigest(), 16) % len(usable)]


def _cells(numbers: Tensor) -> list[str]:
    return ["" if torch.isnan(number) else f"{float(number):.6f}" for number in numbers]
