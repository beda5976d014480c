"""A judge's scores of translations: the expectation over 1 to 10 by its likelihoods, or numbers that it writes.

LiRA, 4.1.2, has three scores from 1 to 10, and neither prompt nor parsing. An expectation needs no parsing, and says
how sure a model is.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from seedbed.generators.settings import require_likelihoods
from seedbed.generators.writing.backends import Backend, Completion, Request, fits, require_no_thoughts
from seedbed.generators.writing.journal import COMMIT_ROWS, Journal, answers, written_by
from seedbed.generators.writing.likelihood import answer_log_likelihoods
from seedbed.generators.writing.prompts import encode_text, judging_prompts, score_prefix, without_thoughts
from seedbed.generators.writing.translate import Tongue, Writer
from seedbed.generators.writing.translation_settings import ASPECTS, SCALE
from seedbed.io import UserError, fingerprint

COLUMNS = ["id", "translator", *ASPECTS]
"""Columns of a file of judgements."""
TEXTS = 256
"""Texts whose candidates vLLM scores at a time: fewer would idle the GPU, a kill would lose more."""
DIGITS = 4
"""Decimals of a score; differences between a GPU's batches are smaller."""
_LISTED = re.compile(r"^\s*(\d+)[.)][ \t]+(?=[^\d\s])", re.MULTILINE)
"""The number of a line of a list whose lines name what they score, as in "1. Meaning: 8"."""
_SCALE = re.compile(
    r"(?:/|\bout of\b)\s*10\b|\b10[- ]points?\b|(?<![\d-])1(?:\s*\([^()\d]*\))?\s*(?:[-\u2013]|\bto\b)\s*10\b(?!-)"
    r"|\bbetween 1 and 10\b",
    re.IGNORECASE,
)
"""The scale itself, which a judge may repeat: "8/10", "(1-10)", "from 1 (worst) to 10 (best)"."""

Words = Callable[[str, str], Mapping[str, str]]
"""The prompts for a text and its translation, see `prompts.judging_prompts`."""
Scores = tuple[float, ...]
NO_SCORES: Scores = (np.nan,) * len(ASPECTS)
"""Scores of a translation that could not be scored."""


@dataclass(frozen=True)
class Pair:
    """A text and a translation of it."""

    text: str
    code: str
    """The code of the text's language."""
    english: str

    @property
    def id(self) -> str:
        """A hash of both texts."""
        return fingerprint([self.text, self.english])[:32]


def expected(log_likelihoods: np.ndarray, scale: Sequence[float]) -> np.ndarray:
    """Expected score (n,) of each row, by the likelihoods of the scores as answers.

    Args:
        log_likelihoods: (n, len(scale)), in nats; of "1" without its continuation "0", see `whole_answers`. They need
            not sum to 1: what else a model may write does not count.
        scale: the score of each column.

    Returns:
        Between the least and the greatest of the scale; nan where a likelihood is nan, or none is above 0.
    """
    given = np.asarray(log_likelihoods, dtype=np.float64)
    usable = ~np.isnan(given).any(axis=1) & np.isfinite(given.max(axis=1, initial=-np.inf))
    found = np.full(len(given), np.nan)
    shares = torch.from_numpy(given[usable]).softmax(1).numpy()  # vLLM's environment has no scipy
    found[usable] = shares @ np.asarray(scale, dtype=np.float64)
    return found


def whole_answers(log_likelihoods: np.ndarray, answers: Sequence[Sequence[int]]) -> np.ndarray:
    """Log-likelihoods (n, answers) of answers that do not go on as another one: of "1" without that of "10"."""
    found = log_likelihoods.copy()
    for column, answer in enumerate(answers):
        for other, longer in enumerate(answers):
            if len(longer) > len(answer) and list(longer[: len(answer)]) == list(answer):
                share = np.exp(np.minimum(log_likelihoods[:, other] - log_likelihoods[:, column], 0))
                with np.errstate(divide="ignore"):
                    found[:, column] += np.log1p(-share)
    return found


