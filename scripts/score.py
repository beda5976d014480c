"""Score systems, encoders or classifiers, on the tasks of one language or several; keep every item's score."""

import argparse
import json
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from scripts.cli import add_endpoints, arguments, pair, run
from seedbed import manifests
from seedbed.checkpoints import own_state
from seedbed.encoders.coupling import read_choices, read_english
from seedbed.encoders.settings import Endpoint
from seedbed.evaluation.orders import joined, together
from seedbed.evaluation.protocols import declared
from seedbed.evaluation.scores import Scores, Set, check, of_all, origin_in, read_set, score, write_scores
from seedbed.evaluation.settings import Task
from seedbed.evaluation.systems import Opening, System, open_system
from seedbed.generators.settings import Generator
from seedbed.servers import named


def main(argv: list[str] | None = None) -> None:
    parser = arguments(
        __doc__, epilog="Tests and records stand in the order of the languages, and of each one's tasks."
    )
    parser.add_argument("--systems", required=True, nargs="+", type=Path, help="folders of what is scored")
    parser.add_argument("--seconds", nargs="*", default=[], type=Path, help="each's partner, for the second language")
    parser.add_argument("--language", required=True, nargs="+", help="one, or a pair; or several")
    parser.add_argument("--language-name", nargs="*", default=[], help="each one's, as prompts use it")
    parser.add_argument(
        "--tasks",
        required=True,
        nargs="+",
        type=json.loads,
        help="JSON of each language: {name: evaluation.settings.Task}",
    )
    parser.add_argument("--tests", required=True, nargs="+", type=Path, help="TSV of each task's kind; of a pair two")
    parser.add_argument("--orders", nargs="*", default=[], type=pair, help="TASK=ORDER of a test set that is its own")
    parser.add_argument("--records", required=True, nargs="+", type=Path, help="origins of the test sets")
    parser.add_argument("--trains", nargs="*", default=[], type=pair, help="LANGUAGE/TASK=FILE, its training set")
    parser.add_argument("--adapters", choices=["on", "off"], default="on", help="parallel adapters of encoders")
    parser.add_argument(
        "--english",
        nargs="*",
        default=[],
        type=pair,
        help="PLACE/LANGUAGE=TSV of texts and their English, for a system that reads both: its place among all, from 0",
    )
    parser.add_argument("--state", type=Path, help="directory in which jobs share embeddings and answers")
    add_endpoints(parser)
    parser.add_argument("--generators", nargs="*", default=[], help="JSON: likewise, generators.settings.Generator")
    parser.add_argument(
        "--scores", required=True, nargs="+", type=Path, help="each system's {task}/{language}.json go here"
    )
    parser.add_argument("--output", required=True, type=Path, help="the list of what was written")
    args = parser.parse_args(argv)

    sets, written = read_sets(args), []
    for each in (one for own in sets.values() for one in own):  # a fault of the last costs what all before it cost
        check(each.task, each.test, each.train)
    servers = [*map(Generator.load, args.generators), *map(Endpoint.load, args.endpoints)]
    with named(servers), own_state(args.state, args.output, argv) if args.state else nullcontext():
        asked = [(place, language) for place in range(len(args.systems)) for language in sets]
        names = dict(zip(args.language, args.language_name, strict=False))
        shared = {"state": args.state, "adapters": args.adapters == "on", "held": {}}
        for place, language in tqdm(asked, desc="systems", unit="system"):
            written += score_all(args, place, language, sets[language], language_name=names.get(language, ""), **shared)
        manifests.write_list(written, args.output)


def read_sets(args: argparse.Namespace) -> dict[str, list[Set]]:
    """The sets of each language that the arguments name; raises as `read_set`, `origin_in` and `orders.joined`."""
    trains = dict(args.trains)
    files = iter(zip(args.tests, args.records, strict=True))
    found: dict[str, list[Set]] = {language: [] for language in args.language}
    for language, tasks in zip(args.language, args.tasks, strict=True):
        for name, given in tasks.items():
            task, own = Task.load(json.dumps(given)), [order for other, order in args.orders if other == name]
            read = [
                (read_set(task, test), origin_in(record))
                for test, record in islice(files, len(own) or (2 if args.seconds else 1))
            ]
            tests, origins = [test for test, _ in read], [origin for _, origin in read]
            if own:
                test = together(dict(zip(own, tests, strict=True)))
            else:
                test = joined(task, language, tests) if len(tests) > 1 else tests[0]
            train = read_set(task, trains.get(f"{language}/{name}"))
            found[language].append(Set(name, task, test, train, of_all(origins)))
    return found


def score_all(args: argparse.Namespace, place: int, language: str, sets: list[Set], **shared: Any) -> list[Path]:
    """Score a system on the tasks of a language; `shared` are fields of its `Opening`. Returns what was written."""
    files = [Path(file) for name, file in args.english if name == f"{place}/{language}"]
    wanted = any("choices" in declared(each.task.protocol).asks for each in sets)
    opening = Opening(
        sets,
        language,
        english=read_english(files),
        choices=read_choices(files) if wanted else {},
        second=args.seconds[place] if args.seconds else None,
        **shared,
    )
    system, found = open_system(args.systems[place], opening), []
    for each in sets:
        about = (system.about, system.libraries)
        found += write_scores(scored(system, each, language), each, language, *about, args.scores[place])
    return found


def scored(system: System, given: Set, language: str) -> Scores:
    """Score one task, and check it as systems of this kind are."""
    names = ("search", "answer", "layers", "paths", "choices", "second")
    can = {name: getattr(system, name) for name in names}
    can["language"] = language
    scores = score(given.task, given.test, system.encode, train=given.train, **can)
    if system.check:
        system.check(given, scores)
    return scores


if __name__ == "__main__":
    run(main)
