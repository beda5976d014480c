"""Extractive question answering: an encoder with a head that predicts the first and last token of an answer in a
context.

A long context is split into overlapping windows. The answer is the span with the highest sum of logits over all
windows, as in transformers' examples/pytorch/question-answering/utils_qa.py (SQuAD 1.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from transformers import AutoModelForQuestionAnswering, DataCollatorWithPadding, PreTrainedModel, Trainer

from seedbed.batching import by_length
from seedbed.classifiers.answers import require_finite
from seedbed.classifiers.heads import SCORED_AT_ONCE, limit_of, load, tokenizer_of
from seedbed.classifiers.tuning import Fitting, arguments, key_of, versions
from seedbed.corpora.shape.questions import require_answers, spans
from seedbed.encoders.tuning_settings import Reading
from seedbed.io import UserError
from seedbed.precision import precision
from seedbed.trainers import epoch_losses, fit

SETTINGS, require, require_learnable = Reading, require_answers, spans
Span = tuple[int, int]
"""First character of a part of a context, and the one after its last."""


class Window(NamedTuple):
    """A question with a part of its context."""

    question: int
    """Index of the question."""
    tokens: dict[str, list[int]]
    """The model's input."""
    offsets: list[Span | None]
    """Position of each token in the context; None: the token is not from the context."""