def score_tokens(tokenizer: Any, prefix: str) -> list[list[int]]:
    """Tokens of each score of SCALE as an answer.

    Raises:
        UserError: a score without tokens, or two with equal tokens.
    """
    tokens = [encode_text(tokenizer, f"{prefix}{score}") for score in SCALE]
    for place, one in enumerate(tokens):
        if not one or one in tokens[:place]:
            other = SCALE[tokens.index(one)] if one else "nothing"
            raise UserError(
                f"{tokenizer.name_or_path}: its tokens of {SCALE[place]} are equal to those of {other}; take "
                "another judge, or `answer: numbers`"
            )
    return tokens


def numbers(text: str) -> Scores:
    """The three scores in an answer, after the model's reasoning if it has any; nan thrice unless the answer has three
    numbers, all from 1 to 10.
    """
    answer = _SCALE.sub("", without_thoughts(text))
    if _LISTED.findall(answer) == ["1", "2", "3"]:
        answer = _LISTED.sub("", answer)
    found = re.findall(r"(?:(?<!\w)[-\u2212])?\d+(?:\.\d+)?", answer)
    scores = [int(one) if one.isdecimal() else 0 for one in found]
    if len(scores) != len(ASPECTS) or not {*scores} <= {*SCALE}:
        return NO_SCORES
    return tuple(map(float, scores))


def judgements(
    tables: Mapping[str, pd.DataFrame],
    languages: Mapping[str, str],
    tongues: Mapping[str, Tongue],
    pivot: str,
    judge: Writer | None,
) -> tuple[pd.DataFrame, dict[str, int]]:
    """A judge's scores of every usable candidate; equal candidates of a text are judged once.

    Args:
        tables: translator -> its translations, see `translations.COLUMNS`.
        languages: text -> code of its language.
        tongues: code -> the language, of the pivot too.
        pivot: code of the language of the translations.
        judge: who scores, by likelihood or numbers as its `reads` says; None: all is in the pivot language.

    Returns:
        COLUMNS, by texts and within them by translators, with nan where nothing was judged or no score came of it; and
        counts: `judged`, `unscored`, and `not judged`; `refused` by a server, where there are some.

    Raises:
        UserError: likelihoods are requested of a judge without them, or the back end stops.
    """
    records = [table.to_dict("records") for table in tables.values()]
    every = [pair for rows in zip(*records, strict=True) for pair in zip(rows, tables, strict=True)]
    pairs = {
        (row["id"], name): Pair(row["text"], languages[row["text"]], row["english"])
        for row, name in every
        if judge and row["finish"] in ("stop", "given")
    }
    scores: dict[str, Scores | None] = {}
    for code in sorted({pair.code for pair in pairs.values()}):
        own = [pair for pair in pairs.values() if pair.code == code]
        scores |= _judged(own, tongues[code], tongues[pivot], judge)
    rows, counts = [], Counter({"judged": 0, "unscored": 0, "not judged": 0})
    for row, name in every:
        pair = pairs.get((row["id"], name))
        found = scores[pair.id] if pair else NO_SCORES
        if pair is None:
            counts["not judged"] += 1
        elif found is None:
            counts["refused"] += 1
        else:
            counts["unscored" if np.isnan(found).any() else "judged"] += 1
        rows.append((row["id"], name, *(found or NO_SCORES)))
    return pd.DataFrame(rows, columns=COLUMNS), dict(counts)


def _judged(pairs: Sequence[Pair], tongue: Tongue, pivot: Tongue, judge: Writer) -> dict[str, Scores | None]:
    """Scores by the ids of pairs in one language; None: a server refused the pair."""
    words = partial(judging_prompts, language=tongue.name, pivot=pivot.name, style=judge.generator.prompts)
    made_by = written_by(judge.generator, judge.weights) | {
        "answer": judge.reads,
        "words": words("{text}", "{english}"),
    }
    with answers(judge.state, made_by) as journal:
        todo = {pair.id: pair for pair in pairs if pair.id not in journal.done}
        if todo:
            how = _by_likelihood if judge.reads == "likelihood" else _by_numbers
            with tqdm(total=len(todo), unit="pair", mininterval=5, desc=tongue.name) as progress:
                how([*todo.values()], words, judge, journal, progress.update)
        read = _kept if judge.reads == "likelihood" else _whole_numbers
        done = {pair.id: journal.done[pair.id] for pair in pairs}
        return {name: None if one.refused else read(one) for name, one in done.items()}


