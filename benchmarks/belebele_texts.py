"""How many texts encoders read for all pairs of languages of a test of multiple choice, with adapters and without.

Each language has an encoder of its own, with parallel adapters; each two are scored in both orders, and each language
alone, as jobs of a study with one folder of state. Prints how many texts an encoder reads in all, in each mode, which
is each once, and how many it would read if each job read its own. Random texts of the shape of Belebele:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.belebele_texts [--languages 4]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.models import SMALL, random_weights
from scripts import score
from seedbed.encoders.export.save import save
from seedbed.encoders.models import loading, parallel_adapters
from seedbed.io import write_json, write_table
from seedbed.languages import registry
from tests.programs import call

QUESTIONS, PASSAGES, ANSWERS = 900, 488, 4
"""Belebele in one language: Bandarkar et al. (2024, "The Belebele benchmark"), section 3."""


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", type=int, default=4, help="22 of them have 231 pairs")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--blocks", type=int, default=2, help="of the encoders, which are random")
    args = parser.parse_args(argv)

    codes = [*registry()][: args.languages]
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        weights = random_weights(root / "weights", **SMALL, blocks=args.blocks)
        for seed, code in enumerate(codes):
            encoder = loading.load(weights, pooling="mean")
            parallel_adapters.add_adapters(encoder, seed=seed)
            save(encoder, root / code / "1", {}, {})
            write_table(questions(code, args.questions, args.passages), root / f"{code}.tsv")
            write_json({"origin": []}, root / f"{code}.json")
        for mode in ("on", "off"):
            for asked in [*((code,) for code in codes), *combinations(codes, 2)]:
                scored(root, asked, mode)
        read = [texts_in(folder) for folder in (root / "state/embeddings").iterdir()]
    once = args.questions * ANSWERS + args.passages
    assert sorted(read) == [once] * 2 * len(codes), f"texts of each encoder and mode: {sorted(read)}, not {once}"
    print(
        f"{len(codes)} languages and {len(codes) * (len(codes) - 1) // 2} pairs of them, {len(read)} encoders and modes"
    )
    # Alone all of them; in the two orders of a pair its answers once, and its passages once.
    print(f"{once} texts an encoder and mode; {once * len(codes)} if each job read its own")


def questions(code: str, rows: int, passages: int) -> pd.DataFrame:
    """A test set whose texts say what language they are in."""
    return pd.DataFrame(
        {
            "id": [str(row) for row in range(rows)],
            "passage": [f"{code} passage {row % passages}" for row in range(rows)],
            "question": [f"{code} question {row}" for row in range(rows)],
            "answers": [json.dumps([f"answer {row} {place}" for place in range(ANSWERS)]) for row in range(rows)],
            "correct": [str(1 + row % ANSWERS) for row in range(rows)],
        }
    )


def scored(root: Path, codes: tuple[str, ...], adapters: str) -> None:
    """Score one language, or a pair of them, with adapters `on` or `off`."""
    first, *second = [str(root / code / "1") for code in codes]
    call(
        score,
        [
            *(
                "--systems",
                first,
                *(["--seconds", *second] if second else []),
                "--adapters",
                str(adapters == "on").lower(),
            ),
            *("--tests", *(str(root / f"{code}.tsv") for code in codes)),
            *("--records", *(str(root / f"{code}.json") for code in codes)),
            *("--tasks", json.dumps({"belebele": {"protocol": "choice"}}), "--language", "-".join(codes)),
            *("--state", str(root / "state"), "--scores", str(root / "scores/1")),
            *("--output", str(root / f"scores/{'-'.join(codes)}.{adapters}.json")),
        ],
    )


def texts_in(folder: Path) -> int:
    """How many embeddings were written to a store: a text that was read twice counts twice."""
    counts = []
    for path in folder.glob("*.npz"):
        with np.load(path) as file:
            counts.append(len(file["keys"]))
    return sum(counts)


if __name__ == "__main__":
    main()
