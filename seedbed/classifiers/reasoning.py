"""A language model solves problems and answers questions with options, without examples (paper 002, section 5)."""

from collections.abc import Sequence
from pathlib import Path

from scipy.special import softmax
from torch import Tensor

from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import greedy, likelihoods, written
from seedbed.classifiers.settings import Reasoning
from seedbed.generators.backends import Backend, Prompt, fits
from seedbed.generators.journal import Journal, journal_name
from seedbed.generators.prefixed import Prefixed
from seedbed.generators.settings import Generator
from seedbed.io import UserError


def ask(
    generator: Generator,
    model: Backend,
    ids: Sequence[str],
    texts: Sequence[str],
    letters: Sequence[str],
    how: Reasoning,
    state: Path | None = None,
    weights: str = "",
    vectors: Tensor | None = None,
) -> Answers:
    """Ask a model for the answer to each prompt: what it writes, or one of some letters.

    Args:
        ids: of the texts.
        texts: prompts, see `prompts.problem_prompt` and `options_prompt`.
        letters: what stands before the options; none: the answer is what the model writes, and `cut` counts the
            answers that the length limit ended.
        state: directory that keeps what it has written, for the next try after a fault; None: nothing is kept.
        weights: a digest of the model's, and of what gives the vectors, see `manifests.digest_of`.
        vectors: (n, s, d), what stands before the tokens of each prompt, after that of its beginning; None: nothing.

    Raises:
        UserError: a prompt is too long, vectors are of another width than the model's input embeddings, or likelihoods
            are asked of a back end that has none.
    """
    prompts = _encoded(generator, model, ids, texts, how, vectors)
    if letters and how.answer == "likelihood":
        if generator.backend != "transformers":
            raise UserError(
                f"reasoning: backend {generator.backend} has no likelihoods of letters; set `answer: generation`"
            )
        scores = likelihoods(model, prompts, letters, how.label_prefix, generator.batch_size)
        return Answers([letters[place] for place in scores.argmax(axis=1)], softmax(scores, axis=1))
    kept = None
    if state:
        keys = [((row,), prompt) for row, prompt in zip(ids, prompts, strict=True)]
        kept = Journal(state / f"{journal_name(keys, greedy(generator, how), weights)}.jsonl")
    found = written(model, ids, prompts, kept)
    if letters:
        return Answers([first_letter(one.text, letters) for one in found])
    return Answers([one.text for one in found], None, sum(not one.finished for one in found))


def first_letter(text: str, letters: Sequence[str]) -> str:
    """The letter that an answer begins with, be it in brackets or before a mark; empty: none of these."""
    word = text.strip().lstrip("([*").partition("\n")[0]
    alone = word[:1] in letters and not word[1:2].isalnum()
    return word[:1] if alone else ""


def require_width(model: Backend, width: int) -> None:
    """Vectors of so many numbers can stand before a model's tokens; UserError: they cannot."""
    if not hasattr(model, "model") or model.model.config.is_encoder_decoder:
        raise UserError("reasoning: vectors stand before the tokens of a decoder alone, on backend transformers")
    if (own := model.model.get_input_embeddings().embedding_dim) != width:
        raise UserError(
            f"reasoning: features of width {width}, and the generator's input embeddings have {own}; anchor them to an "
            "English encoder of the generator's width"
        )


def _encoded(
    generator: Generator,
    model: Backend,
    ids: Sequence[str],
    texts: Sequence[str],
    how: Reasoning,
    vectors: Tensor | None,
) -> list[Prompt]:
    prompts, limit = [model.encode(text, bos=how.bos) for text in texts], generator.sampling.max_prompt_tokens
    if vectors is not None:
        require_width(model, vectors.shape[2])
        first = model.tokenizer.bos_token_id
        prompts = [Prefixed(one, own, int(one[0] == first)) for one, own in zip(prompts, vectors, strict=True)]
    for row, prompt in zip(ids, prompts, strict=True):
        if not fits(prompt, limit):
            raise UserError(
                f"reasoning: the prompt of {row!r} has {len(prompt)} tokens; raise `sampling.max_prompt_tokens` of the "
                f"generator, which is {limit}"
            )
    return prompts
