"""Plant bugs, one at a time, each in a copy of the project, and run the tests that must see it.

    python -m tests.mutants [--room ROOM ...] [--only NAME] [--workers 2]
    python -m tests.mutants --drawn 60 --seed 1 [--room ROOM ...]
    python -m tests.mutants --coverage

cosmic-ray and mutmut make up their own bugs, of Python alone, and run one set of tests for all; the listed bugs are those that
would silently give a wrong number, in rules too, and each names the few tests that see it. Drawn ones are tried against
the unit tests that run their line, if --coverage was measured; else those of their module, then of their package, then all.
"""

from __future__ import annotations

import argparse
import contextlib
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants import reached
from tests.mutants.drawn import ROOMS, Drawn, draw, tried_on
from tests.mutants.listed import Mutant, mutants, planted, stale
from tests.mutants.testing import HANGS, first_failure, prepare, pytest

SHARE = 0.95
"""Of the bugs, at least so many must be seen."""
KILLED, SURVIVED, BROKEN = "killed", "SURVIVED", "BROKEN"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--room", nargs="+", help="only these lists; of what is drawn, only these packages")
    parser.add_argument("--only", help="only the bugs of this name")
    parser.add_argument("--workers", type=int, default=2, help="copies of the project that are tested side by side")
    parser.add_argument("--drawn", type=int, metavar="N", help="not the list, but N changes drawn from the library")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("--without", nargs="*", default=[], help="files of which nothing is drawn")
    parser.add_argument(
        "--coverage",
        nargs="*",
        metavar="TESTS",
        help="measure which unit tests run which lines, which takes an hour and the package coverage",
    )
    args = parser.parse_args()
    if args.coverage is not None:
        return covered(args.coverage or ["tests/unit"])
    if args.drawn:
        rooms = tuple(args.room or ROOMS)
        return sampled(draw(args.drawn, args.seed, rooms, tuple(args.without)), args.workers)

    chosen = [each for each in mutants() if each.room in (args.room or [each.room]) and args.only in (None, each.name)]
    if not chosen:
        parser.error("no such bug")
    if misfits := stale(chosen):
        sys.exit(
            "\n".join(["error: bugs that do not fit the code; mend them in tests/mutants, then run again", *misfits])
        )
    prepare()
    with copies(args.workers) as free, ThreadPoolExecutor(args.workers) as pool:
        selections = sorted({each.tests for each in chosen})
        passing = dict(zip(selections, pool.map(lambda tests: passes(free, tests), selections), strict=True))
        found = list(pool.map(lambda each: verdict(free, each, passing[each.tests]), chosen))
    return told(chosen, found)


def covered(tests: list[str]) -> int:
    """Measure which tests run which lines, and keep it for what is drawn later."""
    try:
        reached.measure(tests).save()
    except ModuleNotFoundError as error:
        sys.exit(f"error: {error}: `pip install coverage` into a folder of PYTHONPATH, then run again")
    print(f"Kept in {reached.FILE}.")
    return 0


def sampled(drawn: list[Drawn], workers: int) -> int:
    """Try mutants that were drawn and print what became of each; 1 if fewer die than must."""
    prepare()
    measured = reached.Reached.load()
    if not measured:
        print("Which tests run which lines is not known, so many are tried: --coverage measures it.", flush=True)
    with copies(workers) as free, ThreadPoolExecutor(workers) as pool:
        trial = Trial(free, measured)
        dead = Counter(pool.map(trial.dies, drawn))[True]
    print(f"{dead} of {len(drawn)} killed, {dead / len(drawn):.1%}")
    return int(dead / len(drawn) < SHARE)


