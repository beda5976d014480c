"""Judging four candidates of a source whose beginning is read once, beside reading each candidate by itself, whose
three questions share its beginning or are read one by one; and the ten scores of an answer with a common beginning,
beside one answer after the other.

One process, the same weights and prompts, taken by turns. Prints the least CPU seconds of each way, their ratios and
the greatest relative difference of a score, which must not be more than 1e-5:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.judging --base DIR [--sources 4] [--words 25]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import torch

from benchmarks.models import least_seconds
from seedbed.generators.settings import Generator
from seedbed.generators.writing.backends import Backend, open_backend
from seedbed.generators.writing.judge import SCALE, expected, score_tokens, scored, whole_answers
from seedbed.generators.writing.likelihood import log_likelihoods
from seedbed.generators.writing.prompts import judging_prompts, score_prefix
from seedbed.generators.writing.translation_settings import ASPECTS

CANDIDATES = 4
TOLERANCE = 1e-5
WORDS = (
    "the",
    "children",
    "went",
    "to",
    "a",
    "market",
    "near",
    "their",
    "school",
    "and",
    "came",
    "back",
    "home",
    "today",
)

Tokens = Sequence[int]
Ways = dict[str, Callable[[], np.ndarray]]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, type=Path, help="directory of a language model")
    parser.add_argument("--style", default="plain", choices=("plain", "chat"))
    parser.add_argument("--sources", type=int, default=4)
    parser.add_argument("--words", type=int, default=25, help="of a source, and of each of its candidates")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)

    settings = {"source": {"file": str(args.base)}, "prompts": args.style, "dtype": "float32"}
    backend = open_backend(Generator.model_validate(settings), args.base)
    scores = score_tokens(backend.tokenizer, score_prefix(args.style))
    sources = [prompts(backend, number, args.words) for number in range(args.sources)]
    compare("four candidates", by_candidates(backend, sources, scores), args.rounds)
    compare("ten answers", by_answers(backend, sources, scores), args.rounds)


def prompts(backend: Backend, number: int, words: int) -> list[list[Tokens]]:
    """Tokens of a source's prompts: each candidate's, of each aspect."""
    draw = random.Random(number)
    text, *english = (" ".join(draw.choices(WORDS, k=words)) for _ in range(1 + CANDIDATES))
    asked = [judging_prompts(text, candidate, "Hausa", "English", backend.style) for candidate in english]
    return [[backend.encode(one[aspect]) for aspect in ASPECTS] for one in asked]


def by_candidates(backend: Backend, sources: list[list[list[Tokens]]], scores: Sequence[Tokens]) -> Ways:
    """All candidates of a source together; each candidate by itself; and each question of each candidate by itself."""

    def together() -> np.ndarray:
        return np.concatenate([scored(backend, [*chain.from_iterable(source)], scores) for source in sources])

    def apart() -> np.ndarray:
        return np.concatenate([scored(backend, one, scores) for source in sources for one in source])

    def by_questions() -> np.ndarray:
        asked = [question for source in sources for one in source for question in one]
        return means(log_likelihoods(backend.model, asked, scores, 1), scores)

    return {"together": together, "by candidates": apart, "by questions": by_questions}


def by_answers(backend: Backend, sources: list[list[list[Tokens]]], scores: Sequence[Tokens]) -> Ways:
    """The ten scores after each prompt, which share what is read; one after the other; and so after a kept prompt."""
    asked = [prompt for source in sources[:1] for one in source for prompt in one]

    def together() -> np.ndarray:
        return means([log_likelihoods(backend.model, [prompt], scores, 1, alike=True)[0] for prompt in asked], scores)

    def apart() -> np.ndarray:
        return means([[plainly(backend, prompt, score) for score in scores] for prompt in asked], scores)

    def kept() -> np.ndarray:
        return means([log_likelihoods(backend.model, [prompt], scores, 1)[0] for prompt in asked], scores)

    return {"together": together, "one by one": apart, "after a kept prompt": kept}


def means(found: np.ndarray | Sequence[Sequence[float]], scores: Sequence[Tokens]) -> np.ndarray:
    """Expected scores by log-likelihoods."""
    return expected(whole_answers(np.array(found), scores), SCALE)


@torch.inference_mode()
def plainly(backend: Backend, prompt: Tokens, answer: Tokens) -> float:
    """The log-likelihood of one answer: a pass over the prompt and it, with logits where they are needed."""
    ids = torch.tensor([[*prompt, *answer]], device=backend.model.device)
    kept = torch.arange(len(prompt) - 1, ids.shape[1] - 1, device=ids.device)
    chances = backend.model(input_ids=ids, logits_to_keep=kept, use_cache=False).logits[0].float().log_softmax(-1)
    return chances[torch.arange(len(answer)), torch.tensor(list(answer))].double().sum().item()


def compare(what: str, ways: Ways, rounds: int) -> None:
    """Print the seconds of each way, and how many times those of the first the others are; their scores are equal."""
    found = {name: way() for name, way in ways.items()}
    apart = max(float(np.abs(other / found["together"] - 1).max()) for other in found.values())
    assert apart <= TOLERANCE, f"the scores differ by {apart:.1e}"
    seconds = least_seconds({name: partial(way) for name, way in ways.items()}, rounds)
    told = ", ".join(f"{name} {value / seconds['together']:.2f} ({value:.2f})" for name, value in seconds.items())
    print(f"{what}, times together (CPU seconds): {told}")
    print(f"relative difference of the scores: {apart:.1e} (allowed: {TOLERANCE})")


if __name__ == "__main__":
    main()
