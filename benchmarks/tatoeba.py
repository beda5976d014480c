"""Tatoeba's 112 languages, retrieved as the public code of MINERS does it and by our score jobs, with equal scores.

Theirs loads a pair's two sides and encodes both, English again for each of the 112 languages, in batches of 128, and
all of it a second time for the other direction (two runs, tables 5 and 13). Ours encodes each distinct text once in
both directions and keeps it. Prints CPU seconds, texts and padded tokens of both, and the greatest difference of F1:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.tatoeba --encoder DIR --data FOLDER [--rows 200]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import f1_score
from tqdm import tqdm

from benchmarks.scoring_mteb import Meter
from seedbed.encoders.models.inference import batched
from seedbed.encoders.models.loading import open_encoder
from seedbed.evaluation.scores import System
from seedbed.evaluation.scoring import score, texts
from seedbed.evaluation.settings import Task
from seedbed.io import UserError
from seedbed.vectors.store import encode_ahead, with_disk_cache

TASK = Task(protocol="bitext", distance="euclidean", k=[1, 5, 10])
SIDES = {"forward": ("text", "pivot"), "backward": ("pivot", "text")}
BATCH = 128
"""Of the paper's code."""
COSTS = ["seconds", "texts", "tokens"]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True, type=Path)
    parser.add_argument("--data", required=True, type=Path, help="folder of tatoeba.xxx-eng.xxx and .eng")
    parser.add_argument("--rows", type=int, help="first pairs of each language; left out, all")
    args = parser.parse_args(argv)

    meter = Meter(open_encoder(args.encoder).to("cpu"))  # seconds are of the CPU
    costs, gaps = {"ours": [], **{way: [] for way in SIDES}}, []
    with tempfile.TemporaryDirectory() as store:
        for code in tqdm(languages(args.data), unit="language"):
            test = pairs(args.data, code, args.rows)
            ours = meter.measured(lambda test=test: by_us(meter, test, Path(store)))
            costs["ours"].append(ours)
            for way, sides in SIDES.items():
                theirs = meter.measured(lambda test=test, sides=sides: by_the_paper(meter, test, *sides))
                costs[way].append(theirs)
                gaps += [abs(ours[f"{way}_f1_at_{k}"] - theirs[f"f1_at_{k}"]) for k in TASK.k]
    table = pd.DataFrame({name: pd.DataFrame(each)[COSTS].sum() for name, each in costs.items()}).T
    table.loc["theirs"] = table.loc["forward"] + table.loc["backward"]
    print(f"{table.round(1).to_string()}\n\n{len(costs['ours'])} languages; F1 differs by {max(gaps):.1e} at most")
    for name in ("theirs", "forward"):
        print(f"{name} / ours, CPU seconds: {table.seconds[name] / table.seconds['ours']:.2f}")
    assert max(gaps) < 1e-3, "the scores are not equal"


def languages(data: Path) -> list[str]:
    found = sorted(path.name.split(".")[1].removesuffix("-eng") for path in data.glob("tatoeba.*-eng.eng"))
    if not found:
        raise UserError(f"{data}: no tatoeba.xxx-eng.eng; expected LASER's folder data/tatoeba/v1")
    return found


def pairs(data: Path, code: str, rows: int | None) -> pd.DataFrame:
    """Pairs of one language with English, as a test set."""
    sides = {"text": code, "pivot": "eng"}
    # Not `splitlines`, which takes other characters for ends of lines too.
    read = {
        side: (data / f"tatoeba.{code}-eng.{end}").read_text("utf-8").removesuffix("\n").split("\n")
        for side, end in sides.items()
    }
    if len(read["text"]) != len(read["pivot"]):
        raise UserError(f"{data}: {code} has {len(read['text'])} sentences and English {len(read['pivot'])}")
    test = pd.DataFrame(read).iloc[:rows]
    return test.assign(id=[str(number) for number in range(len(test))])


def by_us(meter: Meter, test: pd.DataFrame, store: Path) -> dict[str, float]:
    """What `scripts.score` does with one language once the encoder is open."""
    encode = encode_ahead(with_disk_cache(batched(meter.encoder, TASK.batch_size), store), texts(TASK, test))
    return score(TASK, test, System(encode)).metrics


def by_the_paper(meter: Meter, test: pd.DataFrame, source: str, target: str) -> dict[str, float]:
    """One direction: encode both sides, rank by Euclidean distance, weighted F1 over sentences."""
    queries, corpus = (
        meter.encoder.encode(list(test[side]), batch_size=BATCH, convert_to_tensor=True, show_progress_bar=False)
        for side in (source, target)
    )
    nearest = torch.cdist(queries, corpus).topk(min(max(TASK.k), len(test)), largest=False).indices.numpy()
    gold = np.arange(len(test))
    found = {}
    for k in TASK.k:
        predicted = np.where((nearest[:, :k] == gold[:, None]).any(axis=1), gold, nearest[:, 0])
        found[f"f1_at_{k}"] = float(f1_score(gold, predicted, average="weighted", zero_division=0))
    return found


if __name__ == "__main__":
    main()