def _whole_numbers(answer: Completion) -> Scores:
    """The three scores in an answer; nan thrice where the length limit may have cut the last, as 10 after its 1."""
    cut = not answer.finished and answer.text[-1:].isdecimal()
    return NO_SCORES if cut else numbers(answer.text)


def _kept(answer: Completion) -> Scores:
    """Scores as the journal has them."""
    return tuple(map(float, answer.text.split()))


def _by_numbers(
    pairs: Sequence[Pair], words: Words, judge: Writer, journal: Journal, told: Callable[[int], object]
) -> None:
    """Prompt the judge for three numbers for each pair."""
    asked = _asked(pairs, ["numbers"], words, judge)
    judge.answer([Request(pair.id, prompt) for pair, prompt in asked], journal, told)


def _asked(pairs: Iterable[Pair], aspects: Sequence[str], words: Words, judge: Writer) -> Iterator[tuple[Pair, Any]]:
    """Each pair with its prompts, as the judge's back end takes them."""
    for pair in pairs:
        prompts = words(pair.text, pair.english)
        for aspect in aspects:
            yield pair, judge.backend.encode(prompts[aspect])


def _by_likelihood(
    pairs: Sequence[Pair], words: Words, judge: Writer, journal: Journal, told: Callable[[int], object]
) -> None:
    """Score the candidates of a text together: what their prompts begin with is read once.

    Whole texts are written to disk, so that a killed job reads what it reads again with the same neighbours.
    """
    advice = "set `answer: numbers`, or take a generator with backend {backends}"
    require_likelihoods("judge", judge.generator.backend, advice)
    backend, limit = judge.backend, judge.generator.sampling.max_prompt_tokens
    require_no_thoughts(backend, "score", "answer: numbers")
    scores = score_tokens(backend.tokenizer, score_prefix(judge.generator.prompts))
    by_text: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_text.setdefault(pair.text, []).append(pair)
    # Transformers reads the candidates of one text as a tree; vLLM itself finds what prompts share.
    texts = 1 if judge.generator.backend == "transformers" else TEXTS
    done: list[Completion] = []
    groups = [*by_text.values()]
    for first in range(0, len(groups), texts):
        group = [pair for of_text in groups[first : first + texts] for pair in of_text]
        asked = list(_asked(group, ASPECTS, words, judge))
        fitting = [(pair, prompt) for pair, prompt in asked if fits(prompt, limit)]
        found = dict.fromkeys((pair.id for pair in group), NO_SCORES)
        if fitting:
            by_pair: dict[str, list[float]] = {}
            means = scored(backend, [prompt for _, prompt in fitting], scores)
            for (pair, _), mean in zip(fitting, means, strict=True):
                by_pair.setdefault(pair.id, []).append(mean)
            found |= {name: tuple(own) for name, own in by_pair.items() if len(own) == len(ASPECTS)}
        done += [Completion(pair.id, " ".join(f"{x:.{DIGITS}f}" for x in found[pair.id]), True) for pair in group]
        if len(done) >= COMMIT_ROWS:
            journal.commit(done)
            done = []
        told(len(group))
    journal.commit(done)


def scored(backend: Backend, prompts: Sequence[Sequence[int]], scores: Sequence[Sequence[int]]) -> np.ndarray:
    """The expected score (prompts,) after each prompt, which begin alike; the tokens of the scores are given."""
    found = answer_log_likelihoods(backend, prompts, scores, alike=True)
    return expected(whole_answers(found, scores), SCALE)
