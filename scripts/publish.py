"""Lay out an encoder, an adapter or a set of triplets for the Hugging Face hub, check it, and upload it if told so."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.cli import arguments, run
from seedbed import licences
from seedbed.operations.publishing.checks import require_repository
from seedbed.operations.publishing.repositories import CARD, REPOSITORY, lay_out
from seedbed.operations.publishing.upload import upload
from seedbed.operations.publishing.wishes import Wishes


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("what", type=Path, help="folder of an encoder or an adapter; or TSV of audited triplets")
    parser.add_argument("--name", help="owner/name on the hub")
    parser.add_argument("--output", type=Path, help="folder to lay it out in")
    parser.add_argument("--dry-run", action="store_true", help="print what would be uploaded; write and send nothing")
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

    if args.dry_run:
        if args.upload:
            parser.error("--dry-run sends nothing; leave out --upload")
        with TemporaryDirectory() as folder:
            name, output = args.name or f"owner/{args.what.stem}", Path(folder, "output")
            kind = lay_out(args.what, wishes(args, name), output)
            print(f"{kind} {name}, {shown(output / REPOSITORY)}")
        return
    if not (args.name and args.output):
        parser.error("--name and --output are required; --dry-run needs neither")
    kind = lay_out(args.what, wishes(args, args.name), args.output)
    print(f"{args.output / REPOSITORY}: as the hub takes it; edits of its README.md stay")
    if args.upload:
        done = upload(args.output, args.name, kind, public=args.public, replace=args.replace)
        print(
            f"{args.name}: uploaded at {done.commit}; {'everybody' if done.public else 'nobody but its owners'} sees it"
        )
    else:
        print("Nothing was sent. To send it: python -m scripts.publish ... --upload (hf auth login comes first)")


def wishes(args: argparse.Namespace, name: str) -> Wishes:
    """The options of a person, checked."""
    named = (args.licence_name, args.licence_link)
    return Wishes(
        require_repository(name, "--name"),
        licences.chosen(args.licence, *named) if args.licence or any(named) else None,
        require_repository(args.base, "--base") if args.base else "",
        args.scores,
        args.pivot,
    )


def shown(repository: Path) -> str:
    """What would be uploaded: the files with their sizes, and the card."""
    files = sorted(path for path in repository.rglob("*") if path.is_file())
    listed = [f"{path.stat().st_size:>13,} {path.relative_to(repository)}" for path in files]
    card = (repository / CARD).read_text(encoding="utf-8")
    return "\n".join([f"{len(files)} files (bytes, name):", *listed, "", f"{CARD}:", "", card])


if __name__ == "__main__":
    run(main)
