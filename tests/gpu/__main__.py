"""Run each way in which the programs use a GPU, once, on tiny models, and compare its numbers with the CPU's.

    python -m tests.gpu [--device cpu]

Five minutes on a first GPU, before a study is sent there. `--device cpu` shows that the check itself works.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np
import torch

from tests.gpu.parts import PARTS, Found, here, prepare


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=[*PARTS], help="these parts alone")
    parser.add_argument("--models", type=Path, help="run the parts on these models, and say what comes out as JSON")
    args = parser.parse_args(argv)

    if args.models:
        return _measure(args.models, args.device, args.only)
    if args.device == "cuda" and not torch.cuda.is_available():
        print("error: torch sees no GPU here; run this on a node with one (`make env-gpu` first), or with --device cpu")
        return 1
    parts = [name for name in args.only if here(PARTS[name], args.device)]
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        # Without a visible GPU the same code runs on the CPU.
        wanted = _in_a_process(Path(folder), "cpu", parts)
        found = _in_a_process(Path(folder), args.device, parts)
    return _table(args.only, wanted, found)


def _in_a_process(folder: Path, device: str, parts: list[str]) -> dict[str, Found | str]:
    """What comes out of each part; a text: why nothing did."""
    seen = {"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
    command = [sys.executable, "-m", "tests.gpu", "--device", device, "--models", str(folder), "--only", *parts]
    subprocess.run(command, env=os.environ | seen, check=True, stdout=sys.stderr)
    return json.loads((folder / f"{device}.json").read_text())


def _measure(folder: Path, device: str, parts: list[str]) -> int:
    found: dict[str, Found | str] = {}
    for name in parts:
        print(f"{name}, on {device}", file=sys.stderr)
        try:
            found[name] = PARTS[name].run(folder)
        except Exception as error:  # the others are to be seen too
            traceback.print_exc()
            found[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    (folder / f"{device}.json").write_text(json.dumps(found))
    return 0


def _table(asked: list[str], wanted: dict[str, Found | str], found: dict[str, Found | str]) -> int:
    """Print a line for each part; 1 if one differs too much or did not run."""
    bad = 0
    print(f"{'part':24}{'off by':>10}{'at most':>10}  {'':8}what a CPU has shown")
    for name in asked:
        if name not in found:
            print(f"{name:24}{'-':>10}{'-':>10}  not in this environment or on this device")
            continue
        if reason := next((each[name] for each in (wanted, found) if isinstance(each[name], str)), ""):
            print(f"{name:24}{'-':>10}{PARTS[name].tolerance:10g}  FAILED: {reason}")
            bad += 1
            continue
        off = difference(found[name], wanted[name])
        good = off <= PARTS[name].tolerance
        part = PARTS[name]
        print(f"{name:24}{off:10.2g}{part.tolerance:10g}  {'ok' if good else 'DIFFERS':8}{part.shown}")
        bad += not good
    return int(bad > 0)


def difference(found: Found, wanted: Found) -> float:
    """Of texts the share that differs; of numbers the largest difference, relative to the largest that was wanted."""
    if len(found) != len(wanted):
        return float("inf")
    if isinstance(wanted[0], str):
        return float(np.mean([one != other for one, other in zip(found, wanted, strict=True)]))
    one, other = np.array(found), np.array(wanted)
    off = float(np.abs(one - other).max() / np.abs(other).max())
    return off if np.isfinite(off) else float("inf")


if __name__ == "__main__":
    sys.exit(main())
