"""Score systems, encoders or classifiers, on the tasks of one language or several; keep every item's score."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts import cli
from seedbed.evaluation.settings import Task
from seedbed.generators.settings import Generator
from seedbed.io import UserError
from seedbed.settings import NoResult

if TYPE_CHECKING:
    from seedbed.evaluation.files import Set
    from seedbed.evaluation.scores import Scores, System


class Job(cli.Job):
    systems: list[Path]
    """folders of what is scored"""
    seconds: list[Path] = []
    """for a pair of languages: folders of what encodes the second one, one for each system"""
    language: list[str]
    """test languages: one, several, or one pair"""
    language_name: list[str] = []
    """name of each test language, as prompts use it"""
    tasks: list[dict[str, Task]]
    """for each test language: task -> its settings"""
    tests: list[Path]
    """TSVs of each task's kind, in the order of the languages and of each one's tasks; of a pair two"""
    orders: dict[str, list[str]] = {}
    """task -> orders of a pair that have separate test sets"""
    records: list[Path]
    """origins of the test sets, in their order"""
    trains: dict[str, Path] = {}
    """LANGUAGE/TASK -> its training set"""
    adapters: bool = True
    """whether parallel adapters of encoders are on"""
    english: dict[str, list[Path]] = {}
    """PLACE/LANGUAGE -> TSVs of texts and their English, for a system that reads both: its place among all, from 0"""
    endpoints: cli.Endpoints = []
    generators: NoResult[list[Generator]] = []
    """generators on servers that may be queried, with their current settings"""
    state: NoResult[Path | None] = None
    """folder in which jobs share embeddings and answers"""
    scores: list[Path]
    """folders: each system's {task}/{language}.json go here"""
    output: Path
    """the list of the files that were written"""


def main(job: Job) -> None:
    from tqdm import tqdm

    from seedbed import manifests
    from seedbed.checkpoints import own_state
    from seedbed.evaluation.scoring import check
    from seedbed.evaluation.systems import gives_labels
    from seedbed.servers import named

    require_one_for_each(job)
    sets, written, labelled = read_sets(job), [], all(map(gives_labels, job.systems))
    for language, own in sets.items():  # a fault of the last set costs what all before it cost
        for each in own:
            with in_task(each, language):
                check(each.task, each.test, each.train, language, labelled=labelled)
    servers = [*job.generators, *job.endpoints]
    with named(servers), own_state(job.state, job.output, job) if job.state else nullcontext():
        asked = [(place, language) for place in range(len(job.systems)) for language in sets]
        held: dict[str, tuple[Any, Any]] = {}
        for place, language in tqdm(asked, desc="systems", unit="system"):
            written += score_all(job, place, language, sets[language], held)
        manifests.write_list(written, job.output)


def require_one_for_each(job: Job) -> None:
    """Require that lists that belong together have one length; raises a UserError."""
    needed = [name for tasks in job.tasks for name in tasks for _ in range(count_tests(job, name))]
    for name, each, of, those in (
        ("tasks", job.tasks, "languages", job.language),
        ("tests", job.tests, "test sets of the tasks", needed),
        ("records", job.records, "tests", job.tests),
        ("seconds", job.seconds or job.systems, "systems", job.systems),
        ("scores", job.scores, "systems", job.systems),
    ):
        if len(each) != len(those):
            raise UserError(f"{name}: {len(each)} for {len(those)} {of}; give one for each")


def count_tests(job: Job, task: str) -> int:
    """The number of a task's test sets in one language or pair: of a pair one for each order, or for each language."""
    return len(job.orders.get(task, [])) or (2 if job.seconds else 1)


def read_sets(job: Job) -> "dict[str, list[Set]]":
    """The sets of each language of a job; raises as `read_set`, `origin_in` and `orders.join_languages`."""
    from seedbed.evaluation.files import Set, of_all, origin_in, read_set
    from seedbed.evaluation.orders import concatenate_orders, join_languages

    files = iter(zip(job.tests, job.records, strict=True))
    found: dict[str, list[Set]] = {language: [] for language in job.language}
    for language, tasks in zip(job.language, job.tasks, strict=True):
        for name, task in tasks.items():
            own = list(islice(files, count_tests(job, name)))
            tests, origins = [read_set(task, file) for file, _ in own], [origin_in(record) for _, record in own]
            if orders := job.orders.get(name):
                test = concatenate_orders(dict(zip(orders, tests, strict=True)))
            else:
                test = join_languages(task, language, tests) if len(tests) > 1 else tests[0]
            train = read_set(task, job.trains.get(f"{language}/{name}"))
            found[language].append(Set(name, task, test, train, of_all(origins)))
    return found


@contextmanager
def in_task(given: "Set", language: str) -> Iterator[None]:
    """Faults within the block name the task and the language of a test set, of which a job may have many."""
    try:
        yield
    except UserError as error:
        raise UserError(f"tasks.{given.name} in {language}: {error}") from None


def score_all(job: Job, place: int, language: str, sets: "list[Set]", held: dict[str, tuple[Any, Any]]) -> list[Path]:
    """Score a system on the tasks of a language; `held` are the models that the job's systems share. Returns the
    written files.
    """
    from seedbed.encoders.translations.files import read_choices, read_english
    from seedbed.evaluation.files import write_scores
    from seedbed.evaluation.protocols import declared
    from seedbed.evaluation.systems import Opening, open_system

    files = job.english.get(f"{place}/{language}", [])
    wanted = any("choices" in declared(each.task.protocol).asks for each in sets)
    names = dict(zip(job.language, job.language_name, strict=False))
    opening = Opening(
        sets,
        language,
        language_name=names.get(language, ""),
        state=job.state,
        adapters=job.adapters,
        english=read_english(files),
        choices=read_choices(files) if wanted else {},
        second=job.seconds[place] if job.seconds else None,
        held=held,
    )
    system, found = open_system(job.systems[place], opening), []
    for each in sets:
        found += write_scores(scored(system, each, language), each, language, system, job.scores[place])
    return found


def scored(system: "System", given: "Set", language: str) -> "Scores":
    """Score one task, and check it as systems of this kind are."""
    from seedbed.evaluation.scoring import score

    with in_task(given, language):
        scores = score(given.task, given.test, system, given.train, language)
    if system.check:
        system.check(given, scores)
    return scores


if __name__ == "__main__":
    cli.run(Job, main)
