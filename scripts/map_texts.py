"""Draw parallel texts of several languages and find the place of each in the plane, by one encoder."""

from pathlib import Path

from scripts.cli import add_endpoints, arguments, pair, run
from seedbed.corpora.settings import COLUMNS
from seedbed.encoders.coupling import read_english
from seedbed.encoders.opening import opened
from seedbed.encoders.settings import Endpoint
from seedbed.evaluation.maps import sample, sample_pairs, to_plane, write
from seedbed.evaluation.settings import TextMap
from seedbed.io import UserError, read_table
from seedbed.servers import named


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "encoder")
    parser.add_argument("--texts", required=True, nargs="+", type=pair, help="LANGUAGE=FILE: labelled texts, or pairs")
    parser.add_argument("--english", nargs="*", default=[], type=Path, help="TSV of texts and their English, for both")
    parser.add_argument("--map", required=True, help="JSON: evaluation.settings.TextMap")
    parser.add_argument("--pivot", required=True, help="the language of the other side of pairs")
    parser.add_argument("--backbone", required=True, help="the encoder's, as the map calls it")
    parser.add_argument("--recipe", required=True, help="the encoder's, as the map calls it")
    parser.add_argument("--batch-size", required=True, type=int, help="texts that are encoded together at most")
    add_endpoints(parser)
    parser.add_argument("--state", type=Path, help="directory in which an encoder's jobs share embeddings")
    parser.add_argument("--output", required=True, type=Path, help="TSV: evaluation.maps.POINTS")
    args = parser.parse_args(argv)

    spec = TextMap.load(args.map)
    columns = ["id", *COLUMNS["parallel" if spec.pairs else "labelled_texts"]]
    sets = {language: read_table(file, columns) for language, file in args.texts}
    drawn = sample_pairs(sets, spec.pairs, spec.seed, args.pivot) if spec.pairs else sample(sets, spec.texts, spec.seed)
    with named(map(Endpoint.load, args.endpoints)):
        encoder = opened(args.encoder, args.batch_size, args.state, english=read_english(args.english))
    if encoder.search:
        raise UserError(f"{args.encoder}: a fusion, which has distances alone; a map needs embeddings")
    embeddings = encoder.encode(list(drawn["text"]))
    write(drawn, to_plane(embeddings, spec), args.backbone, args.recipe, args.output)


if __name__ == "__main__":
    run(main)
