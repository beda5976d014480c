"""Choose one of several translations of each text."""

from pathlib import Path

from scripts.cli import add_endpoints, arguments, pair, run
from seedbed.encoders.candidates import packed, unpacked
from seedbed.encoders.choosing import adaptor_similarity, choose, given_similarity
from seedbed.encoders.choosing_settings import Chosen
from seedbed.encoders.settings import Endpoint
from seedbed.generators.translations import candidates
from seedbed.io import write_table
from seedbed.servers import named


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    parser.add_argument("--translations", required=True, nargs="+", type=pair, metavar="TRANSLATOR=TSV")
    parser.add_argument("--judgements", type=Path, help="TSV: what a judge says of them")
    parser.add_argument("--how", required=True, help="JSON: seedbed.encoders.choosing_settings.Chosen")
    parser.add_argument("--actor", type=Path, help="an anchored encoder, with its policy")
    parser.add_argument("--weights", type=Path, help="of the English encoder that it was anchored to")
    parser.add_argument("--similarity", type=Path, help="an encoder of both languages, instead of the features")
    parser.add_argument("--seed", required=True, type=int, help="of a choice at random")
    add_endpoints(parser)
    parser.add_argument("--state", type=Path, help="directory in which jobs share embeddings")
    args = parser.parse_args(argv)

    how, files = Chosen.load(args.how), {name: Path(file) for name, file in args.translations}
    judged = dict.fromkeys(files, args.judgements) if args.judgements else None
    table = packed(candidates(files, judged), judged=bool(judged))
    found = None
    if args.actor and args.weights:
        found = adaptor_similarity(unpacked(table), args.actor, args.weights)
    elif args.similarity or (args.actor and not how.similarity):
        with named(map(Endpoint.load, args.endpoints)):
            found = given_similarity(unpacked(table), args.similarity, args.state)
    options = {"similarity": found, "actor": args.actor, "seed": args.seed, "weights": how.weights}
    write_table(choose(table, how.choose, **options), args.output)


if __name__ == "__main__":
    run(main)