@dataclass(frozen=True)
class Reader:
    """A fine-tuned encoder that answers questions."""

    model: PreTrainedModel
    tokenizer: Any
    prefix: str
    """The prompt before every question."""
    reading: Reading
    """Settings; `max_length` is at most what the encoder can take."""
    report: dict[str, Any]
    """Settings, counts, loss of each epoch, versions."""

    def windows(self, questions: Sequence[str], contexts: Sequence[str]) -> list[Window]:
        """All windows of each question, in order.

        Raises:
            UserError: the encoder takes too few tokens for a question and new parts of its context.
        """
        asked = self._cut([self.prefix + question.lstrip() for question in questions])
        special = self.tokenizer.num_special_tokens_to_add(pair=True)
        longest = max(map(len, self.tokenizer(asked, add_special_tokens=False)["input_ids"]))
        room = self.reading.max_length - special - longest
        if room <= self.reading.stride:
            raise UserError(
                f"reading: with a question of {longest} tokens, a window of {self.reading.max_length} has room for "
                f"{room} of the context, and adjacent windows share {self.reading.stride}; lower `stride` or "
                "`max_question`"
            )
        found = self.tokenizer(
            asked,
            [*contexts],
            truncation="only_second",
            max_length=self.reading.max_length,
            stride=self.reading.stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        places, offsets = found.pop("overflow_to_sample_mapping"), found.pop("offset_mapping")
        return [
            Window(
                question,
                {name: values[place] for name, values in found.items()},
                [span if of == 1 else None for span, of in zip(offsets[place], found.sequence_ids(place), strict=True)],
            )
            for place, question in enumerate(places)
        ]

    def _cut(self, questions: list[str]) -> list[str]:
        """Questions without what `max_question` tokens do not hold."""
        most = self.reading.max_question
        found = self.tokenizer(questions, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        return [
            text[: spans[most - 1][1]] if len(spans) > most else text
            for text, spans in zip(questions, found, strict=True)
        ]

    def answers(self, test: pd.DataFrame) -> list[str]:
        """The most likely answer to each `question` of a table, as a part of its `context`; empty: no span is possible.

        Raises:
            UserError: a logit that is not finite, or an encoder that takes too few tokens.
        """
        windows = self.windows(list(test["question"]), list(test["context"]))
        best: dict[int, tuple[float, Span]] = {}
        for window, logits in zip(windows, self.logits(windows), strict=True):
            found = best_span(*logits, window.offsets, self.reading)
            if found and (window.question not in best or found[0] > best[window.question][0]):
                best[window.question] = found
        ends = [best[place][1] if place in best else (0, 0) for place in range(len(test))]
        return [context[start:end] for context, (start, end) in zip(test["context"], ends, strict=True)]

    @torch.inference_mode()
    def logits(self, windows: Sequence[Window]) -> list[NDArray[np.float32]]:
        """Logits (2, tokens) of each window, that an answer begins and that it ends with a token.

        Raises:
            UserError: a logit that is not finite.
        """
        self.model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        found: list[Any] = [None] * len(windows)
        for places in by_length([len(window.offsets) for window in windows], SCORED_AT_ONCE):
            batch = self.tokenizer.pad([windows[place].tokens for place in places], return_tensors="pt")
            said = self.model(**batch.to(self.model.device))
            both = torch.stack([said.start_logits, said.end_logits], dim=1).float().cpu().numpy()
            require_finite(both, "reading")
            for place, one in zip(places, both, strict=True):
                found[place] = one[:, : len(windows[place].offsets)]
        return found


def best_span(
    starts: NDArray[np.float32], ends: NDArray[np.float32], offsets: Sequence[Span | None], reading: Reading
) -> tuple[float, Span] | None:
    """The span of a window with the highest sum of logits, and that sum; None: no span is possible.

    Args:
        starts: logits (tokens,) of an answer's first token.
        ends: logits (tokens,) of an answer's last token.
        offsets: character positions of the tokens in the context, see `Window`.
        reading: `candidates`, the number of likeliest first and last tokens that are combined, and `max_answer`, the
            maximum number of tokens of an answer.
    """
    firsts, lasts = (np.argsort(logits)[-1 : -reading.candidates - 1 : -1] for logits in (starts, ends))
    inside = np.array([span is not None for span in offsets])
    length = lasts - firsts[:, None] + 1
    fits = (length >= 1) & (length <= reading.max_answer) & inside[firsts][:, None] & inside[lasts]
    if not fits.any():
        return None
    sums = np.where(fits, starts[firsts][:, None] + ends[lasts], -np.inf)
    first, last = np.unravel_index(sums.argmax(), sums.shape)
    return float(sums[first, last]), (offsets[firsts[first]][0], offsets[lasts[last]][1])


def train(base: Path, rows: pd.DataFrame, reading: Reading, how: Fitting) -> Reader:
    """Fine-tune all weights of an encoder, or of a backbone, to locate the answers of a training set in their contexts.

    The rows have `question`, `context`, `answers` and `starts`. The target of a window is the first and last token of
    its question's first answer; of a window without the whole answer, its own first token.

    Raises:
        UserError: weights that cannot be loaded; answers that are not at their positions; an encoder that takes too few
            tokens; a loss that is not finite.
    """
    wanted, dtype = spans(rows, "reading: training set"), precision(how.dtype)
    torch.manual_seed(how.seed)  # for a new head, if the weights have none
    model, tokenizer = load(AutoModelForQuestionAnswering, base)[0], tokenizer_of(base)
    limit = min(reading.max_length, limit_of(model, tokenizer))
    reader = Reader(model, tokenizer, how.prefix, reading.model_copy(update={"max_length": limit}), {})
    windows = reader.windows(list(rows["question"]), list(rows["context"]))
    examples = [window.tokens | _target(window, wanted[window.question]) for window in windows]
    checkpoints = how.state / key_of(base, examples, reading, dtype, how.seed)
    options = arguments(reading, dtype, how.seed, checkpoints, warmup_steps=reading.warmup_steps)
    trainer = Trainer(model, options, DataCollatorWithPadding(tokenizer), examples)
    fit(trainer, how.minutes)
    counts = {"questions": len(rows), "windows": len(windows)}
    about = {"reading": reading.model_dump(), "dtype": dtype, "seed": how.seed, "examples": counts}
    learnt = {"steps": trainer.state.global_step, "losses": epoch_losses(trainer.state), "versions": versions()}
    return replace(reader, report=about | learnt)


def _target(window: Window, wanted: Span) -> dict[str, int]:
    """The tokens with which an answer begins and ends; those of a window that lacks a part of it are its first."""
    inside = [place for place, span in enumerate(window.offsets) if span]
    begun = [place for place in inside if window.offsets[place][0] <= wanted[0]]
    ended = [place for place in inside if window.offsets[place][1] >= wanted[1]]
    first, last = (begun[-1], ended[0]) if begun and ended else (0, 0)
    return {"start_positions": first, "end_positions": last}
