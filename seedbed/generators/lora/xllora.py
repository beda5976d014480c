"""Training set of the XL-LoRA adapter: anchors in many languages, targets in English. Paper 000, section 3, steps 1-2.

For each polarity a premise is sampled in one language, maybe different ones, as in the published files. Languages have
equal shares, as far as there are enough texts.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from seedbed.generators.settings import POLARITIES, Part, Polarity
from seedbed.io import UserError, fingerprint

Tables = Mapping[str, pd.DataFrame]
"""One table for each language code."""

Write = Callable[[pd.DataFrame], pd.DataFrame]
"""From English premises (id, text) to synthetic rows: id, positive, negative, positive_finished, negative_finished."""

COLUMNS = ["id", "language", "anchor", "target", "source"]

SOURCES: dict[Part, str] = {"human": "nli", "synthetic": "parallel", "machine": "nli_machine"}
"""What the column `source` says of each part."""

log = logging.getLogger(__name__)


def build(parts: Mapping[Part, Tables], write: Write, count: int, seed: int) -> dict[Polarity, pd.DataFrame]:
    """Build `count` examples for each polarity; each part fills up what those before it left open.

    "human" and "machine" are translations of NLI, whose English targets exist (step 1). "synthetic" is parallel text:
    the English side is the premise for `write`, and the other side becomes the anchor (step 2). Premises whose
    completions cannot be used (cut, empty, a copy, both the same) are replaced by others while there are any.

    Args:
        parts: tables of each part, in the order in which parts are used. Columns of "synthetic": id, text and pivot
            (the same sentence in English); of the others: id (the same in all languages for one English row), anchor,
            positive, negative.
        write: generates targets of "synthetic"; it may be called several times, with new premises each.
        count: the number of examples for each polarity; there are fewer if the parts are used up, which is logged.
        seed: seed of the sampling.

    Returns:
        For each polarity: id, language, anchor, target, source (as in `SOURCES`), shuffled.

    Raises:
        UserError: no usable row at all.

    Source: paper 000, section 3 and table 12.
    """
    chosen: list[pd.DataFrame] = []
    for part, tables in parts.items():
        left = count - sum(rows["key"].nunique() for rows in chosen)
        rows = _written(tables, write, left, seed) if part == "synthetic" else _drawn(tables, left, seed)
        chosen.append(rows.assign(source=SOURCES[part]))
    examples = {polarity: pd.concat([_spread(rows, polarity, seed) for rows in chosen]) for polarity in POLARITIES}
    found = len(examples["positive"])
    if not found:
        raise UserError(f"xllora: no example in the parts {', '.join(parts)}; give their corpora, or other parts")
    if found < count:
        log.warning("xllora: %d examples, not %d: %s used up", found, count, ", ".join(parts))
    return {polarity: _finished(table, seed) for polarity, table in examples.items()}


def sample(examples: pd.DataFrame, count: int, seed: int) -> pd.DataFrame:
    """At most `count` rows of a ready set (id, anchor, target), in the same columns as `build`."""
    order = np.random.default_rng(seed).permutation(len(examples))[:count]
    return examples.iloc[np.sort(order)].assign(language="", source="published")[COLUMNS]


def _rows(tables: Tables, key: str, keep: list[str]) -> pd.DataFrame:
    """All languages in one table; `key` says which rows are the same in English. One row for each language and key."""
    parts = [table.assign(language=language, key=table[key]) for language, table in sorted(tables.items())]
    columns = ["id", "language", "key", *keep]
    table = pd.concat(parts)[columns] if parts else pd.DataFrame(columns=columns)
    return table.drop_duplicates(["language", "key"]).reset_index(drop=True)


def _drawn(tables: Tables, count: int, seed: int) -> pd.DataFrame:
    """The rows of `count` premises that have their targets, in all their languages."""
    rows = _rows(tables, key="id", keep=["anchor", *POLARITIES])
    return rows[rows["key"].isin(_draw(rows, count, seed))]


def _draw(rows: pd.DataFrame, count: int, seed: int) -> list[str]:
    """Sample at most `count` distinct keys, from the languages in turn, each in random order."""
    random = np.random.default_rng(seed)
    queues = [list(random.permutation(group["key"])) for _, group in rows.groupby("language")]
    drawn: dict[str, None] = {}
    while queues and len(drawn) < count:
        for queue in queues:
            while queue and queue[-1] in drawn:
                queue.pop()
            if queue and len(drawn) < count:
                drawn[queue.pop()] = None
        queues = [queue for queue in queues if queue]
    return list(drawn)


def _written(tables: Tables, write: Write, count: int, seed: int) -> pd.DataFrame:
    """The rows of `count` premises with usable targets, in all their languages."""
    rest = pool = _rows(tables, key="pivot", keep=["text"]).rename(columns={"text": "anchor"})
    kept = pd.DataFrame(columns=["key", *POLARITIES])
    while len(kept) < count and len(rest):
        premises = _draw(rest, count - len(kept), seed)
        rest = rest[~rest["key"].isin(premises)]
        texts = pd.DataFrame({"id": [fingerprint(text)[:16] for text in premises], "text": premises})
        answers = write(texts).merge(texts.rename(columns={"text": "key"}), on="id")
        kept = pd.concat([kept, answers[_usable(answers)][["key", *POLARITIES]]])
    return pool.merge(kept, on="key")


def _usable(answers: pd.DataFrame) -> pd.Series:
    positive, negative, premise = (answers[name].str.casefold() for name in (*POLARITIES, "key"))
    finished = (answers[["positive_finished", "negative_finished"]] == "true").all(axis=1)
    written = (positive != "") & (negative != "")
    return finished & written & (positive != negative) & (positive != premise) & (negative != premise)


def _spread(rows: pd.DataFrame, polarity: Polarity, seed: int) -> pd.DataFrame:
    """One row for each key, in the language that is rarest so far; keys with the least choice go first."""
    random = np.random.default_rng([seed, POLARITIES.index(polarity)])
    shuffled = rows.iloc[random.permutation(len(rows))]
    choices = sorted((list(group.index) for _, group in shuffled.groupby("key", sort=False)), key=len)
    language, used, chosen = rows["language"].to_dict(), Counter(), []
    for indices in choices:
        chosen.append(min(indices, key=lambda index: used[language[index]]))
        used[language[chosen[-1]]] += 1
    return rows.loc[chosen].rename(columns={polarity: "target"})


def _finished(examples: pd.DataFrame, seed: int) -> pd.DataFrame:
    ids = examples["source"] + "-" + examples["language"] + "-" + examples["id"]
    order = np.random.default_rng(seed).permutation(len(examples))
    return examples.assign(id=ids)[COLUMNS].iloc[order].reset_index(drop=True)
