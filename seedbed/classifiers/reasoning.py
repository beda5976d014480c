"""Language models that solve problems and multiple-choice questions without examples (paper 002, section 5)."""

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import regex
from scipy.special import softmax
from torch import Tensor
from tqdm.auto import tqdm

from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import save_likelihoods
from seedbed.classifiers.settings import Reasoning
from seedbed.generators.settings import Generator, require_likelihoods
from seedbed.generators.writing.backends import (
    Backend,
    Completion,
    Prompt,
    Request,
    fits,
    require_no_thoughts,
    with_thoughts,
)
from seedbed.generators.writing.journal import Journal, MemoryJournal
from seedbed.generators.writing.prompts import require_visible_thoughts, without_thoughts
from seedbed.generators.writing.soft_prompts import Prefixed
from seedbed.io import UserError, compact, fingerprint

_BLANK = r"[^\S\r\n]"
"""A blank within a line: what stands in the next line does not belong to a letter."""
_ALONE = (
    r"[(\[{]?(?<![\p{Latin}'’-])([a-z])"
    rf"(?:[)\]}}]|(?!{_BLANK}*[\p{{Latin}}\d]|['’.-]\w)|(?={_BLANK}+(?:is|because|since|and|or)\b))"
)
"""A letter in brackets, or one that is not followed by a word of its line in Latin script, except for words that follow
the letter of an option.
"""
_CAPITAL = r"(?-i:[A-Z])(?![\p{Latin}\d'’-])"
_FURTHER = regex.compile(
    rf"{_BLANK}*(?:(?:\band\b|\bor\b|[/&]){_BLANK}*(?:{_ALONE}|({_CAPITAL}))"
    rf"|[,،、，]{_BLANK}*({_CAPITAL})(?!{_BLANK}*(?!(?:and|or)\b)[\p{{L}}\d]))",
    regex.IGNORECASE,
)
"""What follows the letter of an option if the answer names another one as well: "B" in "A or B" and "A, B", though not
in "A, B is wrong" of any language.
"""


class Problem(NamedTuple):
    """A problem, or a question with options."""

    id: str
    text: str
    """Its prompt."""
    question: str = ""
    """The text whose vectors may be put before the prompt."""


def generate_answers(
    generator: Generator,
    model: Callable[[], Backend],
    problems: Sequence[Problem],
    letters: Sequence[str],
    how: Reasoning,
    journal: Journal | None = None,
    vectors: Callable[[], Tensor] | None = None,
) -> Answers:
    """Prompt a model for the answer to each question: its generated text, or the letter of an option.

    Args:
        generator: the language model.
        model: loads it; not called if the journal has all answers.
        problems: questions with their prompts, see `prompts.problem_prompt` and `options_prompt`.
        letters: letters of the options; without any, the answer is the generated text, and `cut` counts answers that
            were truncated at the length limit.
        journal: cache of answers to the same prompts, see `in_context.request_key`; None: no caching.
        vectors: gives soft prompts (n, s, d), which are inserted before the tokens of each prompt, after its first
            ones; None: none.

    Raises:
        UserError: a prompt that is too long, vectors of another width than the model's word embeddings, likelihoods of
            letters are requested of a back end without them or after a chat template that begins thoughts, or letters
            of a model whose thoughts would look like its answers.
    """
    journal, by_letters = journal or MemoryJournal(), bool(letters) and how.answer == "likelihood"
    if by_letters:
        require_likelihoods("reasoning", generator.backend, "set `answer: generation`", what="letters")
    ids = [fingerprint([one.text, *([one.question] if vectors else [])])[:32] for one in problems]
    if todo := {row: place for place, row in enumerate(ids) if row not in journal.done}:
        backend, rows, places = model(), [*todo], [*todo.values()]
        if by_letters:
            require_no_thoughts(backend, "letter", "answer: generation")
        elif letters and hasattr(backend, "tokenizer"):
            require_visible_thoughts(backend.tokenizer)
        before = vectors()[places] if vectors else None
        prompts = _encoded(backend, [problems[place] for place in places], how, before)
        if by_letters:
            save_likelihoods(
                backend,
                prompts,
                letters,
                how.label_prefix,
                journal,
                lambda place, means: Completion(rows[place], compact(means), True),
            )
        else:
            requests = [Request(row, prompt) for row, prompt in zip(rows, prompts, strict=True)]
            written = with_thoughts(backend, requests) if letters else backend.write(requests, None)
            journal.keep(tqdm(written, total=len(requests), desc="Texts"))
    found = [journal.done[row] for row in ids]
    if by_letters:
        scores = np.array([json.loads(one.text) for one in found])
        return Answers([letters[place] for place in scores.argmax(axis=1)], softmax(scores, axis=1))
    if letters:
        return Answers([first_letter(one.text, letters) for one in found])
    return Answers([one.text for one in found], None, sum(not one.finished for one in found))


def first_letter(text: str, letters: Sequence[str]) -> str:
    """The letter of the option that an answer names, in upper case; empty: none, or several.

    It is the letter after the last "answer is" or "answer:", else after "answer", else the one at the start, else the
    only one in the text. Letters within words or as articles ("A hotel") do not count; nor do thoughts.
    """
    text = re.sub(r"\\boxed|[*_`$\"]", "", without_thoughts(text))
    for before in (r"\banswer(?: is:?|:)\s*", r"\banswer\s*", r"\A\s*"):
        said = [one for one in regex.finditer(before + _ALONE, text, regex.IGNORECASE) if one[1].upper() in letters]
        if said:
            return "" if _others(text, said[-1], letters) else said[-1][1].upper()
    every = [one for one in regex.finditer(_ALONE, text, regex.IGNORECASE) if one[1].upper() in letters]
    named = {one[1].upper() for one in every}.union(*(_others(text, one, letters) for one in every))
    return named.pop() if len(named) == 1 else ""


def _others(text: str, named: regex.Match, letters: Sequence[str]) -> set[str]:
    """The letter of another option that an answer names along with one, or none."""
    further = _FURTHER.match(text, named.end())
    found = {letter.upper() for letter in further.groups() if letter} if further else set()
    return (found & {*letters}) - {named[1].upper()}


def require_width(model: Backend, width: int) -> None:
    """Check that soft prompts of a width can be inserted before a model's tokens.

    Raises:
        UserError: they cannot.
    """
    if not hasattr(model, "model") or model.model.config.is_encoder_decoder:
        raise UserError("reasoning: only a decoder on backend transformers takes vectors before its tokens")
    if (own := model.model.get_input_embeddings().embedding_dim) != width:
        raise UserError(
            f"reasoning: features of width {width}, and the generator's input embeddings have {own}; anchor them to an "
            "English encoder of the generator's width"
        )


def _encoded(model: Backend, problems: Sequence[Problem], how: Reasoning, vectors: Tensor | None) -> list[Prompt]:
    prompts, limit = [model.encode(one.text, bos=how.bos) for one in problems], model.sampling.max_prompt_tokens
    if vectors is not None:
        require_width(model, vectors.shape[2])
        first = model.tokenizer.bos_token_id
        prompts = [Prefixed(one, own, int(one[0] == first)) for one, own in zip(prompts, vectors, strict=True)]
    for one, prompt in zip(problems, prompts, strict=True):
        if not fits(prompt, limit):
            raise UserError(
                f"reasoning: the prompt of {one.id!r} has {len(prompt)} tokens; raise `sampling.max_prompt_tokens` of "
                f"the generator, which is {limit}"
            )
    return prompts
