"""Score labels that no neighbours vote for, on the tasks of one language: drawn, the most frequent, or fine_tune's."""

from __future__ import annotations

import json
from typing import Any

from scripts.cli import pair, run
from scripts.scoring import Set, scoring_parser, sets, write_scores
from seedbed import manifests
from seedbed.evaluation.baselines import drawn, majority
from seedbed.evaluation.classification import by_classifier, known_labels
from seedbed.io import UserError, read_json, read_table

LIBRARIES = ("scikit-learn",)


def main(argv: list[str] | None = None) -> None:
    parser = scoring_parser(__doc__)
    parser.add_argument("--kind", required=True, choices=("random", "majority", "fine-tuned"))
    parser.add_argument("--labels", nargs="*", default=[], type=pair, help="TASK/SEED=FILE, what fine_tune wrote")
    parser.add_argument("--learnt", nargs="*", default=[], type=pair, help="TASK/SEED=FILE, its record")
    parser.add_argument("--seeds", required=True, nargs="+", type=int)
    parser.add_argument("--about", default={}, type=json.loads, help="JSON: what the scores are of")
    args = parser.parse_args(argv)

    labels, learnt, written = dict(args.labels), dict(args.learnt), []
    for each in sets(args):
        for seed in args.seeds:
            key = f"{each.name}/{seed}"
            predicted, made = answers(args.kind, each, seed, labels.get(key), args.language)
            made |= read_json(learnt[key]) if key in learnt else {}
            scores = by_classifier(each.task, each.test, each.train, predicted)
            about = {"classifier": args.about | made}
            written += write_scores(scores, each, args.language, about, LIBRARIES, args.scores / str(seed))
    manifests.write_list(written, args.output)


def answers(kind: str, given: Set, seed: int, file: str | None, language: str) -> tuple[list[str], dict[str, Any]]:
    """The label of each test text, and how it was found.

    Raises:
        UserError: as `known_labels`; a file of labels that is missing, or of other texts.
    """
    known = known_labels("knn", given.test, given.train)
    if kind == "majority":
        return majority(given.train, given.test), {}
    if kind == "random":
        return drawn(known, given.test, seed), {"seed": seed}
    if not file:
        raise UserError(f"--labels: none of {given.name} and seed {seed}; give TASK/SEED=FILE for each")
    found = read_table(file, ["language", "id", "label"], unique=None)
    found = found[found["language"] == language]
    if list(found["id"]) != list(given.test["id"]):
        raise UserError(f"{file}: its texts in {language} are not those of the test set; run fine_tune again")
    return list(found["label"]), {}


if __name__ == "__main__":
    run(main)
