"""The loss of the objective `retention`: contrast of monolingual pairs that preserves cross-lingual retrieval."""

from collections.abc import Iterable
from typing import Any

import torch
from sentence_transformers.base.losses.merged_forward import embed_columns
from torch import Tensor, nn
from torch.nn.functional import kl_div

from seedbed.encoders.losses.contrastive import cosines, require_rows, simcse
from seedbed.encoders.losses.rows import of_rows
from seedbed.encoders.losses.token_cutoff import cut_texts
from seedbed.io import UserError


class RetentionLoss(nn.Module):
    """`simcse` of the batch's pairs plus a weighted `similarity_distillation` of its translations.

    The keywords are settings of `objectives.retention.Retention`.

    Args:
        model: the encoder in training.
        translations: booleans (rows,), which rows are translations; their first text is in the pivot language.
        teacher: vectors (rows, width) of the pivot sentences by the encoder before training; other rows are ignored.
    """

    def __init__(
        self,
        model: nn.Module,
        translations: Tensor,
        teacher: Tensor,
        *,
        scale: float,
        cutoff: float,
        temperature: float,
        weight: float,
    ) -> None:
        super().__init__()
        self.model = model
        self.translations, self.teacher = translations, teacher
        self.scale, self.cutoff, self.temperature, self.weight = scale, cutoff, temperature, weight

    def forward(self, features: Iterable[dict[str, Any]], rows: Tensor) -> Tensor:
        """Compute the loss of one batch of tokenised pairs and translations, a scalar. A single pair or a single
        translation adds nothing.
        """
        translated = of_rows(self.translations, rows)
        first, second = embed_columns(
            self.model, [self._cut(column, ~translated) for column in features], separate_first=False
        )
        loss = first.new_zeros((), dtype=torch.float32)
        if (~translated).sum() > 1:
            loss = loss + simcse(first[~translated], second[~translated], temperature=1 / self.scale)
        if translated.sum() > 1:
            teacher = self.teacher[rows[translated].cpu()].to(first.device)
            others = torch.cat([first[~translated], second[~translated]])
            distilled = similarity_distillation(
                teacher, first[translated], second[translated], temperature=self.temperature, others=others
            )
            loss = loss + self.weight * distilled
        return loss

    def _cut(self, column: dict[str, Any], pairs: Tensor) -> dict[str, Any]:
        """A column of which the texts of pairs alone lose tokens."""
        if not self.cutoff:
            return column
        cut = cut_texts(self.model, column, self.cutoff)
        masks = [name for name in column if name.startswith("attention_mask")]
        return column | {name: torch.where(pairs[:, None], cut[name], column[name]) for name in masks}


def similarity_distillation(
    teacher: Tensor, pivot: Tensor, text: Tensor, *, temperature: float, others: Tensor | None = None
) -> Tensor:
    """Distil a teacher's similarities between pivot sentences into similarities between pivot sentences and
    translations.

    With P_ij = softmax_j(cos(m_i, m_j)/t) of the teacher's vectors m of the pivot sentences, and Q(u, v) the same of
    cosines between u_i and v_j, the loss is (KL(P, Q(e, [x, y])) + KL(P, Q(x, e)))/4 + KL'(P, Q(e, e))/2. Here e are
    the student's vectors of the pivot sentences, x those of their translations and y those of unrelated sentences; each
    KL is the mean over i, and KL' leaves out j = i. No gradient flows into translations and unrelated sentences:
    another loss trains them. Soft targets of similarities are due to Fang et al. (2021, "SEED: Self-supervised
    distillation for visual representation"), equation 5, whose candidates are a queue.

    Args:
        teacher: the teacher's vectors of the pivot sentences (batch, width).
        pivot: the student's vectors of the pivot sentences (batch, width).
        text: the student's vectors of the translations (batch, width).
        temperature: t.
        others: vectors (n, width) of unrelated sentences in the language of the translations; None: there are none.

    Returns:
        A scalar, computed in float32 or more precise.

    Raises:
        UserError: the shapes differ, or are not (batch, width) with two rows or more.
    """
    require_rows("similarity_distillation", teacher, pivot, text)
    if len(pivot) < 2:
        raise UserError("similarity_distillation: one row has no others to be similar to; give two or more")
    target, still = cosines(teacher, teacher) / temperature, text.detach()
    candidates = still if others is None else torch.cat([still, others.detach()])
    forward = _divergence(target, cosines(pivot, candidates) / temperature)
    backward = _divergence(target, cosines(still, pivot) / temperature)
    within = _divergence(_without_diagonal(target), _without_diagonal(cosines(pivot, pivot) / temperature))
    return (forward + backward) / 4 + within / 2


def _divergence(target: Tensor, scores: Tensor) -> Tensor:
    """Mean over rows of the Kullback-Leibler divergence of scores' softmax (n, m or more) from the target's (n, m); the
    target of further scores is 0.
    """
    logs = scores.log_softmax(1)[:, : target.shape[1]]
    return kl_div(logs, target.to(logs.dtype).log_softmax(1), log_target=True, reduction="batchmean")


def _without_diagonal(scores: Tensor) -> Tensor:
    """Scores (n, n) without each row's own: (n, n - 1)."""
    n = len(scores)
    return scores[~torch.eye(n, dtype=torch.bool, device=scores.device)].view(n, n - 1)
