"""Remarks on a study: things that its author should know although they are no errors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from seedbed.corpora.settings import Source
from seedbed.encoders.settings import EndpointSettings
from seedbed.generators.settings import Generator
from seedbed.urls import has_secret, is_near, without_secrets


def remarks(study: BaseModel) -> list[str]:
    """Warnings about secrets in URLs, and about tokens that would go unencrypted to another host; one line each."""
    found: dict[str, None] = {}
    for one in _every(study):
        if isinstance(one, Source) and one.archive and has_secret(one.archive):
            found[
                f"{without_secrets(one.archive)}: its query holds a secret, which Snakemake keeps below .snakemake and "
                "may show; fetch the file yourself and give it as `file:`"
            ] = None
        if isinstance(one, EndpointSettings | Generator) and one.key:
            url = urlsplit(one.url if isinstance(one, EndpointSettings) else one.endpoint)
            if url.scheme == "http" and not is_near(url.hostname or ""):
                found[f"{url.geturl()}: the token in {one.key}, if it is set, goes there unencrypted; take https"] = (
                    None
                )
    return [*found]


def _every(value: Any) -> Iterator[BaseModel]:
    """All settings within settings."""
    if isinstance(value, BaseModel):
        yield value
        value = dict(value)
    inner = value.values() if isinstance(value, Mapping) else value
    for one in inner if isinstance(value, Mapping | Sequence) and not isinstance(value, str | bytes) else ():
        yield from _every(one)
