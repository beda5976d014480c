"""What scores have to do, and models that are tuned to answer a test."""

from __future__ import annotations

from seedbed.classifiers.settings import Reasoning
from seedbed.encoders.tuning_settings import FineTuning, Reading
from seedbed.generators.settings import Answering, Generator
from seedbed.operations.forecasting.sizes import Effort, SizedJobs
from seedbed.operations.jobs import Job

ANSWERED = ("fine_tune", "tune_encoder")
"""Rules that leave a fine-tuned model's answers, which a score reads."""
LIKELIHOOD = "multiple_choice"
"""The protocol for which a reasoning model processes prompts and generates nothing."""


def tuning(sizes: SizedJobs, job: Job) -> Effort:
    """Work of fine-tuning: all epochs, though most trainings stop earlier, and encoding the test sets once."""
    tests = sum(map(sizes.rows, job.arguments.tests.values()))
    length = sizes.costs.tokens.sentence
    if job.of("kind") == "questions":
        learning, length = Reading.model_validate(job.arguments.learning), sizes.costs.tokens.instruction
    else:
        learning = FineTuning.model_validate(job.arguments.learning) if job.of("kind") else job.arguments.fine_tuning
    learnt = sizes.rows(job.arguments.train) * learning.epochs * length
    return Effort((6 * learnt + 2 * tests * length) * sizes.model(job).body, learnt + tests * length, tests)


def scoring(sizes: SizedJobs, job: Job) -> Effort:
    """Work of scoring.

    An encoder encodes both texts of an item, and an encoder of two texts their English too. Each variant of a language
    model processes both texts in a prompt, a text with in-context examples, or a problem that it solves.
    """
    folders, once = job.arguments.systems, sum(map(sizes.rows, job.arguments.tests))
    maker, rows = sizes.maker(folders[0]), len(folders) * once
    if maker is None or maker.rule not in ("describe_classifier", *ANSWERED):
        return _encoded(sizes, job, maker, 2 * rows * sizes.costs.tokens.sentence, rows)
    if maker.rule in ANSWERED:
        return Effort(rows=rows)
    every = [_answered(sizes, job, sizes.maker(folder), once) for folder in folders]
    return Effort(*map(sum, zip(*every, strict=True)))


def _answered(sizes: SizedJobs, job: Job, maker: Job, rows: float) -> Effort:
    """The tokens that a described classifier processes and generates."""
    system, lengths = maker.arguments.system, sizes.costs.tokens
    if system["kind"] == "chance":
        return Effort(rows=rows)
    if system["kind"] == "reasoning":
        generator = Generator.model_validate(system["generator"])
        limit = Reasoning.model_validate(system["reasoning"]).max_new_tokens
        asked = {task.protocol for tasks in job.arguments.tasks for task in tasks.values()}
        drawn = 0 if asked == {LIKELIHOOD} else min(limit, lengths.instruction)
        return sizes.generation(job, generator, rows, getattr(lengths, generator.prompts) + lengths.instruction, drawn)
    if system["kind"] == "in-context":
        generator = Generator.model_validate(system["generator"])
        how = Answering.model_validate(system.get("answering", {}))
        prompt = getattr(lengths, generator.prompts) + (1 + system["examples"]["count"]) * lengths.sentence
        drawn = how.max_new_tokens if how.answer == "generation" else 0
        return sizes.generation(job, generator, rows, min(prompt, generator.sampling.max_prompt_tokens), drawn)
    tokens = rows * (getattr(lengths, system["style"], 0) + 2 * lengths.sentence)
    return Effort(2 * sizes.model(job).body * tokens, tokens, rows)


def _encoded(sizes: SizedJobs, job: Job, maker: Job | None, tokens: float, rows: float) -> Effort:
    """Encoding texts with `tokens` tokens, and English translations of equal length if the encoder takes them."""
    fusion = maker.of("fusion") if maker and job.arguments.english else ""
    own = sizes.model(job).body if fusion != "english" else 0
    english = sizes.english(maker).body if maker and fusion else 0
    return Effort(2 * (own + english) * tokens, tokens * ((own > 0) + (english > 0)), rows)
