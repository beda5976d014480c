"""Scores that others report on a study's test sets, read from its settings and from the files that they name."""

from pathlib import Path

from seedbed.evaluation import protocols
from seedbed.languages import filled
from seedbed.settings import require_known, suggest
from seedbed.study.model import Study, once_per_study
from seedbed.tables.plan import Block
from seedbed.tables.quotes import Quote, of_mteb, source_of
from seedbed.tables.settings import Quoted


def with_quotes(study: Study, block: Block) -> Block:
    """The block with the scores that others report on its test sets."""
    shown = [
        quote
        for language, task in block.tests.items()
        for quote in quotes(study).get((task, block.column.metric), ())
        if quote.language == language
    ]
    return block.model_copy(update={"quoted": shown}) if shown else block


@once_per_study
def quotes(study: Study) -> dict[tuple[str, str], list[Quote]]:
    """Task and metric -> the scores that others report on test sets of the study.

    Raises:
        ValueError: a quote names an unknown task, metric or language, or a result file for a metric that mteb lacks; or
            a system has two numbers in a language.
        UserError: as `of_mteb`.
    """
    found: dict[tuple[str, str], list[Quote]] = {}
    for place, entry in enumerate(study.quoted):
        where = f"quoted.{place}"
        require_known(f"{where}.task", "task", [entry.task], study.tasks)
        spec = study.tasks[entry.task]
        try:
            metric = entry.metric or protocols.main_metric(spec.protocol, spec.k)
        except ValueError as error:
            raise ValueError(f"tasks.{entry.task}.{error}; {where} needs one of these") from None
        if protocols.metric(spec.protocol, metric) is None:
            known = sorted(protocols.load(spec.protocol).METRICS)
            raise ValueError(
                f"{where}.metric: no metric {metric!r} in protocol {spec.protocol}; {suggest(metric, known)}"
            )
        known = found.setdefault((entry.task, metric), [])
        for quote in _of_file(study, where, entry, metric) if entry.results else _of_values(study, where, entry):
            if any((one.system, one.language) == (quote.system, quote.language) for one in known):
                raise ValueError(f"{where}: {quote.system} has two numbers in {quote.language}; quote one")
            known.append(quote)
    return found


def _of_values(study: Study, where: str, entry: Quoted) -> list[Quote]:
    tested = [*study.tested_by(entry.task), *study.pairs_tested_by(entry.task)]
    require_known(f"{where}.values", f"language or pair that {entry.task} tests", entry.values, tested)
    facts = {"system": entry.system, "source": entry.source}
    return [Quote(language=language, value=value, **facts) for language, value in entry.values.items()]


def _of_file(study: Study, where: str, entry: Quoted, metric: str) -> list[Quote]:
    """What a result file of mteb says of the languages that the task tests."""
    spec, declared = study.tasks[entry.task], study.declared[entry.task]
    measured, tested = protocols.metric(spec.protocol, metric), study.tested_by(entry.task)
    if measured.key not in declared.mteb:
        raise ValueError(
            f"{where}.results: mteb has no {metric} of protocol {spec.protocol}; give the numbers by `values`"
        )
    if not tested:
        raise ValueError(f"{where}.task: {entry.task} tests no language of the study; leave the quote out")
    sources = [study.test(entry.task, code) for code in tested]
    split = next((source.split for source in sources if source.hub), "test")
    mtebs = spec.mteb.name if spec.mteb else ""
    subsets = {code: filled(spec.mteb.subset, study.facts(code)) for code in tested} if spec.mteb else {}
    called = {code: f"{code.partition('-')[0]}-{study.facts(code)['script']}" for code in tested}
    found = of_mteb(Path(entry.results), mtebs, split, measured.key, called, subsets)
    facts = {"system": entry.system, "source": entry.source or source_of(Path(entry.results))}
    return [Quote(language=code, value=round(measured.points * value, 4), **facts) for code, value in found.items()]
