"""A language model that labels a text after a few labelled ones (MINERS, section 2.2).

Its manifest's `system` has generator (`generators.settings.Generator`), answering (`Answering`) and examples (`Shots`);
its parts are base, if its weights are here, and retriever, if prompts hold examples.
"""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from seedbed import manifests
from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import ask, open_greedy
from seedbed.classifiers.manifest import parts_of
from seedbed.encoders.opening import opened
from seedbed.evaluation.protocols import icl
from seedbed.evaluation.scores import Trial
from seedbed.evaluation.systems import Opening, System
from seedbed.generators.journal import ANSWERS
from seedbed.generators.settings import Answering, Generator
from seedbed.io import fingerprint
from seedbed.precision import precision
from seedbed.vectors.store import at_once

LIBRARIES = ("torch", "transformers", "peft", "sentence-transformers")


def open(folder: Path, manifest: dict[str, Any], opening: Opening) -> System:
    """Open the model, and the encoder that finds the examples.

    Raises:
        UserError: as `parts_of`, `open_greedy` and `encoders.opening.opened`.
    """
    settings, parts = manifest["system"], parts_of(folder, manifest, opening.language)
    generator = opening.today(Generator.load(json.dumps(settings["generator"])))
    answering = Answering.load(json.dumps(settings["answering"]))
    shots, base = icl.Shots(**settings["examples"]), parts.get("base")
    model = open_greedy(generator, base, answering)
    remote = opening.state and not generator.source
    kept = opening.state / ANSWERS / fingerprint(manifest["about"]) if remote else opening.own
    reading = partial(opened, rows=opening.rows, state=opening.state, today=opening.today, language=opening.language)
    retriever = reading(parts["retriever"]) if "retriever" in parts else None

    def answer(trial: Trial, labels: Sequence[str]) -> Answers:
        queries, instruction = icl.queries_of(trial, shots), trial.task.instruction
        known_by = {"state": kept, "weights": manifests.digest_of(base)}
        return ask(generator, model, queries, labels, instruction, answering, **known_by)

    made = {
        "generator": generator.origin | {"backend": generator.backend, "prompts": generator.prompts},
        "dtype": precision(generator.dtype) if generator.source else None,
        "max_prompt_tokens": generator.sampling.max_prompt_tokens,
        "answering": answering.model_dump(),
        "retriever": retriever and retriever.about,
    } | {"shots": shots.count, "percentile": shots.percentile, "balance": shots.balance}
    about = {"classifier": manifest["about"] | made}
    if not retriever:  # without examples nothing is looked up, and nothing is encoded
        return System(about, answer=answer)
    encode = at_once(retriever.encode, opening.texts)
    return System(about, encode=encode, search=retriever.search, answer=answer)
