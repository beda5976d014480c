"""Records of texts and models of others, for cards and manifests."""

from typing import Any

from seedbed import origins
from seedbed.corpora.read.fetch import origin
from seedbed.corpora.settings import Source
from seedbed.study.model import Study


def data(name: str, source: Source | None) -> dict[str, Any]:
    """The record of data or of a model: name, origin and licence; without a source, the last two are empty."""
    return {"name": name, "origin": origin(source) if source else [], "licence": _terms(source) if source else ""}


def _terms(source: Source) -> str:
    """Its licence, or those of its sets, of which some may state none."""
    if source.licence or not source.terms:
        return source.licence
    return "; ".join(dict.fromkeys(_terms(one) or "none stated" for one in source.sets.values()))


def model(study: Study, generator: str, role: str) -> dict[str, Any]:
    """The record of a generator, by its name in the study; the origin of one without weights is its server.

    Args:
        role: what it did: generator, translator, judge.
    """
    spec = study.generators[generator]
    record = data(generator, spec.source) | {"role": role}
    if not spec.source:
        record["origin"] = origins.one(kind="server", name=spec.served_model, endpoint=spec.endpoint)
    return record
