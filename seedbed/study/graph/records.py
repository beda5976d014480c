"""Records of texts and models of others, for cards and manifests."""

from typing import Any

from seedbed import origins
from seedbed.corpora.read.fetch import origin
from seedbed.corpora.settings import Source
from seedbed.study.model import Study


def data(name: str, source: Source | None, served: origins.Origin = ()) -> dict[str, Any]:
    """The record of data or of a model: name, origin and licence.

    Without a source, `served` is the origin and the licence is empty, as for a model on a server.
    """
    return {"name": name, "origin": origin(source) if source else [*served], "licence": source.terms if source else ""}


def model(study: Study, generator: str, role: str) -> dict[str, Any]:
    """The record of a generator."""
    spec = study.generators[generator]
    served = [] if spec.source else origins.one(kind="server", name=spec.served_model, endpoint=spec.endpoint)
    return data(generator, spec.source, served) | {"role": role}
