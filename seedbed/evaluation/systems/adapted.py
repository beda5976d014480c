"""Classifiers of labelled pairs: an encoder with a classification head, or a language model that compares likelihoods;
optionally with an adapter.

Its manifest's `system` has style (head: of an encoder; chat, plain: of prompts) and seed (of a new head); its parts are
base, and optionally adapter and head.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seedbed import manifests
from seedbed.classifiers import adapters, likelihood
from seedbed.classifiers.answers import Answers, likeliest
from seedbed.classifiers.manifest import parts_of
from seedbed.evaluation.scores import System, Trial
from seedbed.evaluation.systems import Opening

LIBRARIES = ("torch", "transformers", "peft", "sentence-transformers")


def open(folder: Path, manifest: dict[str, Any], opening: Opening) -> System:
    """Open the classifier; its model is loaded for each test set.

    Raises:
        UserError: a part is missing, or has changed since the classifier was described.
    """
    settings, parts = manifest["system"], parts_of(folder, manifest, opening.language)
    base, adapter = parts["base"], parts.get("adapter")

    def answer(trial: Trial, labels: Sequence[str]) -> Answers:
        rows = trial.test.to_dict("records")
        if settings["style"] == "head":
            options = {"head": parts.get("head"), "adapter": adapter, "seed": settings["seed"]}
            return likeliest(adapters.label_scores(base, rows, **options), labels)
        options = {"adapter": adapter, "language": opening.language_name, "style": settings["style"]}
        return likeliest(likelihood.label_scores(base, rows, **options), labels)

    made = {"adapter": manifests.of(adapter) if adapter else None}
    return System(answer=answer, about={"classifier": manifest["about"] | made})
