"""Training examples of adapters: rows of text become token ids, with the same prompts as in generation."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from seedbed.corpora.settings import TOPPED_UP
from seedbed.corpora.shape.labels import LABELS
from seedbed.generators.settings import LanguageData, LanguageLoss, Lora, Polarity, Style
from seedbed.generators.writing.prompts import (
    encode,
    encode_completion,
    language_prompt,
    pair_prompt,
    translation_prompt,
    zero_shot,
)

Row = TypeVar("Row")
Texts = Mapping[str, str]
"""A row: column -> text."""


@dataclass(frozen=True)
class Example:
    """Token ids of a training example. The loss is over the completion; for plain text the prompt is only BOS."""

    prompt: list[int]
    completion: list[int]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.completion)


def for_task(
    tokenizer: Any, rows: Iterable[Texts], polarities: Sequence[Polarity], lora: Lora, *, language: str, style: Style
) -> list[Example]:
    """Examples of a task adapter: premises with their entailments, contradictions or both (paper 000, table 9).

    Args:
        tokenizer: of the language model.
        rows: rows with `anchor` and the columns of the polarities.
        polarities: what is generated; with both, each row gives one example of each.
        lora: training settings; at most `lora.examples` examples are returned.
        language: English name of the language of positives and negatives.
        style: "chat" or "plain" prompts.
    """
    pairs = (
        (zero_shot(row["anchor"], polarity, language, style), row[polarity])
        for row in shuffle_rows(rows, lora.seed)
        for polarity in polarities
    )
    return take_fitting(from_pairs(tokenizer, pairs, style), lora)


def for_language(
    tokenizer: Any,
    rows: Iterable[Texts],
    data: LanguageData,
    lora: Lora,
    *,
    language: str,
    style: Style,
    loss: LanguageLoss = "text",
    pivot: str = "",
) -> list[Example]:
    """Examples of a language adapter: causal language modelling of one language (paper 000, table 10).

    Args:
        tokenizer: of the language model.
        rows: rows with `text`; for instructions `prompt` and `response`; for translations `text` and `pivot`.
        data: kind of the examples, see `Generator.language_data`.
        lora: training settings; at most `lora.examples` examples are returned.
        language: English name of the language.
        style: "chat" or "plain" prompts.
        loss: for instructions and translations, "text" for prompt and response, "response" for the response alone.
        pivot: English name of the language that is translated into.
    """
    turns = shuffle_rows(rows, lora.seed)
    if data == "passages":
        return take_fitting(passages(tokenizer, (row["text"] for row in turns), lora.max_length), lora)
    if data == "text":
        return take_fitting(from_texts(tokenizer, (row["text"] for row in turns)), lora)
    if data == "translations":
        pairs = ((translation_prompt(row["text"], language, pivot, style), row["pivot"]) for row in turns)
    else:
        pairs = ((language_prompt(row["prompt"], language, style), row["response"]) for row in turns)
    found = from_pairs(tokenizer, pairs, style)
    if loss == "text":  # over all tokens but the first
        found = (Example(one.prompt[:1], one.prompt[1:] + one.completion) for one in found)
    return take_fitting(found, lora)


def for_labels(tokenizer: Any, rows: Iterable[Texts], lora: Lora, *, language: str, style: Style) -> list[Example]:
    """Examples of an NLI classifier: pairs with `premise` and `hypothesis`, with the number of their `label`; other
    arguments as in `for_task`, with `language` that of the pairs.
    """
    pairs = (
        (pair_prompt(row["premise"], row["hypothesis"], language, style), str(LABELS.index(row["label"])))
        for row in shuffle_rows(rows, lora.seed)
    )
    return take_fitting(from_pairs(tokenizer, pairs, style), lora)


def shuffle_rows(rows: Iterable[Row], seed: int) -> list[Row]:
    """The rows in a seeded random order; rows from a source's `top_up` come after all others."""
    order = list(rows)
    random.Random(seed).shuffle(order)
    return sorted(order, key=lambda row: isinstance(row, Mapping) and row.get("id", "").startswith(TOPPED_UP))


def sample(rows: Iterable[Row], lora: Lora) -> list[Row]:
    """The first `lora.examples` rows in the order of `shuffle_rows`."""
    return shuffle_rows(rows, lora.seed)[: lora.examples]


def take_fitting(examples: Iterable[Example], lora: Lora) -> list[Example]:
    """The first examples until `lora.examples` of them have at most `lora.max_length` tokens. Longer ones are included;
    training drops and counts them.
    """
    found: list[Example] = []
    fitting = 0
    for one in examples:
        found.append(one)
        fitting += len(one) <= lora.max_length
        if fitting == lora.examples:
            break
    return found


def from_pairs(tokenizer: Any, pairs: Iterable[tuple[str, str]], style: Style) -> Iterator[Example]:
    """Examples from (prompt, completion) texts, tokenised as for generation."""
    for prompt, completion in pairs:
        yield Example(encode(tokenizer, prompt, style), encode_completion(tokenizer, completion, style))


def from_texts(tokenizer: Any, texts: Iterable[str]) -> Iterator[Example]:
    """Examples for causal language modelling: BOS (or the first token, if the model has none) and all that follows."""
    return (_modelled(encode(tokenizer, text, "plain"), tokenizer) for text in texts)


def passages(tokenizer: Any, texts: Iterable[str], limit: int) -> Iterator[Example]:
    """Examples of consecutive texts, one a line, with as many texts as fit into `limit` tokens; otherwise see
    `from_texts`.

    A text that is longer is an example by itself, which training drops and counts.
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
