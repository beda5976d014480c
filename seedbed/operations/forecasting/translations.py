"""Work of translators, of judges of translations, and of encoders that take translations as input or train on them."""

from __future__ import annotations

from seedbed import gpu_memory
from seedbed.operations.forecasting.sizes import Effort, SizedJobs
from seedbed.operations.jobs import Job

ASKED, NUMBERS = 25, 8
"""Tokens of a judge's prompt about a candidate, and of the numbers that it generates."""


def translation(sizes: SizedJobs, job: Job) -> Effort:
    """Work of translating: a prompt with its text, and the translation; an encoder-decoder counts as a decoder."""
    rows = sizes.texts(job)
    if not (generator := job.arguments.generator):
        return Effort(rows=rows)
    length = sizes.length(job)
    asked = getattr(sizes.costs.tokens, generator.prompts) if job.arguments.reads == "prompt" else 0
    return sizes.generation(job, generator, rows, asked + length, min(generator.sampling.max_new_tokens, length))


def judgement(sizes: SizedJobs, job: Job) -> Effort:
    """Work of judging translations.

    By likelihood, instruction and text are processed once, and each candidate with three questions; otherwise there is
    one prompt for each candidate.
    """
    rows, count = sizes.texts(job), len(job.arguments.translations)
    if not (generator := job.arguments.generator):
        return Effort(rows=rows * count)
    length = sizes.length(job)
    beginning, candidate = getattr(sizes.costs.tokens, generator.prompts) + length, length + ASKED
    if job.arguments.answer == "numbers":
        flops, tokens, _ = sizes.generation(job, generator, rows * count, beginning + candidate, NUMBERS)
    else:
        flops, tokens, _ = sizes.generation(job, generator, rows, beginning + count * candidate, 0)
    return Effort(flops, tokens, rows * count)


def anchoring(sizes: SizedJobs, job: Job) -> Effort:
    """Work of anchoring: states of all texts, vectors of all their candidate translations, and the training steps.

    A backbone that is trained too encodes the texts of each step, forwards and backwards. A frozen one encodes each
    text once, and a step is that of two linear maps over the cached states of a text (LiRA, appendix A.4).
    """
    sets = job.arguments.translations
    candidates, translators = sum(sizes.rows(file) for one in sets for file in one.values()), len(sets[0])
    texts = sizes.used_rows(job, candidates / translators)
    candidates = texts * translators
    training, objective = job.arguments.training, job.arguments.objective
    length, body, english = sizes.trained_length(training), sizes.model(job).body, sizes.english(job).body
    seen = sizes.trained_rows(training, texts)
    maps = objective.hidden * sum(gpu_memory.guessed(size, size).width for size in (body, english) if size)
    learns = 6 * body * seen * length if training.part == "all" else 2 * body * texts * length
    steps = 6 * maps * objective.pool_size * seen
    read = seen if training.part == "all" else texts
    return Effort(learns + 2 * english * candidates * length + steps, (read + candidates) * length, 0)


def fused(sizes: SizedJobs, job: Job) -> Effort:
    """Work of an encoder of text and translation: a row is encoded twice, as a text and as English, in every step.

    Frozen models only encode. Features before English tokens are trained through the English encoder, which adds its
    backward pass. Rows of several languages count as if none were a translation of another.
    """
    files = [*job.arguments.each.values()] or [job.arguments.texts]
    training, fusion = job.arguments.training, job.arguments.fusion
    sentences = max(map(len, job.arguments.objective.shapes))
    seen = sizes.trained_rows(training, sizes.used_rows(job, sum(map(sizes.rows, files))))
    tokens = sentences * seen * sizes.trained_length(training)
    through = {"all": 6, "adapter": 4}.get(training.part, 4 if fusion == "prefix" else 2)
    own = {"all": 6}.get(training.part, 2) * sizes.model(job).body if fusion != "english" else 0
    return Effort((own + through * sizes.english(job).body) * tokens, 2 * tokens, 0)


def choosing(sizes: SizedJobs, job: Job) -> Effort:
    """Work of choosing translations: features of each text, or vectors of it and of all its candidates."""
    rows, length = sizes.rows(next(iter(job.arguments.translations.values()))), sizes.length(job)
    if folder := job.arguments.similarity:
        maker = sizes.maker(folder)
        read = rows * (1 + len(job.arguments.translations)) * length
        return Effort(2 * sizes.model(maker or job).body * read, read, rows)
    read = rows * length if job.arguments.actor else 0
    return Effort(2 * sizes.model(job).body * read, read, rows)
