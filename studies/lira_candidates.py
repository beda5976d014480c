"""Write the translations of studies/lira.yaml: human English, noisy copies of it, and English of another text.

    python studies/lira_candidates.py --data /where/it/is --output /somewhere

A file a language, `{lang}.tsv`: `text`, `human`, `noise20`, `noise50`, `wrong`. Noise p: each word is dropped with
probability p, then, from left to right, each is exchanged with the next with probability p; one word stays. What is
drawn depends on the seed and the English alone. `wrong` is the English that follows in a shuffled order of its set.
And `kor.graded.tsv`, KorSTS's training set without the rows whose English is a sentence of Kardes-NLU's, scores from 0
to 1.
"""

import argparse
import csv
import random
from collections.abc import Iterable
from pathlib import Path

LANGUAGES = {
    "aze": ("azeri", "az", "aze-Latn"),
    "kaz": ("kazakh", "kk", "kaz"),
    "kir": ("kyrgyz", "ky", "kir"),
    "uzn": ("uzbek", "uz", "uzb"),
}
"""Language -> its folder and ending in Kardes-NLU, its code in NTREX-128."""
NOISE = {"noise20": 0.2, "noise50": 0.5}
HEAD = ["text", "human", *NOISE, "wrong"]
Pair = tuple[str, str]


def noisy(english: str, share: float, seed: int) -> str:
    """The text with words dropped, then exchanged with their neighbours, each with this probability."""
    draw = random.Random(f"{seed} {share} {english}")
    words = english.split()
    kept = [word for word in words if draw.random() >= share] or words[:1]
    for place in range(len(kept) - 1):
        if draw.random() < share:
            kept[place], kept[place + 1] = kept[place + 1], kept[place]
    return " ".join(kept)


def candidates(pairs: Iterable[Pair], seed: int) -> list[list[str]]:
    """HEAD's columns of texts with their English; of a text with two translations the first counts."""
    english = dict(reversed([*pairs]))
    order = sorted({*english.values()})
    random.Random(seed).shuffle(order)
    wrong = dict(zip(order, order[1:] + order[:1], strict=True))
    return [
        [text, human, *(noisy(human, share, seed) for share in NOISE.values()), wrong[human]]
        for text, human in reversed(english.items())
    ]


def kardes(data: Path, folder: str, iso1: str, test: str) -> list[Pair]:
    """Sentences of Kardes-NLU's development set with their English."""
    with (data / "Kardes-NLU" / folder / f"{test}.dev.{iso1}.csv").open(encoding="utf-8-sig", newline="") as file:
        return [(row[f"s{side}_translation"], row[f"sentence{side}"]) for row in csv.DictReader(file) for side in "12"]


def ntrex(data: Path, code: str) -> list[Pair]:
    """Lines of NTREX-128 with their English."""
    names = (f"newstest2019-ref.{code}.txt", "newstest2019-src.eng.txt")
    sides = ((data / "NTREX-128" / name).read_text(encoding="utf-8-sig").splitlines() for name in names)
    return [*zip(*sides, strict=True)]


def korsts(data: Path) -> list[tuple[str, Pair, Pair]]:
    """Score and both sentences of KorSTS's training set, each with that of STS-B, of which it is the translation."""
    korean, english = (
        [line.split("\t") for line in (data / path).read_text(encoding="utf-8-sig").splitlines()]
        for path in ("KorNLU/KorSTS/sts-train.tsv", "STS_English/stsbenchmark/sts-train.csv")
    )
    return [
        (ours[4], (ours[5], its[5]), (ours[6], its[6]))
        for ours, its in zip(korean[1:], english, strict=True)
        if float(ours[4]) == float(its[4])
    ]


def write(path: Path, head: list[str], rows: Iterable[Iterable[str]]) -> None:
    """A table with a tab between its fields, white space within them as one blank."""
    lines = ["\t".join(" ".join(cell.split()) for cell in row) for row in [head, *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=Path, help="the folder with Kardes-NLU, NTREX-128, ...")
    parser.add_argument("--output", required=True, type=Path, help="the folder to write to")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)

    tested = set()
    for lang, (folder, iso1, code) in LANGUAGES.items():
        sets = [kardes(args.data, folder, iso1, "sts"), kardes(args.data, folder, iso1, "xnli"), ntrex(args.data, code)]
        tested |= {english for pairs in sets[:2] for _, english in pairs}
        write(args.output / f"{lang}.tsv", HEAD, [row for pairs in sets for row in candidates(pairs, args.seed)])
    graded = [row for row in korsts(args.data) if not {english for _, english in row[1:]} & tested]
    pairs = [side for row in graded for side in row[1:]]
    korean = candidates(pairs, args.seed) + candidates(ntrex(args.data, "kor"), args.seed)
    write(args.output / "kor.tsv", HEAD, korean)
    learnt = [
        (str(place), one[0], other[0], f"{float(score) / 5:.4f}") for place, (score, one, other) in enumerate(graded)
    ]
    write(args.output / "kor.graded.tsv", ["id", "sentence1", "sentence2", "score"], learnt)


if __name__ == "__main__":
    main()
