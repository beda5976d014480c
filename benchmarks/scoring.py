"""One encoder's score job beside mteb with one task at a time, on the same rows and with the same scores.

Prints for both CPU seconds, and texts and (padded) tokens encoded. In one process by default, the model loaded once;
with --processes as a user runs it: one `scripts.score`, and for mteb a process for each task, imports and
loading of the model included:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.scoring --encoder DIR --sts TSV --dev TSV --bitext TSV
        --retrieval TSV [--processes]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.scoring_mteb import Meter, evaluate
from scripts.score import scored
from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.models.inference import batched
from seedbed.encoders.models.loading import open_encoder
from seedbed.evaluation.files import Set
from seedbed.evaluation.mteb_check import check_by_mteb
from seedbed.evaluation.protocols import declared
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import texts
from seedbed.evaluation.settings import Task
from seedbed.io import read_json, read_table, write_json, write_table
from seedbed.vectors.store import encode_ahead, with_disk_cache

METRICS = {
    "sts": ("cosine_spearman", "cosine_pearson"),
    "geometry": ("alignment", "uniformity"),
    "bitext": ("forward_accuracy_at_1", "backward_accuracy_at_1", "forward_f1_at_1", "backward_f1_at_1"),
    "retrieval": ("ndcg_at_10", "recall_at_10"),
}
TOLERANCE = {"sts": 1e-6, "geometry": 1e-6, "bitext": 1e-6, "retrieval": 6e-6}
"""mteb rounds retrieval metrics to five decimals."""
MTEB = {
    "sts": {"name": "SemRel24STS", "subset": "hau"},
    "retrieval": {"name": "MIRACLRetrievalHardNegatives", "subset": "sw"},
}
"""Any mteb tasks of these kinds: the rows are ours."""

Tests = dict[str, tuple[Task, pd.DataFrame]]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True, type=Path)
    parser.add_argument("--sts", required=True, type=Path, help="graded pairs; geometry is scored on them too")
    parser.add_argument("--scale", nargs=2, type=float, default=(0.0, 1.0))
    parser.add_argument("--dev", type=Path, help="graded pairs of a development set")
    parser.add_argument("--bitext", type=Path)
    parser.add_argument("--retrieval", type=Path)
    parser.add_argument("--no-geometry", action="store_true")
    parser.add_argument("--rows", type=int, default=400, help="rows of each test set")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--processes", action="store_true")
    args = parser.parse_args(argv)

    tests = _tests(args)
    if args.processes:
        sides = {"ours": lambda: our_process(args.encoder, tests), "mteb": lambda: their_processes(args.encoder, tests)}
    else:
        meter = Meter(open_encoder(args.encoder))
        sides = {"ours": lambda: in_process(meter, tests), "mteb": lambda: by_mteb(meter, tests)}
    least = dict.fromkeys(sides, np.inf)
    for _ in range(args.rounds):
        found = {name: side() for name, side in sides.items()}
        least = {name: min(least[name], table["seconds"].sum()) for name, (_, table) in found.items()}
    for name, (_, table) in found.items():
        print(f"\n{name}\n{pd.concat([table, table.sum().rename('all').to_frame().T]).round(2).to_string()}")
    _compare(tests, found["ours"][0], found["mteb"][0])
    distinct = {text for task, test in tests.values() for text in texts(task, test)}
    encoded = found["ours"][1]["texts"].sum()
    assert encoded == len(distinct), f"{encoded} texts encoded, {len(distinct)} are distinct"
    print(
        f"\nmteb / ours, CPU seconds: {least['mteb']:.1f} / {least['ours']:.1f} = {least['mteb'] / least['ours']:.2f}"
    )


def _tests(args: argparse.Namespace) -> Tests:
    files = {"sts": args.sts, "dev": args.dev, "bitext": args.bitext, "retrieval": args.retrieval}
    files |= {} if args.no_geometry else {"geometry": args.sts}
    found: Tests = {}
    for name, file in files.items():
        if file:
            protocol = "sts" if name == "dev" else name
            task = Task(protocol=protocol, mteb=MTEB.get(protocol), scale=args.scale, batch_size=args.batch_size)
            found[name] = task, read_table(file, ["id", *COLUMNS[declared(protocol).kind]]).iloc[: args.rows]
    return found


def _compare(tests: Tests, ours: dict[str, dict], theirs: dict[str, dict]) -> None:
    print("\nscores")
    for name, (task, _) in tests.items():
        for metric in METRICS[task.protocol]:
            pair = ours[name][metric], theirs[name][metric]
            print(f"{name:10} {metric:18} {pair[0]:.6f} {pair[1]:.6f}")
            assert abs(pair[0] - pair[1]) <= TOLERANCE[task.protocol], f"{name}: {metric} differs"


def in_process(meter: Meter, tests: Tests) -> tuple[dict[str, dict], pd.DataFrame]:
    """What scripts.score does once the encoder is open, with an empty store; mteb's check is part of it."""
    with tempfile.TemporaryDirectory() as state:
        encode: Callable = with_disk_cache(
            batched(meter.encoder, min(t.batch_size for t, _ in tests.values())), Path(state)
        )

        def checked() -> System:
            return System(encode, check=partial(check_by_mteb, meter.encoder, encode))

        def gather() -> dict[str, float]:
            nonlocal encode
            encode = encode_ahead(encode, [text for task, test in tests.values() for text in texts(task, test)])
            return {}

        found = {"embeddings": meter.measured(gather)}
        for name, (task, test) in tests.items():
            given = Set(name, task, test, None, {"origin": []})
            found[name] = meter.measured(lambda given=given: scored(checked(), given, "").metrics)
    return found, _costs(found)


