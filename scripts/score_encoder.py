"""Score encoders, a recipe's of several seeds, on the tasks of one language; keep every item's score."""

from __future__ import annotations

import sys
from pathlib import Path

from tqdm import tqdm

from scripts.cli import run
from scripts.scoring import Set, at_most, scoring_parser, sets, write_scores
from seedbed import manifests
from seedbed.evaluation.embeddings import at_once
from seedbed.evaluation.opening import Opened, opened
from seedbed.evaluation.protocols import check, score
from seedbed.evaluation.reference import mteb_scores, require_agreement, spread
from seedbed.evaluation.scores import Encode, Scores
from seedbed.evaluation.settings import AGREE

LIBRARIES = ("torch", "transformers", "sentence-transformers", "scipy", "mteb")


def main(argv: list[str] | None = None) -> None:
    parser = scoring_parser(__doc__)
    parser.add_argument("--encoders", required=True, nargs="+", type=Path, help="scores go to a folder of each's name")
    args = parser.parse_args(argv)

    given, written = sets(args), []
    for each in given:  # all of them: a fault of the last costs the embeddings of all before it
        check(each.task, each.test, each.train)
    for folder in tqdm(args.encoders, desc="encoders", unit="encoder"):
        encoder = opened(folder, at_most(given), args.state)
        encode = at_once(encoder.encode, [text for each in given for text in each.texts()])
        for each in given:
            written += write_scores(
                scored(encoder, encode, each),
                each,
                args.language,
                {"encoder": encoder.about},
                LIBRARIES,
                args.scores / folder.name,
            )
    manifests.write_list(written, args.output)


def scored(encoder: Opened, encode: Encode, given: Set) -> Scores:
    """Score one task, and let mteb check it where mteb has it."""
    scores = score(given.task, given.test, encode, train=given.train, search=encoder.search)
    if given.task.mteb:
        revision = given.origin["origin"].partition(" @ ")[2]
        theirs = mteb_scores(given.task, given.test, revision, encoder.encoder, encode)
        apart = spread(encode(given.texts()))
        for metric in AGREE[given.task.protocol]:
            name = f"{given.name} ({metric})"
            if note := require_agreement(scores.metrics[metric], theirs[metric], name, spread=apart):
                scores.notes.append(note)
                print(note, file=sys.stderr)
        scores.metrics.update(theirs | scores.metrics)
    return scores


if __name__ == "__main__":
    run(main)
