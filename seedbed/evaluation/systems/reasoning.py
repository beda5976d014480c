"""Language models that are prompted without examples, in the language of the test or in English (LiRA, paper 002).

Its manifest's `system` has generator (`generators.settings.Generator`), reasoning (`classifiers.settings.Reasoning`)
and variant: source; translated, for which the opening has the English of all texts; or one of `reasoning.prefixes`,
which may use it too. Its parts are base, unless the model is behind an API, and prefix, the encoder of soft prompts.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
from torch import Tensor

from seedbed import manifests
from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import request_key
from seedbed.classifiers.manifest import parts_of
from seedbed.classifiers.reasoning import Problem, generate_answers
from seedbed.classifiers.settings import Reasoning
from seedbed.corpora.shape.choices import options
from seedbed.encoders.models.loading import open_encoder
from seedbed.encoders.translations.policy import features
from seedbed.evaluation.scores import System, Trial
from seedbed.evaluation.systems import BESIDE, MODEL, Opening, facts_of
from seedbed.generators.settings import Generator, Style
from seedbed.generators.writing.backends import open_backend
from seedbed.generators.writing.journal import answers
from seedbed.generators.writing.prompts import options_prompt, problem_prompt
from seedbed.io import UserError
from seedbed.servers import today
from seedbed.settings import validated

LIBRARIES = ("torch", "transformers")


def open(folder: Path, manifest: dict[str, Any], opening: Opening) -> System:
    """Open the language model.

    Raises:
        UserError: a part is missing or has changed, the study does not name the API, or variant translated has no
            English.
    """
    settings, parts = manifest["system"], parts_of(folder, manifest, opening.language)
    generator = today(validated(Generator, settings["generator"], "generator"), folder)
    how, base = validated(Reasoning, settings["reasoning"], "reasoning"), parts.get("base")
    said = _in_english(opening.english) if settings["variant"] == "translated" or opening.english else str
    opens = partial(open_backend, generator.greedy(max_new_tokens=how.max_new_tokens), base)
    model = opening.hold(MODEL, (generator, base, how), lambda: cache(opens))
    before = parts.get("prefix")
    digests = [manifests.digest_of(base), *([manifests.digest_of(before)] if before else [])]

    def vectors(questions: Sequence[str]) -> Tensor:
        return features(opening.hold(BESIDE, before, partial(open_encoder, before)), questions)

    def answer(trial: Trial, labels: Sequence[str]) -> Answers:
        test = trial.test
        texts = prompts(test, said, generator.prompts)
        asked = [Problem(*row) for row in zip(test["id"], texts, test["question"], strict=True)]
        given = {"vectors": partial(vectors, [*test["question"]])} if before else {}
        key = request_key(generator, " ".join(digests), labels, how, opening.language)
        if labels and how.answer == "generation" and generator.prompts == "chat":
            key["thoughts"] = "begun"  # answers of an older key lack the mark of thoughts that a template began
        with answers(opening.state, key) as journal:
            return generate_answers(generator, model, asked, labels, how, journal, **given)

    made = facts_of(generator) | {"reasoning": how.model_dump()}
    return System(answer=answer, about={"classifier": manifest["about"] | made})


def prompts(test: pd.DataFrame, said: Callable[[str], str], style: Style) -> list[str]:
    """The prompt of each problem, or of each question with options.

    Args:
        test: rows with `question`, and with `answers` and `passage` if there are options.
        said: maps a text to what is put into the prompt: itself, or its English translation.
    """
    if "answers" not in test.columns:
        return [problem_prompt(said(question), style) for question in test["question"]]
    rows = zip(test["question"], options(test, "multiple_choice"), test["passage"], strict=True)
    return [
        options_prompt(said(question), [*map(said, answers)], passage and said(passage), style)
        for question, answers, passage in rows
    ]


def _in_english(english: Mapping[str, str]) -> Callable[[str], str]:
    if not english:
        raise UserError("score: variant translated has no English; give `--english`")

    def said(text: str) -> str:
        if not english.get(text):
            raise UserError(f"score: no English of {text!r}; give a file that has all texts of the test set")
        return english[text]

    return said
