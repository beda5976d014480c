"""Fetch and open every model of a study from the replica, in one process; write what came of each as a line of JSON.

The test starts it with `HF_ENDPOINT` set, which the hub's libraries read when they are imported.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from seedbed import yamls
from seedbed.corpora.read.assets import Store
from seedbed.corpora.settings import Source
from seedbed.generators.settings import POLARITIES, Generator
from seedbed.io import UserError
from seedbed.languages import ANY
from seedbed.study import published
from seedbed.study.graph.translation import StudyTranslator
from seedbed.study.loading import load
from seedbed.study.model import Study

TEXT, LANG = "die kinders lees boeke", "afr"


class Model(NamedTuple):
    """One repository that the graph may fetch."""

    source: Source
    generator: Generator | None = None
    """Whose weights it is; None: an encoder's."""
    base: str = ""
    """The repository that an adapter is of."""
    codes: tuple[str, ...] = ()
    """Of a translator that reads codes: the language that it reads, and English."""


def models(study: Study) -> Iterator[Model]:
    """Every model that the study names, at whatever rung it starts; each repository once."""
    found: dict[str, Model] = {}
    for backbone in study.backbones.values():
        for lang, source in {ANY: backbone.source, **backbone.by_language}.items():
            if source:
                found.setdefault(source.hub, Model(source.resolved(study.facts(lang))))
    for name, one in study.generators.items():
        if one.source and one.backend != "published":
            model = Model(one.source.resolved(study.facts(ANY)), one, codes=codes(study, name))
            found.setdefault(one.source.hub, model)
    rungs = {rung: study.model_copy(update={"start": rung}) for rung in ("adapters", "encoders")}
    for name, one in study.generators.items():
        for method in one.adapters:
            for polarity in POLARITIES:
                source = published.adapter(rungs["adapters"], name, method, polarity, ANY)
                found.setdefault(source.hub, Model(source, one, base=one.source.hub))
    for recipe, spec in study.recipes.items():
        for backbone in spec.published:
            for lang in study.languages:
                source = published.encoder(rungs["encoders"], backbone, recipe, lang)
                if source and not study.languages[lang].on_request:
                    found.setdefault(source.hub, Model(source))
    yield from found.values()


def codes(study: Study, generator: str) -> tuple[str, ...]:
    """How a translator that reads codes calls the language of TEXT, and the pivot; nothing for others."""
    named = [name for name, one in study.translators.items() if (one.generator, one.reads) == (generator, "codes")]
    return tuple(StudyTranslator.get(study, named[0]).code(code) for code in (LANG, study.pivot)) if named else ()


def try_out(model: Model, store: Store, folder: Path) -> dict[str, Any]:
    """What came of one: it is fetched as `scripts.fetch_model` does it, and used."""
    from seedbed.generators.weights.fetch import fetch

    done: dict[str, Any] = {"hub": model.source.hub}
    try:
        fetch(model.source, store, folder / model.source.hub)
        return done | used(model, folder)
    except UserError as error:
        return done | {"error": str(error)}


def used(model: Model, folder: Path) -> dict[str, Any]:
    """What a model makes of a text."""
    from seedbed.encoders.models import loading
    from seedbed.generators.writing.backends import Request, open_backend

    place = folder / model.source.hub
    if model.generator is None:
        return {"numbers": loading.load(place, pooling="own").encode([TEXT])[0].tolist()}
    here = model.generator.model_copy(update={"backend": "transformers"})  # no server, no GPU
    adapter = place if model.base else None
    backend = open_backend(here, folder / (model.base or model.source.hub), [place] if adapter else [])
    if model.codes:
        backend.between(*model.codes)
    (written,) = backend.write([Request("1", backend.encode(TEXT))], adapter)
    return {"text": written.text, "finished": written.finished}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    args = parser.parse_args()
    study = load(yamls.read(args.config))
    store = Store(args.folder / "downloads", args.folder / "assets.lock.json")
    with (args.folder / "opened.jsonl").open("w") as file:
        for model in models(study):
            file.write(json.dumps(try_out(model, store, args.folder / "models"), ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
