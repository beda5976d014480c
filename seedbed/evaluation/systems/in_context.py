"""In-context classifiers: a language model labels a text after a few labelled examples (MINERS, section 2.2).

Its manifest's `system` has generator (`generators.settings.Generator`), answering (`Answering`) and examples (`Shots`);
its parts are base, unless the model is behind an API, and retriever, if prompts have examples.
"""

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from seedbed import manifests
from seedbed.classifiers.answers import Answers
from seedbed.classifiers.in_context import open_greedy, predict_labels, request_key
from seedbed.classifiers.manifest import parts_of
from seedbed.encoders.models.inference import Opened, opened
from seedbed.evaluation.scores import System, Trial
from seedbed.evaluation.shots import Shots, queries_of
from seedbed.evaluation.systems import BESIDE, MODEL, Opening, facts_of
from seedbed.generators.settings import Answering, Generator
from seedbed.generators.writing.journal import answers
from seedbed.servers import today
from seedbed.settings import validated
from seedbed.vectors.store import encode_ahead

LIBRARIES = ("torch", "transformers", "peft", "sentence-transformers")


def open(folder: Path, manifest: dict[str, Any], opening: Opening) -> System:
    """Open the language model, and the encoder that retrieves its examples.

    Raises:
        UserError: a part is missing or has changed, the study does not name the API, a model cannot be opened, or the
            retriever's prompt depends on the language and the examples are in another than the test set.
    """
    settings, parts = manifest["system"], parts_of(folder, manifest, opening.language)
    generator = today(validated(Generator, settings["generator"], "generator"), folder)
    answering = validated(Answering, settings["answering"], "answering")
    shots, base = Shots(**settings["examples"]), parts.get("base")
    opens = partial(open_greedy, generator, base, answering)
    model = opening.hold(MODEL, (generator, base, answering), lambda: cache(opens))
    retriever = _retriever(parts["retriever"], opening) if "retriever" in parts else None
    weights = manifests.digest_of(base)

    def answer(trial: Trial, labels: Sequence[str]) -> Answers:
        queries = queries_of(trial, shots)
        with answers(opening.state, request_key(generator, weights, labels, answering, opening.language)) as journal:
            return predict_labels(model, queries, labels, trial.task.instruction, answering, journal)

    made = facts_of(generator) | {
        "max_prompt_tokens": generator.sampling.max_prompt_tokens,
        "answering": answering.model_dump(),
        "retriever": retriever and retriever.about,
        "shots": shots.count,
        "percentile": shots.percentile,
        "balance": shots.balance,
    }
    about = {"classifier": manifest["about"] | made}
    if not retriever:  # without examples nothing is looked up, and nothing is encoded
        return System(answer=answer, about=about)
    encode = encode_ahead(retriever.encode, opening.texts)
    return System(encode, search=retriever.search, answer=answer, about=about)


def _retriever(folder: Path, opening: Opening) -> Opened:
    """The encoder that retrieves examples; one is open at a time, for all languages if its prompt is the same.

    Raises:
        UserError: its prompt depends on the language, and the examples are in another than the test set.
    """
    how = {"language": opening.language, "english": opening.english}
    reading = partial(opened, folder, opening.rows, opening.state, **how)
    if not opening.english:  # else it is of this language's texts
        found = opening.hold(BESIDE, (folder, opening.rows), reading)
        if not found.per_language:
            return found
    found = opening.hold(BESIDE, (folder, opening.rows, opening.language), reading)
    if found.per_language:
        opening.require_one_language()
    return found
