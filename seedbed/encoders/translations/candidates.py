"""Candidate translations of texts: from the rows of `translations.candidates` to tensors, and back."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from seedbed.generators.writing.translation_settings import ASPECTS, SCALE
from seedbed.generators.writing.translations import candidates
from seedbed.io import UserError


class Candidates(NamedTuple):
    """K candidates of each of n texts."""

    translators: list[str]
    """Names of translators (K)."""
    texts: list[str]
    """(n)."""
    english: list[list[str]]
    """(n, K); whatever it is where `mask` is false."""
    mask: Tensor
    """(n, K), true where there is a candidate that can be chosen."""
    scores: Tensor | None
    """Judge's scores (n, K, 3), nan where there is no candidate; None: there are none."""

    def distinct(self) -> tuple[list[str], Tensor]:
        """The distinct translations that can be chosen, and the index (n, K) of each candidate among them; 0 for a
        candidate that cannot be chosen.
        """
        places: dict[str, int] = {}
        rows = [
            [places.setdefault(text, len(places)) if there else 0 for text, there in zip(row, mask, strict=True)]
            for row, mask in zip(self.english, self.mask.tolist(), strict=True)
        ]
        return list(places), torch.tensor(rows)


def pack_candidates(found: pd.DataFrame) -> pd.DataFrame:
    """One row for each text, with its candidates as JSON: the training table of an objective.

    Args:
        found: `id`, `text`, `translator`, `english`, `usable`, and ASPECTS if there are judgements: one row for each
            text and translator, with the translators in the same order for each text.

    Returns:
        `id`, `text`, `candidates`.
    """
    names = [name for name in ASPECTS if name in found.columns]
    rows: dict[tuple[str, str], list[Any]] = {}
    for row in found.to_dict("records"):
        scores = [None if pd.isna(row[name]) else float(row[name]) for name in names]
        candidate = {"translator": row["translator"], "english": row["english"], "usable": bool(row["usable"])}
        rows.setdefault((row["id"], row["text"]), []).append(candidate | ({"scores": scores} if names else {}))
    return pd.DataFrame(
        [(*key, json.dumps(value, ensure_ascii=False)) for key, value in rows.items()],
        columns=["id", "text", "candidates"],
    )


def read_candidates(sets: Sequence[Mapping[str, Path]], judgements: Sequence[Path]) -> pd.DataFrame:
    """Read the candidates of several sets of texts, each text once; the result has the columns of `pack_candidates`.

    Args:
        sets: for each set, translator -> file, with the same translators in the same order.
        judgements: a file for each set; empty: there are no judgements.

    Raises:
        UserError: as `translations.candidates`; or a set lacks a translator.
    """
    names = [*sets[0]]
    if any([*one] != names for one in sets):
        raise UserError(f"translations: a set has none of {', '.join(names)}, or in another order; give each set all")
    parts = []
    for place, one in enumerate(sets):
        parts.append(pack_candidates(candidates(one, judgements[place] if judgements else None)))
    return pd.concat(parts, ignore_index=True).drop_duplicates("id", ignore_index=True)


def unpack_candidates(table: pd.DataFrame) -> Candidates:
    """The candidates in a table of `pack_candidates`.

    A candidate that a judge could not score cannot be chosen if another candidate of its text was scored; if none was,
    as for a text in the pivot language, which is its own translation, all can be chosen.

    Raises:
        UserError: texts with other translators than the first, fewer than three scores, or one outside 1 to 10; no
            candidate was scored although a text has several; or no text has a candidate.
    """
    rows = [json.loads(cell) for cell in table["candidates"]]
    translators = [one["translator"] for one in rows[0]]
    for row, own in zip(table["id"], rows, strict=True):
        if (others := [one["translator"] for one in own]) != translators:
            raise UserError(f"candidates: text {row!r} is by {', '.join(others)}, others by {', '.join(translators)}")
    mask = torch.tensor([[one["usable"] and bool(one["english"].strip()) for one in own] for own in rows])
    scores = None
    if any("scores" in one for one in rows[0]):
        cells = [[[torch.nan if x is None else x for x in one["scores"]] for one in own] for own in rows]
        scores = torch.tensor(cells, dtype=torch.float32)
        if scores.shape[2:] != (len(ASPECTS),):
            raise UserError(f"candidates: {scores.shape[2]} scores of a candidate; a judge gives {', '.join(ASPECTS)}")
        for place in ((scores < min(SCALE)) | (scores > max(SCALE))).any(dim=2).nonzero():
            row, k = place.tolist()
            found = f"text {table['id'].iloc[row]!r} by {translators[k]} has scores {scores[row, k].tolist()}"
            raise UserError(f"candidates: {found}; a judge gives {min(SCALE)} to {max(SCALE)}")
        scored = mask & ~scores.isnan().any(dim=2)
        if not scored.any() and (mask.sum(dim=1) > 1).any():
            raise UserError(f"candidates: the judge could score none of {int(mask.sum())} translations; take another")
        mask = torch.where(scored.any(dim=1, keepdim=True), scored, mask)
    if not mask.any():
        raise UserError(f"candidates: all {mask.numel()} translations are empty or cut; nothing to choose from")
    return Candidates(
        translators, table["text"].tolist(), [[one["english"] for one in own] for own in rows], mask, scores
    )
