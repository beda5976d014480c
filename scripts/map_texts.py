"""Draw parallel texts of several languages and find the place of each in the plane, by one encoder."""

from __future__ import annotations

import argparse
from pathlib import Path

from scripts.cli import pair, run
from seedbed.corpora.settings import COLUMNS
from seedbed.evaluation.maps import sample, write
from seedbed.evaluation.opening import opened
from seedbed.evaluation.projection import to_plane
from seedbed.evaluation.settings import TextMap
from seedbed.io import UserError, read_table


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", required=True, type=Path)
    parser.add_argument("--texts", required=True, nargs="+", type=pair, help="LANGUAGE=FILE, its labelled texts")
    parser.add_argument("--map", required=True, help="JSON: evaluation.settings.TextMap")
    parser.add_argument("--backbone", required=True, help="the encoder's, as the map calls it")
    parser.add_argument("--batch-size", required=True, type=int, help="texts that are encoded together at most")
    parser.add_argument("--state", type=Path, help="directory in which an encoder's jobs share embeddings")
    parser.add_argument("--output", required=True, type=Path, help="TSV: evaluation.maps.POINTS")
    args = parser.parse_args(argv)

    spec = TextMap.load(args.map)
    columns = ["id", *COLUMNS["labelled_texts"]]
    sets = {language: read_table(file, columns) for language, file in args.texts}
    drawn = sample(sets, spec.texts, spec.seed)
    encoder = opened(args.encoder, args.batch_size, args.state)
    if encoder.search:
        raise UserError(f"{args.encoder}: a fusion, which has distances alone; a map needs embeddings")
    embeddings = encoder.encode(list(drawn["text"]))
    places = to_plane(embeddings, perplexity=spec.perplexity, seed=spec.seed)
    write(drawn, places, args.backbone, spec.recipe, args.output)


if __name__ == "__main__":
    run(main)
