"""Remarks on a study: things that its author should know although they are no errors."""

from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

from seedbed.corpora.settings import Source
from seedbed.encoders.settings import EndpointSettings
from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.settings import settings_in
from seedbed.study.graph.best_encoder import BestEncoder
from seedbed.study.graph.figure import Figure
from seedbed.study.graph.table import TablePlan
from seedbed.study.model import Study
from seedbed.tables.figures.specs import Map
from seedbed.urls import has_secret, is_near, without_secrets


def remarks(study: Study) -> list[str]:
    """Warnings about secrets in URLs, about tokens that would go unencrypted to another host, and about tasks that are
    never scored; one line each.
    """
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
    read = {*_read(study)}
    read |= {study.test_set(task) for task in read & {*study.tasks}}
    for name, task in study.tasks.items():
        if name not in read and study.tested_by(name) and not task.on_request:
            found.append(
                f"tasks.{name}: nothing in `tables`, `figures` or `best` reads it, so it is not scored; add a table "
                f"with a column of protocol {task.protocol}, or set `on_request: true`"
            )
    return [*dict.fromkeys(found)]


def _read(study: Study) -> Iterator[str]:
    """The tasks that tables, figures, `best`, `compute` and other choices of the study read."""
    tables = [*study.tables]
    for name in study.figures:
        with suppress(UserError):  # the plan says it, where it is asked for
            figure = Figure.get(study, name)
            if isinstance(figure.spec, Map):
                yield figure.mapped.map.task
            else:
                tables.append(figure.spec.table)
    for name in tables:
        with suppress(UserError):
            yield from (task for block in TablePlan.get(study, name).blocks for task in block.tests.values())
    if study.best:
        yield from filter(None, (study.best.dev, *study.best.mean_with, *study.best.also))
        yield from (BestEncoder.get(study, code).reported_on for code in study.languages)
    yield from (choice.dev for choice in (*study.fused.values(), *study.choosing.values()))
    if study.compute:
        yield study.compute.task
