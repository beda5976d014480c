"""Compare a run with its study's reference: a line for each number, or best encoder, that differs, and exit code 1."""

from pathlib import Path

from scripts.cli import arguments, run
from seedbed.io import UserError, write_table
from seedbed.operations.verify import Reference, compared, differing, otherwise_chosen, write


def main(argv: list[str] | None = None) -> None:
    parser = arguments(__doc__)
    parser.add_argument("--reference", required=True, type=Path, help="YAML: seedbed.operations.verify.Reference")
    parser.add_argument("--tables", required=True, nargs="+", type=Path, help="CSV files, by whose names it knows them")
    parser.add_argument("--exact", action="store_true", help="without tolerances: for the machine that made it")
    parser.add_argument("--write", action="store_true", help="put these numbers into the reference instead")
    parser.add_argument("--best", nargs="*", default=[], type=Path, help="manifests of the best encoders")
    parser.add_argument("--output", type=Path, help="TSV: every number, beside that of the reference")
    args = parser.parse_args(argv)
    tables = {path.stem: path for path in args.tables}

    if args.write:
        write(args.reference, tables, args.best)
        return
    reference = Reference.load(args.reference)
    numbers = compared(reference, tables, exact=args.exact)
    if lines := [*differing(numbers), *otherwise_chosen(reference, args.best)]:
        print("\n".join(lines))
        count, made = len(numbers) + len(reference.best), f"{args.reference}, which `{reference.command}` made"
        raise UserError(f"{len(lines)} of {count} numbers and choices differ from {made}")
    if args.output:
        write_table(numbers, args.output)


if __name__ == "__main__":
    run(main)