def by_mteb(meter: Meter, tests: Tests) -> tuple[dict[str, dict], pd.DataFrame]:
    found = {
        name: meter.measured(lambda task=task, test=test: evaluate(meter.encoder, task, test))
        for name, (task, test) in tests.items()
    }
    return found, _costs(found)


def our_process(encoder: Path, tests: Tests) -> tuple[dict[str, dict], pd.DataFrame]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, (_, test) in tests.items():
            write_table(test, root / f"{name}.tsv")
        write_json({"origin": []}, root / "record.json")
        tasks = json.dumps({name: json.loads(task.dump()) for name, (task, _) in tests.items()})
        cost = _run(
            "scripts.score", "--systems", encoder, "--tasks", tasks, "--language", "mul", "--state", root,
            "--tests", *(root / f"{name}.tsv" for name in tests), "--records", *[root / "record.json"] * len(tests),
            "--scores", root / "scores" / encoder.name, "--output", root / "list.json",
        )[1]  # fmt: skip
        scores = {name: read_json(root / f"scores/{encoder.name}/{name}/mul.json")["metrics"] for name in tests}
        encoded = sum(len(np.load(file)["keys"]) for file in root.glob("embeddings/*/*.npz"))
    return scores, pd.DataFrame({"job": cost | {"texts": encoded}}).T


def their_processes(encoder: Path, tests: Tests) -> tuple[dict[str, dict], pd.DataFrame]:
    scores, costs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (task, test) in tests.items():
            write_table(test, file := Path(folder) / f"{name}.tsv")
            options = ["--encoder", encoder, "--task", task.dump(), "--test", file]
            printed, cost = _run("benchmarks.scoring_mteb", *options)
            scores[name] = json.loads(printed.splitlines()[-1])
            costs[name] = cost | {"texts": scores[name]["texts"]}
    return scores, pd.DataFrame(costs).T


def _run(module: str, *options: object) -> tuple[str, dict[str, float]]:
    """What a program prints, and the seconds of CPU and of the clock that it took."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, options)], check=True, stdout=subprocess.PIPE, text=True
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, {"seconds": cpu, "wall": wall}


def _costs(found: dict[str, dict]) -> pd.DataFrame:
    return pd.DataFrame(found).T[["seconds", "texts", "tokens"]]


if __name__ == "__main__":
    main()
