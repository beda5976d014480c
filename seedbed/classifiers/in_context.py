"""In-context classification: a language model labels a text after a few labelled examples (MINERS, section 2.2)."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax
from tqdm.auto import tqdm

from seedbed.classifiers.answers import Answers
from seedbed.classifiers.settings import Reasoning
from seedbed.generators.settings import Answering, Generator, require_likelihoods
from seedbed.generators.writing.backends import (
    Backend,
    Completion,
    Prompt,
    Request,
    fits,
    open_backend,
    require_no_thoughts,
)
from seedbed.generators.writing.journal import Journal, MemoryJournal, written_by
from seedbed.generators.writing.likelihood import answer_log_likelihoods
from seedbed.generators.writing.prompts import encode_text, require_visible_thoughts, with_shots, without_thoughts
from seedbed.io import UserError, compact, fingerprint


@dataclass(frozen=True)
class Query:
    """A text to label."""

    id: str
    text: str
    shots: tuple[tuple[str, str], ...] = ()
    """In-context examples: texts with their labels, the nearest first."""


def open_greedy(generator: Generator, base: Path | None, how: Answering) -> Backend:
    """Load a model that will answer with labels, with greedy decoding. `base` is its folder; None: it is behind an API.

    Raises:
        UserError: likelihoods are requested of a back end without them, or of a chat template that begins thoughts,
            after which no label follows; text is requested of a model whose thoughts would look like its answers; or
            the model cannot be loaded.
    """
    likely = how.answer == "likelihood"
    if likely:
        require_likelihoods("icl", generator.backend, "set `answer: generation`", what="labels")
    backend = open_backend(generator.greedy(max_new_tokens=how.max_new_tokens), base)
    if likely:
        require_no_thoughts(backend, "label", "answer: generation")
    elif hasattr(backend, "tokenizer"):
        require_visible_thoughts(backend.tokenizer)
    return backend


def predict_labels(
    model: Callable[[], Backend],
    queries: Sequence[Query],
    labels: Sequence[str],
    instruction: str,
    how: Answering,
    journal: Journal | None = None,
) -> Answers:
    """Prompt a model for the label of each query; of equally likely labels, the first is taken.

    A prompt with more than the model's `max_prompt_tokens` loses its farthest examples; the query itself is never
    truncated. If only the server can count tokens, it refuses prompts that are too long.

    Args:
        model: loads the language model, by `open_greedy`; not called if the journal has all answers.
        queries: the texts with their examples.
        instruction: the instruction at the start of each prompt.
        how: how answers are obtained.
        journal: cache of answers to the same prompts, see `request_key`; None: no caching.

    Returns:
        Labels, and with `answer: likelihood` their probabilities. A generated answer counts by its first line after the
            model's thoughts; it is empty if that is no label.

    Raises:
        UserError: a query that is too long without examples; labels that cannot be distinguished, have no tokens, or
            more than the model may write.
    """
    names, journal = _names(labels, how), journal or MemoryJournal()
    options = _options(labels, how)
    ids = [fingerprint(with_shots(query.text, query.shots, instruction, **options))[:32] for query in queries]
    if todo := {row: query for row, query in zip(ids, queries, strict=True) if row not in journal.done}:
        rows, backend = [*todo], model()
        if how.answer == "generation":
            _require_room(backend, labels, how.max_new_tokens)
        found = prompts_of(backend, [*todo.values()], labels, instruction, how)
        if how.answer == "generation":
            _write(backend, dict(zip(rows, found, strict=True)), journal)
        else:
            save_likelihoods(
                backend,
                [prompt for prompt, _ in found],
                labels,
                how.label_prefix,
                journal,
                lambda place, means: Completion(rows[place], compact([found[place][1], means]), True),
            )
    kept = [json.loads(journal.done[row].text) for row in ids]
    cut = sum(left < len(query.shots) for (left, _), query in zip(kept, queries, strict=True))
    if how.answer == "generation":
        return Answers([names.get(_answer(without_thoughts(text), how), "") for _, text in kept], None, cut)
    scores = np.array([means for _, means in kept])
    return Answers([labels[place] for place in scores.argmax(axis=1)], softmax(scores, axis=1), cut)


def request_key(
    generator: Generator, weights: str, labels: Sequence[str], how: Answering | Reasoning, language: str
) -> dict[str, Any]:
    """Everything that an answer depends on apart from its prompt, from which the journal of answers is named.

    The language of the texts is included, so that jobs of two languages never wait for each other.

    Args:
        weights: digest of the model's weights, see `manifests.digest_of`.
    """
    asked = how.model_dump(mode="json", exclude={"english", "prefixes"})  # the prompt has what comes of these
    made_by = written_by(generator.greedy(max_new_tokens=how.max_new_tokens), weights)
    return {**made_by, "asked": asked, "labels": [*labels], "language": language}


def _require_room(backend: Backend, labels: Sequence[str], limit: int) -> None:
    """Check that a model whose tokenizer is known can write each label; UserError: a label has too many tokens."""
    if not hasattr(backend, "tokenizer"):
        return
    for label in labels:
        needed = min(len(encode_text(backend.tokenizer, blank + label)) for blank in ("", " "))
        if needed > limit:
            raise UserError(f"icl: label {label!r} has {needed} tokens, and `max_new_tokens` is {limit}; raise it")


def _write(backend: Backend, prompts: Mapping[str, tuple[Prompt, int]], journal: Journal) -> None:
    """Keep what a model writes after each prompt, and the shots that this has."""
    requests = [Request(row, prompt) for row, (prompt, _) in prompts.items()]
    answers = tqdm(backend.write(requests, None), total=len(requests), desc="Texts")
    journal.keep(replace(one, text=compact([prompts[one.id][1], one.text])) for one in answers)


def _options(labels: Sequence[str], how: Answering) -> dict[str, Any]:
    """What else a prompt says."""
    return {"options": labels if how.answer == "generation" else (), "only_label": how.instruct}


def prompts_of(
    model: Backend, queries: Sequence[Query], labels: Sequence[str], instruction: str, how: Answering
) -> list[tuple[Prompt, int]]:
    """Each query's prompt in the model's form, and its number of examples; arguments as in `predict_labels`.

    Raises:
        UserError: a query that is too long without examples.
    """
    options, limit, prompts = _options(labels, how), model.sampling.max_prompt_tokens, []
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
        prompts.append((prompt, shots))
    return prompts


def save_likelihoods(
    backend: Backend,
    prompts: Sequence[Prompt],
    labels: Sequence[str],
    prefix: str,
    journal: Journal,
    entry: Callable[[int, list[float]], Completion],
) -> None:
    """Save the mean log-probability of the tokens of each label after each of n prompts in a journal.

    They are saved batch by batch. A killed job resumes with the same batches for its other prompts.

    Args:
        prompts: prompts as the back end takes them, such as token ids.
        prefix: the text between prompt and label.
        entry: makes the entry of the journal, from a prompt's index and its means (labels,).

    Raises:
        UserError: a label without tokens, or scores that are not finite.
    """
    answers = [encode_text(backend.tokenizer, prefix + label) for label in labels]
    if not all(answers):
        lacking = labels[answers.index([])]
        raise UserError(f"icl: the tokenizer has no token for the label {lacking!r}; name it otherwise")

    def save(rows: Sequence[int], found: np.ndarray) -> None:
        means = found / [len(answer) for answer in answers]
        if not np.isfinite(means).all():
            raise UserError(
                "icl: the model gives likelihoods that are not finite; set `dtype: float32` of the generator"
            )
        journal.commit(entry(row, own) for row, own in zip(rows, means.tolist(), strict=True))

    answer_log_likelihoods(backend, prompts, answers, save)


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
