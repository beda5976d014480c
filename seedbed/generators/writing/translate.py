"""Translations into the pivot language, each text once, by a job that may be killed at any time (LiRA, section 4.1)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from seedbed.corpora.shape.clean import clean
from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Backend, Completion, Request, fits, open_backend, with_thoughts
from seedbed.generators.writing.journal import Journal, answers, written_by
from seedbed.generators.writing.prompts import require_visible_thoughts, translation_prompt, unquoted, without_thoughts
from seedbed.generators.writing.translations import COLUMNS, finish, text_id
from seedbed.io import UserError, read_table, sha256
from seedbed.manifests import digest_of


@dataclass(frozen=True)
class Tongue:
    """A language as a translator knows it."""

    name: str
    """As prompts use it."""
    code: str = ""
    """A translator's token of the language; empty: a prompt names the language, or the translator gets the text alone.
    """
    adapter: Path | None = None
    """Folder of an adapter that is trained to translate from it."""
    given: Path | None = None
    """A table of translations that are there: `text`, `english`."""


@dataclass(frozen=True)
class Writer:
    """A translator or judge, which is loaded when there is something to generate."""

    generator: Generator
    reads: str
    """prompt, codes or text, see `translation_settings.Translator`; of a judge its `answer`."""
    open: Callable[[], Backend]
    weights: str
    """A digest of the base's, see `manifests.digest_of`."""
    state: Path
    """The folder that the study's jobs share."""

    @property
    def about(self) -> dict[str, Any]:
        """Facts for records: the model's origin and the digest of its weights."""
        return {"generator": self.generator.origin, "weights": self.weights}

    @cached_property
    def backend(self) -> Backend:
        """The model, which is loaded once."""
        backend = self.open()
        backend.keeps_cut = True
        if hasattr(backend, "tokenizer"):
            require_visible_thoughts(backend.tokenizer)
        return backend

    def answer(
        self,
        requests: Sequence[Request],
        journal: Journal,
        report: Callable[[int], object],
        adapter: Path | None = None,
    ) -> None:
        """Store the model's answers to requests in a journal; `report` gets the number of answers after each commit.

        A prompt of more than `max_prompt_tokens` tokens is neither sent nor truncated: its answer is empty and not
        finished.
        """
        limit = self.generator.sampling.max_prompt_tokens
        short = [one for one in requests if fits(one.prompt, limit)]
        long = [Completion(one.id, "", finished=False) for one in requests if not fits(one.prompt, limit)]
        journal.commit(long)
        report(len(long))
        journal.keep(with_thoughts(self.backend, short, adapter) if short else (), report)


def writer_of(
    generator: Generator | None, reads: str, base: Path | None, state: Path, adapters: Sequence[Path] = ()
) -> Writer | None:
    """The `Writer` of a program's arguments; None without a generator. `base` is the folder of its weights, None: it is
    on a server.
    """
    if not generator:
        return None
    return Writer(generator, reads, lambda: open_backend(generator, base, adapters), digest_of(base), state)


def translations(
    texts: Mapping[str, str], tongues: Mapping[str, Tongue], pivot: str, writer: Writer | None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Translate texts into the pivot language.

    Texts that were translated before, for any corpus, are read from a journal. A text in the pivot language is its own
    translation.

    Args:
        texts: text -> code of its language, see `translations.texts_of`.
        tongues: code -> the language, of the pivot too.
        pivot: code of the pivot language.
        writer: the translator; None: all translations are given.

    Returns:
        A table id, text, english and finish (see `translations.USABLE`), in the order of the texts; and counts by
        finish.

    Raises:
        UserError: the translator does not know a language, the back end stops, or given translations are of other
            texts.
    """
    found = {text: (text, "own") for text, code in texts.items() if code == pivot}
    for code in sorted({*texts.values()} - {pivot}):
        own = [text for text, of in texts.items() if of == code]
        found |= _written(own, tongues[code], tongues[pivot], writer) if writer else _given(own, tongues[code])
    rows = [(text_id(text), text, *found[text]) for text in texts]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table, {"texts": len(table), **Counter(table["finish"])}


def _given(texts: Sequence[str], tongue: Tongue) -> dict[str, tuple[str, str]]:
    """Translations from a file; of a text that occurs twice, the first."""
    if tongue.given is None:
        return dict.fromkeys(texts, ("", "missing"))
    table = read_table(tongue.given, ["text", "english"], unique=None)
    known: dict[str, str] = {}
    for text, english in zip(table["text"], table["english"], strict=True):
        known.setdefault(clean(text), clean(english))
    if not any(clean(text) in known for text in texts):
        raise UserError(
            f"{tongue.given}: translations of other texts: none of the {len(texts)} in {tongue.name} is in its "
            "column text; expected exactly these texts"
        )
    ends = {text: known.get(clean(text)) for text in texts}
    return {
        text: ("", "missing") if english is None else (english, finish(text, english, "given"))
        for text, english in ends.items()
    }


def _written(texts: Sequence[str], tongue: Tongue, pivot: Tongue, writer: Writer) -> dict[str, tuple[str, str]]:
    """Translations by a model."""
    with answers(writer.state, _made_by(tongue, pivot, writer)) as journal:
        if todo := [text for text in texts if text_id(text) not in journal.done]:
            _ask(todo, tongue, pivot, writer, journal)
        done = {text: journal.done[text_id(text)] for text in texts}
    found = {}
    for text, completion in done.items():
        english = sentence(completion.text)
        how = "refused" if completion.refused else "length" if completion.text and not completion.finished else "stop"
        found[text] = (english, finish(text, english, how))
    return found


def _made_by(tongue: Tongue, pivot: Tongue, writer: Writer) -> dict[str, Any]:
    """What a translation depends on, but for its text."""
    asked = {"codes": [tongue.code, pivot.code], "text": ""}
    words = asked.get(writer.reads, translation_prompt("{text}", tongue.name, pivot.name, writer.generator.prompts))
    adapter = tongue.adapter and sha256(tongue.adapter)
    return {**written_by(writer.generator, writer.weights), "reads": writer.reads, "words": words, "adapter": adapter}


def _ask(texts: Sequence[str], tongue: Tongue, pivot: Tongue, writer: Writer, journal: Journal) -> None:
    """Prompt for the translations that the journal lacks."""
    backend, requests = writer.backend, []
    if writer.reads == "codes":
        backend.between(tongue.code, pivot.code)
    for text in texts:
        words = text
        if writer.reads == "prompt":
            words = translation_prompt(text, tongue.name, pivot.name, writer.generator.prompts)
        requests.append(Request(text_id(text), backend.encode(words)))
    with tqdm(total=len(texts), unit="text", mininterval=5, desc=tongue.name) as progress:
        writer.answer(requests, journal, progress.update, tongue.adapter)


def sentence(text: str) -> str:
    """The translation in what a model wrote: on one line, without thoughts before it and quotes around it."""
    return unquoted(clean(without_thoughts(text)))
