"""A language model that is asked without examples: in the language of the test, or in English (LiRA, paper 002).

Its manifest's `system` has generator (`generators.settings.Generator`), reasoning (`classifiers.settings.Reasoning`)
and variant: source, or translated, for which the opening has the English of all texts; or one of `reasoning.prefixes`,
which may have it too. Its parts are base, if its weights are here, and prefix, the encoder that gives the vectors.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from seedbed import manifests
from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import greedy
from seedbed.classifiers.manifest import parts_of
from seedbed.classifiers.reasoning import ask, require_width
from seedbed.classifiers.settings import Reasoning
from seedbed.corpora.choices import options
from seedbed.encoders.anchoring import features
from seedbed.encoders.backbone import open_encoder
from seedbed.evaluation.scores import Trial
from seedbed.evaluation.systems import Opening, System
from seedbed.generators.backends import open_backend
from seedbed.generators.journal import ANSWERS
from seedbed.generators.prompts import Style, options_prompt, problem_prompt
from seedbed.generators.settings import Generator
from seedbed.io import UserError, fingerprint
from seedbed.precision import precision

LIBRARIES = ("torch", "transformers")


def open(folder: Path, manifest: dict[str, Any], opening: Opening) -> System:
    """Open the model.

    Raises:
        UserError: as `parts_of`, `open_backend` and `require_width`; variant translated is opened without English.
    """
    settings, parts = manifest["system"], parts_of(folder, manifest, opening.language)
    generator = opening.today(Generator.load(json.dumps(settings["generator"])))
    how, base = Reasoning.load(json.dumps(settings["reasoning"])), parts.get("base")
    said = _in_english(opening.english) if settings["variant"] == "translated" or opening.english else str
    model = open_backend(greedy(generator, how), base)
    before = open_encoder(parts["prefix"]) if "prefix" in parts else None
    if before:
        require_width(model, features(before, ["."]).shape[2])
    remote = opening.state and not generator.source
    kept = opening.state / ANSWERS / fingerprint(manifest["about"]) if remote else opening.own

    def answer(trial: Trial, labels: Sequence[str]) -> Answers:
        texts = prompts(trial.test, said, generator.prompts)
        digests = manifests.digest_of(base), *([manifests.digest_of(parts["prefix"])] if before else [])
        known_by = {"state": kept, "weights": " ".join(digests)}
        if before:
            known_by["vectors"] = features(before, list(trial.test["question"]))
        return ask(generator, model, list(trial.test["id"]), texts, labels, how, **known_by)

    made = {
        "generator": generator.origin | {"backend": generator.backend, "prompts": generator.prompts},
        "dtype": precision(generator.dtype) if generator.source else None,
        "reasoning": how.model_dump(),
    }
    return System({"classifier": manifest["about"] | made}, answer=answer)


def prompts(test: pd.DataFrame, said: Callable[[str], str], style: Style) -> list[str]:
    """How each problem, or question with options, of a test set is asked.

    Args:
        said: a text to what is asked in its place.
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
