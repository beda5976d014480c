"""Remarks on a study: things that its author should know although they are no errors."""

from urllib.parse import urlsplit

from pydantic import BaseModel

from seedbed.corpora.settings import Source
from seedbed.encoders.settings import EndpointSettings
from seedbed.generators.settings import Generator
from seedbed.settings import settings_in
from seedbed.urls import has_secret, is_near, without_secrets


def remarks(study: BaseModel) -> list[str]:
    """Warnings about secrets in URLs, and about tokens that would go unencrypted to another host; one line each."""
    found = []
    for _, one in settings_in(study):
        if isinstance(one, Source) and one.archive and has_secret(one.archive):
            found.append(
                f"{without_secrets(one.archive)}: its query holds a secret, which Snakemake keeps below .snakemake and "
                "may show; fetch the file yourself and give it as `file:`"
            )
        if isinstance(one, EndpointSettings | Generator) and one.key:
            url = urlsplit(one.url if isinstance(one, EndpointSettings) else one.endpoint)
            if url.scheme == "http" and not is_near(url.hostname or ""):
                found.append(
                    f"{url.geturl()}: the token in {one.key}, if it is set, goes there unencrypted; take https"
                )
    return [*dict.fromkeys(found)]
