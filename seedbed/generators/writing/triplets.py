"""Generation of positives and negatives with one loaded model, by a job that may be killed at any time."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from seedbed.generators.settings import POLARITIES, Generator, Polarity
from seedbed.generators.writing.backends import Backend, Completion, Prompt, Request, fits
from seedbed.generators.writing.journal import journal_name, open_journal
from seedbed.generators.writing.prompts import parse
from seedbed.io import UserError, fingerprint

Key = tuple[str, Polarity]
"""A row's id, and the polarity."""

REFUSED = "refused"
"""Value of a `..._finished` column, besides "true" and "false": a server refused this prompt."""


def complete(
    backend: Backend,
    anchors: pd.DataFrame,
    prompt_for: Callable[[str, str, Polarity], str],
    adapters: Mapping[Polarity, Path | None],
    *,
    generator: Generator,
    weights: str,
    state: Path,
) -> pd.DataFrame:
    """Generate a positive and a negative for each anchor, with one loaded model.

    A prompt longer than `max_prompt_tokens` is neither sent nor truncated: its completion is empty and not finished.
    Completions are stored in a journal below `state`, named by a hash of everything that they depend on, so that the
    same call resumes after a kill.

    Args:
        backend: the loaded model.
        anchors: columns id and text.
        prompt_for: maps (id, text, polarity) to the prompt.
        adapters: polarity -> folder of its adapter; None: the base alone.
        weights: digest of the base's weights, see `manifests.digest_of`.
        state: folder of journals, see `folder_for`.

    Returns:
        The columns id, anchor, positive, negative, positive_finished, negative_finished ("true", "false" or REFUSED)
        and prompt (a hash of both prompts), in the order of the anchors.

    Raises:
        UserError: every prompt is too long whatever its anchor, or the back end stops.
    """
    rows = list(zip(anchors["id"], anchors["text"], strict=True))
    prompts = {(row, polarity): prompt_for(row, text, polarity) for row, text in rows for polarity in POLARITIES}
    tokens = {key: backend.encode(prompt) for key, prompt in prompts.items()}
    limit = generator.sampling.max_prompt_tokens
    short = {key for key, prompt in tokens.items() if fits(prompt, limit)}
    if tokens and not short:
        _require_room([backend.encode(prompt_for(row, "", polarity)) for row, polarity in prompts], limit)
    name = journal_name(tokens.items(), generator, weights, adapters)
    with (
        open_journal(state / f"{name}.jsonl") as journal,
        tqdm(total=len(short), initial=len(journal.done), unit="row", mininterval=5) as progress,
    ):
        for polarity in POLARITIES:
            keys = [(row, polarity) for row, _ in rows if (row, polarity) in short]
            requests = [Request(_name(*key), tokens[key]) for key in keys if _name(*key) not in journal.done]
            journal.keep(backend.write(requests, adapters[polarity]) if requests else (), progress.update)
    return _table(rows, prompts, journal.done)


def _name(row: str, polarity: Polarity) -> str:
    """A completion's name, which also names its random stream."""
    return f"{polarity}/{row}"


def _require_room(bare: Sequence[Prompt], limit: int) -> None:
    """Raise a UserError if prompts without their anchors, as here, are too long already: a few anchors may be."""
    if (shortest := min(map(len, bare))) >= limit:
        raise UserError(
            f"sampling.max_prompt_tokens: {limit} is less than every prompt; the shortest has {shortest} without its "
            "anchor"
        )


def _table(rows: list[tuple[str, str]], prompts: Mapping[Key, str], done: Mapping[str, Completion]) -> pd.DataFrame:
    columns = {"id": [row for row, _ in rows], "anchor": [text for _, text in rows]}
    for polarity in POLARITIES:
        written = [done.get(_name(row, polarity), Completion("", "", finished=False)) for row, _ in rows]
        columns[polarity] = [" ".join(parse(completion.text).split()) for completion in written]
        columns[f"{polarity}_finished"] = [
            REFUSED if completion.refused else str(completion.finished).lower() for completion in written
        ]
    columns["prompt"] = [fingerprint([prompts[row, polarity] for polarity in POLARITIES])[:16] for row, _ in rows]
    return pd.DataFrame(columns)
