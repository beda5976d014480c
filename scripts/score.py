"""Score systems, one for each seed, on the tasks of one language; keep every item's score."""

import argparse
import json
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

from tqdm import tqdm

from scripts.cli import arguments, pair, run
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


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, epilog="Tests and records stand in the order of the tasks.")
    parser.add_argument("--systems", required=True, nargs="+", type=Path, help="scores go to a folder of each's name")
    parser.add_argument("--seconds", nargs="*", default=[], type=Path, help="each's partner, for the second language")
    parser.add_argument("--tasks", required=True, type=json.loads, help="JSON: {name: evaluation.settings.Task}")
    parser.add_argument("--tests", required=True, nargs="+", type=Path, help="TSV of each task's kind; of a pair two")
    parser.add_argument("--orders", nargs="*", default=[], type=pair, help="TASK=ORDER of a test set that is its own")
    parser.add_argument("--records", required=True, nargs="+", type=Path, help="origins of the test sets")
    parser.add_argument("--trains", nargs="*", default=[], type=pair, help="TASK=FILE, its training set")
    parser.add_argument("--adapters", choices=["on", "off"], default="on", help="parallel adapters of encoders")
    parser.add_argument(
        "--english",
        nargs="*",
        default=[],
        type=pair,
        help="SYSTEM=TSV of texts and their English, for what reads both",
    )
    parser.add_argument("--language", required=True)
    parser.add_argument("--language-name", default="", help="as prompts use it")
    parser.add_argument("--state", type=Path, help="directory in which jobs share embeddings and servers' answers")
    parser.add_argument("--generators", nargs="*", default=[], help="JSON: as they are set today, see Opening.now")
    parser.add_argument("--endpoints", nargs="*", default=[], help="JSON: likewise")
    parser.add_argument("--scores", required=True, type=Path, help="directory of {task}/{language}.json, .items.tsv")
    parser.add_argument("--output", required=True, type=Path, help="the list of what was written")
    args = parser.parse_args(argv)

    sets, written = read_sets(args), []
    for each in sets:  # all of them: a fault of the last costs the embeddings of all before it
        check(each.task, each.test, each.train)
    with own_state(args.state, args.output, argv) if args.state else nullcontext() as own:
        now = [*map(Generator.load, args.generators), *map(Endpoint.load, args.endpoints)]
        told = (sets, args.language, args.language_name, args.state, own, now, args.adapters == "on")
        seconds = args.seconds or [None] * len(args.systems)
        for folder, second in tqdm([*zip(args.systems, seconds, strict=True)], desc="systems", unit="system"):
            files = [Path(file) for name, file in args.english if name == folder.name]
            wanted = any("choices" in declared(each.task.protocol).asks for each in sets)
            read = {"english": read_english(files), "choices": read_choices(files) if wanted else {}}
            system = open_system(folder, Opening(*told, second=second, **read))
            for each in sets:
                about, place = (system.about, system.libraries), args.scores / folder.name
                written += write_scores(scored(system, each, args.language), each, args.language, *about, place)
        manifests.write_list(written, args.output)


def read_sets(args: argparse.Namespace) -> list[Set]:
    """Read the sets that the arguments name; raises as `read_set`, `origin_in` and `orders.joined`."""
    trains, found = dict(args.trains), []
    files = iter(zip(args.tests, args.records, strict=True))
    for name, given in args.tasks.items():
        task, own = Task.load(json.dumps(given)), [order for other, order in args.orders if other == name]
        read = [
            (read_set(task, test), origin_in(record))
            for test, record in islice(files, len(own) or (2 if args.seconds else 1))
        ]
        tests, origins = [test for test, _ in read], [origin for _, origin in read]
        if own:
            test = together(dict(zip(own, tests, strict=True)))
        else:
            test = joined(task, args.language, tests) if len(tests) > 1 else tests[0]
        found.append(Set(name, task, test, read_set(task, trains.get(name)), of_all(origins)))
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
