"""Log-likelihoods of answers to prompts by vLLM, which may spread the model over several GPUs.

vLLM gives the log-probabilities of named tokens as the next one (`logprob_token_ids`), whatever it then generates. They
are requested after each prompt and after each prompt with a prefix of an answer: of "1" to "10", with a token for each
digit, after nothing and after "1". vLLM's prefix cache encodes shared prefixes once. Its `prompt_logprobs` are not
used, because they encode each answer with its whole prompt again.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from seedbed.generators.writing.backends.vllm import CHUNK
from seedbed.io import UserError

NEXT = 128
"""Tokens whose log-probabilities vLLM gives at a time (vllm.sampling_params.MAX_LOGPROB_TOKEN_IDS)."""


def by_vllm(
    backend: Any,
    prompts: Sequence[Sequence[int]],
    answers: Sequence[Sequence[int]],
    report: Callable[[Sequence[int], np.ndarray], object],
) -> np.ndarray:
    """Log-likelihood (prompts, answers) of each answer after each prompt by a `VllmBackend`, in nats.

    Those of the model as it is, before temperature and penalties: vLLM's "raw_logprobs", which are its default.

    Raises:
        UserError: an answer is longer than what the engine has room for after a prompt.
    """
    if (longest := max(map(len, answers))) > (room := backend.sampling.max_new_tokens):
        raise UserError(f"max_new_tokens: {room} is less than the {longest} tokens of an answer; raise it")
    following: dict[tuple[int, ...], set[int]] = {}
    for answer in answers:
        for place, token in enumerate(answer):
            following.setdefault(tuple(answer[:place]), set()).add(token)
    found = np.zeros((len(prompts), len(answers)))
    at_once = max(1, CHUNK // len(following))
    for start in range(0, len(prompts), at_once):
        rows = range(start, min(start + at_once, len(prompts)))
        of_tokens = _of_next_tokens(backend, [prompts[row] for row in rows], following)
        for place, row in enumerate(rows):
            for column, answer in enumerate(answers):
                parts = (of_tokens[place][tuple(answer[:end])][token] for end, token in enumerate(answer))
                found[row, column] = sum(parts)
        report(rows, found[rows.start : rows.stop])
    return found


def _of_next_tokens(
    backend: Any, prompts: Sequence[Sequence[int]], following: dict[tuple[int, ...], set[int]]
) -> list[dict[tuple[int, ...], dict[int, float]]]:
    """For each prompt: prefix of an answer -> next token -> its log-probability."""
    from vllm import SamplingParams, TokensPrompt

    asked = [
        (row, begun, sorted(tokens)[first : first + NEXT])
        for row in range(len(prompts))
        for begun, tokens in following.items()
        for first in range(0, len(tokens), NEXT)
    ]
    outputs = backend.engine().generate(
        [TokensPrompt(prompt_token_ids=[*prompts[row], *begun]) for row, begun, _ in asked],
        [SamplingParams(max_tokens=1, temperature=0.0, logprob_token_ids=tokens) for _, _, tokens in asked],
        use_tqdm=False,
    )
    found: list[dict[tuple[int, ...], dict[int, float]]] = [{begun: {} for begun in following} for _ in prompts]
    for (row, begun, tokens), output in zip(asked, outputs, strict=True):
        (chances,) = output.outputs[0].logprobs
        found[row][begun] |= {token: chances[token].logprob for token in tokens}
    return found