class Trial:
    """Of mutants that were drawn, in copies of the project."""

    def __init__(self, free: queue.Queue[Path], measured: reached.Reached | None) -> None:
        self.free, self.measured = free, measured
        self.unfit: dict[str, bool] = {}
        """Test -> whether it fails without a bug, too."""

    def dies(self, mutant: Drawn) -> bool:
        """Whether a test fails that passes without the bug; told at once."""
        start, root = time.monotonic(), self.free.get()
        path = root / mutant.file
        before = path.read_bytes()
        stages = self.measured.stages(mutant.file, mutant.line) if self.measured else tried_on(mutant.file)
        try:
            while True:
                path.write_text(mutant.planted(before.decode()))
                code, failed = first_failure(root, stages) if stages else (0, "no unit test runs it")
                path.write_bytes(before)
                if code == 0 or failed == HANGS or not self._fails_without(root, failed, stages[0]):
                    break
                stages = [[*stage, "--deselect", failed] for stage in stages]
        finally:
            path.write_bytes(before)
            self.free.put(root)
        took = f"{time.monotonic() - start:.0f} s"
        print(f"{KILLED if code else SURVIVED:8}  {mutant.name}  {took}  {failed}", flush=True)
        return code != 0

    def _fails_without(self, root: Path, failed: str, words: list[str]) -> bool:
        if failed not in self.unfit:
            alone = [failed] if "::" in failed else ["--collect-only", *([failed] if failed else words)]
            self.unfit[failed] = first_failure(root, [alone])[0] != 0
        return self.unfit[failed]


@contextlib.contextmanager
def copies(count: int) -> Iterator[queue.Queue[Path]]:
    """Copies of the project; whoever takes one puts it back."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True)
    free: queue.Queue[Path] = queue.Queue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for number in range(count):
            root = Path(folder, str(number))
            for name in filter(lambda name: Path(name).is_file(), files.stdout.splitlines()):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(name, root / name)
            subprocess.run(["git", "init", "-q", str(root)], check=True)  # some tests ask git for the project's files
            # A file's bytecode is then that of its text: by date and size, a bug could pass for the text before it.
            compiling = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "seedbed", "scripts", "tests"]
            subprocess.run([sys.executable, *compiling], cwd=root, check=True)
            free.put(root)
        yield free


def verdict(free: queue.Queue[Path], mutant: Mutant, passing: bool) -> str:
    """What became of a bug; told at once."""
    start, root = time.monotonic(), free.get()
    path = root / mutant.file
    before = path.read_bytes()
    try:
        path.write_text(planted(mutant, before.decode()))
        code = pytest(root, mutant.tests) if passing else None
        # 1: a test failed. Other numbers: nothing was tested, since the bug is no Python, say.
        found = {0: SURVIVED, 1: KILLED}.get(code, f"{BROKEN}: pytest ended with {code}")
        found = found if passing else f"{BROKEN}: its tests fail without it"
    finally:
        path.write_bytes(before)
        free.put(root)
    print(f"{found:8}  {mutant.room}  {mutant.name}  {time.monotonic() - start:.0f} s", flush=True)
    return found


def passes(free: queue.Queue[Path], tests: str) -> bool:
    """Whether tests pass without a bug: else they would see one in anything."""
    root = free.get()
    try:
        code = pytest(root, tests)
    finally:
        free.put(root)
    if code:
        print(f"without a bug pytest ends with {code}: {tests}", flush=True)
    return not code


def told(chosen: list[Mutant], found: list[str]) -> int:
    """Print the share by room; 1 if it is too small, a bug survived that must not, or the list does not fit."""
    rooms = Counter(each.room for each in chosen)
    dead = Counter(each.room for each, what in zip(chosen, found, strict=True) if what == KILLED)
    for room, count in rooms.items():
        print(f"{room}: {dead[room]} of {count} killed")
    wrong = [each for each, what in zip(chosen, found, strict=True) if what != KILLED]
    for each in wrong:
        print(f"not killed: {each.room} {each.name}: {each.why}")
    share = dead.total() / len(chosen)
    print(f"{dead.total()} of {len(chosen)} killed, {share:.1%}")
    fatal = any(each.must_die for each in wrong) or any(what.startswith(BROKEN) for what in found)
    return int(fatal or share < SHARE)


if __name__ == "__main__":
    sys.exit(main())
