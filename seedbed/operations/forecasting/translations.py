"""What translators and judges of translations have to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seedbed.generators.settings import Generator
from seedbed.operations.job import Job

if TYPE_CHECKING:
    from seedbed.operations.forecasting.work import Plan

ASKED, NUMBERS = 25, 8
"""Tokens of a judge's questions about a candidate, and of the numbers that it writes."""

Effort = tuple[float, float, float]
"""Floating-point operations, tokens, rows."""


def texts(plan: Plan, job: Job) -> float:
    """Texts of a set that are not in the pivot language, if none stands there twice."""
    codes = [column.partition("=")[2] for column in job.options["columns"]]
    return plan.rows(job.option("texts")) * sum(code != job.option("pivot") for code in codes)


def translation(plan: Plan, job: Job) -> Effort:
    """A prompt with its text, and the translation; an encoder-decoder counts as one that reads both."""
    rows = texts(plan, job)
    if not job.options["generator"]:
        return 0, 0, rows
    generator, lengths = job.settings(Generator, "generator"), plan.costs.tokens
    asked = getattr(lengths, generator.prompts) if job.option("reads") == "prompt" else 0
    drawn = min(generator.sampling.max_new_tokens, lengths.sentence)
    return plan.drawn(job, generator, rows, asked + lengths.sentence, drawn)


def judgement(plan: Plan, job: Job) -> Effort:
    """By likelihood, instruction and text once, and each candidate with three questions; else a prompt for each."""
    rows, count = texts(plan, job), len(job.options["translations"])
    if not job.options["generator"]:
        return 0, 0, rows * count
    generator, lengths = job.settings(Generator, "generator"), plan.costs.tokens
    beginning, candidate = getattr(lengths, generator.prompts) + lengths.sentence, lengths.sentence + ASKED
    if job.option("answer") == "numbers":
        flops, tokens, _ = plan.drawn(job, generator, rows * count, beginning + candidate, NUMBERS)
    else:
        flops, tokens, _ = plan.drawn(job, generator, rows, beginning + count * candidate, 0)
    return flops, tokens, rows * count
