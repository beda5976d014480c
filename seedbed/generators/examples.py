"""What adapters learn from: rows of text become tokens, in the words that generation uses."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from seedbed.corpora.labels import LABELS
from seedbed.generators.prompts import Style, encode, encode_completion, language_prompt, pair_prompt, zero_shot
from seedbed.generators.settings import LanguageData, Lora, Polarity

Row = TypeVar("Row")
Texts = Mapping[str, str]
"""A row: column -> text."""


@dataclass(frozen=True)
class Example:
    """Token ids. The loss is over the completion; for plain text the prompt is BOS alone."""

    prompt: list[int]
    completion: list[int]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.completion)


def for_task(
    tokenizer: Any, rows: Iterable[Texts], polarities: Sequence[Polarity], lora: Lora, *, language: str, style: Style
) -> list[Example]:
    """Premises with their entailments, contradictions or both (paper 000, table 9); `lora.examples` in all.

    Args:
        rows: anchor and the polarities.
        polarities: with both, each row gives one example of each.
        language: name of the language of positives and negatives.
    """
    pairs = [
        (zero_shot(row["anchor"], polarity, language, style), row[polarity])
        for row in sample(rows, lora)
        for polarity in polarities
    ]
    return from_pairs(tokenizer, pairs[: lora.examples], style)


def for_language(
    tokenizer: Any, rows: Iterable[Texts], data: LanguageData, lora: Lora, *, language: str, style: Style
) -> list[Example]:
    """Causal language modelling of one language: `lora.examples` of the kind that `data` names (paper 000, table 10).

    Args:
        rows: text; or prompt and response, for instructions.
        language: its name.
    """
    if data == "passages":
        texts = (row["text"] for row in shuffled(rows, lora.seed))
        return list(itertools.islice(passages(tokenizer, texts, lora.max_length), lora.examples))
    chosen = sample(rows, lora)
    if data == "text":
        return from_texts(tokenizer, [row["text"] for row in chosen])
    pairs = [(language_prompt(row["prompt"], language, style), row["response"]) for row in chosen]
    return from_pairs(tokenizer, pairs, style)


def for_labels(tokenizer: Any, rows: Iterable[Texts], lora: Lora, *, language: str, style: Style) -> list[Example]:
    """Pairs with the number of their label; `lora.examples` in all.

    Args:
        rows: premise, hypothesis and label.
        language: name of the language of the pairs.
    """
    pairs = [
        (pair_prompt(row["premise"], row["hypothesis"], language, style), str(LABELS.index(row["label"])))
        for row in sample(rows, lora)
    ]
    return from_pairs(tokenizer, pairs, style)


def shuffled(rows: Iterable[Row], seed: int) -> list[Row]:
    """The rows in a seeded random order."""
    order = list(rows)
    random.Random(seed).shuffle(order)
    return order


def sample(rows: Iterable[Row], lora: Lora) -> list[Row]:
    """The first `lora.examples` rows after a shuffle by `lora.seed`."""
    return shuffled(rows, lora.seed)[: lora.examples]


def from_pairs(tokenizer: Any, pairs: Iterable[tuple[str, str]], style: Style) -> list[Example]:
    """Examples from (prompt, completion) texts, tokenised as for generation."""
    return [
        Example(encode(tokenizer, prompt, style), encode_completion(tokenizer, completion, style))
        for prompt, completion in pairs
    ]


def from_texts(tokenizer: Any, texts: Iterable[str]) -> list[Example]:
    """Examples for causal language modelling: BOS (or the first token, if the model has none) and all that follows."""
    return [_modelled(encode(tokenizer, text, "plain"), tokenizer) for text in texts]


def passages(tokenizer: Any, texts: Iterable[str], limit: int) -> Iterator[Example]:
    """Examples as `from_texts` makes them, each of as many texts in a row, one a line, as fit into `limit` tokens.

    A text that is longer by itself becomes an example by itself; training drops and counts it.
    """
    passage: list[int] = []
    for text in texts:
        line = _line(tokenizer, text)
        if passage and len(passage) + len(line) < limit:  # one token is EOS
            passage += line
            continue
        if passage:
            yield _modelled(passage, tokenizer)
        passage = encode(tokenizer, text, "plain")
    if passage:
        yield _modelled(passage, tokenizer)


def _line(tokenizer: Any, text: str) -> list[int]:
    """Tokens of a text that follows another."""
    ids = encode(tokenizer, f"\n{text}", "plain")
    return ids[1:] if ids[0] == tokenizer.bos_token_id else ids


def _modelled(ids: list[int], tokenizer: Any) -> Example:
    return Example(ids[:1], [*ids[1:], tokenizer.eos_token_id])
