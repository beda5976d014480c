"""From anchors to triplets: positives and negatives from one loaded model, by a job that may be killed at any time."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from seedbed.generators.backends import Backend, Completion, Request
from seedbed.generators.prompts import encode, parse
from seedbed.generators.settings import POLARITIES, Generator, Polarity
from seedbed.io import UserError, fingerprint, read_json, sha256
from seedbed.precision import precision
from seedbed.triplets.shards import write_shard

Key = tuple[str, Polarity]
"""A row's id and which sentence of it."""

PromptFor = Callable[[str, str, Polarity], str]
"""The prompt of (id, text, polarity)."""

Adapters = Mapping[Polarity, Path | None]
"""Directories of peft adapters; None: the base alone."""

COMMIT_ROWS = 64
"""Completions that are written to disk together: what a kill can lose."""


def shard(anchors: pd.DataFrame, number: int, shards: int) -> pd.DataFrame:
    """The anchors of one job, `number` counting from 0: consecutive rows, as even as can be, none left out."""
    first, last = (len(anchors) * bound // shards for bound in (number, number + 1))
    return anchors.iloc[first:last]


def synthesise(
    backend: Backend,
    anchors: pd.DataFrame,
    prompt_for: PromptFor,
    adapters: Adapters,
    *,
    generator: Generator,
    weights: str,
    name: str,
    method: str,
    state: Path,
    output: Path,
) -> None:
    """Write a positive and a negative for each anchor as a shard; see `complete`.

    `generator` (its name in the study) and `method` are columns too. The journal is removed when the table is written.
    """
    table, journal = complete(backend, anchors, prompt_for, adapters, generator=generator, weights=weights, state=state)
    write_shard(table.assign(generator=name, method=method), output)
    journal.unlink()


def complete(
    backend: Backend,
    anchors: pd.DataFrame,
    prompt_for: PromptFor,
    adapters: Adapters,
    *,
    generator: Generator,
    weights: str,
    state: Path,
) -> tuple[pd.DataFrame, Path]:
    """Write a positive and a negative for each anchor, both from one loaded model.

    A prompt longer than `max_prompt_tokens` is not sent, and never cut: its completion is empty and not finished.
    What is done is kept in a journal under `state`, named by a hash of everything that it depends on; the same call
    goes on from there. The caller removes it when the result is safe.

    Args:
        anchors: columns id and text.
        weights: a digest of the base's, see `weights_of`.

    Raises:
        UserError: every prompt is too long, or the back end stops.

    Returns:
        The columns id, anchor, positive, negative, positive_finished, negative_finished ("true" or "false") and prompt
        (a hash of both prompts), in the order of the anchors; and the journal's path.
    """
    rows = list(zip(anchors["id"], anchors["text"], strict=True))
    prompts = {(row, polarity): prompt_for(row, text, polarity) for row, text in rows for polarity in POLARITIES}
    tokens = {key: encode(backend.tokenizer, prompt, generator.prompts) for key, prompt in prompts.items()}
    short = _short(tokens, generator.sampling.max_prompt_tokens)

    journal = Journal(state / f"{_fingerprint(tokens, adapters, generator, weights)}.jsonl")
    with tqdm(total=len(short), initial=len(journal.done), unit="row", mininterval=5) as progress:
        for polarity in POLARITIES:
            keys = [(row, polarity) for row, _ in rows if (row, polarity) in short]
            requests = [Request(_name(*key), tokens[key]) for key in keys if _name(*key) not in journal.done]
            for completions in _grouped(backend.write(requests, adapters[polarity]) if requests else (), COMMIT_ROWS):
                journal.commit(completions)
                progress.update(len(completions))
    return _table(rows, prompts, journal.done), journal.path


class Journal:
    """Completions on disk, one JSON object a line; the last line of a killed job may be torn and is cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[str, Completion] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0)
            whole = 0
            for line in file:
                if not (completion := _whole(line)):
                    break
                self.done[completion.id] = completion
                whole += len(line)
            file.truncate(whole)

    def commit(self, completions: Iterable[Completion]) -> None:
        """Add completions; they are on the disk when this returns."""
        completions = list(completions)
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(completion), ensure_ascii=False) + "\n" for completion in completions)
            file.flush()
            os.fsync(file.fileno())
        self.done |= {completion.id: completion for completion in completions}


def _whole(line: bytes) -> Completion | None:
    try:
        return Completion(**json.loads(line)) if line.endswith(b"\n") else None
    except (ValueError, TypeError):
        return None


def _name(row: str, polarity: Polarity) -> str:
    """A completion's name, which also names its random stream."""
    return f"{polarity}/{row}"


def weights_of(base: Path) -> str:
    """A digest of a language model's files: from its manifest, since reading 54 GB takes minutes, if it has one."""
    manifest = base / "seedbed.json"
    return fingerprint(read_json(manifest)["files"]) if manifest.is_file() else sha256(base)


def _fingerprint(tokens: Mapping[Key, list[int]], adapters: Adapters, generator: Generator, weights: str) -> str:
    """Name of the journal: what the completions depend on; batch sizes and the like may change on the way."""
    made_by = generator.model_dump(mode="json", include={"source", "backend", "served_model", "prompts", "sampling"})
    made_by["weights"] = weights
    made_by["dtype"] = precision(generator.dtype)
    digests = {polarity: adapter and sha256(adapter) for polarity, adapter in adapters.items()}
    return fingerprint([[[*key, ids] for key, ids in tokens.items()], digests, made_by])


def _short(tokens: Mapping[Key, list[int]], limit: int) -> set[Key]:
    short = {key for key, ids in tokens.items() if len(ids) <= limit}
    if tokens and not short:
        shortest = min(map(len, tokens.values()))
        raise UserError(f"sampling.max_prompt_tokens: {limit} is less than every prompt; the shortest has {shortest}")
    return short


def _grouped(completions: Iterable[Completion], size: int) -> Iterator[list[Completion]]:
    completions = iter(completions)
    while group := list(itertools.islice(completions, size)):
        yield group


def _table(rows: list[tuple[str, str]], prompts: Mapping[Key, str], done: Mapping[str, Completion]) -> pd.DataFrame:
    columns = {"id": [row for row, _ in rows], "anchor": [text for _, text in rows]}
    for polarity in POLARITIES:
        written = [done.get(_name(row, polarity), Completion("", "", finished=False)) for row, _ in rows]
        columns[polarity] = [_sentence(completion.text) for completion in written]
        columns[f"{polarity}_finished"] = [str(completion.finished).lower() for completion in written]
    columns["prompt"] = [fingerprint([prompts[row, polarity] for polarity in POLARITIES])[:16] for row, _ in rows]
    return pd.DataFrame(columns)


def _sentence(text: str) -> str:
    return " ".join(parse(text).split())
