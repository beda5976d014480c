"""Lay out an encoder, an adapter or a set of triplets for the Hugging Face hub, check it, and upload it if told so."""

from pathlib import Path

from scripts.cli import arguments, run
from seedbed import licences
from seedbed.operations.publishing.checks import require_repository
from seedbed.operations.publishing.repositories import REPOSITORY, lay_out
from seedbed.operations.publishing.upload import upload
from seedbed.operations.publishing.wishes import Wishes


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__, "output")
    parser.add_argument("what", type=Path, help="folder of an encoder or an adapter; or TSV of audited triplets")
    parser.add_argument("--name", required=True, help="owner/name on the hub")
    parser.add_argument("--licence", default="", help="identifier of the hub, if the study states none or another")
    parser.add_argument("--licence-name", default="", help="with `--licence other`")
    parser.add_argument("--licence-link", default="", help="with `--licence other`")
    parser.add_argument("--base", default="", help="owner/name of the model it was made from, if not known")
    parser.add_argument("--scores", type=Path, help="folder of an encoder's scores, if it is not beside it")
    parser.add_argument("--pivot", default="eng", help="of triplets by xllora: the study's pivot language")
    parser.add_argument("--upload", action="store_true", help="send it to the hub")
    parser.add_argument("--public", action="store_true", help="everybody may see it; left out, its owners alone")
    parser.add_argument("--replace", action="store_true", help="write over a repository that holds something else")
    args = parser.parse_args(argv)

    name = require_repository(args.name, "--name")
    base = require_repository(args.base, "--base") if args.base else ""
    named = (args.licence_name, args.licence_link)
    licence = licences.chosen(args.licence, *named) if args.licence or any(named) else None
    kind = lay_out(args.what, Wishes(name, licence, base, args.scores, args.pivot), args.output)
    print(f"{args.output / REPOSITORY}: as the hub takes it; edits of its README.md stay")
    if args.upload:
        done = upload(args.output, name, kind, public=args.public, replace=args.replace)
        print(f"{name}: uploaded at {done.commit}; {'everybody' if done.public else 'nobody but its owners'} sees it")
    else:
        print("Nothing was sent. To send it: python -m scripts.publish ... --upload (hf auth login comes first)")


if __name__ == "__main__":
    run(main)
