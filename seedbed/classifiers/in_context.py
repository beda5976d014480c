"""In-context classification: a language model labels a text after a few labelled ones (MINERS, section 2.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from tqdm.auto import tqdm

from seedbed.classifiers.answers import Answers
from seedbed.classifiers.likelihood import log_likelihoods
from seedbed.classifiers.settings import Reasoning
from seedbed.generators.backends import Backend, Completion, Prompt, Request, fits, open_backend
from seedbed.generators.journal import Journal, journal_name
from seedbed.generators.prompts import encode_text, with_shots
from seedbed.generators.settings import Answering, Generator
from seedbed.io import UserError

GREEDY = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "repetition_penalty": 1.0}


@dataclass(frozen=True)
class Query:
    """A text to label."""

    id: str
    text: str
    shots: tuple[tuple[str, str], ...] = ()
    """Texts with their labels, the nearest first."""


def greedy(generator: Generator, how: Answering | Reasoning) -> Generator:
    """The generator, which writes the likeliest tokens."""
    sampling = generator.sampling.updated({**GREEDY, "max_new_tokens": how.max_new_tokens})
    return generator.updated({"sampling": sampling.model_dump()})


def open_greedy(generator: Generator, base: Path | None, how: Answering) -> Backend:
    """Load a model that is to answer with labels: it writes the likeliest tokens.

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
    prompts, cut = prompts_of(model, queries, labels, instruction, how, generator.sampling.max_prompt_tokens)
    if how.answer == "generation":
        kept = None
        if state:
            keys = [((query.id,), prompt) for query, prompt in zip(queries, prompts, strict=True)]
            kept = Journal(state / f"{journal_name(keys, greedy(generator, how), weights)}.jsonl")
        texts = (one.text for one in written(model, [query.id for query in queries], prompts, kept))
        return Answers([names.get(_answer(text, how), "") for text in texts], None, cut)
    scores = likelihoods(model, prompts, labels, how.label_prefix, generator.batch_size)
    return Answers([labels[place] for place in scores.argmax(axis=1)], softmax(scores, axis=1), cut)


def prompts_of(
    model: Backend,
    queries: Sequence[Query],
    labels: Sequence[str],
    instruction: str,
    how: Answering,
    limit: int | None,
) -> tuple[list[Prompt], int]:
    """Each query's prompt as the model takes it, and how many of them have fewer shots than they came with.

    Args:
        limit: tokens of a prompt at most, see `generators.backends.fits`.

    Raises:
        UserError: a query is too long by itself.
    """
    options = {"options": labels if how.answer == "generation" else (), "only_label": how.instruct}
    prompts, cut = [], 0
    for query in queries:
        for shots in range(len(query.shots), -1, -1):
            text = with_shots(query.text, query.shots[:shots], instruction, **options)
            if fits(prompt := model.encode(text, bos=how.bos), limit):
                break
        else:
            raise UserError(
                f"icl: the prompt of {query.id!r} has {len(prompt)} tokens without any shot; raise "
                f"`sampling.max_prompt_tokens` of the generator, which is {limit}"
            )
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
        lacking = labels[answers.index([])]
        raise UserError(f"icl: the tokenizer has no token for the label {lacking!r}; name it otherwise")
    found = log_likelihoods(backend.model, prompts, answers, batch_size) / [len(answer) for answer in answers]
    if not np.isfinite(found).all():
        raise UserError("icl: the model gives likelihoods that are not finite; set `dtype: float32` of the generator")
    return found


def written(
    backend: Backend, ids: Sequence[str], prompts: Sequence[Prompt], journal: Journal | None
) -> list[Completion]:
    """What a model writes after each prompt; what the journal has is not asked for."""
    done = journal.done if journal else {}
    asked = [Request(row, prompt) for row, prompt in zip(ids, prompts, strict=True) if row not in done]
    answers = tqdm(backend.write(asked, None) if asked else (), total=len(asked), desc="Texts")
    if journal:
        journal.keep(answers)
    else:
        done = {completion.id: completion for completion in answers}
    return [done[row] for row in ids]


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
