"""In-context classification: a language model labels a text after a few labelled ones (MINERS, section 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from tqdm.auto import tqdm

from seedbed.generators.backends import Backend, Prompt, Request, fits, open_backend
from seedbed.generators.icl_settings import Answering
from seedbed.generators.journal import Journal, journal_name
from seedbed.generators.labels import log_likelihoods
from seedbed.generators.prompts import encode_text, with_shots
from seedbed.generators.settings import Generator
from seedbed.io import UserError

GREEDY = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0}


@dataclass(frozen=True)
class Query:
    """A text to label."""

    id: str
    text: str
    shots: tuple[tuple[str, str], ...] = ()
    """Texts with their labels, the nearest first."""


@dataclass(frozen=True)
class Answers:
    """What a model said, in the order of the queries."""

    labels: list[str]
    """Nothing: it answered none of the labels."""
    probabilities: np.ndarray | None
    """(n, labels), as the likelihoods give them; None: it was not asked for likelihoods."""
    cut: int
    """Queries whose prompt has fewer shots than they came with."""


def greedy(generator: Generator, how: Answering) -> Generator:
    """The generator, which writes the likeliest tokens."""
    sampling = generator.sampling.updated({**GREEDY, "max_new_tokens": how.max_new_tokens})
    return generator.updated({"sampling": sampling.model_dump()})


def open_greedy(generator: Generator, base: Path | None, how: Answering) -> Backend:
    """Load the model, to be asked for labels: it writes the likeliest tokens.

    Raises:
        UserError: a back end without likelihoods is to give them, or as `open_backend`.
    """
    if how.answer == "likelihood" and generator.backend != "transformers":
        raise UserError(f"icl: backend {generator.backend} has no likelihoods of labels; set `answer: generation`")
    return open_backend(greedy(generator, how), base)


def ask(
    generator: Generator,
    model: Backend,
    queries: Sequence[Query],
    labels: Sequence[str],
    instruction: str,
    how: Answering,
    state: Path | None = None,
    weights: str = "",
) -> Answers:
    """Ask a model of `open_greedy` for the label of each query. Of equally likely labels the first is taken.

    A prompt with more than the generator's `max_prompt_tokens` loses its farthest shots; the query is never cut. Where
    only the server can count tokens, it refuses what is too long.

    Args:
        state: directory that keeps what it has written, for the next try after a fault; None: nothing is kept.
        weights: a digest of the model's, see `manifests.digest_of`.

    Raises:
        UserError: a query is too long by itself; labels that cannot be told apart or have no tokens.
    """
    names = _names(labels, how)
    prompts, cut = prompts_of(generator, model, queries, labels, instruction, how)
    if how.answer == "generation":
        kept = state and _journal(state, queries, prompts, greedy(generator, how), weights)
        written = _written(model, queries, prompts, kept)
        return Answers([names.get(_answer(text, how), "") for text in written], None, cut)
    scores = likelihoods(model, prompts, labels, how.label_prefix, generator.batch_size)
    return Answers([labels[place] for place in scores.argmax(axis=1)], softmax(scores, axis=1), cut)


def prompts_of(
    generator: Generator,
    model: Backend,
    queries: Sequence[Query],
    labels: Sequence[str],
    instruction: str,
    how: Answering,
) -> tuple[list[Prompt], int]:
    """Each query's prompt as the model takes it, and how many of them have fewer shots than they came with.

    Raises:
        UserError: a query is too long by itself.
    """
    named = labels if how.answer == "generation" else ()

    def encoded(query: Query, shots: int) -> Prompt:
        text = with_shots(query.text, query.shots[:shots], instruction, options=named, only_label=how.instruct)
        return model.encode(text, bos=how.bos)

    prompts, cut = [], 0
    for query in queries:
        shots, prompt = _fitting(query, encoded, generator.sampling.max_prompt_tokens)
        prompts.append(prompt)
        cut += shots < len(query.shots)
    return prompts, cut


def likelihoods(
    backend: Any, prompts: Sequence[list[int]], labels: Sequence[str], prefix: str, batch_size: int
) -> np.ndarray:
    """Mean log-probability (n, labels) of the tokens of each label after each prompt.

    Raises:
        UserError: a label without tokens, or a model whose scores are not finite.
    """
    answers = [encode_text(backend.tokenizer, prefix + label) for label in labels]
    if not all(answers):
        raise UserError(
            f"icl: the tokenizer has no token for the label {labels[answers.index([])]!r}; name it otherwise"
        )
    found = log_likelihoods(backend.model, prompts, answers, batch_size) / [len(answer) for answer in answers]
    if not np.isfinite(found).all():
        raise UserError("icl: the model gives likelihoods that are not finite; set `dtype: float32` of the generator")
    return found


def _fitting(query: Query, encoded: Any, limit: int) -> tuple[int, Prompt]:
    """As many of the nearest shots as fit, and the prompt with them."""
    for shots in range(len(query.shots), -1, -1):
        if fits(prompt := encoded(query, shots), limit):
            return shots, prompt
    raise UserError(
        f"icl: the prompt of {query.id!r} has {len(prompt)} tokens without any shot; raise "
        f"`sampling.max_prompt_tokens` of the generator, which is {limit}"
    )


def _journal(
    state: Path, queries: Sequence[Query], prompts: Sequence[Prompt], generator: Generator, weights: str
) -> Journal:
    keys = [(query.id,) for query in queries]
    return Journal(state / f"{journal_name(zip(keys, prompts, strict=True), generator, weights)}.jsonl")


def _written(
    backend: Backend, queries: Sequence[Query], prompts: Sequence[Prompt], journal: Journal | None
) -> list[str]:
    done = journal.done if journal else {}
    asked = [Request(query.id, prompt) for query, prompt in zip(queries, prompts, strict=True) if query.id not in done]
    answers = tqdm(backend.write(asked, None) if asked else (), total=len(asked), desc="Texts")
    if journal:
        journal.keep(answers)
    else:
        done = {completion.id: completion for completion in answers}
    return [done[query.id].text for query in queries]


def _answer(text: str, how: Answering) -> str:
    """The first line of what was written, as it is compared with the labels."""
    line = text.strip().partition("\n")[0].strip()
    return line.casefold() if how.case == "fold" else line


def _names(labels: Sequence[str], how: Answering) -> dict[str, str]:
    """Each label by what must be written for it."""
    names = {_answer(label, how): label for label in labels}
    if how.answer == "generation" and len(names) < len(labels):
        raise UserError(f"icl: labels that differ in case alone: {', '.join(labels)}; set `case: exact`")
    return names
