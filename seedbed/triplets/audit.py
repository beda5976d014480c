"""Audit of triplets: which may be used for training, and why others are rejected."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from seedbed.blocks import Blocks, SeenRows, select_rows
from seedbed.corpora.shape.clean import comparable
from seedbed.generators.settings import POLARITIES
from seedbed.generators.writing.triplets import REFUSED
from seedbed.io import UserError
from seedbed.triplets.faults import Checks, Fault, empty, ended, first_faults
from seedbed.triplets.overlap import by_row, summary
from seedbed.triplets.settings import Audit
from seedbed.triplets.switching import WordCheck


class Audited(NamedTuple):
    """Triplets that are split by the reasons against them."""

    kept: Blocks
    """The rows that pass."""
    rejected: Blocks
    """The others, with a `reason`."""
    report: dict[str, Any]
    """`read` and `kept` (numbers of rows), `dropped` (reason -> rows) and `dice` (columns -> `overlap.summary` of rows
    that pass).
    """


def audit(triplets: Callable[[], Blocks], checks: Checks, vocabulary: WordCheck | None = None) -> Audited:
    """Split triplets into those that pass all checks and those that do not.

    A triplet also fails if its anchor or positive equals, after `comparable`, that of an earlier triplet that passes.

    Args:
        triplets: iterates over `id`, `anchor`, `positive`, `negative`, and maybe `positive_finished` and
            `negative_finished`; it is called three times.
        vocabulary: finds foreign and unlikely words in positives and negatives; None: not checked.

    Raises:
        UserError: as `split_by_reason`.
    """
    # In one batch a repeated text would be another row's negative and its own positive at once.
    once = ("anchor", "positive")
    kept = SeenRows(once)

    def reasons(block: pd.DataFrame) -> np.ndarray:
        reason = first_faults(_faults(block, checks, vocabulary))
        left = reason == ""
        repeated = map(kept.repeated, zip(*(map(comparable, block[left][side]) for side in once), strict=True))
        reason[left] = [f"{side}: repeated" if side else "" for side in repeated]
        return reason

    return split_by_reason(triplets, reasons, checks.rules)


def split_by_reason(
    triplets: Callable[[], Blocks], reasons_of: Callable[[pd.DataFrame], np.ndarray], rules: Audit
) -> Audited:
    """Split triplets by the reasons against them.

    Args:
        triplets: iterates over the triplets; it is called three times.
        reasons_of: a block -> the reason against each row, "" for rows that pass; it gets each block once, in order.
        rules: their max_lost and min_rows are used.

    Raises:
        UserError: there are no rows, or too few pass.
    """
    found = []
    shared: dict[str, list[np.ndarray]] = {side: [] for side in POLARITIES}
    for block in triplets():
        found.append(reasons_of(block))
        passed = block[found[-1] == ""]
        for side in POLARITIES:
            shared[side].append(by_row(passed[passed[side] != ""], side))
    reasons = np.concatenate(found)
    if not len(reasons):
        raise UserError("audit: there are no triplets; the generator wrote none, or their file lost its rows")
    dropped = Counter(reasons[reasons != ""])
    kept = len(reasons) - dropped.total()
    if kept < rules.min_rows or dropped.total() > rules.max_lost * len(reasons):
        common = ", ".join(f"{name} {count}" for name, count in dropped.most_common(3))
        raise UserError(
            f"audit: {kept} of {len(reasons)} triplets pass (most dropped: {common}); the generator does not write "
            "this language well enough, or the rules under `audit:` are too strict for it"
        )
    overlaps = {side: np.concatenate(values) for side, values in shared.items()}
    dice = {f"anchor-{side}": summary(values) for side, values in overlaps.items() if len(values)}
    report = {"read": len(reasons), "kept": kept, "dropped": dict(sorted(dropped.items())), "dice": dice}
    rejected = (block.assign(reason=own)[own != ""] for block, own in zip(triplets(), found, strict=True))
    return Audited(select_rows(triplets(), reasons == ""), rejected, report)


def _faults(triplets: pd.DataFrame, checks: Checks, vocabulary: WordCheck | None) -> Iterator[Fault]:
    """What is wrong with each row alone."""
    anchor, refusals = triplets["anchor"], tuple(map(_plain, checks.rules.refusals))
    for side in POLARITIES:
        text = triplets[side]
        faults = [
            (ended(triplets, side) == REFUSED, "refused by the server"),
            empty(text),
            checks.cut(triplets, side),
            (text.map(_plain).str.startswith(refusals), "refusal, preamble or echo"),
            (text.map(comparable) == anchor.map(comparable), "equals the anchor"),
            *checks.of_words(text),
        ]
        if vocabulary is not None:
            words = np.array([*map(vocabulary.foreign, text, anchor)], dtype=bool).reshape(-1, 2)
            faults += [(words[:, 0], "foreign word"), (words[:, 1], "unlikely word")]
        for rows, why in [*faults, checks.length(text, anchor)]:
            yield rows, f"{side}: {why}"
    yield triplets["positive"].map(comparable) == triplets["negative"].map(comparable), "positive equals negative"
    for side in ("anchor", *POLARITIES):
        rows, why = checks.tested(triplets[side])
        yield rows, f"{side}: {why}"


def _plain(text: str) -> str:
    """A text as beginnings are compared: case-folded, with straight apostrophes."""
    return text.replace("’", "'").casefold()
